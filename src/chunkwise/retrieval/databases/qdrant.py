"""Qdrant: chunks and parts of documents as points that say from which revision on they count, and until which."""

from __future__ import annotations

import base64
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.atomic_files import bytes_in
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.retrieval.databases import PARTS, PartName, StoredDocument, StoredEngine
from chunkwise.retrieval.databases.revisions import (
    LISTED_PAGE,
    LIVE,
    PIECE,
    KeptRow,
    ListedPiece,
    Published,
    RevisionStore,
    fetched_together,
    joined_pieces,
)
from chunkwise.retrieval.databases.store import (
    CHUNK_BITS,
    DEFAULT_NAME,
    LOCAL,
    StoreAddress,
    checked_name,
    parse_store_address,
)
from chunkwise.retrieval.ranking import Ranking

KEY = "QDRANT_API_KEY"
PORT = 6333
"""Its own clouds answer there over TLS, too."""
_POINTS, _BYTES = 256, 1 << 23
"""Sent at once: servers take 32 MB unless they are told otherwise."""
_CHANGED = 1_000
"""Points or documents named in one change."""
_PARTS_FROM, _PART_BITS = 1 << 31, 29
"""Points of a document behind those of its chunks, and those of each part behind those of the one before."""
_INDEXED = {"part": "keyword", "document": "integer", "since": "integer", "until": "integer"}
_ROWS = {"state": 1, "lock": 2, "number": 3}
"""Points of the collection that says what counts."""


