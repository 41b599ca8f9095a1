"""Words and numbers that make a line of plain text a heading: Chapter 2, § 5, 4.2 Fees, IV. On War."""

from __future__ import annotations

import re

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
NUMBER = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3})*)[.):]?\s+(?P<title>\S.*)")
LETTERED = re.compile(r"(?P<number>[A-Z](?:\.\d{1,3})+)[.):]?\s+(?P<title>\S.*)")
BRACKETED = re.compile(r"\((?P<number>\d{1,3})\)\s+(?P<title>\S.*)")
ROMAN = re.compile(r"[IVXLC]+[.)]\s+(?P<title>\S.*)")
PAGE = re.compile(r"\W*(?:page|seite|página|стр\.?)\s+\d+\b.{0,12}", re.IGNORECASE)


def division(text: str) -> re.Match[str] | None:
    """A part, chapter or section that says so, with its number."""
    if text[:1] not in _INITIALS:
        return None
    if text[0] == "第":
        return _CHINESE.match(text)
    match = _DIVISION.match(text)
    return match if match and _DIVISION_NUMBER.match(text, match.end()) else None


def behind_number(text: str) -> str:
    """What follows a division's number, as "of the Act" in "Section 5 of the Act"; all of the text where it is none."""
    match = _DIVISION.match(text)
    number = _DIVISION_NUMBER.match(text, match.end()) if match else _CHINESE.match(text)
    return text[number.end() :].lstrip() if number else text


def goes_on_small(text: str) -> bool:
    """Whether a small letter follows a division's number."""
    return text[0] != "第" and behind_number(text)[:1].islower()


def shouts(text: str) -> bool:
    """Whether a line is written in capitals and has enough letters to be words."""
    if not text.isupper():
        return False
    letters = sum(map(str.isalpha, text))
    return letters >= 3 and letters * 2 >= len(text) and text[-1] not in ",;"
