"""Qdrant: chunks and parts of documents as points of one collection, and one point that is the published state."""

from __future__ import annotations

import base64
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.atomic_files import bytes_in
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.retrieval.databases import PARTS, PartName, Store, StoredDocument, StoredEngine
from chunkwise.retrieval.databases.address import (
    DEFAULT_NAME,
    LOCAL,
    StoreAddress,
    checked_name,
    parse_store_address,
)
from chunkwise.retrieval.databases.store import CHUNK_BITS, join_pieces, pieces_of
from chunkwise.retrieval.ranking import Ranking

KEY = "QDRANT_API_KEY"
PORT = 6333
"""Its own clouds answer there over TLS, too."""
_POINTS, _BYTES = 256, 1 << 23
"""Sent at once: servers take 32 MB unless they are told otherwise."""
_DELETED = 1_000
"""Documents in one request."""
_PARTS_FROM, _PART_BITS = 1 << 31, 28
"""Points of a document behind those of its chunks, and those of each part behind those of the one before."""
_STATE = 1
"""The point of the collection that holds the state."""


class QdrantStore(Store):
    """One collection per set of rows, and an alias for the one that is live."""

    advice = f"check host, port, key ({KEY}), and that the server is running"

    def __init__(self, address: StoreAddress) -> None:
        self.shown = address.shown
        self._address = address
        self._name = _collection(address)
        self._state = f"{self._name}__state"
        self._made_client: Any = None

    @property
    def _client(self) -> Any:
        if self._made_client is None:
            self._made_client = open_client(self._address)
        return self._made_client

    @property
    def _entries(self) -> str:
        return f"{self._name}__{self.rows}"

    def failures(self) -> tuple[type[Exception], ...]:
        from qdrant_client.http.exceptions import ApiException

        return ApiException, RuntimeError, OSError, ValueError, sqlite3.Error

    def read_state(self) -> str | None:
        if not self._client.collection_exists(self._state):
            return None
        result = self._client.retrieve(self._state, ids=[_STATE], with_payload=True)
        return str((result[0].payload or {}).get("text", "")) if result else None

    def swap_state(self, old: str | None, new: str) -> None:
        """Where there is no point yet, the condition is not asked."""
        from qdrant_client import models

        if old is None and not self._client.collection_exists(self._state):
            if self._address.folder is None:
                _check_version(self._client.info().version, self.shown)
            self._client.create_collection(self._state, vectors_config={})
        unchanged = models.FieldCondition(key="stamp", match=models.MatchValue(value=_stamp(old)))
        payload = {"text": new, "stamp": _stamp(new)}
        self._client.upsert(
            self._state,
            [models.PointStruct(id=_STATE, vector={}, payload=payload)],
            update_filter=models.Filter(must=[unchanged]),
            wait=True,
        )

    def make(self, dimensions: int) -> None:
        from qdrant_client import models

        vectors = {}
        if dimensions:
            vectors["vector"] = models.VectorParams(size=dimensions, distance=models.Distance.DOT)
        self._client.create_collection(self._entries, vectors_config=vectors)
        if self._address.folder is None:
            self._client.create_payload_index(self._entries, "document", "integer")

    def drop(self, rows: str) -> None:
        self._client.delete_collection(f"{self._name}__{rows}")

    def put(self, documents: Sequence[StoredDocument]) -> None:
        waiting: list[Any] = []
        room = 0
        for size, point in (pair for document in documents for pair in _points(document)):
            if waiting and (len(waiting) >= _POINTS or room + size > _BYTES):
                self._send(waiting)
                waiting, room = [], 0
            waiting.append(point)
            room += size
        if waiting:
            self._send(waiting)

    def _send(self, points: Sequence[Any]) -> None:
        self._client.upsert(self._entries, list(points), wait=True)

    def delete(self, first: int, last: int) -> None:
        """Some at a time: what takes longer than an answer is waited for is never asked in one request."""
        from qdrant_client import models

        for low in range(first, last + 1, _DELETED):
            run = models.Range(gte=low, lte=min(last, low + _DELETED - 1))
            held = models.Filter(must=[models.FieldCondition(key="document", range=run)])
            self._client.delete(self._entries, models.FilterSelector(filter=held), wait=True)

    def get(self, part: PartName, numbers: Sequence[int]) -> dict[int, bytes]:
        def fetch(
            asked: Sequence[tuple[int, int]],
        ) -> Mapping[tuple[int, int], tuple[bytes, int]]:
            ids = {_piece_id(part, number) + place: (number, place) for number, place in asked}
            points = self._client.retrieve(
                self._entries, ids=list(ids), with_payload=["bytes", "pieces"], with_vectors=False
            )  # fmt: skip
            return {
                ids[point.id]: (
                    base64.b64decode(point.payload["bytes"]),
                    point.payload["pieces"],
                )
                for point in points
            }

        return join_pieces(numbers, fetch)

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        result: dict[int, NDArray[np.float32]] = {}
        for low in range(0, len(chunks), _POINTS):
            points = self._client.retrieve(
                self._entries, ids=list(chunks[low : low + _POINTS]), with_payload=False, with_vectors=["vector"]
            )  # fmt: skip
            # As arrays at once: many lists of numbers would take eight times the room.
            result |= {
                int(point.id): np.array(point.vector["vector"], np.float32) for point in points
            }
        return np.array([result[int(chunk)] for chunk in chunks], np.float32)

    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | None,
        exact: bool | None,
    ) -> Ranking:
        from qdrant_client import models

        if self._address.folder is not None and among is not None:
            # In a folder, the client would go through all ids for each of its points.
            scores = self.vectors(among.tolist()) @ vector
            best = np.argsort(-scores, kind="stable")[:depth]
            return Ranking(among[best], scores[best])
        held = None
        if among is not None:
            held = models.Filter(must=[models.HasIdCondition(has_id=among.tolist())])
        params = None  # in a folder all are compared
        if self._address.folder is None:
            params = models.SearchParams(exact=bool(exact), hnsw_ef=max(128, 2 * depth))
        result = self._client.query_points(
            self._entries, query=vector.tolist(), using="vector", limit=depth,
            query_filter=held, search_params=params, with_payload=False,
        ).points  # fmt: skip
        numbers = np.array([int(point.id) for point in result], np.int64)
        return Ranking(numbers, np.array([point.score for point in result], np.float32))

    def is_exact(self) -> bool:
        """A server makes an index of vectors by itself, once there are enough."""
        return self._address.folder is not None

    def expose(self) -> None:
        from qdrant_client import models

        named = models.CreateAlias(collection_name=self._entries, alias_name=self._name)
        actions: list[Any] = [models.CreateAliasOperation(create_alias=named)]
        if any(alias.alias_name == self._name for alias in self._client.get_aliases().aliases):
            old = models.DeleteAlias(alias_name=self._name)
            actions.insert(0, models.DeleteAliasOperation(delete_alias=old))
        self._client.update_collection_aliases(change_aliases_operations=actions)

    def size(self) -> int:
        """Of a local folder its files; a server tells how many points it has, and not what they take."""
        if (folder := self._address.folder) is not None:
            return bytes_in(folder)
        about = self._client.get_collection(self._entries)
        given = about.config.params.vectors
        width = given["vector"].size if isinstance(given, dict) and "vector" in given else 0
        return 4 * width * (about.points_count or 0)

    def close(self) -> None:
        client, self._made_client = self._made_client, None
        if client is not None:
            close_client(self._address, client)


