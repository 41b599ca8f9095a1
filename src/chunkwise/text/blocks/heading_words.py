"""Words and numbers that make a line of plain text a heading, Chapter 2, § 5, 4.2 Fees, and dates, which make none."""

from __future__ import annotations

import re

from chunkwise.text.sentences.full_stops import BEFORE_NUMBER, NEVER_LAST, RARELY_LAST

_MONTHS = frozenset(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar jänner februar feber märz mai juni juli oktober dezember mär mrz okt dez
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    januari februari maart mei augustus
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
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
