"""The blocks of plain text: paragraphs between blank lines, enumerations, and headings that stand alone."""

from __future__ import annotations

import itertools
import re

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Block
from chunkwise.text import line_kinds as kinds
from chunkwise.text.lines import Lines

_BULLETS = "-*+•‣◦▪–—●"
_LONGEST_HEADING = 100
_DEEPEST = 9
_LOG_SHARE = 0.8

_DIVISION = re.compile(
    r"(?P<top>book|part|volume|teil|buch|livre|partie|libro|parte|часть|книга)\b"
    r"|(?P<chapter>chapter|letter|canto|act|kapitel|chapitre|capítulo|capitulo|глава)\b"
    r"|(?P<section>section|article|appendix|annex|schedule|exhibit|scene|abschnitt|artikel|anhang|§"
    r"|sección|artículo|раздел|статья)(?=\s)",
    re.IGNORECASE,
)
_DIVISION_NUMBER = re.compile(
    r"\s*(?:the\s+)?(?:\d+(?:\.\d+)*|[ivxlcdm]+|[a-z]|[а-я]|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"第[0-9一二三四五六七八九十百千〇零两]+(?:(?P<top>[部篇卷])|(?P<chapter>[章回])|(?P<section>[节節条條]))"
)
_NUMBER = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3})*)[.)]?\s+(?P<title>\S.*)")
_ROMAN = re.compile(r"[IVXLC]+[.)]\s+(?P<title>\S.*)")
_ENUMERATION = re.compile(r"\(?(?:[a-zA-Z]|[ivx]{1,5}|\d{1,3})[.)]\s")


def plain_blocks(lines: Lines, *, dense: bool = False) -> list[Block]:
    """Blocks of plain text; `dense` for text whose paragraphs no blank line parts, as from a PDF."""
    if not len(lines):
        return []
    kind = _classify(lines)
    levels = _headings(lines, kind, dense)
    kind[levels > 0] = kinds.HEADING
    return _read(lines, kind, levels)


def _classify(lines: Lines) -> NDArray[np.int8]:
    kind = np.full(len(lines), kinds.TEXT, dtype=np.int8)
    kind[kinds.bullets(lines, _BULLETS) | kinds.numbered(lines, 3)] = kinds.ITEM
    bracket = np.flatnonzero(
        (lines.head == ord("("))
        | np.isin(lines.at(1), [ord("."), ord(")")])
        | np.isin(lines.head, [ord("i"), ord("v"), ord("x")])
    )
    text, first, end = lines.characters.text, lines.first, lines.end
    for line in bracket.tolist():
        # "A. Smith" is a name as often as an item: letters count in brackets or before one.
        match = _ENUMERATION.match(text, int(first[line]), int(end[line]))
        if match and (")" in match.group() or match.group()[0].islower()):
            kind[line] = kinds.ITEM
    kind[lines.blank] = kinds.BLANK
    return kind


def _headings(lines: Lines, kind: NDArray[np.int8], dense: bool) -> NDArray[np.int64]:
    """Heading level of each line, 0 for none."""
    levels = np.zeros(len(lines), dtype=np.int64)
    blank_before = np.append(True, lines.blank[:-1])
    blank_after = np.append(lines.blank[1:], True)
    short = ~lines.blank & (lines.end - lines.first <= _LONGEST_HEADING)
    candidates = short if dense else short & blank_before
    single: list[tuple[int, int]] = []
    for line in np.flatnonzero(candidates).tolist():
        text = lines.text(line).strip()
        level, depth = _heading_level(text)
        if not level:
            continue
        alone = bool(blank_before[line] and blank_after[line])
        if not alone and (depth < 2 and not (dense and _shouts(text))):
            continue
        if not alone and line + 1 < len(lines) and kind[line + 1] == kinds.ITEM:
            continue
        levels[line] = level
        if depth == 1:
            single.append((line, level))
    _drop_lists(lines, levels, single)
    return levels


def _drop_lists(lines: Lines, levels: NDArray[np.int64], single: list[tuple[int, int]]) -> None:
    """Numbered lines that follow each other with nothing between them are a list, not headings."""
    for (line, _), (following, _) in itertools.pairwise(single):
        if lines.blank[line + 1 : following].all():
            levels[line] = levels[following] = 0


def _heading_level(text: str) -> tuple[int, int]:
    """Level (0: no heading) and, for numbered ones, the number's depth."""
    division = _DIVISION.match(text) or _CHINESE.match(text)
    if division and (division.re is _CHINESE or _DIVISION_NUMBER.match(text, division.end())):
        if text[-1] not in ",;":
            return (1 if division["top"] else 2 if division["chapter"] else 3), 0
        return 0, 0
    number = _NUMBER.fullmatch(text)
    if number:
        depth = number["number"].count(".") + 1
        ends_like_text = text[-1] in ".,;:!?" and not text.isupper()
        opens = not number["title"][0].islower() and any(map(str.isalpha, number["title"]))
        return (min(2 + depth, _DEEPEST), depth) if opens and not ends_like_text else (0, 0)
    roman = _ROMAN.fullmatch(text)
    if roman and text[-1] not in ".,;:" and not roman["title"][0].islower():
        return 2, 0
    return (2, 0) if _shouts(text) else (0, 0)


def _shouts(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return text.isupper() and letters >= 3 and letters * 2 >= len(text) and text[-1] not in ",;"


def _read(lines: Lines, kind: NDArray[np.int8], levels: NDArray[np.int64]) -> list[Block]:
    blocks: list[Block] = []
    first, end, indent = lines.first.tolist(), lines.end.tolist(), lines.indent
    records = _records(lines).tolist()
    group, in_list, after_blank = 0, False, True
    bounds = [0, *(np.flatnonzero(np.diff(kind)) + 1).tolist(), len(kind)]
    for lo, hi in itertools.pairwise(bounds):
        what = int(kind[lo])
        if what == kinds.HEADING:
            in_list = False
            for line in range(lo, hi):
                blocks.append(Block("heading", first[line], end[line], int(levels[line])))
        elif what == kinds.ITEM:
            group += not in_list
            in_list = True
            for line in range(lo, hi):
                blocks.append(Block("item", first[line], end[line], int(indent[line]) // 2, group))
        elif what == kinds.TEXT:
            if in_list and not after_blank:
                blocks[-1] = blocks[-1]._replace(end=end[hi - 1])
            else:
                in_list = False
                like_a_log = hi - lo >= 3 and records[hi] - records[lo] >= _LOG_SHARE * (hi - lo)
                cuts = range(lo, hi) if like_a_log else (lo,)
                for line in cuts:
                    stop = line if like_a_log else hi - 1
                    blocks.append(Block("paragraph", first[line], end[stop]))
        after_blank = what == kinds.BLANK
    return blocks


def _records(lines: Lines) -> NDArray[np.int64]:
    """Running count of lines that open like an entry of a log: a digit or a bracket."""
    record = (lines.head >= ord("0")) & (lines.head <= ord("9"))
    for bracket in "[<{":
        record |= lines.head == ord(bracket)
    return np.concatenate(([0], np.cumsum(record)))
