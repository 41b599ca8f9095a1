"""Filling chunks: stretches taken whole give what filling one by one gives."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.packing.cuts import ArrayCuts, clause_levels, sentence_levels
from chunkwise.chunkers.packing.packer import Packer
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.chunkers.structure import StructureChunker
from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from tables import cases
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


@cases("strategy", ["sentences", "paragraphs", "recursive", "sections", "structure"])
@cases("gap", [" ", "\n\n", "  \n\n\n ", "\n" * 40])
def test_what_fits_to_the_character_is_taken_in(strategy: str, gap: str) -> None:
    """White space behind a chunk is trimmed: it takes no room."""
    first = "Abcd efgh. Ijkl mnop."
    text = gap.join([first, "Qrst uvwx. Yzab cdef.", "End."])
    made = get_strategy(strategy, max_tokens=len(first), overlap=0, tokenizer="characters")
    chunks = list(made.chunks(Document("x", text)))
    assert [chunk.text for chunk in chunks][:2] == [first, "Qrst uvwx. Yzab cdef."]


CLAUSES = [
    *PIECES, "Short one. ", "It rains; still, we go. ", "He said: wait, for now. ", "No.\n\n", "(a) one, (b) two. ",
]  # fmt: skip
CLAUSE_TEXTS = st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=40).map("".join)


@settings(max_examples=examples(60), deadline=None)
@given(CLAUSE_TEXTS, st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=30))
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
    assert lines_run(lambda: chunker.split(document)) < 100 * 20_000


def test_a_tokenizer_that_reads_every_span_anew_reads_few_of_them() -> None:
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
