"""Pinecone, by its REST interface: no package is needed."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import counted, shown, thousands
from chunkwise.models.http_client import Endpoint, JsonClient
from chunkwise.vector_databases.database import (
    COLLECTION,
    PUSH,
    DatabaseAddress,
    StoredChunk,
    check_dimensions,
    row_uuid,
)

KEY = "PINECONE_API_KEY"
_VERSION = ("X-Pinecone-Api-Version", "2025-10")


class PineconeDatabase:
    """A namespace of an index that is there: its host is on its page, `NAME-abc123.svc.REGION.pinecone.io`."""

    most = 100
    most_bytes = 1_800_000
    longest_id = 512
    largest_row = 40_960

    def __init__(self, address: DatabaseAddress) -> None:
        if address.folder is not None:
            raise InvalidParameter("expected pinecone://INDEX-HOST/NAMESPACE")
        self._address = address
        # Its hosts answer over TLS alone; one on this machine is its emulator.
        local = address.hostname in ("localhost", "127.0.0.1")
        self._url = address.url() if local else address.url().replace("http://", "https://")
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
        vectors: list[dict[str, object]] = [
            {
                "id": _id(chunk.id),
                "values": [*chunk.vector],
                "metadata": {**chunk.fields, "text": chunk.text},
            }
            for chunk in chunks
        ]
        said = self._client("vectors/upsert").post(
            {"vectors": vectors, "namespace": self._namespace}
        )
        count = said.get("upsertedCount") if isinstance(said, dict) else None
        if count != len(vectors):
            took = thousands(count) if isinstance(count, int) else shown(count)
            raise ChunkwiseError(f"{self._address} took {took} of {counted(len(vectors), 'chunk')}")

    def prune(self, doc_id: str, push: str) -> None:
        # "not this mark" is also true of rows without one, which are the user's own.
        others = {
            "$and": [{"doc_id": {"$eq": doc_id}}, {PUSH: {"$exists": True}}, {PUSH: {"$ne": push}}]
        }
        self._client("vectors/delete").post({"filter": others, "namespace": self._namespace})

    def close(self) -> None:
        """Every answer said what was written."""


def _id(id: str) -> str:
    """Its ids are ASCII; the chunk's own is among the metadata."""
    made = id if id.isascii() else quote(id, safe="/:#~ ")
    return made if len(made) <= PineconeDatabase.longest_id else row_uuid(id)
