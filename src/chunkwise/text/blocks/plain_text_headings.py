"""What makes a line of plain text a heading: words and numbers (Chapter 2, § 5, 4.2 Fees), and the text it names."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.blocks.lines import Lines
from chunkwise.text.language import MONTH_NUMBERS
from chunkwise.text.sentences.full_stops import BEFORE_NUMBER, NEVER_LAST, RARELY_LAST

_MONTHS = frozenset(MONTH_NUMBERS) | frozenset(
    """
    jänner feber mär mrz
    setiembre
    januari februari maart mei augustus
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
    जनवरी फरवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर सितम्बर अक्टूबर अक्तूबर नवंबर नवम्बर दिसंबर दिसम्बर
    يناير فبراير مارس أبريل إبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
    มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม
    """.split()
)
_BETWEEN = frozenset("of de del di พ.ศ. г. года م".split())
"""Stand between a day, its month and its year, or behind the year."""
_YEAR = re.compile(r"['’]?\d{2,4}[.:]?")
_LAST_DAY = 31


def is_day(number: str, words: str) -> bool:
    """Whether the words behind a number are a month's name and nothing else."""
    return len(_names(number, words)) == 1


def is_date(number: str, words: str) -> bool:
    """Whether the words behind a number are a month's name and a year."""
    names = _names(number, words)
    return len(names) == 2 and _YEAR.fullmatch(names[1]) is not None


def _names(number: str, words: str) -> list[str]:
    """The words that are names or numbers, if the number may be a day and the first is a month."""
    if "." in number or not 1 <= int(number) <= _LAST_DAY:
        return []
    names = [name for name in words.lower().replace(",", " ").split() if name not in _BETWEEN]
    return names if names and names[0].rstrip(".") in _MONTHS else []


_DIVISION = re.compile(
    r"(?P<top>(?:book|part|volume|teil|buch|livre|partie|libro|parte|часть|книга)\b|(?:الباب|الجزء|भाग|ภาคที่)(?=\s))"
    r"|(?P<chapter>(?:chapter|letter|canto|act|kapitel|chapitre|capítulo|capitulo|глава)\b"
    r"|(?:الفصل|अध्याय)(?=\s)|บทที่(?=[\s\d]))"
    r"|(?P<section>section|article|appendix|annex|schedule|exhibit|scene|abschnitt|artikel|anhang|§"
    r"|sección|artículo|раздел|статья|المادة)(?=\s)",
    re.IGNORECASE,
)
_INITIALS = frozenset("bpvtlckased§第чкгрсBPVTLCKASEDЧКГРСاअभบภ")
"""First letters of the words above, to pass over most lines at once."""
_DIVISION_NUMBER = re.compile(
    r"\s*(?:the\s+)?(?:\d+(?:\.\d+)*|[ivxlcdm]+|[a-z]|[а-я]|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    r"|eins|zwei|drei|vier|fünf|premi[eè]re?|deuxième|troisième|primer[ao]|segund[ao]|tercer[ao]"
    r"|перв(?:ая|ый)|втор(?:ая|ой)|трет(?:ья|ий)|четв[её]рт(?:ая|ый)|пят(?:ая|ый)"
    r"|الأولى?|الثانية?|الثالثة?|الرابعة?|الخامسة?|السادسة?|السابعة?|الثامنة?|التاسعة?|العاشرة?)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"第[0-9一二三四五六七八九十百千〇零两]+(?:(?P<top>[部篇卷])|(?P<chapter>[章回])|(?P<section>[节節条條]))"
)
_CONTENTS = re.compile(
    r"(?:(?:table of )?contents?|inhalt(?:sverzeichnis)?|sommaire|table des matières|índice|contenido|содержание"
    r"|оглавление)[.:]?",
    re.IGNORECASE,
)
_IN_FRONT = re.compile(
    r"(?:index|abstract|(?:executive )?summary|background|recitals?|preamble|between"
    r"|whereas|witnesseth|foreword|preface|acknowledge?ments|keywords|disclaimer"
    r"|zusammenfassung|kurzfassung|vorwort|präambel|vorbemerkung(?:en)?"
    r"|résumé|préambule|avant-propos|resumen|preámbulo|antecedentes|аннотация|преамбула)[.:]?",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3})*)[.):]?\s+(?P<title>\S.*)")