class QdrantStore(RevisionStore):
    """Chunks and pieces of parts are points of one collection, for which an alias stands."""

    kind = "collection"
    advice = f"check host, port, key ({KEY}), and that the server runs"

    def __init__(self, address: StoreAddress) -> None:
        super().__init__(address, _collection(address))
        self._has_about = False

    def _connected(self) -> Any:
        try:
            import qdrant_client  # noqa: F401
        except ImportError:
            raise MissingExtra("a Qdrant index", "qdrant") from None
        return _connected(self._address)

    def _failures(self) -> tuple[type[Exception], ...]:
        from qdrant_client.http.exceptions import ApiException

        return ApiException, RuntimeError, OSError, ValueError, KeyError, sqlite3.Error

    def _row(self, name: str) -> KeptRow | None:
        client = self._server()
        with self._explained():
            if not self._has_about and not client.collection_exists(self._about):
                return None
            self._has_about = True
            found = client.retrieve(self._about, ids=[_ROWS[name]], with_payload=True)
        if not found:
            return None
        values = dict(found[0].payload or {})
        if "collection" in values:  # as it was called at first
            values.setdefault("entries", values["collection"])
        return KeptRow(values, values.get("stamp"))

    def _put(self, name: str, values: Mapping[str, Any], before: KeptRow | None) -> None:
        """Each time under another stamp, by which it is known; where there is no point, the condition is not asked."""
        from qdrant_client import models

        stamp = "none" if before is None else before.condition
        unchanged = (
            models.IsEmptyCondition(is_empty=models.PayloadField(key="stamp"))
            if stamp is None
            else models.FieldCondition(key="stamp", match=models.MatchValue(value=stamp))
        )
        payload = {**values, "stamp": secrets.token_hex(8)}
        with self._explained():
            self._server().upsert(
                self._about,
                [models.PointStruct(id=_ROWS[name], vector={}, payload=payload)],
                update_filter=models.Filter(must=[unchanged]),
                wait=True,
            )

    def parts(
        self, name: PartName, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, bytes]]:
        from qdrant_client import models

        if numbers is not None:
            for number in sorted({int(each) for each in numbers}):
                yield from joined_pieces(self._pieces_of(name, number))
            return
        part = models.FieldCondition(key="part", match=models.MatchValue(value=name))
        # Points come in the order of their ids, which is that of documents and pieces.
        yield from joined_pieces(self._pieces(self._listed(_counts(self._now(), part))))

    def _pieces_of(self, name: PartName, number: int) -> Iterator[tuple[int, bytes]]:
        """By their ids, without looking for them; what was written before they could be told is listed."""
        from qdrant_client import models

        first = _first_piece(name, number)
        with self._explained():
            points = self._server().retrieve(
                self._now().entries, ids=[first], with_payload=["bytes", "pieces", "since", "until"],
                with_vectors=False,
            )  # fmt: skip
        own = points[0].payload if points else {}
        if "pieces" in own:
            if _does_count(self._now(), own["since"], own["until"]):
                yield number, base64.b64decode(own["bytes"])
                ids = range(first + 1, first + own["pieces"])
                yield from self._pieces(ListedPiece(number, at, PIECE, at) for at in ids)
            return
        asked = {"part": name, "document": number}
        held = [
            models.FieldCondition(key=key, match=models.MatchValue(value=value))
            for key, value in asked.items()
        ]
        yield from self._pieces(self._listed(_counts(self._now(), *held)))

    def _listed(self, held: Any) -> Iterator[ListedPiece]:
        for points in self._scrolled(self._now().entries, held, ["document", "piece", "size"]):
            for point in points:
                own = point.payload
                yield ListedPiece(own["document"], own["piece"], own.get("size", PIECE), point.id)

    def _pieces(self, listed: Iterable[ListedPiece]) -> Iterator[tuple[int, bytes]]:
        for group in fetched_together(listed):
            with self._explained():
                points = self._server().retrieve(
                    self._now().entries, ids=[each.id for each in group], with_payload=["bytes"], with_vectors=False,
                )  # fmt: skip
                found = {point.id: base64.b64decode(point.payload["bytes"]) for point in points}
            for each in group:
                if each.id not in found:
                    raise self._changed()
                yield each.document, found[each.id]

    def _scrolled(self, collection: str, held: Any, wanted: Sequence[str]) -> Iterator[list[Any]]:
        after: Any = None
        while True:
            with self._explained():
                found, after = self._server().scroll(
                    collection, scroll_filter=held, limit=LISTED_PAGE, offset=after,
                    with_payload=list(wanted) or False, with_vectors=False,
                )  # fmt: skip
            yield found
            if after is None:
                return

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        found: dict[int, NDArray[np.float32]] = {}
        for low in range(0, len(chunks), _POINTS):
            with self._explained():
                points = self._server().retrieve(
                    self._now().entries, ids=list(chunks[low : low + _POINTS]),
                    with_payload=False, with_vectors=["vector"],
                )  # fmt: skip
            # As arrays at once: many lists of numbers would take eight times the room.
            found |= {
                int(point.id): np.array(point.vector["vector"], np.float32) for point in points
            }
        return np.array([found[int(each)] for each in chunks], np.float32)

    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | None,
        exact: bool | None,
    ) -> Ranking:
        from qdrant_client import models

        is_folder = self._address.folder is not None
        if is_folder and among is not None:
            return self._nearest_of(vector, depth, among)
        taken = [] if among is None else [models.HasIdCondition(has_id=among.tolist())]
        params = None  # in a folder all are compared
        if not is_folder:
            params = models.SearchParams(exact=bool(exact), hnsw_ef=max(128, 2 * depth))
        with self._explained():
            found = self._server().query_points(
                self._now().entries, query=vector.tolist(), using="vector", limit=depth,
                query_filter=_counts(self._now(), *taken), search_params=params, with_payload=False,
            ).points  # fmt: skip
        numbers = np.array([int(point.id) for point in found], np.int64)
        return Ranking(numbers, np.array([point.score for point in found], np.float32))

    def _nearest_of(
        self, vector: NDArray[np.float32], depth: int, among: NDArray[np.int64]
    ) -> Ranking:
        """Compared here: in a folder, the client would go through all ids for each of its points."""
        try:
            scores = self.vectors(among.tolist()) @ vector
        except KeyError:
            raise self._changed() from None
        best = np.argsort(-scores, kind="stable")[:depth]
        return Ranking(among[best], scores[best])

    def is_exact(self) -> bool:
        """A server makes an index of vectors by itself, once there are enough."""
        return self._address.folder is not None

    def size(self) -> int:
        """Of a local folder its files; a server tells how many points it has, and not what they take."""
        if (folder := self._address.folder) is not None:
            return bytes_in(folder)
        client = self._server()
        with self._explained():
            about = client.get_collection(self._now().entries)
        given = about.config.params.vectors
        width = given["vector"].size if isinstance(given, dict) and "vector" in given else 0
        return 4 * width * (about.points_count or 0)

    def _make_about(self) -> None:
        client = self._server()
        with self._explained():
            if self._has_about or client.collection_exists(self._about):
                return
            if self._address.folder is None:
                _check_version(client.info().version, self.shown)
            client.create_collection(self._about, vectors_config={})

    def _make_entries(self, entries: str, dimensions: int) -> None:
        from qdrant_client import models

        client, vectors = self._server(), {}
        if dimensions:
            vectors["vector"] = models.VectorParams(size=dimensions, distance=models.Distance.DOT)
        with self._written():
            client.create_collection(entries, vectors_config=vectors)
            if self._address.folder is None:
                for key, kind in _INDEXED.items():
                    client.create_payload_index(entries, key, kind)

    def _drop_entries(self, entries: str) -> None:
        with self._written():
            self._server().delete_collection(entries)

    def _aliases(self) -> dict[str, str]:
        with self._explained():
            found = self._server().get_aliases().aliases
            return {each.alias_name: each.collection_name for each in found}

    def _named(self) -> tuple[set[str], str]:
        with self._explained():
            names = {each.name for each in self._server().get_collections().collections}
        own = {name for name in names if self._own.fullmatch(name)}
        if self._name in names:
            return own, "collection"
        to = self._aliases().get(self._name)
        return own, "" if to is None or self._own.fullmatch(to) else "alias"

    def _undo(self, before: Published) -> None:
        from qdrant_client import models

        revision, lost = before.revision, _within("until", before.lost)
        left = models.Filter(must=[_range("until", lte=revision)], must_not=lost)
        gone = [_range("since", gt=revision), *_within("since", before.lost), left]
        for ids in self._ids(before.entries, models.Filter(should=gone)):
            with self._written():
                self._server().delete(before.entries, models.PointIdsList(points=ids), wait=True)
        removed = models.Filter(should=[_range("until", gt=revision, lt=LIVE), *lost])
        for ids in self._ids(before.entries, removed):
            held = [models.HasIdCondition(has_id=ids), removed]
            self._set_until(before.entries, LIVE, held)

    def _ids(self, collection: str, held: Any) -> Iterator[list[Any]]:
        """Some at a time: what takes longer than an answer is waited for is never asked in one request."""
        for points in list(self._scrolled(collection, held, [])):
            ids = [point.id for point in points]
            for low in range(0, len(ids), _CHANGED):
                yield ids[low : low + _CHANGED]

    def _set_until(self, collection: str, until: int, held: Sequence[Any]) -> None:
        from qdrant_client import models

        with self._written():
            self._server().set_payload(
                collection, {"until": until}, points=models.Filter(must=list(held)), wait=True
            )

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
        """Over points of writers before alone: numbers grow, and what one of them sends late changes nothing here."""
        from qdrant_client import models

        assert self._writing is not None
        older = models.Filter(must=[_range("since", lte=self._writing.revision)])
        with self._written():
            self._server().upsert(
                self._writing.entries, list(points), update_filter=older, wait=True
            )

    def _points(self, document: StoredDocument) -> Iterator[tuple[int, Any]]:
        """Each with about how much room it takes on its way."""
        from qdrant_client import models

        assert self._writing is not None
        counts = {
            "document": document.number,
            "since": self._writing.revision,
            "until": LIVE,
        }
        for at, (number, row) in enumerate(zip(document.chunks, document.rows, strict=True)):
            own = {} if document.vectors is None else {"vector": document.vectors[at].tolist()}
            size = 12 * len(own.get("vector", ())) + 4 * len(row["text"]) + 1000
            yield size, models.PointStruct(id=number, vector=own, payload={**row, **counts})
        for name, part in document.parts.items():
            first, begins = _first_piece(name, document.number), range(0, max(1, len(part)), PIECE)
            for piece, low in enumerate(begins):
                text = base64.b64encode(part[low : low + PIECE]).decode("ascii")
                payload = {
                    "part": name, "piece": piece, "pieces": len(begins), "size": len(text), "bytes": text, **counts,
                }  # fmt: skip
                yield len(text), models.PointStruct(id=first + piece, vector={}, payload=payload)

    def remove(self, numbers: Sequence[int]) -> None:
        """Until the revision that is being written: who reads the one before still finds them."""
        from qdrant_client import models

        assert self._writing is not None
        entries, until, lost = self._writing.entries, self._writing.revision, self._writing.lost
        # Not what a writer after this one has removed.
        still = models.Filter(should=[_range("until", gte=LIVE), *_within("until", lost)])
        for low in range(0, len(numbers), _CHANGED):
            match = models.MatchAny(any=list(numbers[low : low + _CHANGED]))
            held = models.FieldCondition(key="document", match=match)
            self._set_until(entries, until, [held, still])

    def _settle(self, made: Published) -> None:
        """Each change was waited for."""

    def _is_named(self, published: Published) -> bool:
        return self._aliases().get(self._name) == published.entries

    def _name_chunks(self, published: Published) -> None:
        from qdrant_client import models

        named = models.CreateAlias(collection_name=published.entries, alias_name=self._name)
        actions: list[Any] = [models.CreateAliasOperation(create_alias=named)]
        if self._name in self._aliases():
            old = models.DeleteAlias(alias_name=self._name)
            actions.insert(0, models.DeleteAliasOperation(delete_alias=old))
        self._server().update_collection_aliases(change_aliases_operations=actions)

    def _let_go(self, client: Any) -> None:
        _let_go(self._address, client)


