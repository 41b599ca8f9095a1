"""OpenSearch's and Elasticsearch's protocol, as far as it is used, in this process: no server installs for tests."""

from __future__ import annotations

import fnmatch
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

VERSIONS = {"opensearch": "2.19.0", "elasticsearch": "8.17.0"}
_CHECKS = {"lte": "__le__", "gte": "__ge__"}


class Refusal(Exception):
    def __init__(self, status: int, kind: str) -> None:
        self.status, self.answer = (
            status,
            {"error": {"type": kind, "reason": kind}, "status": status},
        )


def _holds(query: Any, source: Any) -> bool:
    ((kind, asked),) = query.items()
    if kind == "bool":
        return all(_holds(each, source) for each in asked["filter"])
    if kind == "exists":
        return source.get(asked["field"]) is not None
    ((field, given),) = asked.items()
    if kind == "terms":
        return source.get(field) in given
    assert kind == "range", kind
    return field in source and all(
        getattr(source[field], _CHECKS[by])(to) for by, to in given.items()
    )


class Server:
    """Entries of all indexes by id: those written, and those searched since the last refresh."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.indexes: dict[str, dict[str, Any]] = {}
        self.searched: dict[str, dict[str, Any]] = {}
        self.aliases: dict[str, str] = {}
        self.requests: list[tuple[str, str, str]] = []
        """Method, path, and what was sent to be let in."""
        self.fault: Any = lambda method, path: 0
        """The status of a request (method, path) instead of an answer; 0: none, -1: the connection drops."""
        self._numbers = iter(range(1 << 62))

    def _put(self, index: str, id: str, source: Any) -> Any:
        if index not in self.indexes:
            raise Refusal(404, "index_not_found_exception")
        self.indexes[index][id] = {"_source": source, "_seq_no": next(self._numbers)}
        return {"_id": id, "result": "updated"}

    def answer(self, method: str, path: str, options: dict[str, str], body: str) -> Any:
        parts = [unquote(each) for each in path.strip("/").split("/") if each]
        if not parts:
            more = {"distribution": "opensearch"} if self.kind == "opensearch" else {}
            return {"version": {"number": VERSIONS[self.kind], **more}}
        if parts == ["_bulk"]:
            lines = [json.loads(line) for line in body.splitlines()]
            pairs = zip(lines[::2], lines[1::2], strict=True)
            done = [
                self._put(about["index"]["_index"], about["index"]["_id"], given)
                for about, given in pairs
            ]
            return {"errors": False, "items": [{"index": {**each, "status": 200}} for each in done]}
        given = json.loads(body) if body else None
        if parts == ["_aliases"]:
            for action in given["actions"]:
                if what := action.get("add"):
                    self.aliases[what["alias"]] = what["index"]
            return {"acknowledged": True}
        name, *rest = parts
        if rest == ["_alias"]:
            return {
                index: {"aliases": {alias: {} for alias, to in self.aliases.items() if to == index}}
                for index in self.indexes if fnmatch.fnmatchcase(index, name)
            }  # fmt: skip
        if not rest and method == "PUT":
            if name in self.indexes:
                raise Refusal(400, "resource_already_exists_exception")
            self.indexes[name], self.searched[name] = {}, {}
            return {"acknowledged": True}
        if name not in self.indexes:
            raise Refusal(404, "index_not_found_exception")
        if not rest and method == "DELETE":
            del self.indexes[name]
        return self._of_index(name, method, rest, options, given) if rest else {}

    def _of_index(
        self, name: str, method: str, rest: list[str], options: dict[str, str], given: Any
    ) -> Any:
        entries = self.indexes[name]
        match rest:
            case ["_doc" | "_create", id] if method in ("PUT", "POST"):
                there = entries.get(id)
                is_new = rest[0] == "_create" or options.get("op_type") == "create"
                number = int(options.get("if_seq_no", -1))
                if (is_new and there) or (not is_new and (not there or there["_seq_no"] != number)):
                    raise Refusal(409, "version_conflict_engine_exception")
                return self._put(name, id, given)
            case ["_doc", id]:
                if id not in entries:
                    raise Refusal(404, "document_missing")
                return {"_id": id, "found": True, "_primary_term": 1, **entries[id]}
            case ["_mget"]:
                return {
                    "docs": [{"found": id in entries, **entries.get(id, {})} for id in given["ids"]]
                }
            case ["_refresh"]:
                self.searched[name] = dict(entries)
                return {"_shards": {"failed": 0}}
            case ["_delete_by_query"]:
                for id in [
                    id
                    for id, each in self.searched[name].items()
                    if _holds(given["query"], each["_source"])
                ]:
                    entries.pop(id, None)
                self.searched[name] = dict(entries)
                return {"deleted": 1}
            case ["_count"]:
                return {
                    "count": sum(
                        _holds(given["query"], each["_source"])
                        for each in self.searched[name].values()
                    )
                }
            case ["_stats", "store"]:
                return {
                    "_all": {"primaries": {"store": {"size_in_bytes": len(json.dumps(entries))}}}
                }
        assert rest == ["_search"], rest
        hits = self._nearest(name, given)
        after = given.get("search_after")
        if after is not None:
            hits = [
                hit for hit in hits if (-hit["sort"][0], hit["sort"][1]) > (-after[0], after[1])
            ]
        return {
            "timed_out": False,
            "_shards": {"failed": 0},
            "hits": {"hits": hits[: given["size"]]},
        }

    def _nearest(self, name: str, asked: Any) -> list[Any]:
        if "knn" in asked:
            assert self.kind == "elasticsearch"
            held, vector = asked["knn"]["filter"], asked["knn"]["query_vector"]
        elif "knn" in asked["query"]:
            assert self.kind == "opensearch"
            held, vector = (
                asked["query"]["knn"]["vector"]["filter"],
                asked["query"]["knn"]["vector"]["vector"],
            )
        else:
            script = asked["query"]["script_score"]["script"]
            assert (script["lang"] == "knn") == (self.kind == "opensearch")
            held = asked["query"]["script_score"]["query"]
            vector = script["params"]["query_value" if self.kind == "opensearch" else "v"]
        found = []
        for id, each in self.searched[name].items():
            if _holds(held, each["_source"]):
                product = float(np.float32(np.dot(each["_source"]["vector"], vector)))
                score = product + 1 if product >= 0 else 1 / (1 - product)
                found.append(
                    {"_id": id, "_score": score, "sort": [score, each["_source"]["number"]]}
                )
        return sorted(found, key=lambda hit: (-hit["sort"][0], hit["sort"][1]))


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
                        raise Refusal(status, "cluster_block_exception")
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