def _stamp(text: str | None) -> str:
    return "none" if text is None else blake2b(text.encode(), digest_size=16).hexdigest()


def _points(document: StoredDocument) -> Iterator[tuple[int, Any]]:
    """Each with about how much room it takes on its way."""
    from qdrant_client import models

    shared = {"document": document.number}
    for at, (number, row) in enumerate(zip(document.chunks, document.rows, strict=True)):
        vector = {} if document.vectors is None else {"vector": document.vectors[at].tolist()}
        size = 12 * len(vector.get("vector", ())) + 4 * len(row["text"]) + 1000
        yield size, models.PointStruct(id=number, vector=vector, payload={**row, **shared})
    for name, part in document.parts.items():
        first, pieces = _piece_id(name, document.number), pieces_of(part)
        for place, piece in enumerate(pieces):
            text = base64.b64encode(piece).decode("ascii")
            payload = {"part": name, "pieces": len(pieces), "bytes": text, **shared}
            yield len(text), models.PointStruct(id=first + place, vector={}, payload=payload)


def _piece_id(part: PartName, document: int) -> int:
    """Of its first piece."""
    return (document << CHUNK_BITS) + _PARTS_FROM + (PARTS.index(part) << _PART_BITS)


def _collection(address: StoreAddress) -> str:
    """A server's path names the collection; a folder's is an option."""
    if address.variant not in ("", "https", LOCAL):
        raise InvalidParameter(
            f"the address is {address.shown}; known: qdrant://, qdrant+https://, qdrant+local://"
        )
    address.no_secrets(KEY)
    if address.folder is not None:
        address.only("kb")
        return checked_name(address.options.get("kb", DEFAULT_NAME), address.shown)
    if not address.hostname or address.variant == LOCAL:
        raise InvalidParameter(
            f"the address is {address.shown}; expected a folder (qdrant:///path) or a server "
            f"(qdrant://host:6333/collection)"
        )
    address.only()
    return checked_name(address.path.strip("/") or DEFAULT_NAME, address.shown)


