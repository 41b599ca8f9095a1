"""Weaviate, by its REST interface: no package is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.http_client import Endpoint, EndpointError, JsonClient
from chunkwise.vector_databases.database import (
    PUSH,
    DatabaseAddress,
    FieldValue,
    StoredChunk,
    row_uuid,
)

KEY = "WEAVIATE_API_KEY"
_TAKEN = 422
_NO_NAME = re.compile(r"[^_0-9A-Za-z]")
_OWN = ("id", "vector", "_id", "text")
_TYPES = {str: "text", bool: "boolean", int: "int", float: "number", list: "text[]"}
_KNOWN = {
    "doc_id": str,
    "chunk_id": str,
    PUSH: str,
    "start": int,
    "end": int,
    "index": int,
    "token_count": int,
}


class WeaviateDatabase:
    """A class of objects whose vectors are given; other properties are made by the server as they come."""

    most = 200
    most_bytes = 25_165_824
    longest_id = 1_048_576
    largest_row = 16_777_216

    def __init__(self, address: DatabaseAddress) -> None:
        if address.folder is not None:
            raise InvalidParameter("expected weaviate://host:8080/NAME")
        self._address = address
        address.secret(KEY)
        name = address.collection.replace("-", "_")
        self._class = name[0].upper() + name[1:]  # as its names begin

    def _client(self, path: str, method: str = "POST") -> JsonClient:
        url = f"{self._address.url(8080)}/v1/{path}"
        return JsonClient(Endpoint(url, key_variable=KEY, method=method))

    def open(self, dimensions: int) -> None:
        """The server itself refuses vectors of another length with the first row."""
        exact = [
            # One token, whatever it holds: `prune` asks for it as it is.
            {
                "name": name,
                "dataType": [_TYPES[kind]],
                **({"tokenization": "field"} if kind is str else {}),
            }
            for name, kind in _KNOWN.items()
        ]
        wanted = {
            "class": self._class,
            "vectorizer": "none",
            "vectorIndexConfig": {"distance": "cosine"},
            "properties": [*exact, {"name": "text", "dataType": ["text"]}],
        }
        try:
            self._client("schema").post(wanted)
        except EndpointError as error:
            if error.status != _TAKEN or "already exists" not in error.reason:
                raise

    def write(self, chunks: Sequence[StoredChunk]) -> None:
        objects: list[dict[str, object]] = [
            {
                "class": self._class,
                "id": row_uuid(stored_chunk.id),
                "vector": [*stored_chunk.vector],
                "properties": {**_named(stored_chunk.fields), "text": stored_chunk.text},
            }
            for stored_chunk in chunks
        ]
        answers = self._client("batch/objects").post({"objects": objects})
        for chunk, answer in zip(
            chunks, answers if isinstance(answers, list) else [], strict=False
        ):
            if text := _refusal(answer):
                raise ChunkwiseError(f"{self._address} rejected the chunk {chunk.id!r}: {text}")
        if not isinstance(answers, list) or len(answers) != len(chunks):
            raise ChunkwiseError(
                f"{self._address} didn't return a status for each of {len(chunks)} objects"
            )

    def prune(self, doc_id: str, push: str) -> None:
        own = {"path": ["doc_id"], "operator": "Equal", "valueText": doc_id}
        other = {"path": [PUSH], "operator": "NotEqual", "valueText": push}
        # Rows without a mark are the user's own, and for some versions of the server not equal to any.
        marked = {"path": [PUSH], "operator": "Like", "valueText": "*"}
        where = {"operator": "And", "operands": [own, other, marked]}
        match = {"class": self._class, "where": where}
        while True:
            answer = self._client("batch/objects", "DELETE").post(
                {"match": match, "output": "minimal"}
            )
            counted = answer.get("results", {}) if isinstance(answer, dict) else {}
            # It removes so many at a time.
            if not counted.get("successful") or counted.get("matches", 0) <= counted.get(
                "limit", 0
            ):
                return

    def close(self) -> None:
        """Every answer said what was written."""


def _named(fields: Any) -> dict[str, FieldValue]:
    """Names that GraphQL has: letters, digits and _."""
    result = {}
    for name, value in fields.items():
        made = _NO_NAME.sub("_", name)
        made = f"_{made}" if not made or made[0].isdigit() else made
        result[f"{made}_" if made in _OWN else made] = value
    return result


def _refusal(answer: Any) -> str:
    errors = ((answer or {}).get("result") or {}).get("errors") or {}
    texts = [str(each.get("message", each)) for each in errors.get("error", [])]
    return "; ".join(texts)[:300]
