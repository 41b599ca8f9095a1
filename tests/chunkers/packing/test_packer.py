"""Filling chunks: stretches taken whole and nested levels in one loop give what filling one by one gives."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.packing import packing_ahead as packing
from chunkwise.chunkers.packing.cuts import ArrayCuts, clause_levels, sentence_levels, word_level
from chunkwise.chunkers.packing.overlap import TokensBack, overlap_from
from chunkwise.chunkers.packing.packer import Packer
from chunkwise.chunkers.packing.packing_ahead import FlatPacker, NestedPacker
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.chunkers.structure import StructureChunker
from chunkwise.core import Document, Piece
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from untimed import lines_run

PIECES = [
    "One sentence here. Another one; with, clauses.", "word", "a" * 60, "e\u0301", "👨‍👩‍👧", "\u0600", "文字",
    "# Title", " ", "\n", "\n\n", "\n\n\n\n\n\n", " " * 40, "\r\n\r\n", "\t", "\u00a0", "\u200d", "- item",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join)


@pytest.mark.parametrize("tokenizer", ["characters", "o200k_base"])
@pytest.mark.parametrize(("format", "overlap"), [("text", 0), ("text", 5), ("code", 0)])
@settings(max_examples=examples(30), deadline=None)
@given(TEXTS, st.integers(6, 60), st.booleans(), st.booleans())
def test_stretches_at_once_are_stretches_one_by_one(
    tokenizer: str, format: str, overlap: int, text: str, limit: int, nested: bool, alone: bool
) -> None:
    def packer(document: Analyzed) -> Packer:
        sized = SizedChunker(max_tokens=limit, overlap=overlap, tokenizer=tokenizer)
        levels = [ArrayCuts(lambda: document.paragraphs), *sentence_levels(document)]
        return sized.packer(document, [*levels, *clause_levels(document)], nested=nested)

    document = Analyzed(Document("x", text, format=format))
    starts = document.paragraphs
    floors = starts if alone else document.sections.start[document.sections.at(starts)]
    at_once = packer(document).pack_each(starts, floors)
    one = packer(document)
    spans = zip(pairwise([*starts.tolist(), len(text)]), floors.tolist(), strict=True)
    assert at_once == [p for (start, end), floor in spans for p in one.pack(start, end, floor)]


@pytest.mark.parametrize(("strategy", "opening"), [("paragraphs", ""), ("sections", "# Title\n")])
def test_what_fits_is_not_filled_piece_by_piece(
    monkeypatch: pytest.MonkeyPatch, strategy: str, opening: str
) -> None:
    monkeypatch.delattr(Packer, "pack")
    parts = [f"{opening}Paragraph {number}." for number in range(50)]
    document = Document("x", "\n\n".join(parts) + "\n", format="markdown")
    chunks = list(get_strategy(strategy).chunks(document))
    assert [chunk.text for chunk in chunks] == parts
    assert all(chunk.token_count > 0 for chunk in chunks)


@pytest.mark.parametrize(
    "strategy", ["sentences", "paragraphs", "recursive", "sections", "structure"]
)
@pytest.mark.parametrize("gap", [" ", "\n\n", "  \n\n\n ", "\n" * 40])
def test_what_fits_to_the_character_is_taken_in(strategy: str, gap: str) -> None:
    """White space behind a chunk is trimmed: it takes no room."""
    first = "Abcd efgh. Ijkl mnop."
    text = gap.join([first, "Qrst uvwx. Yzab cdef.", "End."])
    made = get_strategy(strategy, max_tokens=len(first), overlap=0, tokenizer="characters")
    chunks = list(made.chunks(Document("x", text)))
    assert [chunk.text for chunk in chunks][:2] == [first, "Qrst uvwx. Yzab cdef."]


NESTED_PIECES = [
    "One sentence here. Another one; with, clauses.", "word", "a" * 60, "e\u0301", "👨‍👩‍👧", "\u0600", "文字",
    "# Title", " ", "\n", "\n\n", "\n\n\n\n\n\n", "\r\n\r\n", "\t", "\u00a0", "\u200d", "- item", "XMLHttpRequest",
]  # fmt: skip


@pytest.mark.parametrize("tokenizer", ["characters", "o200k_base", "words"])
@pytest.mark.parametrize(("format", "overlap"), [("text", 0), ("text", 5), ("code", 0)])
@settings(max_examples=examples(30), deadline=None)
@given(TEXTS, st.integers(1, 60))
def test_nested_packer_makes_the_chunks_of_the_packer(
    tokenizer: str, format: str, overlap: int, text: str, limit: int
) -> None:
    def packed(kind: type[Packer]) -> list[Piece]:
        document = Analyzed(Document("x", text, format=format))
        measure = document.measure(tokenizer)
        levels = [
            ArrayCuts(lambda: document.paragraphs),
            *sentence_levels(document),
            *clause_levels(document),
        ]
        packer = kind(
            document,
            measure,
            limit,
            levels,
            nested=True,
            overlap_from=TokensBack(measure, overlap) if overlap else None,
        )
        return packer.pack(0, len(text))

    expected = packed(Packer)
    assert packed(NestedPacker) == expected
    # Looking ahead pays in long texts of small pieces; here it is done in every text, a few cuts at a time.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_LONG_STRETCH", 0)
        patch.setattr(packing, "_PIECES_A_CHUNK", 1000)
        for ahead in (2, 5, 1000):
            patch.setattr(packing, "_CUTS_AHEAD", ahead)
            assert packed(NestedPacker) == expected


FLAT_PIECES = [
    *PIECES, "Short one. ", "It rains; still, we go. ", "He said: wait, for now. ", "No.\n\n", "(a) one, (b) two. ",
]  # fmt: skip
FLAT_TEXTS = st.lists(st.sampled_from(FLAT_PIECES), min_size=1, max_size=40).map("".join)


@pytest.mark.parametrize("tokenizer", ["characters", "o200k_base", "words"])
@pytest.mark.parametrize("unit", ["overlap", "overlap_words", "overlap_sentences"])
@settings(max_examples=examples(40), deadline=None)
@given(FLAT_TEXTS, st.integers(1, 60), st.integers(0, 20), st.booleans())
def test_flat_packer_makes_the_chunks_of_the_packer(
    tokenizer: str, unit: str, text: str, limit: int, amount: int, by_words: bool
) -> None:
    amount = min(amount, limit - 1)

    def packed(kind: type[Packer]) -> list[Piece]:
        document = Analyzed(Document("x", text))
        measure = document.measure(tokenizer)
        levels = [*sentence_levels(document), *clause_levels(document)]
        packer = kind(
            document,
            measure,
            limit,
            levels,
            overlap_from=overlap_from(document, measure, unit, amount, limit),
            overlap_cuts=word_level(document) if by_words else None,
        )
        middle = document.graphemes.floor(len(text) // 2)
        # The second stretch repeats from the first one, as the chunks of one section do.
        return [*packer.pack(0, middle), *packer.pack(middle, len(text), 0)]

    expected = packed(Packer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_LONG_STRETCH", 0)
        patch.setattr(packing, "_PIECES_A_CHUNK", 1000)
        for ahead in (2, 5, 1000):
            patch.setattr(packing, "_CUTS_AHEAD", ahead)
            assert packed(FlatPacker) == expected


@settings(max_examples=examples(60), deadline=None)
@given(FLAT_TEXTS, st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=30))
def test_spans_counted_together_have_the_size_of_each_by_itself(
    text: str, places: list[tuple[int, int]]
) -> None:
    spans = [(min(pair) % (len(text) + 1), max(pair) % (len(text) + 1)) for pair in places]
    spans = [(min(pair), max(pair)) for pair in spans]
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    for tokenizer in ("o200k_base", "cl100k_base", "words", "characters"):
        measure = Analyzed(Document("x", text)).measure(tokenizer)
        counted = measure.counts(starts, ends).tolist()
        assert counted == [measure.tokenizer.count(text[start:end]) for start, end in spans]


def test_tiny_chunks_take_little_work_each() -> None:
    document = Analyzed(Document("x", "a\n\n" * 20_000))
    chunker = StructureChunker(max_tokens=1)
    chunker.split(document)  # what is found once for a text
    assert lines_run(lambda: chunker.split(document)) < 12 * 20_000


def test_a_tokenizer_that_reads_every_span_anew_reads_no_more_for_looking_ahead() -> None:
    read = 0

    def count(text: str) -> int:
        nonlocal read
        read += 1
        return len(text.split())

    chunks = list(
        get_strategy("structure", max_tokens=1, tokenizer=count).chunks(
            Document("x", "ab\n\n" * 3000)
        )
    )
    assert len(chunks) == 3000
    assert read < 3 * len(chunks)
