"""Cuts found in parts or page by page are the cuts found all at once."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers.packing import cuts as module
from chunkwise.chunkers.packing.cuts import (
    NONE,
    CutLevel,
    NearCuts,
    PagedCuts,
    clause_levels,
)
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from how_many import examples

CLAUSES = st.lists(
    st.sampled_from([*"ab;:,；、 \n\u3000\u0301文", "\r\n", "; ", ", "]), max_size=30
).map("".join)
PLACES = st.lists(st.integers(0, 60), unique=True).map(sorted)


def _all_answers(cuts: CutLevel, size: int) -> list[tuple[int, int]]:
    spans = [(low, high) for low in range(-1, size, 2) for high in range(max(low, 0), size + 1)]
    return [(cuts.last(low, high), cuts.first(low, high)) for low, high in spans]


def _naive(places: list[int], size: int) -> list[tuple[int, int]]:
    spans = [(low, high) for low in range(-1, size, 2) for high in range(max(low, 0), size + 1)]
    return [
        (
            max((cut for cut in places if low < cut <= high), default=NONE),
            min((cut for cut in places if low < cut < high), default=NONE),
        )
        for low, high in spans
    ]


@settings(max_examples=examples(40), deadline=None)
@given(PLACES, st.integers(1, 70))
def test_pages_of_any_length_have_the_same_cuts(places: list[int], page: int) -> None:
    positions = np.array(places, dtype=np.int64)
    paged = PagedCuts(lambda low, high: positions[(positions >= low) & (positions < high)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PAGE", page)
        assert _all_answers(paged, 60) == _naive(places, 60)


@settings(max_examples=examples(60), deadline=None)
@given(CLAUSES, st.integers(0, 3), st.integers(1, 9))
def test_clauses_and_words_are_found_wherever_pages_end(text: str, level: int, page: int) -> None:
    document = Analyzed(Document("d", text))
    at_once = _all_answers(clause_levels(document)[level], len(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PAGE", page)
        assert _all_answers(clause_levels(document)[level], len(text)) == at_once


@settings(max_examples=examples(120), deadline=None)
@given(
    CLAUSES, st.lists(st.sampled_from([";", "；", ", ", ",", ":", " ", "a", "b;", "  "]), min_size=1, max_size=4),
    st.booleans(), st.integers(0, 4), st.randoms(),
)  # fmt: skip
def test_cuts_sought_near_are_those_of_the_whole_text(
    text: str, signs: list[str], spaced: bool, refused: int, chance: random.Random
) -> None:
    graphemes = Analyzed(Document("d", text)).graphemes
    places = set[int]()
    for sign in signs:
        # White space goes to the next piece.
        before = 0 if sign[0].isspace() else len(sign.rstrip())
        starts = [at for at in range(len(text)) if text.startswith(sign, at)]
        places |= {at + before for at in starts}
    kept = [cut for cut in sorted(places) if 0 < cut < len(text) and graphemes.is_break(cut)]
    if spaced:
        signs = [sign for sign in signs if sign in (";", "；", ",", ":")] or [";"]
        places = {at + 1 for at, sign in enumerate(text) if sign in signs}
        kept = [
            cut for cut in sorted(places)
            if cut < len(text) and graphemes.is_break(cut)
            and (text[cut].isspace() or not text[cut - 1].isascii())
        ]  # fmt: skip
    near = NearCuts(text, signs, graphemes, spaced=spaced, refused=refused)
    spans = [(low, high) for low in range(-1, len(text)) for high in range(low + 1, len(text))]
    for low, high in chance.sample(spans, min(len(spans), 60)):
        low = max(low, 0)
        inside = [cut for cut in kept if low < cut <= high]
        assert near.last(low, high) == max(inside, default=NONE)
        assert near.first(low, high) == min((cut for cut in inside if cut < high), default=NONE)


def test_a_clause_ends_before_white_space_and_wide_signs_need_none() -> None:
    _cells, _sentences, _items, semicolons, *_ = clause_levels(
        Analyzed(Document("d", "a;b; c；d;"))
    )
    assert [semicolons.first(low, 10) for low in (0, 4, 7)] == [4, 7, NONE]
