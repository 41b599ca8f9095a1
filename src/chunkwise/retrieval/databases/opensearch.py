"""OpenSearch and Elasticsearch: chunks and parts of documents as entries that say in which revisions they count."""

from __future__ import annotations

import base64
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.retrieval.databases import PartName, StoredDocument, StoredEngine, StoreProblem
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
    DEFAULT_NAME,
    StoreAddress,
    checked_name,
    parse_store_address,
)
from chunkwise.retrieval.ranking import Ranking

Kind = Literal["opensearch", "elasticsearch"]
PORT = 9200
MANY = 10_000
"""Chunks up to which all are compared; of more the server's HNSW finds the nearest."""
_OLDEST: Mapping[Kind, tuple[int, int]] = {"opensearch": (2, 13), "elasticsearch": (8, 11)}
"""Earlier ones do not compare by the product of vectors."""
_ENTRIES, _BYTES = 500, 1 << 23
"""Sent at once: servers take 100 MB unless they are told otherwise."""
_LISTED = 50_000
"""Numbers in one condition: servers take 65,536."""
_NEAREST = 1_000
"""Chunks that HNSW is asked for; of more all are compared."""
_WINDOW = 10_000
"""Hits of one answer at most."""
_TRIES = 4
_CHANGED_MEANWHILE, _GONE = 409, 404

Body = dict[str, Any]