def _range(key: str, **bounds: float) -> Any:
    from qdrant_client import models

    return models.FieldCondition(key=key, range=models.Range(**bounds))


def _within(key: str, runs: Sequence[tuple[int, int]]) -> list[Any]:
    return [_range(key, gte=first, lte=last) for first, last in runs]


def _counts(published: Published, *more: Any) -> Any:
    """Holds for what a revision holds."""
    from qdrant_client import models

    live = [_range("until", gt=published.revision), *_within("until", published.lost)]
    begun = _range("since", lte=published.revision)
    return models.Filter(
        must=[begun, models.Filter(should=live), *more], must_not=_within("since", published.lost)
    )


def _does_count(published: Published, since: int, until: int) -> bool:
    """The same of a point that was fetched by its id."""
    since_lost, until_lost = (
        any(first <= at <= last for first, last in published.lost) for at in (since, until)
    )
    is_begun = since <= published.revision and not since_lost
    return is_begun and (until > published.revision or until_lost)


def _first_piece(name: PartName, document: int) -> int:
    """The id of its point."""
    return (document << CHUNK_BITS) + _PARTS_FROM + (PARTS.index(name) << _PART_BITS)


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


class _OneAtATime:
    """A client whose calls take turns: that of a folder is made for one thread, and a writer has another that renews
    its lease. Of two that write at once, one ends the transaction of the other."""

    def __init__(self, client: Any) -> None:
        self._shared_client = client
        self._turn = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._shared_client, name)
        if not callable(own):
            return own

        def call(*given: Any, **named: Any) -> Any:
            with self._turn:
                return own(*given, **named)

        return call


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
                        _OneAtATime(QdrantClient(path=folder, force_disable_check_same_thread=True))
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
