"""Somebody's own embedder: what it lacks is told, and vectors of any length are compared by their direction."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import chunkwise
from chunkwise import Document
from chunkwise.base.errors import InvalidParameter
from chunkwise.models.embed.embedder import normalized

WORDS = ("hotel", "price", "day", "leave")


class WordCounts:
    """As long as a text has words."""

    identity = "tests:word-counts"
    dimensions = len(WORDS)

    def embed(self, texts: Sequence[str], kind: str = "passage") -> NDArray[np.float32]:
        rows = [[text.lower().split().count(word) for word in WORDS] for text in texts]
        return np.array(rows, np.float32).reshape(-1, len(WORDS))


def test_long_vectors_do_not_come_first() -> None:
    documents = [
        Document("short", "hotel price"), Document("long", "hotel day leave day leave hotel day leave hotel")
    ]  # fmt: skip
    index = chunkwise.index(documents, embedder=WordCounts(), vectors="own")
    hits = index.search("hotel price", retriever="dense")
    assert [hit.doc_id for hit in hits] == ["short", "long"]
    assert hits[0].score == pytest.approx(1.0, abs=1e-3)
    assert np.linalg.norm(index.vectors().vectors, axis=1) == pytest.approx(1.0, abs=1e-3)


@given(arrays(np.float32, (3, 4), elements=st.floats(-1e6, 1e6, width=32)))
def test_rows_get_the_length_one_and_keep_their_direction(rows: NDArray[np.float32]) -> None:
    made = normalized(rows)
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    for row, own, length in zip(rows, made, lengths, strict=True):
        if length == 0 or abs(length - 1) <= 1e-3:
            assert own.tolist() == row.tolist()
        elif length > 1e-30:
            assert own == pytest.approx(row / length, abs=1e-5)


def test_what_an_object_lacks_is_told() -> None:
    class Nameless:
        def embed(self, texts: Sequence[str]) -> list[int]:
            return []

    class Ordering:
        def rerank(self) -> None: ...

    with pytest.raises(
        InvalidParameter, match="Nameless is not a valid embedder: it has no `identity`"
    ):
        chunkwise.index([Document("a", "b")], embedder=Nameless())  # type: ignore[arg-type]
    index = chunkwise.index([Document("a", "b")], vectors="none")
    with pytest.raises(
        InvalidParameter, match="Ordering is not a valid reranker: it has no `scores`"
    ):
        index.search("b", reranker=Ordering())  # type: ignore[arg-type]
