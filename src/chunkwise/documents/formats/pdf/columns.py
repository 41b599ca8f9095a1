"""The lines of a page in reading order: one column after the other, rows of lines beside each other."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from chunkwise.documents.formats.pdf.lines import Line

_COLUMN_LINES = 5
"""On either side of a gutter."""
_CROSSING = 0.4
"""Of the lines of a page: with more of them over a gutter it is none."""
_FILLED = 0.6
"""Of a column's width, that three quarters of its lines stay below in a table, and not in text."""


def columns(lines: list[Line], depth: int = 3) -> list[list[Line]]:
    """The columns of a page in reading order; a line over all of them is a column of its own between them."""
    lines = _uncoupled(lines) if depth else lines
    gutter = _gutter(lines) if depth else None
    if gutter is None:
        return [_downwards(lines)] if lines else []
    left = [line for line in lines if line.x1 <= gutter + 1]
    right = [line for line in lines if line.x0 >= gutter - 1]
    taken = {*map(id, left), *map(id, right)}
    across: list[Line] = []
    heights = sorted((line.y0 + line.y1) / 2 for line in (*left, *right))
    low, high = min(line.x0 for line in lines), max(line.x1 for line in lines)
    for line in lines:
        if id(line) in taken:
            continue
        middle = abs(line.x0 + line.x1 - low - high) < 0.1 * (high - low)
        whole = middle or line.x1 - line.x0 > 0.75 * (high - low)
        if not whole or _beside(line, heights):
            # Too long for its column, or several columns drawn as one line.
            (left if line.x0 < gutter else right).append(line)
        else:
            across.append(line)
    across.sort(key=lambda line: -line.baseline)
    left.sort(key=lambda line: line.number)
    right.sort(key=lambda line: line.number)
    bounds = np.array([-line.baseline for line in across])
    bands: list[tuple[list[Line], list[Line]]] = [([], []) for _ in range(len(across) + 1)]
    for side, found in enumerate((left, right)):
        for line in found:
            bands[int(bounds.searchsorted(-line.baseline))][side].append(line)
    ordered: list[list[Line]] = []
    for number, sides in enumerate(bands):
        for side_lines in sides:
            ordered += columns(side_lines, depth - 1)
        if number < len(across):
            after_across = number and not any(bands[number]) and ordered
            if after_across:
                ordered[-1].append(across[number])
            else:
                ordered.append([across[number]])
    return ordered


def _uncoupled(lines: list[Line]) -> list[Line]:
    """Lines of two columns that are drawn row by row, each as two."""
    coupled = [line for line in lines if len(line.cells) == 2 and len(line.cuts) == 1]
    if len(coupled) < max(_COLUMN_LINES, 0.5 * len(lines)):
        return lines
    starts = Counter(round(line.cells[1][0] / 3) for line in coupled)
    place = starts.most_common(1)[0][0]
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    both = [
        line
        for line in coupled
        if abs(line.cells[1][0] / 3 - place) <= 1
        and min(high - low for low, high in line.cells) > 0.25 * width
    ]
    if len(both) < max(_COLUMN_LINES, 0.5 * len(lines)):
        return lines
    taken = set(map(id, both))
    found: list[Line] = []
    for line in lines:
        if id(line) not in taken:
            found.append(line)
            continue
        by = line.box[0] - line.x0
        for text, (low, high) in zip(cell_texts(line), line.cells, strict=True):
            box = (low + by, line.box[1], high + by, line.box[3])
            found.append(replace(line, text=text, x0=low, x1=high, box=box, cells=(), cuts=()))
    return found


def _beside(line: Line, heights: Sequence[float]) -> bool:
    """Whether the middle of another line lies at the height of this one."""
    return bisect_left(heights, line.y1) > bisect_left(heights, line.y0)


def _gutter(lines: Sequence[Line]) -> float | None:
    """Where two columns of text are parted; None where there is one."""
    if len(lines) < 2 * _COLUMN_LINES:
        return None
    x0 = np.array([line.x0 for line in lines])
    x1 = np.array([line.x1 for line in lines])
    low, high = float(x0.min()), float(np.sort(x1)[(len(x1) - 1) * 49 // 50])
    width = high - low
    if width < 12 * lines[0].size:
        return None
    places = np.linspace(low + 0.25 * width, high - 0.25 * width, 51)[:, None]
    lefts, rights = x1 <= places + 1, x0 >= places - 1
    crossing = (~(lefts | rights)).sum(axis=1)
    enough = (lefts.sum(axis=1) >= _COLUMN_LINES) & (rights.sum(axis=1) >= _COLUMN_LINES)
    if not enough.any():
        return None
    least = crossing[enough].min()
    if least > _CROSSING * len(lines):
        return None
    best = np.flatnonzero(enough & (crossing == least))
    place = best[len(best) // 2]
    gutter = float(places[place, 0])
    one, other = lefts[place], rights[place]
    for side in (one, other):
        own = (x1 - x0)[side]
        wide = float(x1[side].max() - x0[side].min())
        if float(np.sort(own)[len(own) * 3 // 4]) < _FILLED * wide or wide < 0.2 * width:
            return None
    y0, y1 = np.array([line.y0 for line in lines]), np.array([line.y1 for line in lines])
    shared = min(y1[one].max(), y1[other].max()) - max(y0[one].min(), y0[other].min())
    shortest = min(y1[one].max() - y0[one].min(), y1[other].max() - y0[other].min())
    return gutter if shared > 0.3 * shortest else None


def _downwards(lines: list[Line]) -> list[Line]:
    """As they are drawn, unless a part that stands higher is drawn later."""
    runs: list[list[Line]] = []
    for line in lines:
        if runs and line.baseline <= runs[-1][-1].baseline + 1.5 * max(line.size, 1.0):
            runs[-1].append(line)
        else:
            runs.append([line])
    if len(runs) == 1:
        return lines
    runs.sort(key=lambda run: -max(line.baseline for line in run))
    return [line for run in runs for line in run]


def same_row(one: Line, other: Line) -> bool:
    near = abs(one.baseline - other.baseline) < 0.35 * max(one.size, other.size, 1.0)
    return near and one.page == other.page and (one.x1 <= other.x0 + 1 or other.x1 <= one.x0 + 1)


def cell_texts(line: Line) -> list[str]:
    """The texts of its cells."""
    bounds = [0, *line.cuts, len(line.text)]
    return [line.text[low:high].strip() for low, high in pairwise(bounds)]
