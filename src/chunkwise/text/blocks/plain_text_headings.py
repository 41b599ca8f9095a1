"""What makes a line of plain text a heading: words and numbers (Chapter 2, § 5, 4.2 Fees), and the text it names."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.blocks.lines import Lines

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
ROMAN = re.compile(r"[IVXLC]+[.)]\s+(?P<title>\S.*)")
OTHER_CAPITALS = re.compile(r"\W*(?:page|seite|página|стр\.?)\s+\d+\b.{0,12}$|\(\d", re.IGNORECASE)
"""Numbers of pages, and items."""
_CAPITAL_SHARE = 0.8


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
    letters = sum(map(str.isalpha, text))
    return letters >= 3 and letters * 2 >= len(text) and text[-1] not in ",;"


_WORDS_OF_A_TITLE = 5
_LONG_WORD = 4
_STOP_INSIDE = re.compile(r"[\w\])][.!?]\s+\S")
_IN_CAPITALS = 2
"""Level of a line in capitals, above all numbers."""
_SECTION_IN_ARTICLE = 2
"""Levels below an article: the one between is its title's."""


def runs_in(text: str) -> bool:
    """Whether a line that opens with a division's name and number goes on as a sentence does."""
    rest = behind_number(text).lstrip(" .:–—-")
    ends = text.endswith((".", "!", "?", "…", ":"))
    if ends and rest[:1].islower():
        return True
    stops = [match.end() - 1 for match in _STOP_INSIDE.finditer(rest)]
    if stops:
        return _like_prose(rest[stops[-1] :])
    return ends and len(rest.split()) > _WORDS_OF_A_TITLE and _like_prose(rest)


def _like_prose(text: str) -> bool:
    """Whether most of the longer words behind the first are small, as they are not in titles."""
    words = [word for word in text.split()[1:] if len(word) >= _LONG_WORD]
    small = sum(word[0].islower() for word in words)
    return small > 0 and small * 2 >= len(words)


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
        is_title = division(texts[above]) and not division(texts[above + 1])
        if is_title and level[above + 1] <= level[above]:
            level[above + 1] = level[above] + 1
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
        if word in named:
            named[word].append(line)
    sections, articles = named.values()
    if sections and articles:
        levels[sections] += _SECTION_IN_ARTICLE


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
