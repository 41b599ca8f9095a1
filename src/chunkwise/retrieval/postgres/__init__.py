"""PostgreSQL with pgvector behind the same interface as an index in a folder."""

from __future__ import annotations

from chunkwise.retrieval.postgres.address import is_postgres
from chunkwise.retrieval.postgres.index import PostgresIndex, open_postgres
from chunkwise.retrieval.postgres.indexing import into_postgres, server_settings
from chunkwise.retrieval.postgres.recall import Recall
from chunkwise.retrieval.postgres.writer import writing

__all__ = [
    "PostgresIndex",
    "Recall",
    "into_postgres",
    "is_postgres",
    "open_postgres",
    "server_settings",
    "writing",
]
