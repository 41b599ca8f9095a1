"""Milvus: a file on this machine (Milvus Lite), or a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from chunkwise.base.errors import InvalidParameter, MissingExtra
from chunkwise.vector_databases.database import (
    PUSH,
    DatabaseAddress,
    StoredChunk,
    check_dimensions,
    telling,
)

KEY = "MILVUS_API_KEY"
_OWN = ("id", "vector", "text")


class MilvusDatabase:
    """A collection with a text as its key, a vector by cosine, and dynamic fields for the rest."""

    most = 500
    most_bytes = 33_554_432
    longest_id = 4_096
    largest_row = 60_000

    def __init__(self, address: DatabaseAddress) -> None:
        try:
            from pymilvus import MilvusClient
        except ImportError:
            raise MissingExtra("pushing to Milvus", "milvus") from None
        self._address = address
        self._has_written = False
        self._name = address.collection.replace("-", "_")  # which its names have not
        if address.folder is not None and address.folder.suffix != ".db":
            raise InvalidParameter(
                f"{address.folder} isn't a Milvus Lite file; expected a name ending in .db: "
                "milvus:///home/you/kb.db"
            )
        if address.folder is not None:
            address.folder.parent.mkdir(parents=True, exist_ok=True)
            self._client: Any = MilvusClient(str(address.folder))
        else:
            url = address.url(19530)
            self._client = MilvusClient(url, token=address.secret(KEY) or "")

    def open(self, dimensions: int) -> None:
        from pymilvus import DataType

        client = self._client
        if client.has_collection(self._name):
            self._check(client.describe_collection(self._name), dimensions)
            client.load_collection(self._name)
            return
        schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=self.longest_id)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimensions)
        by_cosine = client.prepare_index_params()
        by_cosine.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
        client.create_collection(self._name, schema=schema, index_params=by_cosine)

    def _check(self, described: dict[str, Any], dimensions: int) -> None:
        fields = {each["name"]: each.get("params", {}) for each in described["fields"]}
        if not {"id", "vector"} <= {*fields}:
            raise InvalidParameter(
                f"{self._address} has other fields ({', '.join(fields)}); expected `id` and "
                f"`vector`; use another collection"
            )
        check_dimensions(self._address, int(fields["vector"].get("dim", 0)), dimensions)

    def write(self, chunks: Sequence[StoredChunk]) -> None:
        self._has_written = True
        self._client.upsert(
            self._name,
            [
                {**{_apart(name): value for name, value in chunk.fields.items()},
                 "id": chunk.id, "vector": [*chunk.vector], "text": chunk.text}
                for chunk in chunks
            ],
        )  # fmt: skip

    def prune(self, doc_id: str, push: str) -> None:
        # Quoted as JSON quotes: an id of a document may hold quotes of its own.
        own = json.dumps(doc_id, ensure_ascii=False)
        self._client.delete(
            self._name, filter=f'doc_id == {own} and {PUSH} != "" and {PUSH} != "{push}"'
        )

    def close(self) -> None:
        with telling(self._address):
            if self._has_written:
                self._client.flush(self._name)
            self._client.close()


def _apart(name: str) -> str:
    """A field of that name is one of the collection's own."""
    return f"{name}_" if name in _OWN else name
