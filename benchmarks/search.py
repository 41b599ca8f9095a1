"""How fast texts are embedded, indexed and searched: tables on the terminal and a Markdown page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import (  # noqa: E402
    borders,
    dense,
    embedding,
    index_bytes,
    multiscale,
    postgres,
    quantisation,
    words,
)
from benchmarks.page import write_page  # noqa: E402

PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "words": ("Words", words.run),
    "dense": ("Vectors, every one compared", dense.run),
    "multiscale": ("Several sizes at once", lambda: multiscale.measure().report()),
    "bytes": ("What an index weighs", index_bytes.run),
    "embedding": ("Embedding", lambda: embedding.page(embedding.measure())),
    "quantisation": ("What 8 bits cost", lambda: quantisation.page(quantisation.measure())),
    "borders": ("Cuts by meaning", borders.run),
    "postgres": ("PostgreSQL", postgres.run),
}


if __name__ == "__main__":
    write_page("Embedding and search speed", "search.md", PARTS, __doc__)
