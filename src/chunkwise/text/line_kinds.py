"""What each line of a text looks like by itself, for the scanners that turn lines into blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.lines import Lines

BLANK, TEXT, HEADING, ITEM, HEADER, DELIMITER, ROW, UNDERLINE, INDENTED, FENCED, RULE = range(11)

_CODE_INDENT = 4
_FENCE_MIN = 3


def _is(values: NDArray[np.uint32], characters: str) -> NDArray[np.bool_]:
    found = values == ord(characters[0])
    for char in characters[1:]:
        found |= values == ord(char)
    return found


def _ends_word(values: NDArray[np.uint32]) -> NDArray[np.bool_]:
    return (values == 0) | _is(values, " \t\u00a0\u3000")


def atx_levels(lines: Lines) -> NDArray[np.int64]:
    """Depth of `# heading` lines; 0 for every other line."""
    levels = np.zeros(len(lines), dtype=np.int64)
    candidate = np.flatnonzero((lines.head == ord("#")) & (lines.indent < _CODE_INDENT))
    if not len(candidate):
        return levels
    run = np.ones(len(candidate), dtype=np.int64)
    points, end = lines.characters.points, lines.end[candidate]
    first = lines.first[candidate]
    for offset in range(1, 7):
        where = first + offset
        hash_sign = (where < end) & (points[np.minimum(where, len(points) - 1)] == ord("#"))
        run += hash_sign & (run == offset)
    where = first + run
    behind = np.where(where < end, points[np.minimum(where, len(points) - 1)], 0)
    levels[candidate] = np.where((run <= 6) & _ends_word(behind.astype(np.uint32)), run, 0)
    return levels


def bullets(lines: Lines, signs: str) -> NDArray[np.bool_]:
    """Lines that open with a bullet and white space."""
    return _is(lines.head, signs) & _ends_word(lines.at(1))


def numbered(lines: Lines, digits: int = 9) -> NDArray[np.bool_]:
    """Lines that open with a number, `.` or `)`, and white space."""
    found = np.zeros(len(lines), dtype=np.bool_)
    candidate = (lines.head >= ord("0")) & (lines.head <= ord("9"))
    if not candidate.any():
        return found
    for offset in range(1, digits + 1):
        char = lines.at(offset)
        found |= candidate & _is(char, ".)") & _ends_word(lines.at(offset + 1))
        candidate &= (char >= ord("0")) & (char <= ord("9"))
        if not candidate.any():
            break
    return found


def rules(lines: Lines) -> NDArray[np.bool_]:
    """Thematic breaks: three or more of one of * - _ and nothing else."""
    found = np.zeros(len(lines), dtype=np.bool_)
    for sign in "*-_":
        if (lines.head == ord(sign)).any():
            found |= lines.consists_of(sign) & (lines.holds(sign) >= 3)
    return found


def underlines(lines: Lines) -> NDArray[np.int64]:
    """Level of Setext underlines, one run of = (1) or - (2); 0 for every other line."""
    levels = np.zeros(len(lines), dtype=np.int64)
    for sign, level in (("=", 1), ("-", 2)):
        if not (lines.head == ord(sign)).any():
            continue
        alone = lines.consists_of(sign) & (lines.indent < _CODE_INDENT)
        size = lines.holds(sign)
        run_end = np.minimum(lines.first + size, lines.end) - 1
        levels[alone & (lines.characters.points[run_end] == ord(sign))] = level
    return levels


def fenced(lines: Lines) -> list[tuple[int, int]]:
    """Line ranges `[first, last]` of fenced code, fences included; an open fence runs to the end."""
    tick = _is(lines.head, "`~") & (lines.head == lines.at(1)) & (lines.head == lines.at(2))
    ranges: list[tuple[int, int]] = []
    opened, mark, length = -1, "", 0
    for line in np.flatnonzero(tick).tolist():
        text = lines.text(line).strip()
        sign = text[0]
        info = text.lstrip(sign)
        size = len(text) - len(info)
        if opened < 0:
            if sign == "`" and "`" in info:
                continue
            opened, mark, length = line, sign, size
        elif sign == mark and size >= length and not info:
            ranges.append((opened, line))
            opened = -1
    if opened >= 0:
        ranges.append((opened, len(lines) - 1))
    return ranges


def delimiter_rows(lines: Lines) -> NDArray[np.int64]:
    """Lines such as `|---|:--:|` that stand between a table's header and its rows."""
    maybe = _is(lines.head, "|:-")
    if not maybe.any():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(
        maybe & lines.consists_of("|:-") & (lines.holds("|") > 0) & (lines.holds("-") > 0)
    )
