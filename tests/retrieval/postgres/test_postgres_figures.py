"""The figures of an index are the same wherever it lives."""

from __future__ import annotations

import pytest

import chunkwise
from chunkwise import Document
from chunkwise.evaluation.cost import index_cost
from chunkwise.metrics.cuts.coherence import index_coherence
from chunkwise.retrieval.export import chunked_documents
from retrieval.postgres_server import STRATEGY, new_url
from retrieval.tiny_embedder import Tiny
from tables import cases

pytestmark = pytest.mark.usefixtures("postgres")

FIRST = [Document(f"{n}.txt", f"Boat {n} is out. Its net is wide. " * (4 + n)) for n in range(4)]
# Replaced documents leave gaps in the numbers of a server's documents.
SECOND = [FIRST[0], Document("1.txt", "A lamp is lit. It is seen. " * 9), FIRST[3]]


@cases("vectors", ["late", "own"])
def test_a_server_gives_the_same_figures(vectors: str) -> None:
    url = new_url()
    options = {"embedder": Tiny(), "vectors": vectors}
    chunkwise.index(FIRST, STRATEGY, into=url, **options)
    chunkwise.index(SECOND, STRATEGY, into=url, **options)
    there = chunkwise.retrieval.open_index(url, embedder=Tiny())
    here = chunkwise.index(SECOND, STRATEGY, **options)

    def spans(index: chunkwise.Index) -> dict[str, list[tuple[int, int]]]:
        return {
            each.document.id: [c.span for c in each.chunks]
            for each in chunked_documents(index.source)
        }

    assert spans(there) == spans(here)
    for name, score in index_coherence(here).items():
        found = index_coherence(there)[name]
        assert found.reason == score.reason
        assert found.value == (
            None if score.value is None else pytest.approx(score.value, abs=1e-3)
        )
    known = {**index_cost(here), "index_bytes": None}
    assert {**index_cost(there), "index_bytes": None} == known
