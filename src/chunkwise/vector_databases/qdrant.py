"""Qdrant: a folder on this machine (the local mode of its client), or a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chunkwise.base.errors import InvalidParameter
from chunkwise.retrieval.databases.qdrant import close_client, open_client
from chunkwise.vector_databases.database import (
    PUSH,
    DatabaseAddress,
    StoredChunk,
    check_dimensions,
    row_uuid,
)


class QdrantDatabase:
    """A collection with one vector a point, by cosine; its ids are UUIDs made of the chunks' own."""

    most = 500
    most_bytes = 25_165_824
    longest_id = 1_048_576
    largest_row = 16_777_216

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address
        self._client: Any = open_client(address)

    def open(self, dimensions: int) -> None:
        from qdrant_client import models

        name = self._address.collection
        if not self._client.collection_exists(name):
            cosine = models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
            self._client.create_collection(name, vectors_config=cosine)
            if self._address.folder is None:  # what `prune` asks for; the local mode has no indexes
                for field in ("doc_id", PUSH):
                    self._client.create_payload_index(name, field, "keyword")
            return
        vectors = self._client.get_collection(name).config.params.vectors
        if not hasattr(vectors, "size"):
            raise InvalidParameter(
                f"{self._address} has several named vectors; use another collection"
            )
        check_dimensions(self._address, vectors.size, dimensions)

    def write(self, chunks: Sequence[StoredChunk]) -> None:
        from qdrant_client import models

        points = [
            models.PointStruct(
                id=row_uuid(chunk.id),
                vector=[*chunk.vector],
                payload={**chunk.fields, "text": chunk.text},
            )
            for chunk in chunks
        ]
        self._client.upsert(self._address.collection, points=points, wait=True)

    def prune(self, doc_id: str, push: str) -> None:
        from qdrant_client import models

        others = models.Filter(
            must=[models.FieldCondition(key="doc_id", match=models.MatchValue(value=doc_id))],
            must_not=[
                models.FieldCondition(key=PUSH, match=models.MatchValue(value=push)),
                models.IsEmptyCondition(is_empty=models.PayloadField(key=PUSH)),
            ],
        )
        self._client.delete(
            self._address.collection,
            points_selector=models.FilterSelector(filter=others),
            wait=True,
        )

    def close(self) -> None:
        close_client(self._address, self._client)
