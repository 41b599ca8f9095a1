"""Parameters that make no sense together are refused; the bounds there are, are told."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import describe_strategies, get_strategy
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.chunkers.packing.small_chunks import SmallChunks, moved_cut
from chunkwise.core import Document, Piece
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from tables import cases


@cases(
    "spec, message",
    [
        (
            "recursive(max_tokens=10, overlap_words=50)",
            r"overlap_words \(50\) must be smaller than max_tokens \(10\)",
        ),
        (
            "sections(overlap_words=801)",
            r"overlap_words \(801\) must be smaller than max_tokens \(800\)",
        ),
        (
            "sections(max_tokens=20, overlap_sentences=20)",
            r"overlap_sentences \(20\) must be smaller than max_tokens \(20\)",
        ),
        ("recursive(separators=text, regex=true)", "regex needs separators as a list, not"),
        ("recursive(regex=true)", "regex needs separators as a list, not"),
        ("recursive(separators=[])", r"separators is \[\]; expected at least one"),
        ('recursive(separators=[""])', r"separators is \[''\]; expected at least one"),
        ('recursive(separators=[""], regex=true)', "expected at least one"),
        ("tokens(overlap=true)", "expected an integer, 0 or more, or a share such as"),
    ],
)
def test_senseless_parameters_are_refused(spec: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        get_strategy(spec)


@cases(
    "spec",
    [
        "recursive(max_tokens=10, overlap_words=9)",
        "sections(max_tokens=1)",
        "recursive(separators=['\\n\\n', '\\n', ' ', ''])",
        "recursive(separators=['a+'], regex=true)",
        "tokens(overlap='10%')",
    ],
)
def test_sensible_ones_are_not(spec: str) -> None:
    get_strategy(spec)


def test_every_overlap_tells_its_bounds() -> None:
    told = [
        (parameter["low"], parameter["high"], parameter["help"])
        for strategy in describe_strategies()
        for parameter in strategy["parameters"]
        if parameter["name"] == "overlap"
    ]
    assert len(told) >= 10
    for low, high, words in told:
        assert low == 0
        assert high == 9_999_999
        assert "below max_" in words


class Repeating(SizedChunker):
    """One whose chunks repeat something unless told otherwise."""

    default_overlap = ("overlap", 30)


@cases(
    "given, repeated, is_asked",
    [
        ({}, ("overlap", 30), False),
        ({"max_tokens": 40}, ("overlap", 10), False),
        ({"overlap": 0}, ("overlap", 0), False),
        ({"overlap": "5%"}, ("overlap", 20), True),
        ({"overlap": 7}, ("overlap", 7), True),
        ({"overlap_words": 7}, ("overlap_words", 7), True),
        ({"overlap_words": 0}, ("overlap_words", 0), False),
        ({"overlap_sentences": 1}, ("overlap_sentences", 1), True),
    ],
)
def test_one_parameter_decides_what_is_repeated(
    given: dict[str, int], repeated: tuple[str, int], is_asked: bool
) -> None:
    made = Repeating(**given)  # type: ignore[arg-type]
    assert made.repeated == repeated
    assert made.overlaps == (repeated[1] > 0)
    assert made.asks_for_overlap == is_asked
    assert SizedChunker(**given).asks_for_overlap == is_asked  # type: ignore[arg-type]
    assert made.limit == (made.tokenizer, given.get("max_tokens", 400))


@cases(
    "given", [{"min_tokens": 401}, {"overlap": 1, "overlap_words": 0}, {"overlap_sentences": 400}]
)
def test_what_makes_no_sense_together_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter):
        SizedChunker(**given)  # type: ignore[arg-type]
    assert SizedChunker(min_tokens=400, overlap_sentences=399).min_tokens == 400


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=9)


def laid_out(sizes: list[int]) -> tuple[Analyzed, list[Piece]]:
    """Words of these sizes with a space between, each a piece."""
    words = ["x" * size for size in sizes]
    ends = np.cumsum([size + 1 for size in sizes]).tolist()
    pieces = [
        Piece(end - 1 - size, end - 1, "", size) for size, end in zip(sizes, ends, strict=True)
    ]
    return Analyzed(Document("x", " ".join(words))), pieces


@settings(max_examples=examples(60))
@given(SIZES, st.integers(0, 8), st.integers(9, 25))
def test_small_pieces_join_the_one_before_where_both_have_room(
    sizes: list[int], least: int, most: int
) -> None:
    document, pieces = laid_out(sizes)
    made = SizedChunker(max_tokens=most, min_tokens=least, tokenizer="characters")
    expected: list[list[int]] = []
    for size in sizes:
        joined = sum(expected[-1]) + len(expected[-1]) + size if expected else 0
        if expected and min(size, joined - size - 1) < least and joined <= most:
            expected[-1].append(size)
        else:
            expected.append([size])
    found = made.join_small_chunks(document, pieces)
    assert [piece.token_count for piece in found] == [sum(own) + len(own) - 1 for own in expected]
    assert [piece.end - piece.start for piece in found] == [piece.token_count for piece in found]
    assert (found[0].start, found[-1].end) == (0, len(document.text))


@settings(max_examples=examples(60))
@given(
    SIZES.filter(lambda sizes: len(sizes) > 1), st.integers(1, 9), st.integers(5, 25), st.randoms()
)
def test_a_moved_cut_is_the_one_worth_most_of_those_that_fit(
    sizes: list[int], least: int, most: int, chance: random.Random
) -> None:
    document, pieces = laid_out(sizes)
    at = chance.randrange(1, len(pieces))
    left = Piece(0, pieces[at - 1].end, "", pieces[at - 1].end)
    right = Piece(pieces[at].start, pieces[-1].end, "", pieces[-1].end - pieces[at].start)
    places = np.array([piece.start for piece in pieces])
    worth = np.array([chance.randrange(4) for _ in pieces], np.float64)
    found = moved_cut(
        document, document.measure("characters"), left, right, places, worth, (least, most)
    )
    # The space between the two belongs to neither: one of the sizes sought may be larger by it.
    fitting = [
        (-worth[n], cut) for n, cut in enumerate(places.tolist())
        if cut and least <= min(cut - 1, len(document.text) - cut) and max(cut, len(document.text) - cut) <= most
    ]  # fmt: skip
    if not fitting:
        assert not found
        return
    _, cut = min(fitting)
    assert [(piece.start, piece.end) for piece in found] == [(0, cut - 1), (cut, right.end)]
    assert [piece.token_count for piece in found] == [cut - 1, right.end - cut]


@settings(max_examples=examples(60))
@given(SIZES, st.integers(1, 8), st.integers(9, 25), st.booleans(), st.randoms())
def test_small_pieces_go_to_the_nearer_neighbor(
    sizes: list[int], least: int, most: int, may_move: bool, chance: random.Random
) -> None:
    document, pieces = laid_out(sizes)
    units = np.array([piece.start for piece in pieces])
    similarity = np.array([chance.random() for _ in pieces[1:]])
    made = SmallChunks(
        document, document.measure("characters"), units, similarity, least, most, may_move
    )
    found = made.without(pieces)
    assert (found[0].start, found[-1].end) == (0, len(document.text))
    assert all(after.start == before.end + 1 for before, after in pairwise(found))
    assert all(piece.token_count == piece.end - piece.start <= most for piece in found)
    assert {piece.start for piece in found} <= set(units.tolist())
    few = [n for n, piece in enumerate(found) if piece.token_count < least]
    for n in few:  # it had no room on either side
        for other in found[n - 1 : n] + found[n + 1 : n + 2]:
            assert piece_size(found[n], other) > most
    if len(pieces) > 2 and not may_move and sizes[0] >= least and sizes[1] < least:
        nearer = similarity[1] > similarity[0]
        sides = [(0, 1), (1, 2)][:: -1 if nearer else 1]
        fits = [side for side in sides if piece_size(*(pieces[n] for n in side)) <= most]
        if fits:
            first = found[0]
            assert (first.end == pieces[0].end) == (fits[0] == (1, 2))


def piece_size(one: Piece, other: Piece) -> int:
    return max(one.end, other.end) - min(one.start, other.start)
