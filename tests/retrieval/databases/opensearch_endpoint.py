"""OpenSearch's and Elasticsearch's protocol, as far as it is used, in this process: no server installs for tests."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

from json_server import Request, json_server

VERSIONS = {"opensearch": "2.19.0", "elasticsearch": "8.17.0"}


class Refusal(Exception):
    def __init__(self, status: int, kind: str) -> None:
        self.status = status
        self.answer = {"error": {"type": kind, "reason": kind}, "status": status}


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
    return field in source and given["gte"] <= source[field] <= given["lte"]


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
        return {"_id": id}

    def answer(self, method: str, path: str, options: dict[str, str], body: str) -> Any:
        parts = [unquote(each) for each in path.strip("/").split("/") if each]
        if not parts:
            more = {"distribution": "opensearch"} if self.kind == "opensearch" else {}
            return {"version": {"number": VERSIONS[self.kind], **more}}
        if parts == ["_bulk"]:
            lines = [json.loads(line) for line in body.splitlines()]
            items = []
            for about, given in zip(lines[::2], lines[1::2], strict=True):
                self._put(about["index"]["_index"], about["index"]["_id"], given)
                items.append({"index": {"status": 200}})
            return {"errors": False, "items": items}
        given = json.loads(body or "null")
        if parts == ["_aliases"]:
            added = given["actions"][-1]["add"]
            self.aliases[added["alias"]] = added["index"]
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
                ids = given["ids"]
                return {"docs": [{"found": id in entries, **entries.get(id, {})} for id in ids]}
            case ["_refresh"]:
                self.searched[name] = dict(entries)
                return {"_shards": {"failed": 0}}
            case ["_delete_by_query"]:
                for id in self._found(name, given["query"]):
                    entries.pop(id, None)
                self.searched[name] = dict(entries)
                return {"deleted": 1}
            case ["_count"]:
                return {"count": len(self._found(name, given["query"]))}
            case ["_stats", "store"]:
                size = {"size_in_bytes": len(json.dumps(entries))}
                return {"_all": {"primaries": {"store": size}}}
        assert rest == ["_search"], rest
        hits = self._nearest(name, given)
        if after := given.get("search_after"):
            hits = [hit for hit in hits if _rank(hit["sort"]) > _rank(after)]
        shown = {"hits": hits[: given["size"]]}
        return {"timed_out": False, "_shards": {"failed": 0}, "hits": shown}

    def _found(self, name: str, query: Any) -> dict[str, Any]:
        """What holds, of the entries searched, by id."""
        searched = self.searched[name].items()
        return {id: each["_source"] for id, each in searched if _holds(query, each["_source"])}

    def _nearest(self, name: str, asked: Any) -> list[Any]:
        is_opensearch = self.kind == "opensearch"
        if "knn" in asked:  # Elasticsearch's
            held, vector = asked["knn"]["filter"], asked["knn"]["query_vector"]
        elif "knn" in asked["query"]:
            assert is_opensearch
            held, vector = (asked["query"]["knn"]["vector"][each] for each in ("filter", "vector"))
        else:
            held, script = (asked["query"]["script_score"][each] for each in ("query", "script"))
            assert (script["lang"] == "knn") == is_opensearch
            vector = script["params"]["query_value" if is_opensearch else "v"]
        hits = []
        for id, source in self._found(name, held).items():
            product = float(np.float32(np.dot(source["vector"], vector)))
            score = product + 1 if product >= 0 else 1 / (1 - product)
            hits.append({"_id": id, "_score": score, "sort": [score, source["number"]]})
        return sorted(hits, key=lambda hit: _rank(hit["sort"]))


def _rank(sort: Any) -> tuple[float, int]:
    """The best first, of equal ones the lowest number."""
    return -sort[0], sort[1]


@contextmanager
def opensearch_endpoint(kind: str = "opensearch") -> Iterator[tuple[str, Server]]:
    """The address of one without the name of an index, and what it keeps."""
    answers = Server(kind)

    def answer(request: Request) -> tuple[int, Any]:
        url = urlsplit(request.path)
        options = {name: given[-1] for name, given in parse_qs(url.query).items()}
        authorization = request.headers.get("authorization", "")
        answers.requests.append((request.method, url.path, authorization))
        try:
            if status := answers.fault(request.method, url.path):
                raise Refusal(status, "cluster_block_exception")
            return 200, answers.answer(request.method, url.path, options, request.text)
        except Refusal as refusal:
            return refusal.status, refusal.answer

    with json_server(answer) as place:
        yield f"{kind}://{place}", answers
