"""OpenSearch and Elasticsearch: chunks and parts of documents as entries, and one entry that is the published state."""

from __future__ import annotations

import base64
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.retrieval.databases import (
    PartName,
    Store,
    StoredDocument,
    StoredEngine,
    StoreProblem,
)
from chunkwise.retrieval.databases.address import (
    DEFAULT_NAME,
    StoreAddress,
    checked_name,
    parse_store_address,
)
from chunkwise.retrieval.databases.store import join_pieces, pieces_of
from chunkwise.retrieval.ranking import Ranking

Kind = Literal["opensearch", "elasticsearch"]
PORT = 9200
MANY = 10_000
"""Chunks up to which all are compared; of more the server's HNSW finds the nearest."""
_OLDEST: Mapping[Kind, tuple[int, int]] = {"opensearch": (2, 13), "elasticsearch": (8, 11)}
"""Earlier ones do not compare by the product of vectors."""
_ENTRIES, _BYTES = 500, 1 << 23
"""Sent at once: servers take 100 MB unless they are told otherwise."""
_DELETED = 1_000
"""Documents in one request."""
_LISTED = 50_000
"""Numbers in one condition: servers take 65,536."""
_NEAREST = 1_000
"""Chunks that HNSW is asked for; of more all are compared."""
_WINDOW = 10_000
"""Hits of one answer at most."""
_TRIES = 4
_STATE = "state"

Body = dict[str, Any]


class OpenSearchStore(Store):
    """One index of the server per set of rows, and an alias for the one that is live."""

    advice = "check host, port, user and password or key, and that the server is running"

    def __init__(self, address: StoreAddress) -> None:
        self.shown = address.shown
        self._address = address
        self._name = _index_name(address)
        self._about = f"{self._name}__state"
        self._is_small: bool | None = None
        try:
            import opensearchpy  # noqa: F401
        except ImportError:
            raise MissingExtra("an OpenSearch index", "opensearch") from None

    @cached_property
    def _client(self) -> Any:
        return _connected(self._address)

    @property
    def _entries(self) -> str:
        return f"{self._name}__{self.rows}"

    def failures(self) -> tuple[type[Exception], ...]:
        from opensearchpy.exceptions import ImproperlyConfigured, OpenSearchException

        return OpenSearchException, ImproperlyConfigured, OSError, ValueError

    @cached_property
    def _kind(self) -> Kind:
        """Which of the two answers, whatever the address calls it."""
        version = self._client.info()["version"]
        number = str(version["number"])
        is_first = version.get("distribution") == "opensearch"
        known: Kind = "opensearch" if is_first else "elasticsearch"
        _check_version(known, number, self.shown)
        return known

    def use(self, rows: str) -> None:
        super().use(rows)
        self._is_small = None

    def _read(self) -> Body | None:
        """The entry that is the state, whether it is searched already or not."""
        from opensearchpy.exceptions import NotFoundError

        try:
            body: Body = self._client.get(index=self._about, id=_STATE)
        except NotFoundError:
            return None
        return body

    def read_state(self) -> str | None:
        result = self._read()
        return None if result is None else str(result["_source"].get("text", ""))

    def swap_state(self, old: str | None, new: str) -> None:
        from opensearchpy.exceptions import ConflictError

        result, condition = self._read(), {"op_type": "create"}
        if result is not None:
            condition = {
                "if_seq_no": result["_seq_no"],
                "if_primary_term": result["_primary_term"],
            }
        if (result and result["_source"].get("text")) != old:
            return
        _ = self._kind  # too old a server is refused before anything is written
        if old is None and not self._client.indices.exists(index=self._about):
            mappings: Body = {"dynamic": False, "properties": {}}
            self._client.indices.create(
                index=self._about, body={"mappings": mappings}, params={"ignore": "400"}
            )
        try:
            self._client.index(index=self._about, id=_STATE, body={"text": new}, params=condition)
        except ConflictError:
            return

    def make(self, dimensions: int) -> None:
        self._client.indices.create(index=self._entries, body=_made(dimensions, self._kind))

    def drop(self, rows: str) -> None:
        self._client.indices.delete(
            index=f"{self._name}__{rows}", params={"ignore_unavailable": "true"}
        )

    def put(self, documents: Sequence[StoredDocument]) -> None:
        from opensearchpy.helpers import BulkIndexError, bulk

        actions = (
            {"_index": self._entries, "_id": id, "_source": entry}
            for document in documents
            for id, entry in _entries_of(document)
        )
        try:
            bulk(
                self._client, actions, chunk_size=_ENTRIES, max_chunk_bytes=_BYTES,
                max_retries=_TRIES, initial_backoff=1,
            )  # fmt: skip
        except BulkIndexError as error:
            first: Any = next(iter(error.errors[0].values()), {}) if error.errors else {}
            raise ValueError(f"{first.get('error', error)}") from None

    def delete(self, first: int, last: int) -> None:
        """Numbers are never used again: it does no harm where the server goes on with it for longer than we wait."""
        self.settle()  # what is not searched yet is not found
        for low in range(first, last + 1, _DELETED):
            run = {"gte": low, "lte": min(last, low + _DELETED - 1)}
            self._client.delete_by_query(
                index=self._entries, body={"query": {"range": {"document": run}}},
                params={"conflicts": "proceed", "refresh": "true"},
            )  # fmt: skip

    def _sources(self, ids: Sequence[str], fields: str) -> Iterator[Body | None]:
        """What entries hold; None: there is no such entry."""
        answer = self._client.mget(
            index=self._entries, body={"ids": list(ids)}, params={"_source": fields}
        )
        for entry in answer["docs"]:
            yield entry["_source"] if entry.get("found") else None

    def get(self, part: PartName, numbers: Sequence[int]) -> dict[int, bytes]:
        def fetch(
            asked: Sequence[tuple[int, int]],
        ) -> Mapping[tuple[int, int], tuple[bytes, int]]:
            ids = [f"{part}-{number}-{place}" for number, place in asked]
            entries = zip(asked, self._sources(ids, "bytes,pieces"), strict=True)
            return {
                key: (base64.b64decode(entry["bytes"]), int(entry["pieces"]))
                for key, entry in entries
                if entry is not None
            }

        return join_pieces(numbers, fetch)

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        result: list[NDArray[np.float32]] = []
        for low in range(0, len(chunks), _ENTRIES):
            ids = [f"c{number}" for number in chunks[low : low + _ENTRIES]]
            for id, entry in zip(ids, self._sources(ids, "vector_bytes"), strict=True):
                if entry is None:
                    raise KeyError(id)
                result.append(np.frombuffer(base64.b64decode(entry["vector_bytes"]), "<f4"))
        return np.array(result, np.float32)

    def _search(self, body: Body) -> list[Body]:
        result: Body = self._client.search(index=self._entries, body=body)
        if result.get("timed_out") or result["_shards"]["failed"]:
            raise StoreProblem(f"{self.shown}: a shard didn't respond; try again")
        hits: list[Body] = result["hits"]["hits"]
        return hits

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
            held = {"bool": {"filter": [_IS_CHUNK, *([taken] if taken else [])]}}
            ask = self._compared if compares_all else self._looked_for
            hits += ask(vector.tolist(), depth, held)
        numbers = np.array([number for number, _ in hits], np.int64)
        scores = np.array([_product(score) for _, score in hits], np.float32)
        best = np.lexsort((numbers, -scores))[:depth]
        return Ranking(numbers[best], scores[best])

    def _compared(self, vector: list[float], depth: int, held: Body) -> Iterator[tuple[int, float]]:
        """All of them, by a script of the server."""
        if self._kind == "opensearch":
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
        if self._kind == "opensearch":
            asked["query"] = {"knn": {"vector": {"vector": vector, "k": wide, "filter": held}}}
        else:
            asked["knn"] = {
                "field": "vector", "query_vector": vector, "k": depth, "num_candidates": wide, "filter": held,
            }  # fmt: skip
        for hit in self._search(asked):
            yield _chunk_of(hit["_id"]), float(hit["_score"])

    def is_exact(self) -> bool:
        """Few are all compared."""
        if self._is_small is None:
            result = self._client.count(index=self._entries, body={"query": _IS_CHUNK})
            self._is_small = int(result["count"]) <= MANY
        return self._is_small

    def settle(self) -> None:
        result = self._client.indices.refresh(index=self._entries)
        if result["_shards"]["failed"]:
            raise ValueError("a shard was not written")

    def expose(self) -> None:
        name = self._name
        known = self._client.indices.get_alias(
            index=f"{name}__*", params={"ignore_unavailable": "true"}
        )
        old = [each for each, about in known.items() if name in about["aliases"]]
        actions: list[Body] = [{"remove": {"index": each, "alias": name}} for each in old]
        added = {"index": self._entries, "alias": name, "filter": _IS_CHUNK}
        self._client.indices.update_aliases(body={"actions": [*actions, {"add": added}]})

    def size(self) -> int:
        result = self._client.indices.stats(index=self._entries, metric="store")
        return int(result["_all"]["primaries"]["store"]["size_in_bytes"])

    def close(self) -> None:
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()


