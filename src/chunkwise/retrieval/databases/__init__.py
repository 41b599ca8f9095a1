"""An index in any database that keeps rows and finds the nearest vectors: what an engine is written on."""

from __future__ import annotations

from chunkwise.retrieval.databases.index import StoredIndex
from chunkwise.retrieval.databases.store import PARTS, PartName, Store, StoredDocument, StoreProblem
from chunkwise.retrieval.databases.update import StoredEngine

__all__ = [
    "PARTS",
    "PartName",
    "Store",
    "StoreProblem",
    "StoredDocument",
    "StoredEngine",
    "StoredIndex",
]
