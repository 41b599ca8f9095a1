"""Chroma: a folder on this machine, or a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chunkwise.base.errors import MissingExtra
from chunkwise.vector_databases.database import (
    PUSH,
    DatabaseAddress,
    StoredChunk,
    check_dimensions,
)

KEY = "CHROMA_API_KEY"


class ChromaDatabase:
    """A collection that compares by cosine; texts are its documents, fields its metadata."""

    most = 1000
    most_bytes = 16_777_216
    longest_id = 4_096
    largest_row = 16_777_216

    def __init__(self, address: DatabaseAddress) -> None:
        try:
            import chromadb
        except ImportError:
            raise MissingExtra("pushing to Chroma", "chroma") from None
        self._address = address
        if address.folder is not None:
            address.folder.mkdir(parents=True, exist_ok=True)
            # With its usual settings: one folder has one client in a process, maybe the user's own.
            self._client: Any = chromadb.PersistentClient(str(address.folder))
        else:
            key = address.secret(KEY)
            self._client = chromadb.HttpClient(
                address.hostname, address.port or (443 if address.is_encrypted else 8000), ssl=address.is_encrypted,
                headers={"x-chroma-token": key} if key else None,
            )  # fmt: skip
        self._collection: Any = None

    def open(self, dimensions: int) -> None:
        # Without a model of its own: it would be fetched, and give other vectors than ours.
        self._collection = self._client.get_or_create_collection(
            self._address.collection, embedding_function=None, metadata={"hnsw:space": "cosine"}
        )
        there = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
        if len(there):
            check_dimensions(self._address, len(there[0]), dimensions)

    def write(self, chunks: Sequence[StoredChunk]) -> None:
        self._collection.upsert(
            ids=[chunk.id for chunk in chunks],
            embeddings=[[*chunk.vector] for chunk in chunks],
            documents=[chunk.text for chunk in chunks],
            metadatas=[dict(chunk.fields) for chunk in chunks],
        )

    def prune(self, doc_id: str, push: str) -> None:
        # "not this mark" is also true of rows without one, which are the user's own.
        result = self._collection.get(where={"doc_id": doc_id}, include=["metadatas"])
        every = zip(result["ids"], result["metadatas"], strict=True)
        older = [id for id, fields in every if fields.get(PUSH) not in (None, push)]
        for at in range(0, len(older), self.most):
            self._collection.delete(ids=older[at : at + self.most])

    def close(self) -> None:
        """It writes as it goes."""
