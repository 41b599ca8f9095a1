"""Pinecone, by its REST interface: no package is needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import quote

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.http.client import Endpoint, JsonClient
from chunkwise.vector_databases.database import (
    COLLECTION,
    PUSH,
    DatabaseAddress,
    StoredChunk,
    check_dimensions,
)

KEY = "PINECONE_API_KEY"
_VERSION = ("X-Pinecone-Api-Version", "2025-10")
_LONGEST_ID = 512
_MOST_METADATA = 40_960
"""Bytes of one row's metadata, its text among them."""


class PineconeDatabase:
    """A namespace of an index that is there: its host is on its page, `NAME-abc123.svc.REGION.pinecone.io`."""

    most = 100

    def __init__(self, address: DatabaseAddress) -> None:
        if address.path is not None:
            raise InvalidParameter("Pinecone is a service; write pinecone://INDEX-HOST/NAMESPACE")
        self._address = address
        # Its hosts answer over TLS alone; one on this machine is its emulator.
        local = address.host in ("localhost", "127.0.0.1")
        self._url = address.url if local else address.url.replace("http://", "https://")
        self._namespace = "" if address.collection == COLLECTION else address.collection

    def _client(self, path: str) -> JsonClient:
        endpoint = Endpoint(
            f"{self._url}/{path}", key_variable=KEY, key_form="Api-Key: {}", headers=(_VERSION,)
        )
        return JsonClient(endpoint)

    def open(self, dimensions: int) -> None:
        """The index says how long its vectors are."""
        said = self._client("describe_index_stats").post({})
        there = said.get("dimension") if isinstance(said, dict) else None
        if isinstance(there, int):
            check_dimensions(self._address, there, dimensions)

    def write(self, chunks: Sequence[StoredChunk]) -> None:
        vectors = []
        for each in chunks:
            metadata = {**each.fields, "text": each.text}
            if (size := len(json.dumps(metadata, ensure_ascii=False).encode())) > _MOST_METADATA:
                raise ChunkwiseError(
                    f"{self._address}: the chunk {each.id!r} has {size:,} bytes of text and metadata, and at most "
                    f"{_MOST_METADATA:,} are kept; cut smaller chunks"
                )
            vectors.append({"id": _id(each.id), "values": [*each.vector], "metadata": metadata})
        said = self._client("vectors/upsert").post(
            {"vectors": vectors, "namespace": self._namespace}
        )
        count = said.get("upsertedCount") if isinstance(said, dict) else None
        if count != len(vectors):
            raise ChunkwiseError(f"{self._address} took {count} of {len(vectors)} chunks")

    def prune(self, doc_id: str, push: str) -> None:
        others = {"$and": [{"doc_id": {"$eq": doc_id}}, {PUSH: {"$ne": push}}]}
        self._client("vectors/delete").post({"filter": others, "namespace": self._namespace})

    def close(self) -> None:
        """Every answer said what was written."""


def _id(id: str) -> str:
    """Its ids are ASCII and not long; the chunk's own is among the metadata."""
    made = id if id.isascii() else quote(id, safe="/:#~ ")
    if len(made) > _LONGEST_ID:
        raise ChunkwiseError(
            f"the id {id[:60]!r}… has {len(made):,} characters; Pinecone takes {_LONGEST_ID}"
        )
    return made