class OpenSearchStore(RevisionStore):
    """Chunks and pieces of parts are entries of one index of the server; an alias stands for the chunks that count."""

    kind = "index"
    advice = "check host, port, user and password or key, and that the server runs"

    def __init__(self, address: StoreAddress) -> None:
        super().__init__(address, _index_name(address))
        self._known_kind: Kind | None = None
        self._rows = 0
        try:
            import opensearchpy  # noqa: F401
        except ImportError:
            raise MissingExtra("an OpenSearch index", "opensearch") from None

    def _connected(self) -> Any:
        return _connected(self._address)

    def _failures(self) -> tuple[type[Exception], ...]:
        from opensearchpy.exceptions import ImproperlyConfigured, OpenSearchException

        return OpenSearchException, ImproperlyConfigured, OSError, ValueError, KeyError

    def _told(self, error: Exception, said: str) -> str:
        from opensearchpy.helpers import BulkIndexError

        if isinstance(error, BulkIndexError):
            first: Any = next(iter(error.errors[0].values()), {}) if error.errors else {}
            return f"{_first_words(first.get('error', error))}; nothing of this update counts"
        return super()._told(error, said)

    def _kind(self) -> Kind:
        """Which of the two answers, whatever the address calls it."""
        if self._known_kind is None:
            with self._explained():
                version = self._server().info()["version"]
                number = str(version["number"])
            known: Kind = (
                "opensearch" if version.get("distribution") == "opensearch" else "elasticsearch"
            )
            _check_version(known, number, self.shown)
            self._known_kind = known
        return self._known_kind

    def _row(self, name: str) -> KeptRow | None:
        """Whether it is searched already or not."""
        from opensearchpy.exceptions import NotFoundError

        with self._explained():
            try:
                found = self._server().get(index=self._about, id=name)
            except NotFoundError:
                return None
            condition = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
            return KeptRow(found["_source"], condition)

    def _put(self, name: str, values: Mapping[str, Any], before: KeptRow | None) -> None:
        from opensearchpy.exceptions import ConflictError

        condition = {"op_type": "create"} if before is None else before.condition
        with self._explained():
            try:
                self._server().index(
                    index=self._about, id=name, body=dict(values), params={**condition, "refresh": "true"}
                )  # fmt: skip
            except ConflictError:
                return

    def state(self) -> str | None:
        before, found = self._read, super().state()
        if self._read != before:
            self._rows = 0
        return found

    def _search(self, body: Body, index: str = "") -> list[Body]:
        with self._explained():
            found: Body = self._server().search(index=index or self._now().entries, body=body)
            if found.get("timed_out") or found["_shards"]["failed"]:
                raise StoreProblem(f"{self.shown}: a part of the index did not answer; ask again")
            hits: list[Body] = found["hits"]["hits"]
        return hits

    def parts(
        self, name: PartName, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, bytes]]:
        if numbers is None:
            yield from joined_pieces(self._pieces({"term": {"part": name}}))
            return
        wanted = sorted(int(each) for each in numbers)
        for low in range(0, len(wanted), _LISTED):
            some = {"terms": {"document": wanted[low : low + _LISTED]}}
            yield from joined_pieces(self._pieces({"term": {"part": name}}, some))

    def _pieces(self, *asked: Body) -> Iterator[tuple[int, bytes]]:
        for group in fetched_together(self._listed(*asked)):
            entries = self._fetched([each.id for each in group], "bytes")
            for each, entry in zip(group, entries, strict=True):
                if entry is None:
                    raise self._changed()
                yield each.document, entry

    def _listed(self, *asked: Body) -> Iterator[ListedPiece]:
        """All of them, by document and piece; those of one revision stay what they are from page to page."""
        order: list[Body] = [{"document": "asc"}, {"piece": "asc"}]
        body = {
            "query": _counts(self._now(), *asked), "size": LISTED_PAGE, "sort": order, "_source": ["size"],
            "track_total_hits": False,
        }  # fmt: skip
        while True:
            hits = self._search(body)
            for hit in hits:
                document, piece = hit["sort"]
                yield ListedPiece(document, piece, hit["_source"].get("size", PIECE), hit["_id"])
            if len(hits) < LISTED_PAGE:
                return
            body["search_after"] = hits[-1]["sort"]

    def _fetched(self, ids: Sequence[str], field: str) -> list[bytes | None]:
        """What entries hold in a field of bytes; None: there is no such entry."""
        with self._explained():
            answer = self._server().mget(
                index=self._now().entries, body={"ids": list(ids)}, params={"_source": field}
            )
            return [
                base64.b64decode(entry["_source"][field]) if entry.get("found") else None
                for entry in answer["docs"]
            ]

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        found: dict[int, bytes] = {}
        for low in range(0, len(chunks), _ENTRIES):
            some = {"terms": {"number": [int(each) for each in chunks[low : low + _ENTRIES]]}}
            body = {
                "query": _counts(self._now(), some), "size": _ENTRIES, "_source": ["number", "vector_bytes"],
                "track_total_hits": False,
            }  # fmt: skip
            hits = self._search(body)
            with self._explained():
                for hit in hits:
                    own = hit["_source"]
                    found[int(own["number"])] = base64.b64decode(own["vector_bytes"])
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
            held = _counts(self._now(), _IS_CHUNK, *([taken] if taken else []))
            ask = self._compared if compares_all else self._looked_for
            hits += ask(vector.tolist(), depth, held)
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
            hits = self._search(asked)
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
        for hit in self._search(asked):
            yield _chunk_of(hit["_id"]), float(hit["_score"])

    def is_exact(self) -> bool:
        """Few are all compared."""
        if not self._rows:
            held = _counts(self._now(), _IS_CHUNK)
            with self._explained():
                found = self._server().count(index=self._now().entries, body={"query": held})
                self._rows = max(1, int(found["count"]))
        return self._rows <= MANY

    def size(self) -> int:
        with self._explained():
            found = self._server().indices.stats(index=self._now().entries, metric="store")
            return int(found["_all"]["primaries"]["store"]["size_in_bytes"])

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

    def _make_entries(self, entries: str, dimensions: int) -> None:
        made = _made(dimensions, self._kind())
        with self._written():
            self._server().indices.create(index=entries, body=made)

    def _drop_entries(self, entries: str) -> None:
        with self._written():
            self._server().indices.delete(index=entries)

    def _aliases(self) -> dict[str, Any]:
        """Of all that may be ours, or has our name."""
        with self._explained():
            found: dict[str, Any] = self._server().indices.get_alias(
                index=f"{self._name},{self._name}__*", params={"ignore_unavailable": "true"}
            )
            return {name: about["aliases"] for name, about in found.items()}

    def _named(self) -> tuple[set[str], str]:
        found = self._aliases()
        own = {name for name in found if self._own.fullmatch(name)}
        if self._name in found:
            return own, "index"
        is_taken = any(self._name in found[name] for name in found if name not in own)
        return own, "alias" if is_taken else ""

    def _undo(self, before: Published) -> None:
        revision, lost = before.revision, _within("until", before.lost)
        left = {"bool": {"filter": [_range("until", lte=revision)], "must_not": lost}}
        gone = [_range("since", gt=revision), *_within("since", before.lost), left]
        self._change(before.entries, {"bool": {"should": gone}}, None)
        removed = [_range("until", gt=revision, lt=LIVE), *lost]
        self._change(before.entries, {"bool": {"should": removed}}, LIVE)

    def _change(self, index: str, held: Body, until: int | None) -> None:
        """All that match are given another end, or are deleted (None).

        By their ids, some at a time: a query that changes things runs on in the server when its writer is gone.
        """
        body = {
            "query": held, "size": _WINDOW, "_source": False, "seq_no_primary_term": True,
            "sort": ["_doc"], "track_total_hits": False,
        }  # fmt: skip
        while True:
            with self._written():  # what is not yet searched is not found either
                self._server().indices.refresh(index=index)
            hits = self._search(body, index)
            if not hits:
                return
            done = self._send_changes([_change(index, hit, until) for hit in hits])
            if not done:
                raise StoreProblem(
                    f"{self.shown}: entries of this index are changed by somebody else; nothing of this update counts: "
                    "run it again when that is done"
                )

    def _send_changes(self, actions: Sequence[Body]) -> int:
        """How many were done; of those that are not as they were read, the next look shows what they are."""
        from opensearchpy.helpers import BulkIndexError

        done, failed = self._bulk(actions, raise_on_error=False)
        for each in failed:
            (answer,) = each.values()
            if answer.get("status") not in (_CHANGED_MEANWHILE, _GONE):
                with self._explained():
                    raise BulkIndexError("not all was changed", [each])
        return done

    def _bulk(self, actions: Iterable[Body], **more: Any) -> tuple[int, list[Body]]:
        from opensearchpy.helpers import bulk

        def checked() -> Iterator[Body]:
            for each in actions:
                self._lease.check()
                yield each

        with self._written():
            done, failed = bulk(
                self._server(), checked(), chunk_size=_ENTRIES, max_chunk_bytes=_BYTES, max_retries=_TRIES,
                initial_backoff=1, **more,
            )  # fmt: skip
        return done, failed if isinstance(failed, list) else []

    def add(self, documents: Sequence[StoredDocument]) -> None:
        self._bulk(action for document in documents for action in self._actions(document))

    def _actions(self, document: StoredDocument) -> Iterator[Body]:
        """An id has the writer's number in it: what another sends late is never written over this."""
        assert self._writing is not None
        index, since = self._writing.entries, self._writing.revision
        counts = {"document": document.number, "since": since, "until": LIVE}
        for at, (number, row) in enumerate(zip(document.chunks, document.rows, strict=True)):
            entry = {**row, **counts, "number": int(number)}
            if document.vectors is not None:
                vector = np.ascontiguousarray(document.vectors[at], "<f4")
                entry["vector"] = vector.tolist()
                entry["vector_bytes"] = base64.b64encode(vector.tobytes()).decode("ascii")
            yield {"_index": index, "_id": f"c{int(number)}-{since}", "_source": entry}
        for name, part in document.parts.items():
            for piece, low in enumerate(range(0, max(1, len(part)), PIECE)):
                data = base64.b64encode(part[low : low + PIECE]).decode("ascii")
                entry = {**counts, "part": name, "piece": piece, "size": len(data), "bytes": data}
                id = f"{name}-{document.number}-{piece}-{since}"
                yield {"_index": index, "_id": id, "_source": entry}

    def remove(self, numbers: Sequence[int]) -> None:
        """Until the revision that is being written: who reads the one before still finds them."""
        assert self._writing is not None
        entries, until, lost = self._writing.entries, self._writing.revision, self._writing.lost
        # Not what a writer after this one has removed.
        still = {"bool": {"should": [_range("until", gte=LIVE), *_within("until", lost)]}}
        for low in range(0, len(numbers), _LISTED):
            held = {"terms": {"document": [int(each) for each in numbers[low : low + _LISTED]]}}
            self._change(entries, {"bool": {"filter": [held, still]}}, until)

    def _settle(self, made: Published) -> None:
        with self._written():
            found = self._server().indices.refresh(index=made.entries)
            if found["_shards"]["failed"]:
                raise ValueError("a part of the index was not written")

    def _is_named(self, published: Published) -> bool:
        held = {"filter": _counts(published, _IS_CHUNK)}
        named = {
            name: about[self._name]
            for name, about in self._aliases().items()
            if self._name in about
        }
        return named == {published.entries: held}

    def _name_chunks(self, published: Published) -> None:
        own = [name for name, about in self._aliases().items() if self._name in about]
        actions: list[Body] = [{"remove": {"index": each, "alias": self._name}} for each in own]
        added = {
            "index": published.entries,
            "alias": self._name,
            "filter": _counts(published, _IS_CHUNK),
        }
        self._server().indices.update_aliases(body={"actions": [*actions, {"add": added}]})


