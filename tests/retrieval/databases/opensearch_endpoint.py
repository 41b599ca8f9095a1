"""OpenSearch's and Elasticsearch's protocol, as far as it is used, in this process: no server installs for tests.

It keeps to what their references say: what was written is searched after a refresh, conditions are looked at in one
step, scores are as documented, and requests that a server would refuse are refused.
"""

from __future__ import annotations

import fnmatch
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

VERSIONS = {"opensearch": "2.19.0", "elasticsearch": "8.17.0"}
_VECTOR_TYPES = {"opensearch": "knn_vector", "elasticsearch": "dense_vector"}
Fault = Callable[[str, str], int]
"""What a request (method, path) is answered instead; 0: nothing, -1: the connection drops."""


class Refusal(Exception):
    def __init__(self, status: int, kind: str, reason: str = "") -> None:
        super().__init__(reason)
        cause = {"type": kind, "reason": reason or kind}
        self.status, self.answer = (
            status,
            {"error": {"root_cause": [cause], **cause}, "status": status},
        )


class _Index:
    def __init__(self, body: Any) -> None:
        self.mappings = (body or {}).get("mappings", {})
        self.entries: dict[str, dict[str, Any]] = {}
        """By id, as they are: `_source`, `_seq_no`."""
        self.searched: dict[str, dict[str, Any]] = {}
        """As of the last refresh."""
        self.aliases: dict[str, Any] = {}
        self.next = 0

    def put(self, id: str, source: Any) -> dict[str, Any]:
        known = self.mappings.get("properties", {})
        for name, value in source.items():
            kind = known.get(name, {}).get("type", "")
            width = known.get(name, {}).get("dimension", known.get(name, {}).get("dims"))
            if kind in _VECTOR_TYPES.values() and len(value) != width:
                raise Refusal(400, "mapper_parsing_exception", f"{name} has {len(value)} numbers")
        self.entries[id] = {"_source": source, "_seq_no": self.next}
        self.next += 1
        return {"_id": id, "_seq_no": self.next - 1, "_primary_term": 1, "result": "updated"}

    def refresh(self) -> None:
        self.searched = dict(self.entries)


def _holds(query: Any, source: Any) -> bool:
    ((kind, asked),) = query.items()
    if kind == "bool":
        if {*asked} - {"filter", "should", "must", "must_not"}:
            raise Refusal(400, "parsing_exception", str({*asked}))
        every = all(
            _holds(each, source) for each in [*asked.get("filter", []), *asked.get("must", [])]
        )
        some = not asked.get("should") or any(_holds(each, source) for each in asked["should"])
        return (
            every and some and not any(_holds(each, source) for each in asked.get("must_not", []))
        )
    if kind == "exists":
        return source.get(asked["field"]) is not None
    if kind == "match_all":
        return True
    ((field, given),) = asked.items()
    value = source.get(field)
    if kind == "term":
        return bool(value == given)
    if kind == "terms":
        return value in given
    if kind == "range":
        checks = {"lt": "__lt__", "lte": "__le__", "gt": "__gt__", "gte": "__ge__"}
        return value is not None and all(getattr(value, checks[by])(to) for by, to in given.items())
    raise Refusal(400, "parsing_exception", f"unknown query [{kind}]")


def _quickened(query: Any) -> Any:
    """Lists as sets, which are looked up faster."""
    if isinstance(query, dict):
        if "terms" in query:
            ((field, given),) = query["terms"].items()
            if len(given) > 65_536:
                raise Refusal(400, "illegal_argument_exception", "too many terms")
            return {"terms": {field: frozenset(given)}}
        return {key: _quickened(value) for key, value in query.items()}
    return [_quickened(each) for each in query] if isinstance(query, list) else query


def _score(product: float) -> float:
    """As both say for the product of vectors."""
    return product + 1 if product >= 0 else 1 / (1 - product)


