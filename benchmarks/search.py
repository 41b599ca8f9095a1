"""How fast texts are embedded, indexed and searched: tables on the terminal and a Markdown page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import (  # noqa: E402
    dense,
    embedding,
    index_bytes,
    keyword_search,
    multiscale,
    postgres,
)
from benchmarks.page import write_page  # noqa: E402

PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "words": ("Keyword search (BM25)", keyword_search.run),
    "dense": ("Exact vector search", dense.run),
    "multiscale": ("Multi-scale retrieval", lambda: multiscale.measure().report()),
    "bytes": ("Index size", index_bytes.run),
    "embedding": ("Embedding", lambda: embedding.page(embedding.measure())),
    "postgres": ("PostgreSQL", postgres.run),
}


if __name__ == "__main__":
    write_page("Embedding and search speed", "search.md", PARTS, __doc__)
