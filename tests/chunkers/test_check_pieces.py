"""Somebody else's strategy: what it did wrong is told in its own terms, with a line of its own file."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise import chunk_text
from chunkwise.base.errors import BrokenContract, ChunkwiseError
from chunkwise.chunkers.check_pieces import (
    check_order,
    check_summary,
    foreign_pieces,
    merged_spans,
)
from chunkwise.core import Chunk, Document, Piece, Span
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from tables import cases

BODIES = {
    "missing": ("return {}['lamp']", r"KeyError: 'lamp' \(mine\.py, line 4\)"),
    "called": (
        "import json\n        return json.loads('{')",
        r"JSONDecodeError: .* \(mine\.py, line 5\)",
    ),
    "later": ("yield 0, 1\n        1 / 0", r"ZeroDivisionError: .* \(mine\.py, line 5\)"),
    "strings": (
        "return ['Lamps are lit']",
        "TypeError: split gave str 'Lamps are lit'; a strategy returns Piece",
    ),
    "one string": ("return 'Lamps'", "split returned str 'Lamps'; a strategy returns Piece"),
    "nothing": ("pass", "split returned None; a strategy returns Piece"),
    "numbers": ("return [0, 4]", "split gave int 0; a strategy returns Piece"),
    "one number": ("return [(0,)]", r"split gave 1 value, tuple \(0,\); a strategy returns"),
    "many": ("return [range(13)]", "split gave 13 values, range .*; a strategy returns"),
}


@cases("body", BODIES)
def test_a_fault_is_told_in_the_author_s_terms(body: str, tmp_path: Path) -> None:
    code, message = BODIES[body]
    (tmp_path / "mine.py").write_text(
        f"# My own\nclass Mine:\n    def split(self, document):\n        {code}\n"
    )
    with pytest.raises(ChunkwiseError, match=message) as caught:
        chunk_text("Lamps are lit.", strategy=f"{tmp_path}/mine.py:Mine")
    assert "mine.py:Mine failed on text" in str(caught.value)
    assert "__new__" not in str(caught.value)


def test_what_can_only_be_asked_for_by_position_is_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Pairs:\n    def __getitem__(self, at):\n        return ((0, 5), (6, "
        "14))[at]\n\nclass Mine:\n    def split(self, document):\n        return Pairs()\n"
    )
    chunks = chunk_text("Lamps are lit.", strategy=f"{tmp_path}/mine.py:Mine")
    assert [chunk.text for chunk in chunks] == ["Lamps", "are lit."]


SPANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6).map(
    lambda rows: [Span(start, start + length) for start, length in rows]
)


@given(SPANS)
def test_merged_spans_are_the_same_text_in_order_and_apart(spans: list[Span]) -> None:
    found = merged_spans(spans)
    assert {at for each in found for at in range(*each)} == {
        at for each in spans for at in range(*each)
    }
    assert all(before.end <= behind.start for before, behind in pairwise(found))
    assert found == merged_spans(reversed(spans)) == merged_spans(found)
    # Spans that only touch stay two: every end was somebody's.
    for each in found:
        inside = [own for own in spans if own.start < each.end and each.start < own.end]
        seams = {own.end for own in inside} & {own.start for own in inside}
        for seam in seams - {each.start, each.end}:
            assert any(own.start < seam < own.end for own in inside)


TILES = st.lists(st.integers(0, 3), max_size=5).map(
    lambda sizes: [Span(sum(sizes[:n]), sum(sizes[: n + 1])) for n in range(len(sizes))]
)


@settings(max_examples=examples(200))
@given(
    st.one_of(SPANS, TILES),
    st.sampled_from([-1, 0, 1, 1, 1, 100, 101]),
    st.sampled_from(["", " ", "Said.", "Said."]),
    st.integers(0, 5),
)
def test_a_summary_says_what_it_stands_for(
    spans: list[Span], level: int, said: str, odd: int
) -> None:
    start, end = (spans[0].start + (odd == 1), spans[-1].end + (odd == 2)) if spans else (0, 3)
    holds = (
        bool(spans) and 0 < level <= 100 and said == "Said." and odd not in (1, 2)
        and all(before.end <= behind.start for before, behind in pairwise(spans))
        and all(span.start < span.end for span in spans)
    )  # fmt: skip
    piece = Piece(start, end, summary=said, level=level, summarized=tuple(spans))
    if holds:
        check_summary(piece, "mine")
        return
    with pytest.raises(BrokenContract):
        check_summary(piece, "mine")


def chunk_of(level: int, at: int) -> Chunk:
    document, places = Document("d", "one two"), (Span(0, 1),)
    if level:
        return Chunk(document, at, 0, 1, 1, summary="S", summarized=places, level=level)
    return Chunk(document, at, 0, 1, 1)


@given(st.lists(st.integers(0, 2), max_size=6))
def test_chunks_come_before_summaries(levels: list[int]) -> None:
    chunks = [chunk_of(level, at) for at, level in enumerate(levels)]
    if any(before and not behind for before, behind in pairwise(levels)):
        with pytest.raises(BrokenContract):
            check_order(chunks)
    else:
        check_order(chunks)


class Theirs:
    """A strategy that gives what it is told to."""

    def __init__(self, given: object) -> None:
        self.split: Callable[[object], object] = lambda document: given


def given_pieces(found: object) -> list[Piece]:
    return foreign_pieces("mine", Theirs(found), Analyzed(Document("d", "one two")))


def test_offsets_of_any_kind_become_whole_numbers() -> None:
    two, full = np.int64(2), (np.int64(0), True, "before", 3)
    (pair, longest, piece) = given_pieces(
        iter([[0, two], full, Piece(two, 5, summarized=((np.int8(2), two),))])  # type: ignore[arg-type]
    )
    assert (pair, longest) == (Piece(0, 2), Piece(0, 1, "before", 3))
    assert piece == Piece(2, 5, summarized=(Span(2, 2),))
    numbers = (*pair[:2], *longest[:2], *piece[:2], *piece.summarized[0])
    assert {type(number) for number in numbers} == {int}


@cases(
    "found",
    [
        None, 5, "text", [5], ["ab"], [()], [(0,)], [range(len(Piece._fields) + 1)], [(0.0, 1)], [(0, 1, 5)],
        [Piece(0, 1, summary=None)], [Piece(0, 1, summarized=((0, 0.5),))], [(0, "1")],
    ],
)  # fmt: skip
def test_any_other_thing_is_no_piece(found: object) -> None:
    with pytest.raises(ChunkwiseError) as caught:
        given_pieces(found)
    assert isinstance(caught.value.__cause__, TypeError)