class Server:
    """All indexes, and the answers to requests."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.indexes: dict[str, _Index] = {}
        self.requests: list[tuple[str, str, str]] = []
        """Method, path, and what was sent to be let in."""
        self.fault: Fault = lambda method, path: 0

    def answer(self, method: str, path: str, options: dict[str, str], body: str) -> Any:
        parts = [unquote(each) for each in path.strip("/").split("/") if each]
        if not parts:
            version = {"number": VERSIONS[self.kind]}
            return {
                "version": {**version, "distribution": "opensearch"}
                if self.kind == "opensearch"
                else version
            }
        if parts == ["_bulk"]:
            return self._bulk(body)
        given = json.loads(body) if body else None
        if parts == ["_aliases"]:
            return self._set_aliases(given)
        name, *rest = parts
        if not rest:
            return self._whole_index(method, name, given)
        if rest == ["_alias"]:
            return self._aliases(name, options)
        return self._of_index(self._named(name)[0], method, rest, options, given)

    def _named(self, name: str) -> list[_Index]:
        found = [
            index for each, index in self.indexes.items() if each == name or name in index.aliases
        ]
        if not found:
            raise Refusal(404, "index_not_found_exception", f"no such index [{name}]")
        return found

    def _whole_index(self, method: str, name: str, given: Any) -> Any:
        if method == "HEAD":
            self._named(name)
            return {}
        if method == "PUT":
            if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name):
                raise Refusal(400, "invalid_index_name_exception", name)
            if name in self.indexes:
                raise Refusal(400, "resource_already_exists_exception", name)
            types = {each.get("type") for each in (given or {})["mappings"]["properties"].values()}
            if other := types & ({*_VECTOR_TYPES.values()} - {_VECTOR_TYPES[self.kind]}):
                raise Refusal(400, "mapper_parsing_exception", f"No handler for type {other}")
            self.indexes[name] = _Index(given)
            return {"acknowledged": True, "index": name}
        if method == "DELETE":
            self._named(name)
            if name not in self.indexes:
                raise Refusal(400, "illegal_argument_exception", "it is an alias")
            del self.indexes[name]
            return {"acknowledged": True}
        raise Refusal(405, "method_not_allowed")

    def _aliases(self, names: str, options: dict[str, str]) -> Any:
        found = {}
        for pattern in names.split(","):
            hits = {
                each: {"aliases": index.aliases}
                for each, index in self.indexes.items()
                if fnmatch.fnmatchcase(each, pattern) or pattern in index.aliases
            }
            if not hits and "*" not in pattern and options.get("ignore_unavailable") != "true":
                raise Refusal(404, "index_not_found_exception", pattern)
            found |= hits
        return found

    def _set_aliases(self, given: Any) -> Any:
        for action in given["actions"]:
            ((do, what),) = action.items()
            if what["alias"] in self.indexes:
                raise Refusal(400, "invalid_alias_name_exception", what["alias"])
            index = self.indexes[what["index"]]
            if do == "add":
                index.aliases[what["alias"]] = {"filter": what.get("filter")}
            else:
                del index.aliases[what["alias"]]
        return {"acknowledged": True}

    def _bulk(self, body: str) -> Any:
        lines, items = iter(body.splitlines()), []
        for line in lines:
            ((what, about),) = json.loads(line).items()
            given = None if what == "delete" else json.loads(next(lines))
            try:
                done = {**self._one_of_bulk(what, about, given), "status": 200}
            except Refusal as refusal:
                done = {"_id": about["_id"], **refusal.answer}
            items.append({what: done})
        failed = any("error" in each for item in items for each in item.values())
        return {"errors": failed, "items": items}

    def _one_of_bulk(self, what: str, about: Any, given: Any) -> dict[str, Any]:
        index, id = self._named(about["_index"])[0], about["_id"]
        if what == "index":
            return index.put(id, given)
        there = index.entries.get(id)
        if there is None:
            raise Refusal(404, "document_missing_exception", id)
        if "if_seq_no" in about and there["_seq_no"] != about["if_seq_no"]:
            raise Refusal(409, "version_conflict_engine_exception", "version conflict")
        if what == "update":
            return index.put(id, {**there["_source"], **given["doc"]})
        if what != "delete":
            raise Refusal(400, "illegal_argument_exception", f"unknown action [{what}]")
        del index.entries[id]
        return {"_id": id, "result": "deleted"}

    def _of_index(
        self, index: _Index, method: str, rest: list[str], options: dict[str, str], given: Any
    ) -> Any:
        shards = {"total": 1, "successful": 1, "failed": 0}
        match rest:
            case ["_doc" | "_create", id] if method in ("PUT", "POST"):
                return self._conditional(index, id, rest[0], options, given)
            case ["_doc", id]:
                if id not in index.entries:
                    raise Refusal(404, "document_missing")
                return {"_id": id, "found": True, "_primary_term": 1, **index.entries[id]}
            case ["_mget"]:
                wanted = options.get("_source", "").split(",")
                return {"docs": [_chosen(index, id, wanted) for id in given["ids"]]}
            case ["_refresh"]:
                index.refresh()
                return {"_shards": shards}
            case ["_count"]:
                held = _quickened(given["query"])
                return {
                    "count": sum(_holds(held, each["_source"]) for each in index.searched.values())
                }
            case ["_stats", "store"]:
                size = len(json.dumps([each["_source"] for each in index.entries.values()]))
                return {"_all": {"primaries": {"store": {"size_in_bytes": size}}}}
            case ["_search"]:
                return {
                    "timed_out": False,
                    "_shards": shards,
                    "hits": {"hits": self._hits(index, given)},
                }
        raise Refusal(400, "no_handler", "/".join(rest))

    def _conditional(
        self, index: _Index, id: str, way: str, options: dict[str, str], given: Any
    ) -> Any:
        is_new = way == "_create" or options.get("op_type") == "create"
        there = index.entries.get(id)
        is_other = "if_seq_no" in options and (
            there is None or there["_seq_no"] != int(options["if_seq_no"])
        )
        if (is_new and there) or is_other:
            raise Refusal(409, "version_conflict_engine_exception", "version conflict")
        done = index.put(id, given)
        if options.get("refresh") == "true":
            index.refresh()
        return done

    def _hits(self, index: _Index, asked: Any) -> list[Any]:
        size = asked.get("size", 10)
        if size > 10_000:
            raise Refusal(400, "illegal_argument_exception", "Result window is too large")
        scored = [*self._scored(index, asked)]
        order = asked.get("sort", [{"_score": "desc"}])
        if order == ["_doc"]:
            order = []  # as they lie there
        keyed = [(_places(order, source, score), id, source, score) for id, source, score in scored]
        keyed.sort(key=lambda row: row[0][1])
        after = asked.get("search_after")
        if after is not None:
            last = _signed(order, after)
            keyed = [row for row in keyed if row[0][1] > last]
        wanted = asked.get("_source", True)
        with_order = asked.get("seq_no_primary_term", False)
        return [
            {
                "_id": id, "_score": score, "sort": values,
                **({"_seq_no": index.searched[id]["_seq_no"], "_primary_term": 1} if with_order else {}),
                **({} if wanted is False else {"_source": {name: source[name] for name in wanted if name in source}}),
            }
            for (values, _), id, source, score in keyed[:size]
        ]  # fmt: skip

    def _scored(self, index: _Index, asked: Any) -> Iterator[tuple[str, Any, float]]:
        if "knn" in asked:
            if self.kind != "elasticsearch":
                raise Refusal(400, "parsing_exception", "unknown key [knn]")
            near = asked["knn"]
            if near["num_candidates"] < near["k"]:
                raise Refusal(
                    400, "illegal_argument_exception", "[num_candidates] is less than [k]"
                )
            yield from _nearest(index, near["filter"], near["query_vector"], near["k"])
            return
        ((kind, given),) = asked["query"].items()
        if kind == "knn":
            if self.kind != "opensearch":
                raise Refusal(400, "parsing_exception", "[knn] is another here")
            near = given["vector"]
            yield from _nearest(index, near["filter"], near["vector"], near["k"])
        elif kind == "script_score":
            script = given["script"]
            if (script["lang"] == "knn") != (self.kind == "opensearch"):
                raise Refusal(
                    400,
                    "illegal_argument_exception",
                    f"script_lang not supported [{script['lang']}]",
                )
            params = script["params"]
            vector = params["query_value"] if self.kind == "opensearch" else params["v"]
            yield from _nearest(index, given["query"], vector, len(index.searched))
        else:
            held = _quickened(asked["query"])
            for id, entry in index.searched.items():
                if _holds(held, entry["_source"]):
                    yield id, entry["_source"], 0.0


def _places(order: Any, source: Any, score: float) -> tuple[list[Any], tuple[float, ...]]:
    values = [score if "_score" in by else source[next(iter(by))] for by in order]
    return values, _signed(order, values)


def _signed(order: Any, values: Any) -> tuple[float, ...]:
    return tuple(
        -value if next(iter(by.values())) == "desc" else value
        for by, value in zip(order, values, strict=True)
    )


def _nearest(index: _Index, held: Any, vector: Any, most: int) -> Iterator[tuple[str, Any, float]]:
    held = _quickened(held)
    rows = [
        (id, each["_source"])
        for id, each in index.searched.items()
        if _holds(held, each["_source"])
    ]
    if not rows:
        return
    products = np.array([source["vector"] for _, source in rows], np.float32) @ np.array(
        vector, np.float32
    )
    for at in np.argsort(-products, kind="stable")[:most]:
        yield *rows[at], float(np.float32(_score(float(products[at]))))


def _chosen(index: _Index, id: str, wanted: list[str]) -> Any:
    entry = index.entries.get(id)
    if entry is None:
        return {"_id": id, "found": False}
    source = {name: entry["_source"][name] for name in wanted if name in entry["_source"]}
    return {"_id": id, "found": True, "_source": source}


@contextmanager
def opensearch_endpoint(kind: str = "opensearch") -> Iterator[tuple[str, Server]]:
    """The address of one without the name of an index, and what it keeps."""
    answers, lock = Server(kind), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # each answer would wait for the acknowledgement of its head

        def log_message(self, *_: object) -> None: ...

        def _answer(self) -> None:
            url = urlsplit(self.path)
            options = {name: given[-1] for name, given in parse_qs(url.query).items()}
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            with lock:
                answers.requests.append(
                    (self.command, url.path, self.headers.get("authorization", ""))
                )
                status = answers.fault(self.command, url.path)
                if status < 0:
                    self.close_connection = True
                    return
                try:
                    if status:
                        raise Refusal(
                            status,
                            "cluster_block_exception",
                            "disk usage exceeded flood-stage watermark",
                        )
                    status, found = 200, answers.answer(self.command, url.path, options, body)
                except Refusal as refusal:
                    status, found = refusal.status, refusal.answer
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{kind}://127.0.0.1:{server.server_port}", answers
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