def _check_version(version: str, shown: str) -> None:
    """Older servers would take a condition for nothing, and two writers would not be kept apart."""
    result = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if result < (1, 16):
        raise ChunkwiseError(
            f"{shown}: Qdrant {version} has no conditional updates; use 1.16 or later"
        )


class _OneAtATime:
    """A client whose calls take turns: that of a folder is made for one thread, and a writer has another that renews
    its reservation. Of two that write at once, one ends the transaction of the other."""

    def __init__(self, client: Any) -> None:
        self._shared_client = client
        self._turn = threading.RLock()
        self.holders = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._shared_client, name)
        if not callable(method):
            return method

        def call(*given: Any, **named: Any) -> Any:
            with self._turn:
                return method(*given, **named)

        return call


_local: dict[str, _OneAtATime] = {}
"""Clients of folders, each of which can be opened only once."""
# Who holds it may be interrupted, at any line, by an index that goes and lets its own client go.
_local_lock = threading.RLock()


def open_client(address: StoreAddress) -> Any:
    """That of a folder is shared by all who have it open."""
    try:
        from qdrant_client import QdrantClient
    except ImportError:
        raise MissingExtra("Qdrant", "qdrant") from None
    if address.folder is None:
        return QdrantClient(
            host=address.hostname, port=address.port or PORT, https=address.is_encrypted, timeout=60, prefer_grpc=False,
            api_key=address.secret(KEY), check_compatibility=False,
        )  # fmt: skip
    folder = os.path.realpath(address.folder)
    with _local_lock:
        while True:
            shared = _local.get(folder)
            if shared is None:
                client = QdrantClient(path=folder, force_disable_check_same_thread=True)
                shared = _local[folder] = _OneAtATime(client)
            shared.holders += 1
            if _local.get(folder) is shared:  # nobody let it go in between
                return shared


def close_client(address: StoreAddress, client: Any) -> None:
    """Of a folder's client, the last holder closes it."""
    if address.folder is not None:
        with _local_lock:
            client.holders -= 1
            if client.holders:
                return
            _local.pop(os.path.realpath(address.folder), None)
    client.close()


class QdrantEngine(StoredEngine):
    """`qdrant://host:6333/collection`, or `qdrant:///path?kb=collection` without a server."""

    def store(self, place: str) -> QdrantStore:
        return QdrantStore(parse_store_address(place))
