"""Qdrant: chunks and parts of documents as points that say from which revision on they count, and until which."""

from __future__ import annotations

import base64
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.stored import PartName, StoredDocument, StoredEngine, StoreProblem
from chunkwise.retrieval.stored.address import (
    DEFAULT_NAME,
    LOCAL,
    StoreAddress,
    checked_name,
    parse_store_address,
)
from chunkwise.retrieval.stored.lease import Lease

KEY = "QDRANT_API_KEY"
PORT = 6333
"""Its own clouds answer there over TLS, too."""
_STATE, _LOCK = 1, 2
"""Points of the collection that says what counts."""
_LIVE = 1 << 52
"""Until when a point counts that nobody has removed."""
_PIECE = 1 << 20
_POINTS, _BYTES = 256, 1 << 23
"""Sent at once: servers take 32 MB unless they are told otherwise."""
_PAGE = 64
_PARTS_FROM = 1 << 31
"""Points of a document behind those of its chunks."""
_INDEXED = {"part": "keyword", "document": "integer", "since": "integer", "until": "integer"}


class _Published(NamedTuple):
    state: str
    revision: int
    collection: str


class QdrantStore:
    """Nothing is read that its revision does not hold; the next writer removes what no revision does."""

    def __init__(self, address: StoreAddress) -> None:
        self.shown = address.shown
        self._address = address
        self._name = _collection(address)
        self._about = f"{self._name}__about"
        self._own = re.compile(rf"{re.escape(self._name)}__[0-9a-f]{{8}}")
        """What its collections of chunks are called."""
        self._client: Any = None
        self._read: _Published | None = None
        self._writing: _Published | None = None
        self._has_about = False
        self._lease = Lease(self.shown, self._take)

    def _qdrant(self) -> Any:
        if self._client is None:
            try:
                import qdrant_client  # noqa: F401
            except ImportError:
                raise MissingExtra("a Qdrant index", "qdrant") from None
            with self._explained():
                self._client = _connected(self._address)
        return self._client

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from qdrant_client.http.exceptions import ApiException

        try:
            yield
        except ChunkwiseError:
            raise
        except (ApiException, RuntimeError, OSError, ValueError, KeyError) as error:
            told = " ".join(str(error).split()) or type(error).__name__
            raise StoreProblem(
                f"{self.shown}: {told[:400]}; check host, port, key ({KEY}), and that the server runs"
            ) from error

    def state(self) -> str | None:
        self._read = self._published()
        return self._read.state if self._read else None

    def _published(self) -> _Published | None:
        client = self._qdrant()
        with self._explained():
            if not self._has_about and not client.collection_exists(self._about):
                return None
            self._has_about = True
            found = client.retrieve(self._about, ids=[_STATE], with_payload=True)
        if not found:
            return None
        payload = found[0].payload or {}
        try:
            return _Published(
                str(payload["state"]), int(payload["revision"]), str(payload["collection"])
            )
        except (KeyError, TypeError, ValueError):
            raise ChunkwiseError(
                f"{self.shown}: the collection {self._about!r} is not chunkwise's; nothing was touched: choose another "
                "name"
            ) from None

    def _now(self) -> _Published:
        assert self._read is not None
        return self._read

    def _counts(self, *more: Any) -> Any:
        """Holds for what the revision that is read holds."""
        from qdrant_client import models

        revision = self._now().revision
        return models.Filter(
            must=[
                models.FieldCondition(key="since", range=models.Range(lte=revision)),
                models.FieldCondition(key="until", range=models.Range(gt=revision)),
                *more,
            ]
        )

    def parts(
        self, name: PartName, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, bytes]]:
        from qdrant_client import models

        asked = [models.FieldCondition(key="part", match=models.MatchValue(value=name))]
        if numbers is not None:
            match = models.MatchAny(any=[int(each) for each in numbers])
            asked.append(models.FieldCondition(key="document", match=match))
        pieces: dict[int, dict[int, bytes]] = {}
        after: Any = None
        while True:
            with self._explained():
                found, after = self._qdrant().scroll(
                    self._now().collection, scroll_filter=self._counts(*asked), limit=_PAGE,
                    offset=after, with_payload=True, with_vectors=False,
                )  # fmt: skip
            for point in found:
                own = pieces.setdefault(int(point.payload["document"]), {})
                own[int(point.payload["piece"])] = base64.b64decode(point.payload["bytes"])
            if after is None:
                break
        for number in sorted(pieces):
            yield number, b"".join(piece for _, piece in sorted(pieces[number].items()))

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        found: dict[int, Any] = {}
        for low in range(0, len(chunks), _POINTS):
            with self._explained():
                points = self._qdrant().retrieve(
                    self._now().collection, ids=list(chunks[low : low + _POINTS]),
                    with_payload=False, with_vectors=["vector"],
                )  # fmt: skip
            found |= {int(point.id): point.vector["vector"] for point in points}
        return np.array([found[int(each)] for each in chunks], np.float32)

    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | None,
        exact: bool | None,
    ) -> Ranking:
        from qdrant_client import models

        taken = [] if among is None else [models.HasIdCondition(has_id=among.tolist())]
        params = None  # in a folder all are compared
        if self._address.folder is None:
            params = models.SearchParams(exact=bool(exact), hnsw_ef=max(128, 2 * depth))
        with self._explained():
            found = self._qdrant().query_points(
                self._now().collection, query=vector.tolist(), using="vector", limit=depth,
                query_filter=self._counts(*taken), search_params=params, with_payload=False,
            ).points  # fmt: skip
        numbers = np.array([int(point.id) for point in found], np.int64)
        return Ranking(numbers, np.array([point.score for point in found], np.float32))

    def is_exact(self) -> bool:
        """A server makes an index of vectors by itself, once there are enough."""
        return self._address.folder is not None

    def size(self) -> int:
        """Of a local folder its files; a server tells how many points it has, and not what they take."""
        if (folder := self._address.folder) is not None:
            files = folder.rglob("*")
            return sum(each.stat().st_size for each in files if each.is_file())
        client = self._qdrant()
        with self._explained():
            about = client.get_collection(self._now().collection)
        given = about.config.params.vectors
        width = given["vector"].size if isinstance(given, dict) and "vector" in given else 0
        return 4 * width * (about.points_count or 0)

    @contextmanager
    def locked(self, wait: float) -> Iterator[None]:
        self._make_about()
        try:
            with self._lease.held(wait):
                yield
        finally:
            self._writing = None

    def _make_about(self) -> None:
        client = self._qdrant()
        with self._explained():
            if self._has_about or client.collection_exists(self._about):
                return
            if self._address.folder is None:
                _check_version(client.info().version, self.shown)
            client.create_collection(self._about, vectors_config={})

    def _take(self, writer: str, until: float, before: str) -> str:
        """That it is free, or its time over, is for the server to see, in one step."""
        from qdrant_client import models

        free = [
            models.FieldCondition(key="writer", match=models.MatchValue(value=before)),
            models.FieldCondition(key="until", range=models.Range(lt=time.time())),
        ]
        held = {"writer": writer, "until": until}
        with self._explained():
            self._qdrant().upsert(
                self._about,
                [models.PointStruct(id=_LOCK, vector={}, payload=held)],
                update_filter=models.Filter(should=free),
            )
            (found,) = self._qdrant().retrieve(self._about, ids=[_LOCK], with_payload=True)
        return str(found.payload["writer"])

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Around each call that changes something: only as long as nobody else may write."""
        self._lease.check()
        with self._explained():
            yield

    def begin(self, dimensions: int, *, anew: bool) -> None:
        from qdrant_client import models

        published, client = self._published(), self._qdrant()
        self._check_name()
        revision = published.revision if published else 0
        collection = published.collection if published else ""
        if anew or not published:
            collection = f"{self._name}__{secrets.token_hex(4)}"
            vectors = {}
            if dimensions:
                vectors["vector"] = models.VectorParams(
                    size=dimensions, distance=models.Distance.DOT
                )
            with self._written():
                client.create_collection(collection, vectors_config=vectors)
                if self._address.folder is None:
                    for key, kind in _INDEXED.items():
                        client.create_payload_index(collection, key, kind)
        else:
            self._undo(collection, revision)
        self._writing = _Published("", revision + 1, collection)
        kept = {collection, self._about, published.collection if published else ""}
        with self._written():
            for each in client.get_collections().collections:
                if self._own.fullmatch(each.name) and each.name not in kept:
                    client.delete_collection(each.name)

    def _check_name(self) -> None:
        """The alias is made last: whether it can be is known before anything is written."""
        client = self._qdrant()
        with self._explained():
            collections = {each.name for each in client.get_collections().collections}
            aliases = {
                each.alias_name: each.collection_name for each in client.get_aliases().aliases
            }
        to = aliases.get(self._name)
        if self._name in collections or (to is not None and not self._own.fullmatch(to)):
            kind = "collection" if self._name in collections else "alias"
            raise ChunkwiseError(
                f"{self.shown}: the {kind} {self._name!r} is not this index's; nothing was touched: choose another "
                "name for the index"
            )

    def _undo(self, collection: str, revision: int) -> None:
        """What a writer that stopped has left, and what no revision holds any more."""
        from qdrant_client import models

        def where(key: str, **bounds: float) -> Any:
            return models.FieldCondition(key=key, range=models.Range(**bounds))

        client = self._qdrant()
        gone = models.Filter(should=[where("since", gt=revision), where("until", lte=revision)])
        removed = models.Filter(must=[where("until", gt=revision, lt=_LIVE)])
        with self._written():
            client.delete(collection, models.FilterSelector(filter=gone))
        with self._written():
            client.set_payload(collection, {"until": _LIVE}, points=removed)

    def add(self, documents: Sequence[StoredDocument]) -> None:
        waiting: list[Any] = []
        room = 0
        for document in documents:
            for size, point in self._points(document):
                if waiting and (len(waiting) >= _POINTS or room + size > _BYTES):
                    self._send(waiting)
                    waiting, room = [], 0
                waiting.append(point)
                room += size
        if waiting:
            self._send(waiting)

    def _send(self, points: Sequence[Any]) -> None:
        assert self._writing is not None
        with self._written():
            self._qdrant().upsert(self._writing.collection, list(points), wait=True)

    def _points(self, document: StoredDocument) -> Iterator[tuple[int, Any]]:
        """Each with about how much room it takes on its way."""
        from qdrant_client import models

        assert self._writing is not None
        counts = {
            "document": document.number,
            "since": self._writing.revision,
            "until": _LIVE,
        }
        for at, (number, row) in enumerate(zip(document.chunks, document.rows, strict=True)):
            own = {} if document.vectors is None else {"vector": document.vectors[at].tolist()}
            size = 12 * len(own.get("vector", ())) + 4 * len(row["text"]) + 1000
            yield size, models.PointStruct(id=number, vector=own, payload={**row, **counts})
        number = (document.number << 32) + _PARTS_FROM
        for name, part in document.parts.items():
            for piece, low in enumerate(range(0, max(1, len(part)), _PIECE)):
                text = base64.b64encode(part[low : low + _PIECE]).decode("ascii")
                payload = {"part": name, "piece": piece, "bytes": text, **counts}
                yield len(text), models.PointStruct(id=number, vector={}, payload=payload)
                number += 1

    def remove(self, numbers: Sequence[int]) -> None:
        """Until the revision that is being written: who reads the one before still finds them."""
        from qdrant_client import models

        assert self._writing is not None
        for low in range(0, len(numbers), 1000):
            match = models.MatchAny(any=list(numbers[low : low + 1000]))
            held = models.FieldCondition(key="document", match=match)
            with self._written():
                self._qdrant().set_payload(
                    self._writing.collection, {"until": self._writing.revision},
                    points=models.Filter(must=[held]), wait=True,
                )  # fmt: skip

    def publish(self, state: str) -> None:
        """One point is replaced, and only where it is the one that this writer began with."""
        from qdrant_client import models

        assert self._writing is not None
        made = self._writing._replace(state=state)
        self._lease.renew()
        before = models.FieldCondition(
            key="revision", match=models.MatchValue(value=made.revision - 1)
        )
        with self._written():
            self._qdrant().upsert(
                self._about,
                [models.PointStruct(id=_STATE, vector={}, payload=made._asdict())],
                update_filter=models.Filter(must=[before]),
                wait=True,
            )
        if self._published() != made:
            raise self._lease.overtaken()
        # For people and their own tools: the name stands for the chunks that count.
        named = models.CreateAlias(collection_name=made.collection, alias_name=self._name)
        with self._explained():
            self._qdrant().update_collection_aliases(
                change_aliases_operations=[
                    *self._old_alias(),
                    models.CreateAliasOperation(create_alias=named),
                ]
            )

    def _old_alias(self) -> list[Any]:
        from qdrant_client import models

        known = {each.alias_name for each in self._qdrant().get_aliases().aliases}
        if self._name not in known:
            return []
        return [models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self._name))]

    def close(self) -> None:
        client, self._client, self._read = self._client, None, None
        if client is not None:
            _let_go(self._address, client)


def _collection(address: StoreAddress) -> str:
    """A server's path names the collection; a folder's is an option."""
    if address.variant not in ("", "https", LOCAL):
        raise InvalidParameter(
            f"the address is {address.shown}; qdrant://, qdrant+https:// and qdrant+local:// are known"
        )
    address.no_secrets(KEY)
    if address.folder is not None:
        address.only("kb")
        name = address.options.get("kb", DEFAULT_NAME)
    elif address.hostname and address.variant != LOCAL:
        address.only()
        name = address.path.strip("/") or DEFAULT_NAME
    else:
        raise InvalidParameter(
            f"the address is {address.shown}; name a folder: qdrant:///path, or a server: "
            "qdrant://host:6333/collection"
        )
    if "__" in name:
        raise InvalidParameter(
            f"the collection of {address.shown} is {name!r}; two _ in a row are kept for our own"
        )
    if name.endswith("_"):
        raise InvalidParameter(
            f"the collection of {address.shown} is {name!r}; a name ends in a letter, a digit or -"
        )
    return checked_name(name, address.shown)


def _check_version(version: str, shown: str) -> None:
    """Older servers would take a condition for nothing, and two writers would not be kept apart."""
    found = tuple(int(each) for each in version.split(".")[:2] if each.isdigit())
    if found < (1, 16):
        raise ChunkwiseError(
            f"{shown}: Qdrant {version} has no conditional updates; 1.16 or later is needed"
        )


class _Shared:
    """The client of a folder, and how many hold it: a folder can be opened only once."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.holders = 0


