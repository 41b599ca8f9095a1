"""One loop for nested levels: the same chunks as the packer that can do everything."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers.cuts import ArrayCuts
from chunkwise.chunkers.levels import clause_levels, sentence_levels
from chunkwise.chunkers.nested import NestedPacker
from chunkwise.chunkers.pack import Packer
from chunkwise.core import Document, Piece
from chunkwise.text.analysis import Analyzed
from how_many import examples

PIECES = [
    "One sentence here. Another one; with, clauses.", "word", "a" * 60, "e\u0301", "👨‍👩‍👧", "\u0600", "文字",
    "# Title", " ", "\n", "\n\n", "\n\n\n\n\n\n", "\r\n\r\n", "\t", "\u00a0", "\u200d", "- item", "XMLHttpRequest",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join)


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
            overlap_from=(lambda fresh: measure.back(fresh, overlap)) if overlap else None,
        )
        return packer.pack(0, len(text))

    assert packed(NestedPacker) == packed(Packer)
