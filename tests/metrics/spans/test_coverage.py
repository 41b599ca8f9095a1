"""Joins and unions of spans on a line, and that no more work is done than there is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.metrics.spans import coverage
from chunkwise.metrics.spans.coverage import (
    Grouped,
    SpanPairs,
    Spans,
    Union,
    on_one_axis,
    overlapping,
)

pairs = st.tuples(st.integers(0, 25), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1]))
lines = st.lists(pairs, max_size=12)


def spans(given: list[tuple[int, int]]) -> Spans:
    return Spans(*np.array(given, dtype=np.int64).reshape(-1, 2).T)


def positions(given: list[tuple[int, int]]) -> set[int]:
    return {at for start, end in given for at in range(start, end)}


@given(lines, lines)
def test_every_overlapping_pair_is_formed_once_and_no_other(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    got = overlapping(spans(first), spans(second))
    assert sorted(zip(got.first.tolist(), got.second.tolist(), strict=True)) == [
        (i, j)
        for i, a in enumerate(first)
        for j, b in enumerate(second)
        if positions([a]) & positions([b])
    ]


@given(lines, lines)
def test_union_and_what_it_shares(
    covered: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    union = Union(spans(covered))
    stretches = list(zip(*(column.tolist() for column in union.spans), strict=True))
    assert positions(stretches) == positions(covered)
    assert all(a[1] < b[0] for a, b in pairwise(stretches))
    assert [covered[n][0] for n in union.opener.tolist()] == [start for start, _ in stretches]
    expected = [len(positions([span]) & positions(covered)) for span in asked]
    assert union.shared(spans(asked)).tolist() == expected


@given(
    st.lists(
        st.tuples(st.integers(-1, 10**12) | st.integers(1 << 60, 1 << 62), pairs),
        min_size=1,
        max_size=12,
    )
)
def test_groups_never_meet(rows: list[tuple[int, tuple[int, int]]]) -> None:
    group = np.array([row[0] for row in rows])
    start, end = spans([row[1] for row in rows])
    (line,) = on_one_axis(Grouped(group, start, end))
    got = overlapping(line, line)
    assert np.array_equal(line.length, end - start)
    assert np.all(group[got.first] == group[got.second])


def test_a_chunk_that_holds_all_others_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs formed are pairs found, also where a search backwards would end at the first chunk each time."""
    formed = []
    ranges = coverage._ranges

    def counted(*given: NDArray[np.int64]) -> SpanPairs:
        made = ranges(*given)
        formed.append(len(made.first))
        return made

    monkeypatch.setattr(coverage, "_ranges", counted)
    many = 20_000
    start = np.arange(many) * 10
    chunks = Spans(np.append(0, start), np.append(10 * many, start + 10))
    places = Spans(start + 2, start + 5)
    found = overlapping(chunks, places)
    assert sum(formed) == len(found.first) == 2 * many