_IS_CHUNK: Body = {"exists": {"field": "number"}}


def _entries_of(document: StoredDocument) -> Iterator[tuple[str, Body]]:
    shared = {"document": document.number}
    for at, (number, row) in enumerate(zip(document.chunks, document.rows, strict=True)):
        entry = {**row, **shared, "number": int(number)}
        if document.vectors is not None:
            vector = np.ascontiguousarray(document.vectors[at], "<f4")
            entry["vector"] = vector.tolist()
            entry["vector_bytes"] = base64.b64encode(vector.tobytes()).decode("ascii")
        yield f"c{int(number)}", entry
    for name, part in document.parts.items():
        pieces = pieces_of(part)
        for place, piece in enumerate(pieces):
            data = base64.b64encode(piece).decode("ascii")
            entry = {**shared, "part": name, "pieces": len(pieces), "bytes": data}
            yield f"{name}-{document.number}-{place}", entry


def _chunk_of(id: str) -> int:
    return int(id.removeprefix("c"))


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
        **dict.fromkeys(("document", "number"), number),
        **dict.fromkeys(("position", "start", "end", "tokens", "page", "pieces"), count),
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
            f"the address is {address.shown}; known: {engine}://, {engine}+https://"
        )
    if not address.hostname:
        raise InvalidParameter(
            f"the address is {address.shown}; expected {engine}://host:{PORT}/index"
        )
    name = checked_name(address.path.strip("/") or DEFAULT_NAME, address.shown)
    if name != name.lower():
        raise InvalidParameter(
            f"index name {name!r} in {address.shown}; allowed: lower-case letters"
        )
    return name


def _check_version(kind: Kind, version: str, shown: str) -> None:
    result = tuple(int(each) for each in re.findall(r"\d+", version)[:2])
    if result < _OLDEST[kind]:
        oldest = ".".join(map(str, _OLDEST[kind]))
        raise ChunkwiseError(
            f"{shown}: {kind} {version} has no inner-product vector search; use {oldest} or later"
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
