"""OpenSearch and Elasticsearch: chunks and parts of documents as entries that say in which revisions they count."""

from __future__ import annotations

import base64
import logging
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.stored import PartName, StoredDocument, StoredEngine, StoreProblem
from chunkwise.retrieval.stored.address import (
    DEFAULT_NAME,
    StoreAddress,
    checked_name,
    parse_store_address,
)
from chunkwise.retrieval.stored.lease import Lease

Kind = Literal["opensearch", "elasticsearch"]
PORT = 9200
MANY = 10_000
"""Chunks up to which all are compared; of more the server's HNSW finds the nearest."""
_OLDEST: Mapping[Kind, tuple[int, int]] = {"opensearch": (2, 13), "elasticsearch": (8, 11)}
"""Earlier ones do not compare by the product of vectors."""
_STATE, _LOCK = "state", "lock"
"""Entries of the index that says what counts."""
_LIVE = 1 << 52
"""Until when an entry counts that nobody has removed."""
_PIECE = 1 << 20
_ENTRIES, _BYTES = 500, 1 << 23
"""Sent at once: servers take 100 MB unless they are told otherwise."""
_PAGE = 64
_LISTED = 50_000
"""Numbers in one condition: servers take 65,536."""
_NEAREST = 1_000
"""Chunks that HNSW is asked for; of more all are compared."""
_WINDOW = 10_000
"""Hits of one answer at most."""
_TRIES = 4

Body = dict[str, Any]


class _Published(NamedTuple):
    state: str
    revision: int
    entries: str
    """The index of the server that holds them."""


class _Kept(NamedTuple):
    """An entry, and what must still be true of it when it is replaced."""

    source: Body
    condition: Body


