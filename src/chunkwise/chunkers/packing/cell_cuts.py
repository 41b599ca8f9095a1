"""Where rows of tables too large for a chunk are cut: between cells, and leaving no crumbs beside a large one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.packing.cuts import ArrayCuts
from chunkwise.chunkers.packing.overlap import OverlapFrom
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.measure import TokenMeasure

_CRUMB = 1 / 4
"""Share of a chunk: cells that are less together go with the large cell beside them."""
_SLACK = 1 / 10
"""Share of a chunk that a cut inside a sentence may move back, to the end of a clause or a word."""
_SMALLEST = 1 / 3
"""Share of a chunk that a part of a cell has at least where it is to end with a sentence."""
_LEAST = 16
"""Tokens of a chunk below which its tenth is no word."""
_EXCESS = 2
"""Tokens that a piece by itself may have more than its share of the document's."""
_ENDS = tuple(map(re.compile, (r"[;:,](?=\s)|[，；：、]", r"(?=\s)")))


def cells_of_like_size(
    document: Analyzed, measure: TokenMeasure, limit: int, overlap_from: OverlapFrom | None
) -> ArrayCuts:
    """Cuts of the rows larger than the limit into pieces of like size, each with room for what is repeated."""
    return ArrayCuts(partial(_cuts, document, measure, limit, overlap_from))


def _cuts(
    document: Analyzed, measure: TokenMeasure, limit: int, overlap_from: OverlapFrom | None
) -> NDArray[np.int64]:
    cells, rows = document.cells, document.blocks.spans("header", "row")
    large = rows[measure.reaches(rows[:, 0], limit) < rows[:, 1]]
    found: list[int] = []
    for (start, end), (first, last) in zip(
        large.tolist(), cells.searchsorted(large).tolist(), strict=True
    ):
        bounds = np.concatenate(([start], cells[first:last], [end]))
        repeated = measure.before(end) - measure.before(overlap_from(end)) if overlap_from else 0
        room = limit - repeated - _EXCESS
        if room < _LEAST:
            found.extend(bounds[1:-1].tolist())
        else:
            found.extend(_row(document, measure, bounds, room))
    return document.graphemes.keep(np.array(found, dtype=np.int64))


def _row(
    document: Analyzed, measure: TokenMeasure, bounds: NDArray[np.int64], room: int
) -> Iterator[int]:
    """The cuts of one row, given where its cells start and where it ends."""
    tokens = measure.befores(bounds)
    for is_large, first, end in _stretches(tokens, room):
        if first:
            yield int(bounds[first])
        if is_large:
            yield from _inside(document, measure, int(bounds[first]), int(bounds[end]), room)
        else:
            yield from bounds[
                _evenly(tokens[first : end + 1].tolist(), room)[1:-1] + first
            ].tolist()


def _stretches(tokens: NDArray[np.int64], room: int) -> list[tuple[bool, int, int]]:
    """Cells in their order, each too large by itself with the crumbs beside it: whether there is one, first and end."""
    found: list[tuple[bool, int, int]] = []
    start = end = 0
    for is_large, group in groupby((np.diff(tokens) > room).tolist()):
        count = len(list(group))
        if is_large:  # the first of them takes in the crumbs before it
            for _ in range(count):
                end += 1
                found.append((True, start, end))
                start = end
            continue
        end += count
        if tokens[end] - tokens[start] >= _CRUMB * room:
            found.append((False, start, end))
            start = end
    if start < end:
        found[-1:] = [(True, found[-1][1], end)] if found else [(False, start, end)]
    return found


def _evenly(sums: Sequence[int], room: int) -> NDArray[np.int64]:
    """Bounds of as few groups of cells as have room, the largest as small as can be."""
    low, high = max(after - before for before, after in pairwise(sums)), room
    fewest = len(_grouped(sums, room))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(_grouped(sums, middle)) == fewest else (middle + 1, high)
    return np.array(_grouped(sums, high), dtype=np.int64)


def _grouped(sums: Sequence[int], room: int) -> list[int]:
    # No cell is larger than the room.
    found = [0]
    while found[-1] < len(sums) - 1:
        found.append(bisect_right(sums, sums[found[-1]] + room) - 1)
    return found


def _inside(
    document: Analyzed, measure: TokenMeasure, start: int, end: int, room: int
) -> Iterator[int]:
    """Cuts of a stretch into parts of like size, each at the end of a sentence; a longer one at that of a clause."""
    slack = max(int(_SLACK * room), 1)
    while (left := measure.before(end) - measure.before(start)) > room:
        size = left // -(-left // (room - slack))
        start = _between_sentences(document, measure, start, size, room) or _inside_sentence(
            document.text, measure, start, size, slack
        )
        yield start


def _between_sentences(
    document: Analyzed, measure: TokenMeasure, start: int, size: int, room: int
) -> int:
    """The start of a sentence or cell that makes a part nearest to this size and within the room; 0: there is none."""
    starts = document.sentences_in_rows
    low, high = measure.reach(start, max(int(_SMALLEST * room), 1)), measure.reach(start, room)
    near = starts[starts.searchsorted(low, "right") : starts.searchsorted(high, "right")]
    if not len(near):
        return 0
    sizes = measure.befores(near) - measure.before(start)
    return int(near[np.abs(sizes - size).argmin()])


def _inside_sentence(text: str, measure: TokenMeasure, start: int, size: int, slack: int) -> int:
    low, high = measure.reach(start, max(size - slack, 0)), measure.reach(start, size)
    for ends in _ENDS:
        places = [match.end() for match in ends.finditer(text, low, high)]
        if places and places[-1] > start:
            return places[-1]
    return max(high, start + 1)
