"""What chunks are pushed into: the contract of a vector database, its address, and what a row of it holds."""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from datetime import date, time
from typing import NamedTuple, Protocol

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.registry import Registry
from chunkwise.base.wording import counted, did_you_mean, thousands
from chunkwise.records.json import without_half_characters
from chunkwise.retrieval.databases.address import LOCAL, StoreAddress, parse_store_address
from chunkwise.retrieval.databases.store import explained

FieldValue = str | int | float | bool | list[str]
"""What every one of them can keep and filter on."""

PUSH = "push"
"""The field that says by which push a row was written last."""


class StoredChunk(NamedTuple):
    """A row: the chunk's id, its vector, its text, and fields to filter on."""

    id: str
    vector: Sequence[float]
    text: str
    fields: Mapping[str, FieldValue]


class VectorDatabase(Protocol):
    """A collection of a vector database; what it raises is told with its place by who calls it."""

    most: int
    """Rows that one call of `write` takes."""
    most_bytes: int
    """Of them together, as JSON has them."""
    longest_id: int
    """Bytes of an id."""
    largest_row: int
    """Bytes of text and fields of one row."""

    def open(self, dimensions: int) -> None:
        """Makes the collection where there is none; one for vectors of another length is refused."""

    def write(self, chunks: Sequence[StoredChunk]) -> None:
        """Adds rows, or puts them in the place of those with the same ids."""

    def prune(self, doc_id: str, push: str) -> None:
        """Removes the rows of this document that another push wrote."""

    def close(self) -> None:
        """Nothing comes any more: what is still in memory is written."""


registry = Registry(
    "vector database",
    "chunkwise.vector_databases",
    {
        "chroma": "chunkwise.vector_databases.chroma:ChromaDatabase",
        "milvus": "chunkwise.vector_databases.milvus:MilvusDatabase",
        "pinecone": "chunkwise.vector_databases.pinecone:PineconeDatabase",
        "qdrant": "chunkwise.vector_databases.qdrant:QdrantDatabase",
        "weaviate": "chunkwise.vector_databases.weaviate:WeaviateDatabase",
    },
    needs=("write", "open", "prune", "close"),
    example="chroma:///home/you/chroma",
)

COLLECTION = "chunkwise"
"""Where nobody names one."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{2,62}")


@dataclass(frozen=True, slots=True)
class DatabaseAddress(StoreAddress):
    """`scheme:///path` on this machine, `scheme://host:port/collection` elsewhere, `scheme+https://…` over TLS."""

    collection: str = COLLECTION

    def url(self, usual: int | None = None) -> str:
        """Of the server, without a path; where no port is named, with the usual one, over TLS that of the web."""
        name = f"[{self.hostname}]" if ":" in self.hostname else self.hostname
        port = self.port or (usual and (443 if self.is_encrypted else usual))
        return f"{'https' if self.is_encrypted else 'http'}://{name}{f':{port}' if port else ''}"

    def __str__(self) -> str:
        place = str(self.folder) if self.folder is not None else self.url().partition("://")[2]
        return f"{self.engine} at {place}, collection {self.collection!r}"


def parse_database(address: str, collection: str | None = None) -> DatabaseAddress:
    """The parts of an address; one that holds a password or names no database is refused with what is allowed."""
    if not address.partition("://")[0] or "://" not in address:
        raise InvalidParameter(f"{address!r} isn't a vector database URL; allowed: {_FORMS}")
    try:
        place = parse_store_address(address)
        _ = place.folder is None and place.port  # which no other text is
    except InvalidParameter:
        raise InvalidParameter(f"not a vector database URL; allowed: {_FORMS}") from None
    scheme = place.engine
    if scheme not in registry.names():
        near = did_you_mean(scheme, registry.names(), "")
        known = ", ".join(registry.names())
        raise InvalidParameter(
            f"{scheme}:// is an unknown vector database; {f'{near} ' if near else ''}known: {known}"
        )
    if place.variant not in ("", "http", "https", LOCAL):
        raise InvalidParameter(
            f"{scheme}+{place.variant}:// is unknown; allowed: {scheme}://, {scheme}+https://, "
            f"{scheme}+local://"
        )
    is_folder = place.folder is not None
    if place.user or {*place.options} - ({"kb"} if is_folder else set()):
        # Not the address itself: it may hold a password.
        raise InvalidParameter(
            f"the {scheme} URL contains a user, password or query; set the key in "
            f"{scheme.upper()}_API_KEY instead"
        )
    if not is_folder and not place.hostname:
        raise InvalidParameter(f"{scheme}:// has no server or folder; allowed: {_FORMS}")
    named = place.options.get("kb", "") if is_folder else place.path.strip("/")
    if named and collection and named != collection:
        raise InvalidParameter(f"two collections given: {named!r} in the URL, and {collection!r}")
    return DatabaseAddress(
        **{field.name: getattr(place, field.name) for field in fields(place)},
        collection=_collection(named or collection),
    )


_FORMS = (
    "chroma:///folder, milvus:///file.db, qdrant:///folder on this machine; "
    "chroma://host:8000/NAME, milvus://host:19530/NAME, qdrant://host:6333/NAME, "
    "weaviate://host:8080/NAME, pinecone://INDEX-HOST/NAMESPACE"
)


def _collection(name: str | None) -> str:
    if name is None:
        return COLLECTION
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"invalid collection name {name!r}; allowed: 3 to 63 letters, digits, _ and -, "
            f"starting with a letter"
        )
    return name


def open_database(address: DatabaseAddress) -> VectorDatabase:
    """The database at this address; nothing is written yet."""
    with telling(address):
        made = registry.get(address.engine)(address)
    database: VectorDatabase = registry.checked(made, address.engine)
    return database


def check_dimensions(address: DatabaseAddress, there: int, dimensions: int) -> None:
    """Vectors of another length cannot be compared with those that are there."""
    if there != dimensions:
        raise InvalidParameter(
            f"{address} has {counted(there, 'dimension')}, these vectors "
            f"{thousands(dimensions)}; use another collection, or its model"
        )


def telling(address: DatabaseAddress) -> AbstractContextManager[None]:
    """What a library raises becomes one line that says where: each has errors of its own, by the dozen."""
    return explained(str(address), lambda: (Exception,))


def row_uuid(id: str) -> str:
    """For databases whose ids are UUIDs: the same for the same chunk, so that it is written once."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"chunkwise:{id}"))


_MOST_WHOLE = 2**53
"""Above it numbers in JSON lose their last digits in most databases."""


def kept_fields(values: Mapping[str, object]) -> dict[str, FieldValue]:
    """What every database can keep: texts, numbers, truth values, lists of texts; anything else as JSON."""
    result = {}
    for name, value in values.items():
        kept = _kept(value)
        if kept is not None:
            result[without_half_characters(str(name))] = kept
    return result


def _kept(value: object) -> FieldValue | None:
    if isinstance(value, str):
        return without_half_characters(value) or None
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MOST_WHOLE else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if value is None:
        return None
    if isinstance(value, Sequence | Collection) and not isinstance(value, Mapping | bytes):
        texts = [*value]
        if not texts:
            return None
        if all(isinstance(text, str) for text in texts):
            return [without_half_characters(text) for text in texts]
    try:
        return without_half_characters(json.dumps(value, ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):
        return None