class OpenSearchStore:
    """Nothing is read that its revision does not hold; the next writer removes what no revision does."""

    def __init__(self, address: StoreAddress) -> None:
        self.shown = address.shown
        self._address = address
        self._name = _index_name(address)
        self._about = f"{self._name}__about"
        self._own = re.compile(rf"{re.escape(self._name)}__[0-9a-f]{{8}}")
        """What its indexes of chunks are called."""
        self._client: Any = None
        self._known_kind: Kind | None = None
        self._read: _Published | None = None
        self._rows = 0
        self._writing: _Published | None = None
        self._began: _Kept | None = None
        self._lease = Lease(self.shown, self._take)
        try:
            import opensearchpy  # noqa: F401
        except ImportError:
            raise MissingExtra("an OpenSearch index", "opensearch") from None

    def _server(self) -> Any:
        if self._client is None:
            with self._explained():
                self._client = _connected(self._address)
        return self._client

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from opensearchpy.exceptions import ImproperlyConfigured, OpenSearchException
        from opensearchpy.helpers import BulkIndexError

        try:
            yield
        except ChunkwiseError:
            raise
        except BulkIndexError as error:
            first: Any = next(iter(error.errors[0].values()), {}) if error.errors else {}
            told = " ".join(str(first.get("error", error)).split())
            raise StoreProblem(
                f"{self.shown}: {told[:400]}; nothing of this update counts"
            ) from error
        except (OpenSearchException, ImproperlyConfigured, OSError, ValueError, KeyError) as error:
            told = " ".join(str(error).split()) or type(error).__name__
            raise StoreProblem(
                f"{self.shown}: {told[:400]}; check host, port, user and password or key, and that the server runs"
            ) from error

    def _kind(self) -> Kind:
        """Which of the two answers, whatever the address calls it."""
        if self._known_kind is None:
            with self._explained():
                version = self._server().info()["version"]
            known: Kind = (
                "opensearch" if version.get("distribution") == "opensearch" else "elasticsearch"
            )
            _check_version(known, str(version["number"]), self.shown)
            self._known_kind = known
        return self._known_kind

    def _entry(self, id: str) -> _Kept | None:
        """As it is now, whether it is searched already or not; None: there is none."""
        from opensearchpy.exceptions import NotFoundError

        with self._explained():
            try:
                found = self._server().get(index=self._about, id=id)
            except NotFoundError:
                return None
        condition = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
        return _Kept(found["_source"], condition)

    def _put(self, id: str, source: Body, before: _Kept | None) -> None:
        """Only where the entry is the one that was read; where it is not, nothing happens: who asks looks again."""
        from opensearchpy.exceptions import ConflictError

        condition = {"op_type": "create"} if before is None else before.condition
        with self._explained():
            try:
                self._server().index(
                    index=self._about, id=id, body=source, params={**condition, "refresh": "true"}
                )
            except ConflictError:
                return

    def state(self) -> str | None:
        found = _published(self._entry(_STATE), self.shown, self._about)
        if found != self._read:
            self._read, self._rows = found, 0
        return found.state if found else None

    def _now(self) -> _Published:
        assert self._read is not None
        return self._read

    def _counts(self, *more: Body) -> list[Body]:
        """Holds for what the revision that is read holds."""
        revision = self._now().revision
        return [
            {"range": {"since": {"lte": revision}}},
            {"range": {"until": {"gt": revision}}},
            *more,
        ]

    def _search(self, body: Body) -> Body:
        with self._explained():
            found: Body = self._server().search(index=self._now().entries, body=body)
            if found.get("timed_out") or found["_shards"]["failed"]:
                raise StoreProblem(f"{self.shown}: a part of the index did not answer; ask again")
        return found

    def parts(
        self, name: PartName, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, bytes]]:
        if numbers is None:
            yield from self._parts({"term": {"part": name}})
            return
        wanted = sorted(int(each) for each in numbers)
        for low in range(0, len(wanted), _LISTED):
            some = {"terms": {"document": wanted[low : low + _LISTED]}}
            yield from self._parts({"term": {"part": name}}, some)

    def _parts(self, *asked: Body) -> Iterator[tuple[int, bytes]]:
        number, pieces = -1, list[bytes]()
        for hit in self._sorted({"bool": {"filter": self._counts(*asked)}}, ["bytes", "document"]):
            found = hit["_source"]
            if found["document"] != number:
                if pieces:
                    yield number, b"".join(pieces)
                number, pieces = found["document"], []
            pieces.append(base64.b64decode(found["bytes"]))
        if pieces:
            yield number, b"".join(pieces)

    def _sorted(self, query: Body, wanted: list[str]) -> Iterator[Body]:
        """All entries, by document and piece; those of one revision stay what they are from page to page."""
        order: list[Body] = [{"document": "asc"}, {"piece": "asc"}]
        asked = {
            "query": query, "size": _PAGE, "sort": order, "_source": wanted, "track_total_hits": False,
        }  # fmt: skip
        while True:
            hits = self._search(asked)["hits"]["hits"]
            yield from hits
            if len(hits) < _PAGE:
                return
            asked["search_after"] = hits[-1]["sort"]

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        found: dict[int, bytes] = {}
        for low in range(0, len(chunks), _ENTRIES):
            some = chunks[low : low + _ENTRIES]
            with self._explained():
                answer = self._server().mget(
                    index=self._now().entries, body={"ids": [_chunk_id(each) for each in some]},
                    params={"_source": "vector_bytes"},
                )  # fmt: skip
            for number, entry in zip(some, answer["docs"], strict=True):
                if entry.get("found"):
                    found[int(number)] = base64.b64decode(entry["_source"]["vector_bytes"])
        return np.array([np.frombuffer(found[int(each)], "<f4") for each in chunks], np.float32)

    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | None,
        exact: bool | None,
    ) -> Ranking:
        """A long list is asked for in parts, and the best of all parts are the best."""
        if among is None:
            parts: list[Body | None] = [None]
        else:
            listed = among.tolist()
            lows = range(0, len(listed), _LISTED)
            parts = [{"terms": {"number": listed[low : low + _LISTED]}} for low in lows]
        are_few = among is not None and len(among) <= MANY
        compares_all = exact or are_few or depth > _NEAREST or (exact is None and self.is_exact())
        hits: list[tuple[int, float]] = []
        for taken in parts:
            held = self._counts({"exists": {"field": "number"}}, *([taken] if taken else []))
            ask = self._compared if compares_all else self._looked_for
            hits += ask(vector.tolist(), depth, {"bool": {"filter": held}})
        numbers = np.array([number for number, _ in hits], np.int64)
        scores = np.array([_product(score) for _, score in hits], np.float32)
        best = np.lexsort((numbers, -scores))[:depth]
        return Ranking(numbers[best], scores[best])

    def _compared(self, vector: list[float], depth: int, held: Body) -> Iterator[tuple[int, float]]:
        """All of them, by a script of the server."""
        if self._kind() == "opensearch":
            params = {"field": "vector", "query_value": vector, "space_type": "innerproduct"}
            script: Body = {"lang": "knn", "source": "knn_score", "params": params}
        else:
            source = "double d = dotProduct(params.v, 'vector'); return d < 0 ? 1 / (1 - d) : d + 1"
            script = {"lang": "painless", "source": source, "params": {"v": vector}}
        asked: Body = {
            "query": {"script_score": {"query": held, "script": script}}, "size": min(depth, _WINDOW),
            "sort": [{"_score": "desc"}, {"number": "asc"}], "_source": False, "track_total_hits": False,
        }  # fmt: skip
        while depth > 0:
            hits = self._search(asked)["hits"]["hits"]
            for hit in hits[:depth]:
                yield int(hit["sort"][1]), float(hit["sort"][0])
            depth -= len(hits)
            if len(hits) < asked["size"]:
                return
            asked["search_after"] = hits[-1]["sort"]

    def _looked_for(
        self, vector: list[float], depth: int, held: Body
    ) -> Iterator[tuple[int, float]]:
        """By the server's index of vectors, which may miss some."""
        wide = max(128, 2 * depth)
        asked: Body = {"size": depth, "_source": False, "track_total_hits": False}
        if self._kind() == "opensearch":
            asked["query"] = {"knn": {"vector": {"vector": vector, "k": wide, "filter": held}}}
        else:
            asked["knn"] = {
                "field": "vector", "query_vector": vector, "k": depth, "num_candidates": wide, "filter": held,
            }  # fmt: skip
        for hit in self._search(asked)["hits"]["hits"]:
            yield int(hit["_id"].removeprefix("c")), float(hit["_score"])

    def is_exact(self) -> bool:
        """Few are all compared."""
        if not self._rows:
            held = {"bool": {"filter": self._counts({"exists": {"field": "number"}})}}
            with self._explained():
                found = self._server().count(index=self._now().entries, body={"query": held})
            self._rows = max(1, int(found["count"]))
        return self._rows <= MANY

    def size(self) -> int:
        with self._explained():
            found = self._server().indices.stats(index=self._now().entries, metric="store")
            return int(found["_all"]["primaries"]["store"]["size_in_bytes"])

    @contextmanager
    def locked(self, wait: float) -> Iterator[None]:
        self._make_about()
        try:
            with self._lease.held(wait):
                yield
        finally:
            self._writing = self._began = None

    def _make_about(self) -> None:
        from opensearchpy.exceptions import RequestError

        self._kind()
        with self._explained():
            if self._server().indices.exists(index=self._about):
                return
            try:
                mappings = {"dynamic": False, "properties": {}}
                self._server().indices.create(index=self._about, body={"mappings": mappings})
            except RequestError as error:  # another was quicker
                if error.error != "resource_already_exists_exception":
                    raise

    def _take(self, writer: str, until: float, before: str) -> str:
        """Who is second to replace the entry that both have read is refused by the server."""
        kept = self._entry(_LOCK)
        if kept is None or kept.source["writer"] == before or kept.source["until"] < time.time():
            self._put(_LOCK, {"writer": writer, "until": until}, kept)
            kept = self._entry(_LOCK)
        return str(kept.source["writer"]) if kept else ""

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Around each call that changes something: only as long as nobody else may write."""
        self._lease.check()
        with self._explained():
            yield

    def begin(self, dimensions: int, *, anew: bool) -> None:
        self._began = self._entry(_STATE)
        published = _published(self._began, self.shown, self._about)
        own = self._check_name()
        revision = published.revision if published else 0
        index = published.entries if published else ""
        if anew or not published:
            index = f"{self._name}__{secrets.token_hex(4)}"
            with self._written():
                self._server().indices.create(index=index, body=_made(dimensions, self._kind()))
        else:
            self._undo(index, revision)
        self._writing = _Published("", revision + 1, index)
        for each in own - {index, published.entries if published else ""}:
            with self._written():
                self._server().indices.delete(index=each)

    def _check_name(self) -> set[str]:
        """The alias is made last: whether it can be is known before anything is written. Gives the indexes of ours."""
        with self._explained():
            found = self._server().indices.get_alias(index=f"{self._name},{self._name}__*",
                                                     params={"ignore_unavailable": "true"})  # fmt: skip
        theirs = [
            name
            for name, about in found.items()
            if not self._own.fullmatch(name)
            and (name == self._name or self._name in about["aliases"])
        ]
        if theirs:
            kind = "index" if self._name in theirs else "alias"
            raise ChunkwiseError(
                f"{self.shown}: the {kind} {self._name!r} is not this index's; nothing was touched: choose another "
                "name for the index"
            )
        return {name for name in found if self._own.fullmatch(name)}

    def _undo(self, index: str, revision: int) -> None:
        """What a writer that stopped has left, and what no revision holds any more."""
        with self._written():
            self._server().indices.refresh(
                index=index
            )  # what is not yet searched is not found either
        gone = [{"range": {"since": {"gt": revision}}}, {"range": {"until": {"lte": revision}}}]
        with self._written():
            self._server().delete_by_query(
                index=index, body={"query": {"bool": {"should": gone}}}, params={"refresh": "true"}
            )
        self._set_until(index, {"range": {"until": {"gt": revision, "lt": _LIVE}}}, _LIVE)

    def _set_until(self, index: str, held: Body, until: int) -> None:
        script = {
            "lang": "painless", "source": "ctx._source.until = params.until", "params": {"until": until},
        }  # fmt: skip
        with self._written():
            found = self._server().update_by_query(
                index=index, body={"query": held, "script": script}, params={"refresh": "true"}
            )
            if found.get("failures"):
                raise ValueError(str(found["failures"][0]))

    def add(self, documents: Sequence[StoredDocument]) -> None:
        from opensearchpy.helpers import bulk

        with self._written():
            bulk(
                self._server(),
                (action for document in documents for action in self._actions(document)),
                chunk_size=_ENTRIES, max_chunk_bytes=_BYTES, max_retries=_TRIES, initial_backoff=1,
            )  # fmt: skip

    def _actions(self, document: StoredDocument) -> Iterator[Body]:
        assert self._writing is not None
        counts = {"document": document.number, "since": self._writing.revision, "until": _LIVE}
        for at, (number, row) in enumerate(zip(document.chunks, document.rows, strict=True)):
            entry = {**row, **counts, "number": int(number)}
            if document.vectors is not None:
                vector = np.ascontiguousarray(document.vectors[at], "<f4")
                entry["vector"] = vector.tolist()
                entry["vector_bytes"] = base64.b64encode(vector.tobytes()).decode("ascii")
            yield self._action(_chunk_id(number), entry)
        for name, part in document.parts.items():
            for piece, low in enumerate(range(0, max(1, len(part)), _PIECE)):
                data = base64.b64encode(part[low : low + _PIECE]).decode("ascii")
                entry = {**counts, "part": name, "piece": piece, "bytes": data}
                yield self._action(f"{name}-{document.number}-{piece}", entry)

    def _action(self, id: str, entry: Body) -> Body:
        assert self._writing is not None
        self._lease.check()
        return {"_op_type": "index", "_index": self._writing.entries, "_id": id, "_source": entry}

    def remove(self, numbers: Sequence[int]) -> None:
        """Until the revision that is being written: who reads the one before still finds them."""
        assert self._writing is not None
        with self._written():
            self._server().indices.refresh(index=self._writing.entries)
        for low in range(0, len(numbers), _LISTED):
            held = {"terms": {"document": [int(each) for each in numbers[low : low + _LISTED]]}}
            self._set_until(self._writing.entries, held, self._writing.revision)

    def publish(self, state: str) -> None:
        """One entry is replaced, and only where it is the one that this writer began with."""
        assert self._writing is not None
        made = self._writing._replace(state=state)
        with self._written():
            found = self._server().indices.refresh(index=made.entries)
            if found["_shards"]["failed"]:
                raise ValueError("a part of the index was not written")
        self._lease.renew()
        self._lease.check()
        self._put(_STATE, made._asdict(), self._began)
        if _published(self._entry(_STATE), self.shown, self._about) != made:
            raise self._lease.overtaken()
        self._name_chunks(made)

    def _name_chunks(self, made: _Published) -> None:
        """For people and their own tools: the name stands for the chunks that count."""
        held = {
            "bool": {
                "filter": [
                    {"exists": {"field": "number"}},
                    {"range": {"since": {"lte": made.revision}}},
                    {"range": {"until": {"gt": made.revision}}},
                ]
            }
        }
        with self._explained():
            own = [
                name
                for name, about in self._server()
                .indices.get_alias(index=f"{self._name}__*")
                .items()
                if self._name in about["aliases"]
            ]
            actions: list[Body] = [{"remove": {"index": each, "alias": self._name}} for each in own]
            actions.append({"add": {"index": made.entries, "alias": self._name, "filter": held}})
            self._server().indices.update_aliases(body={"actions": actions})

    def close(self) -> None:
        client, self._client, self._read = self._client, None, None
        if client is not None:
            client.close()


def _chunk_id(number: int) -> str:
    return f"c{int(number)}"


def _product(score: float) -> float:
    """Scores are never negative: below 0 a product is told as its distance."""
    return score - 1 if score >= 1 else 1 - 1 / score


def _published(kept: _Kept | None, shown: str, about: str) -> _Published | None:
    if kept is None:
        return None
    try:
        found = kept.source
        return _Published(str(found["state"]), int(found["revision"]), str(found["entries"]))
    except (KeyError, TypeError, ValueError):
        raise ChunkwiseError(
            f"{shown}: the index {about!r} is not chunkwise's; nothing was touched: choose another name"
        ) from None


def _made(dimensions: int, kind: Kind) -> Body:
    """Texts are searched by their words, names as a whole; metadata is kept as it is, whatever its keys are."""
    whole = {"type": "keyword", "ignore_above": 8000}
    number, count = {"type": "long"}, {"type": "integer"}
    text, data = {"type": "text"}, {"type": "binary"}
    fields: Body = {
        **dict.fromkeys(("doc_id", "title", "source", "section", "part"), whole),
        **dict.fromkeys(("document", "number", "since", "until"), number),
        **dict.fromkeys(("position", "start", "end", "tokens", "page", "piece"), count),
        **dict.fromkeys(("text", "context"), text),
        **dict.fromkeys(("bytes", "vector_bytes"), data),
        "metadata": {"type": "object", "enabled": False},
    }
    made: Body = {"mappings": {"dynamic": False, "properties": fields}}
    if dimensions and kind == "opensearch":
        method = {"name": "hnsw", "engine": "lucene", "space_type": "innerproduct"}
        fields["vector"] = {"type": "knn_vector", "dimension": dimensions, "method": method}
        made["settings"] = {"index": {"knn": True}}
    elif dimensions:
        fields["vector"] = {
            "type": "dense_vector", "dims": dimensions, "index": True, "similarity": "max_inner_product",
            "index_options": {"type": "hnsw"},
        }  # fmt: skip
    return made


def _index_name(address: StoreAddress) -> str:
    engine = address.engine
    address.no_secrets(
        f"{engine.upper()}_USER and {engine.upper()}_PASSWORD, or {engine.upper()}_API_KEY,"
    )
    address.only()
    if address.variant not in ("", "https"):
        raise InvalidParameter(
            f"the address is {address.shown}; {engine}:// and {engine}+https:// are known"
        )
    if not address.hostname:
        raise InvalidParameter(
            f"the address is {address.shown}; name a server: {engine}://host:{PORT}/index"
        )
    name = checked_name(address.path.strip("/") or DEFAULT_NAME, address.shown)
    if "__" in name or name.endswith("_") or name != name.lower():
        raise InvalidParameter(
            f"the index of {address.shown} is {name!r}; a name has small letters, digits, - and single _, and does "
            "not end in _"
        )
    return name


def _check_version(kind: Kind, version: str, shown: str) -> None:
    found = tuple(int(each) for each in re.findall(r"\d+", version)[:2])
    if found < _OLDEST[kind]:
        oldest = ".".join(map(str, _OLDEST[kind]))
        raise ChunkwiseError(
            f"{shown}: {kind} {version} does not compare vectors by their product; {oldest} or later is needed"
        )


def _connected(address: StoreAddress) -> Any:
    from opensearchpy import OpenSearch

    # It tells every answer of 404 as a warning, and an entry that is not there yet is none.
    logging.getLogger("opensearch").addHandler(logging.NullHandler())
    begin = address.engine.upper()
    user, password = (address.secret(f"{begin}_{name}") for name in ("USER", "PASSWORD"))
    key = address.secret(f"{begin}_API_KEY")
    given: Body = {"headers": {"authorization": f"ApiKey {key}"}} if key else {}
    if user and password and not key:
        given["http_auth"] = (user, password)
    if address.is_encrypted and (trusted := os.environ.get("SSL_CERT_FILE")):
        given["ca_certs"] = trusted
    return OpenSearch(
        hosts=[{"host": address.hostname, "port": address.port or PORT}],
        use_ssl=address.is_encrypted, timeout=60, max_retries=_TRIES, retry_on_timeout=False, **given,
    )  # fmt: skip


class OpenSearchEngine(StoredEngine):
    """`opensearch://host:9200/index`, or `elasticsearch://…`; over TLS `opensearch+https://…`."""

    def store(self, place: str) -> OpenSearchStore:
        return OpenSearchStore(parse_store_address(place))
