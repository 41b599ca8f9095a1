"""A knowledge base on a server: how long questions take there, how large it is, and what the HNSW index misses.

python -m benchmarks.postgres postgresql://user@host/database?kb=bench DOCUMENTS...
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from chunkwise.models import get_embedder
from chunkwise.retrieval import index
from chunkwise.retrieval.filters import EVERYTHING
from chunkwise.retrieval.postgres import PostgresIndex
from chunkwise.retrieval.searching.search import search

QUESTIONS = 50
DEPTHS = (10, 100, 400)


def main(url: str, inputs: list[str]) -> None:
    started = time.perf_counter()
    made = index(inputs, into=url, on_skip=print)
    source = made.source
    assert isinstance(source, PostgresIndex)
    stats = made.stats()
    print(f"{made.changes}; {time.perf_counter() - started:.1f} s with the embedding")
    print(
        f"{stats.chunks:,} chunks, {stats.atoms:,} atoms, {stats.bytes / 1e6:.1f} MB on the server"
    )
    texts = _questions(source)
    vectors = np.asarray(get_embedder(made.settings.model).embed(texts, "query"))
    ways: dict[str, Callable[[], object]] = {
        "words": lambda: source.words(texts, 100),
        "nearest, exact": lambda: source.nearest(vectors, 100, exact=True),
        "nearest, HNSW": lambda: source.nearest(vectors, 100, exact=False),
        "hybrid, one statement": lambda: source.hybrid(texts, vectors, 10, EVERYTHING),
        "multiscale, 1,000 tokens": lambda: search(source, texts, budget=1000),
    }
    for name, ask in ways.items():
        ask()  # what is kept from one search to the next is there now
        began = time.perf_counter()
        ask()
        print(f"{name}: {(time.perf_counter() - began) / len(texts) * 1000:.1f} ms a question")
    for depth in DEPTHS:
        print(f"HNSW: {source.recall(QUESTIONS, depth)}")


def _questions(source: PostgresIndex) -> list[str]:
    """The first words of documents' middles: as many as there are documents, or fewer."""
    texts = [source.document(number).text for number in source.document_numbers()[:QUESTIONS]]
    return [" ".join(text[len(text) // 2 :].split()[:12]) for text in texts if text.strip()]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