_IS_CHUNK: Body = {"exists": {"field": "number"}}


def _range(field: str, **bounds: int) -> Body:
    return {"range": {field: bounds}}


def _within(field: str, runs: Iterable[tuple[int, int]]) -> list[Body]:
    return [_range(field, gte=first, lte=last) for first, last in runs]


def _counts(published: Published, *more: Body) -> Body:
    """Holds for what a revision holds."""
    live = [_range("until", gt=published.revision), *_within("until", published.lost)]
    begun = _range("since", lte=published.revision)
    return {
        "bool": {
            "filter": [begun, {"bool": {"should": live}}, *more],
            "must_not": _within("since", published.lost),
        }
    }


def _change(index: str, hit: Body, until: int | None) -> Body:
    """Only where it is still what was found."""
    one = {
        "_index": index, "_id": hit["_id"], "if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"],
    }  # fmt: skip
    if until is None:
        return {"_op_type": "delete", **one}
    return {"_op_type": "update", **one, "doc": {"until": until}}


def _chunk_of(id: str) -> int:
    return int(id.removeprefix("c").partition("-")[0])


def _first_words(error: object) -> str:
    return " ".join(str(error).split())[:400]


def _product(score: float) -> float:
    """Scores are never negative: below 0 a product is told as its distance."""
    return score - 1 if score >= 1 else 1 - 1 / score


def _made(dimensions: int, kind: Kind) -> Body:
    """Texts are searched by their words, names as a whole; metadata is kept as it is, whatever its keys are."""
    whole = {"type": "keyword", "ignore_above": 8000}
    number, count = {"type": "long"}, {"type": "integer"}
    text, data = {"type": "text"}, {"type": "binary"}
    fields: Body = {
        **dict.fromkeys(("doc_id", "title", "source", "section", "part"), whole),
        **dict.fromkeys(("document", "number", "since", "until"), number),
        **dict.fromkeys(("position", "start", "end", "tokens", "page", "piece", "size"), count),
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
