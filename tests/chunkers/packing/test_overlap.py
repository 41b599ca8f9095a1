"""Overlap: what is asked for is there, at a sentence, a clause or a word; where it cannot be, the reason is told."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.packing.cuts import ArrayCuts, CutLevel
from chunkwise.chunkers.packing.overlap import (
    MissingOverlaps,
    check_overlap,
    overlap_from,
    overlap_starts,
    overlap_tokens,
)
from chunkwise.core import Chunk, Document
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from tables import cases

LONG = (
    "The keeper of the light climbed the stairs every evening, carrying oil and matches and a loaf of bread, "
    "because the wind that came over the water at dusk had once put out the lamp and cost a ship. "
)
SHORT = "It rained. He slept well. "
STRATEGIES = [
    "sentences(max_tokens=60, overlap=12)",
    "recursive(max_tokens=60, overlap=12)",
    "paragraphs(max_tokens=60, overlap=12)",
    "paragraphs(max_tokens=60, overlap=12, merge=true)",
    "structure(max_tokens=60, overlap=12)",
    "sections(max_tokens=60, overlap_words=8)",
    "sections(max_tokens=60, overlap_sentences=2)",
]


def chunks_of(text: str, strategy: str, format: str = "text") -> list[Chunk]:
    return list(get_strategy(strategy).chunks(Document("x", text, format=format)))


def missing(text: str, strategy: str, format: str = "text") -> MissingOverlaps:
    made = get_strategy(strategy)
    analyzed = Analyzed(Document("x", text, format=format))
    assert made.limit is not None
    found = MissingOverlaps(made.limit, made.overlap_asked)
    found.add(Chunked(analyzed.document, list(made.chunks(analyzed)), analyzed))
    return found


@cases("strategy", STRATEGIES)
@cases("gap", ["", "\n\n"])
def test_a_last_sentence_longer_than_the_overlap_is_repeated_in_part(
    strategy: str, gap: str
) -> None:
    chunks = chunks_of((LONG + gap) * 12, strategy)
    assert len(chunks) > 6
    for before, behind in pairwise(chunks):
        assert before.start < behind.start < before.end < behind.end


def test_a_whole_sentence_is_repeated_where_it_fits() -> None:
    chunks = chunks_of((LONG + SHORT) * 6, "sentences(max_tokens=60, overlap=12)")
    assert [chunk.text for chunk in chunks[1:] if chunk.text.startswith("It rained.")]


def test_a_clause_is_repeated_where_the_sentence_is_too_long() -> None:
    chunks = chunks_of(LONG * 6, "sentences(max_tokens=80, overlap=25)")
    assert all(chunk.text.startswith("because the wind") for chunk in chunks[1:])


def test_words_are_repeated_where_the_clause_is_too_long() -> None:
    chunks = chunks_of(LONG * 6, "sentences(max_tokens=60, overlap=5)")
    assert all(chunk.text.startswith("cost a ship. The keeper") for chunk in chunks[1:])


def test_recursive_repeats_across_paragraphs_and_headings() -> None:
    text = "\n\n".join(f"# Part {number}\n\n{LONG}" for number in range(8))
    chunks = chunks_of(text, "recursive(max_tokens=60, overlap=20)", "markdown")
    assert all(behind.start < before.end for before, behind in pairwise(chunks))


def test_where_a_section_begins_nothing_is_repeated_and_that_is_told() -> None:
    text = "\n\n".join(f"# Part {number}\n\n{LONG}" for number in range(4))
    found = missing(text, "sections(max_tokens=60, overlap=20)", "markdown")
    assert found.in_words() == "no overlap at 3 of 3 boundaries (3 at the start of a section)"


def test_where_what_follows_fills_the_chunk_that_is_told() -> None:
    found = missing(
        "aaaa bbbb cccc. " * 6, "sentences(max_tokens=15, overlap=5, tokenizer=characters)"
    )
    assert found.in_words() == "no overlap at 5 of 5 boundaries (5 no room)"


def test_a_word_longer_than_the_overlap_is_told_and_not_cut() -> None:
    text = f"Then go to {'x' * 40}. " * 5
    strategy = "sentences(max_tokens=95, overlap=10, tokenizer=characters)"
    assert missing(text, strategy).in_words() == (
        "no overlap at 4 of 4 boundaries (4 after a word longer than the overlap)"
    )
    assert {chunk.text for chunk in chunks_of(text, strategy)} == {f"Then go to {'x' * 40}."}


def test_white_space_longer_than_the_overlap_is_told() -> None:
    text = f"came; then rain.{' ' * 9}\n\n\n\n{'é ' * 20}"
    found = missing(text, "sentences(max_tokens=60, overlap=12, tokenizer=characters)")
    assert found.reasons["after longer whitespace"] == 1


def test_ideographs_that_separators_do_not_part_are_one_word() -> None:
    text = "文字文字文字 " * 3
    found = missing(text, "recursive(max_tokens=12, overlap=6, tokenizer=characters)")
    assert set(found.reasons) == {"after a one-word chunk"}


def test_another_parent_is_told() -> None:
    text = "\n\n".join([LONG] * 8)
    found = missing(text, "parent_child(max_tokens=20, parent_size=40, overlap=5)")
    assert found.reasons["at the start of a parent"] == 7


def test_nothing_is_told_where_every_boundary_has_its_overlap() -> None:
    assert missing(LONG * 12, "sentences(max_tokens=60, overlap=12)").in_words() == ""


WORDS = st.sampled_from(
    ["rain", "came; then", "over,", "the hill.", "He left.", "\n\n", "文字", "e\u0301", "# T\n"]
)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(30), deadline=None)
@given(words=st.lists(WORDS, min_size=40, max_size=120))
def test_every_boundary_has_an_overlap_or_a_reason(strategy: str, words: list[str]) -> None:
    text = " ".join(words)
    chunks = chunks_of(text, strategy)
    for before, behind in pairwise(chunks):
        assert before.start < behind.start
        assert before.end < behind.end
    assert all(chunk.token_count <= 60 for chunk in chunks)
    found = missing(text, strategy)
    # Short words leave room for one more: no word is longer than the overlap, but a chunk or a gap may be filled.
    assert "after a word longer than the overlap" not in found.reasons


@cases("overlap, limit", [("9" * 400 + "%", 100), ("10%", 10**400)])
def test_a_share_without_measure_is_refused(overlap: str, limit: int) -> None:
    with pytest.raises(InvalidParameter, match="overlap is"):
        overlap_tokens(overlap, limit)


@cases(
    "overlap, tokens",
    [(0, 0), (7, 7), ("0%", 0), ("10%", 6), ("12.5 %", 7), (" 5%", 3), ("100%", 60), ("150%", 90)],
)
def test_an_overlap_is_a_number_or_a_share(overlap: int | str, tokens: int) -> None:
    assert overlap_tokens(overlap, 60) == tokens
    if tokens < 60:
        assert check_overlap(overlap, 60, "max_tokens") == tokens
        return
    with pytest.raises(InvalidParameter):
        check_overlap(overlap, 60, "max_tokens")


@cases("overlap", [-1, True, 2.0, "10", "%", "1.2.3%", "-1%", "٣%", "1e1%", None])
def test_anything_else_is_no_overlap(overlap: object) -> None:
    with pytest.raises(InvalidParameter):
        overlap_tokens(overlap, 60)  # type: ignore[arg-type]


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(WORDS, min_size=1, max_size=20).map(" ".join), st.integers(0, 5), st.sampled_from([1, 2, 9, 60]),
)  # fmt: skip
def test_an_overlap_reaches_back_as_far_as_it_says(text: str, amount: int, limit: int) -> None:
    document = Analyzed(Document("x", text))
    measure = document.measure("characters")
    for unit in ("overlap", "overlap_words", "overlap_sentences"):
        back = overlap_from(document, measure, unit, amount, limit)
        assert (back is None) == (amount == 0)
        for fresh in range(0, len(text) + 1, 3) if back else ():
            assert back is not None
            if unit == "overlap":
                assert back(fresh) == max(fresh - amount, 0)
                continue
            starts = (
                document.sentences
                if unit.endswith("s") and "sen" in unit
                else document.characters.word_starts
            )
            before = [at for at in starts.tolist() if at < fresh]
            reached = before[-amount] if len(before) > amount else 0
            assert back(fresh) == max(reached, fresh - limit // 2, 0)


PLACES = st.lists(st.integers(0, 30), unique=True, max_size=12).map(sorted)


@given(st.lists(PLACES, max_size=3), st.integers(0, 30), st.integers(0, 31))
def test_a_chunk_may_start_at_the_first_three_places_of_each_level(
    levels: list[list[int]], low: int, end: int
) -> None:
    cuts: list[CutLevel] = [ArrayCuts(lambda own=own: np.array(own, np.int64)) for own in levels]  # type: ignore[misc]
    found = list(overlap_starts(cuts, low, end))
    expected = [start for own in levels for start in [at for at in own if low <= at < end][:3]]
    # One that was just tried is not tried again.
    once = [at for n, at in enumerate(expected) if n == 0 or at != expected[n - 1]]
    assert found == once
