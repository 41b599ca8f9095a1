"""Filling chunks: stretches taken whole at once are the chunks that filling them one by one gives."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.cuts import ArrayCuts
from chunkwise.chunkers.levels import clause_levels, sentence_levels
from chunkwise.chunkers.pack import Packer
from chunkwise.chunkers.sized import Sized
from chunkwise.core import Document
from chunkwise.text.analysis import Analyzed
from how_many import examples

PIECES = [
    "One sentence here. Another one; with, clauses.", "word", "a" * 60, "e\u0301", "👨‍👩‍👧", "\u0600", "文字",
    "# Title", " ", "\n", "\n\n", "\n\n\n\n\n\n", "\r\n\r\n", "\t", "\u00a0", "\u200d", "- item",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join)


@pytest.mark.parametrize("tokenizer", ["characters", "o200k_base"])
@pytest.mark.parametrize(("format", "overlap"), [("text", 0), ("text", 5), ("code", 0)])
@settings(max_examples=examples(30), deadline=None)
@given(TEXTS, st.integers(6, 60))
def test_stretches_at_once_are_stretches_one_by_one(
    tokenizer: str, format: str, overlap: int, text: str, limit: int
) -> None:
    def packer(document: Analyzed) -> Packer:
        sized = Sized(max_tokens=limit, overlap=overlap, tokenizer=tokenizer)
        levels = [ArrayCuts(lambda: document.paragraphs), *sentence_levels(document)]
        return sized.packer(document, [*levels, *clause_levels(document)], nested=True)

    document = Analyzed(Document("x", text, format=format))
    starts = document.paragraphs
    floors = document.sections.start[document.sections.at(starts)]
    at_once = packer(document).pack_each(starts, floors)
    one = packer(document)
    spans = zip(pairwise([*starts.tolist(), len(text)]), floors.tolist(), strict=True)
    assert at_once == [p for (start, end), floor in spans for p in one.pack(start, end, floor)]


def test_paragraphs_that_fit_are_not_filled_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Packer, "pack")
    text = "\n\n".join(f"Paragraph {number}." for number in range(50)) + "\n"
    chunks = list(get_strategy("paragraphs").chunks(Document("x", text)))
    assert [chunk.text for chunk in chunks] == [*text.split("\n\n")[:-1], "Paragraph 49."]
    assert all(chunk.token_count > 0 for chunk in chunks)