LETTERED = re.compile(r"(?P<number>[A-Z](?:\.\d{1,3})+)[.):]?\s+(?P<title>\S.*)")
BRACKETED = re.compile(r"\((?P<number>\d{1,3})\)\s+(?P<title>\S.*)")
ROMAN = re.compile(r"[IVXLC]+[.)]\s+(?P<title>\S.*)")
PAGE = re.compile(r"\W*(?:page|seite|página|стр\.?)\s+\d+\b.{0,12}", re.IGNORECASE)
_CAPITAL_SHARE = 0.8
_NO_LETTERS = bytes(point for point in range(128) if not chr(point).isalpha())
CLOSERS = "\"'”’)"
_INNER_STOP = re.compile(r"""(?P<word>\w[\w.]*)[.!?…]["'”’)]*\s+(?=\S)""")
_ABBREVIATIONS = NEVER_LAST | BEFORE_NUMBER | RARELY_LAST
_WORDS_OF_A_SENTENCE = 3


def division(text: str) -> re.Match[str] | None:
    """A part, chapter or section that says so, with its number."""
    if text[:1] not in _INITIALS:
        return None
    if text[0] == "第":
        return _CHINESE.match(text)
    match = _DIVISION.match(text)
    return match if match and _DIVISION_NUMBER.match(text, match.end()) else None


def stands_in_front(text: str, *, contents_only: bool = False) -> bool:
    """Whether a heading names what precedes the numbered parts of a text and holds none of them: TABLE OF CONTENTS."""
    words = " ".join(text.split())
    if _CONTENTS.fullmatch(words):
        return True
    return not contents_only and _IN_FRONT.fullmatch(words) is not None


def behind_number(text: str) -> str:
    """What follows a division's number, as "of the Act" in "Section 5 of the Act"; all of the text where it is none."""
    match = _DIVISION.match(text)
    number = _DIVISION_NUMBER.match(text, match.end()) if match else _CHINESE.match(text)
    return text[number.end() :].lstrip() if number else text


def goes_on_small(text: str) -> bool:
    """Whether a small letter follows a division's number."""
    return text[0] != "第" and behind_number(text)[:1].islower()


def in_capitals(text: str) -> bool:
    """Whether nearly all letters are capitals: letters without case are none, and AIを使う holds an acronym."""
    return text.isupper() and (text.isascii() or _capital_share(text) >= _CAPITAL_SHARE)


def _capital_share(text: str) -> float:
    letters = list(filter(str.isalpha, text))
    return sum(map(str.isupper, letters)) / max(len(letters), 1)


def shouts(text: str) -> bool:
    """Whether a line is written in capitals, has enough letters to be words and is no paragraph."""
    if not in_capitals(text):
        return False
    letters = _letters(text)
    if letters < 3 or letters * 2 < len(text) or text[-1] in ",;":
        return False
    return text[-1].isalpha() or not several_sentences(text)


def _letters(text: str) -> int:
    if text.isascii():  # asking each character takes five times as long
        return len(text.encode().translate(None, _NO_LETTERS))
    return sum(map(str.isalpha, text))


def several_sentences(text: str) -> bool:
    """Whether a line in capitals holds sentences: "IT IS SOLD AS IS. NO WARRANTY IS GIVEN.", not "I. A STREET."."""
    if not text.rstrip(CLOSERS).endswith((".", "!")):
        return False  # questions are headings more often: "WHAT IS IT FOR? WHO IS TO USE IT?"
    start, sentences = 0, 0
    for stop in _INNER_STOP.finditer(text):
        word = stop["word"].lower()
        if len(word) > 1 and "." not in word and word not in _ABBREVIATIONS:
            sentences += len(text[start : stop.end()].split()) >= _WORDS_OF_A_SENTENCE
            start = stop.end()
    return sentences > 0 and len(text[start:].split()) >= _WORDS_OF_A_SENTENCE


GOES_ON = -1
"""Level of a line that goes on with the heading above it: the title below "ARTICLE II"."""
_LONGEST_TITLE = 80
_MOST_WORDS = 10
_WORDS_OF_A_TITLE = 5
_LONG_WORD = 4
_ENDS_TEXT = frozenset(".,;:!?…")
_ENDS_CLAUSE = (".", "!", "?", "…", ":")
_STOP_INSIDE = re.compile(r"[\w\])][.!?]\s+\S")
_PARTED = re.compile(r"[.:–—-]\s*[^\W\d_]")
_DOTTED = re.compile(r"\w+\s+\d+\.\d")
_IN_CAPITALS = 2
"""Level of a line in capitals, above all numbers."""
_SECTION_IN_ARTICLE = 2
"""Levels below an article: the one between is its title's."""


def runs_in(text: str, named: re.Match[str]) -> bool:
    """Whether a line that opens with a division's name and number goes on as a sentence does."""
    if in_capitals(text):
        return False
    ends = text.rstrip(CLOSERS).endswith(_ENDS_CLAUSE)
    if ends and goes_on_small(text):
        return True
    if not named["section"]:
        return False  # chapters of old books sum up what happens in them
    rest = behind_number(text).lstrip(" .:–—-")
    behind_stops = [match.end() - 1 for match in _STOP_INSIDE.finditer(rest)]
    if behind_stops:
        return _like_prose(rest[behind_stops[-1] :])
    return ends and len(rest.split()) > _WORDS_OF_A_TITLE and _like_prose(rest)


