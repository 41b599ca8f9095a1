"""PostgreSQL with pgvector behind the same interface as an index in a folder."""

from __future__ import annotations

from chunkwise.retrieval.postgres.connection import is_postgres
from chunkwise.retrieval.postgres.index import PostgresIndex, open_postgres
from chunkwise.retrieval.postgres.update import into_postgres, server_settings, writing

__all__ = [
    "PostgresIndex",
    "into_postgres",
    "is_postgres",
    "open_postgres",
    "server_settings",
    "writing",
]