_local: dict[str, _Shared] = {}
# Who holds it may be interrupted, at any line, by an index that goes and lets its own client go.
_local_lock = threading.RLock()


def _connected(address: StoreAddress) -> Any:
    from qdrant_client import QdrantClient

    if address.folder is not None:
        folder = os.path.realpath(address.folder)
        with _local_lock:
            while True:
                shared = _local.get(folder)
                if shared is None:
                    shared = _local[folder] = _Shared(
                        QdrantClient(path=folder, force_disable_check_same_thread=True)
                    )
                shared.holders += 1
                if _local.get(folder) is shared:  # nobody let it go in between
                    return shared.client
    return QdrantClient(
        host=address.hostname, port=address.port or PORT, https=address.is_encrypted, timeout=60, prefer_grpc=False,
        api_key=address.secret(KEY), check_compatibility=False,
    )  # fmt: skip


def _let_go(address: StoreAddress, client: Any) -> None:
    if address.folder is None:
        client.close()
        return
    folder = os.path.realpath(address.folder)
    with _local_lock:
        shared = _local[folder]
        shared.holders -= 1
        if shared.holders:
            return
        del _local[folder]
        client.close()


class QdrantEngine(StoredEngine):
    """`qdrant://host:6333/collection`, or `qdrant:///path?kb=collection` without a server."""

    def store(self, place: str) -> QdrantStore:
        return QdrantStore(parse_store_address(place))
