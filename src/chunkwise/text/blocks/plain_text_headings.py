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


def nest_titles(lines: Lines, levels: NDArray[np.int64]) -> None:
    """Set a title that follows "CHAPTER I" with nothing between them one level below: it is that chapter's."""
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