def _like_prose(text: str) -> bool:
    """Whether most of the longer words behind the first are small, as they are not in titles."""
    words = [word for word in text.split()[1:] if len(word) >= _LONG_WORD]
    small = sum(word[0].islower() for word in words)
    return small > 0 and small * 2 >= len(words)


def has_title_below(text: str, below: str, after: str) -> bool:
    """Whether the next line is the title of a named one, as in "ARTICLE II" above "COMPENSATION"."""
    if not below[0].isalpha() or below[0].islower() or below[-1] in _ENDS_TEXT:
        return False
    if len(below) > _LONGEST_TITLE or len(below.split()) > _MOST_WORDS or division(below):
        return False
    bare = _bare(text)
    if not in_capitals(below):
        return bare and not after
    return not in_capitals(after) and (bare or (in_capitals(text) and not after))


def stands_above(text: str, below: str, after: str) -> bool:
    """Whether a named line behind a blank one, not its title's, is the heading of the text right below it."""
    bare = _bare(text)
    other = division(below)
    if other:
        same = other[0].lower() == text[: len(other[0])].lower()
        return bare and not same and _bare(below) and not division(after)
    if bare:
        return True
    if in_capitals(below):
        return False  # a paragraph in capitals, of which this is the first line
    if in_capitals(text):
        return True
    return _PARTED.match(behind_number(text)) is not None and text[-1] not in _ENDS_TEXT


def _bare(text: str) -> bool:
    """Whether a division has a number and no title."""
    return not any(map(str.isalnum, behind_number(text)))


def nest(lines: Lines, levels: NDArray[np.int64]) -> None:
    """Set titles below their chapters, sections below the articles that hold them, and none below a preface."""
    _nest_titles(lines, levels)
    _nest_sections(lines, levels)
    _lower_front(lines, levels)


def _nest_titles(lines: Lines, levels: NDArray[np.int64]) -> None:
    """A title that follows "CHAPTER I" with nothing between them is that chapter's: one level below."""
    headings, solid = (levels > 0).nonzero()[0], (~lines.blank).nonzero()[0]
    follows = np.append(solid, -1)[solid.searchsorted(headings, "right")][:-1]
    touching = (follows == headings[1:]).nonzero()[0].tolist()
    if not touching:
        return
    level, texts = levels[headings].tolist(), _texts(lines, headings)
    for above in touching:
        title = above + 1
        if level[title] > level[above]:
            continue
        if not division(texts[above]) or division(texts[title]):
            continue
        # A number has others of its rank further on, which stay where they are.
        numbered = texts[title][0].isdigit() or ROMAN.match(texts[title])
        if level[title] == level[above] or not numbered:
            level[title] = level[above] + 1
    levels[headings] = level


def _texts(lines: Lines, which: NDArray[np.int64]) -> list[str]:
    text, ends = lines.characters.text, lines.end[which].tolist()
    starts = lines.start[which].tolist()
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _nest_sections(lines: Lines, levels: NDArray[np.int64]) -> None:
    """Contracts part articles into sections, codes of law sections into articles: many are inside, few around them."""
    named: dict[str, list[int]] = {"section": [], "article": []}
    third = (levels == 3).nonzero()[0]
    for line, text in zip(third.tolist(), _texts(lines, third), strict=True):
        word = text[:7].lower()
        if word in named and division(text):
            named[word].append(line)
    sections, articles = named.values()
    if not (sections and articles and articles[0] < sections[0]):
        return
    dotted = [line for line in sections if _DOTTED.match(lines.text(line).strip())]
    inside = sections if len(sections) > len(articles) else dotted
    levels[inside] += _SECTION_IN_ARTICLE


def _lower_front(lines: Lines, levels: NDArray[np.int64]) -> None:
    """A table of contents or a preamble in capitals holds none of the numbered parts behind it: it is their like."""
    headings = (levels > 0).nonzero()[0]
    found = levels[headings]
    opened = ((found[:-1] == _IN_CAPITALS) & (found[1:] > _IN_CAPITALS)).nonzero()[0]
    if not len(opened):
        return
    # Where others in capitals hold numbers of their own, a preamble may, too; contents never do.
    alone = len(opened) == 1
    first = int(opened[0])
    for index in range(first, -1, -1):
        text = lines.text(headings[index]).strip()
        if found[index] != _IN_CAPITALS or not stands_in_front(text, contents_only=not alone):
            return
        levels[headings[index]] = found[first + 1]
