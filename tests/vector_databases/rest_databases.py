"""Servers that speak as Weaviate's and Pinecone's documentation says, and hold what they are sent to it."""

from __future__ import annotations

import fnmatch
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from json_server import Request, json_server

Rows = dict[str, dict[str, Any]]
"""By the id of the chunk: its vector, its text and fields."""


class RestServer:
    """What both have: rows, the requests as they came, and statuses to answer with before anything else."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.failing: list[int] = []
        self.dimensions = 0

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        raise NotImplementedError

    def rows(self) -> Rows:
        raise NotImplementedError


class Weaviate(RestServer):
    """`/v1/schema` and `/v1/batch/objects`."""

    def __init__(self) -> None:
        super().__init__()
        self.classes: set[str] = set()

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if path == "/v1/schema":
            assert re.fullmatch(r"[A-Z][_0-9A-Za-z]*", body["class"])
            assert body["vectorizer"] == "none"
            if body["class"] in self.classes:
                return 422, {"error": [{"message": f"class name {body['class']} already exists"}]}
            self.classes.add(body["class"])
            return 200, body
        assert path == "/v1/batch/objects"
        if method == "DELETE":
            return 200, {"results": self._delete(body["match"])}
        return 200, [self._add(each) for each in body["objects"]]

    def _add(self, each: dict[str, Any]) -> dict[str, Any]:
        assert each["class"] in self.classes
        uuid.UUID(each["id"])
        for name, value in each["properties"].items():
            assert re.fullmatch(r"[_A-Za-z][_0-9A-Za-z]{0,230}", name), name
            assert name not in ("id", "vector")
            assert not isinstance(value, dict | type(None))
        self.dimensions = self.dimensions or len(each["vector"])
        if len(each["vector"]) != self.dimensions:
            said = f"vector lengths don't match: {self.dimensions} vs {len(each['vector'])}"
            return {
                **each,
                "result": {"status": "FAILED", "errors": {"error": [{"message": said}]}},
            }
        self.kept[each["id"]] = each
        return {**each, "result": {"status": "SUCCESS"}}

    def _delete(self, match: dict[str, Any]) -> dict[str, int]:
        holds: dict[str, Callable[[Any, str], bool]] = {
            "Equal": lambda value, to: value == to,
            "NotEqual": lambda value, to: value != to,  # also true where there is none
            "Like": lambda value, to: value is not None and fnmatch.fnmatchcase(value, to),
        }
        assert match["where"]["operator"] == "And"
        gone = [
            id
            for id, each in self.kept.items()
            if all(
                holds[by["operator"]](each["properties"].get(by["path"][0]), by["valueText"])
                for by in match["where"]["operands"]
            )
        ]
        for id in gone[:3]:  # as it does with its own, larger limit
            del self.kept[id]
        return {"matches": len(gone), "limit": 3, "successful": len(gone[:3]), "failed": 0}

    def rows(self) -> Rows:
        return {
            each["properties"]["chunk_id"]: {"vector": each["vector"], **each["properties"]}
            for each in self.kept.values()
        }


class Pinecone(RestServer):
    """`/vectors/upsert`, `/vectors/delete`, `/describe_index_stats`."""

    def __init__(self, dimensions: int = 0) -> None:
        super().__init__()
        self.dimensions = dimensions

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        assert method == "POST"
        if path == "/describe_index_stats":
            return 200, {"dimension": self.dimensions} if self.dimensions else {}
        if path == "/vectors/upsert":
            for each in body["vectors"]:
                assert each["id"].isascii()
                assert len(each["id"]) <= 512
                for value in each["metadata"].values():
                    fits = isinstance(value, str | int | float) or all(
                        isinstance(one, str) for one in value
                    )
                    assert fits, value
                self.kept[each["id"]] = each
            return 200, {"upsertedCount": len(body["vectors"])}
        assert path == "/vectors/delete"
        own, marked, other = body["filter"]["$and"]
        assert marked == {"push": {"$exists": True}}
        self.kept = {
            id: each
            for id, each in self.kept.items()
            if each["metadata"].get("doc_id") != own["doc_id"]["$eq"]
            or each["metadata"].get("push") in (None, other["push"]["$ne"])
        }
        return 200, {}

    def rows(self) -> Rows:
        return {
            each["metadata"]["chunk_id"]: {"vector": each["values"], **each["metadata"]}
            for each in self.kept.values()
        }


@contextmanager
def serving(own: RestServer) -> Iterator[str]:
    """Its `host:port`."""

    def answer(request: Request) -> tuple[int, Any]:
        own.requests.append((request.method, request.path, request.headers, request.body))
        if own.failing:
            return own.failing.pop(0), {"error": "later"}
        return own.answer(request.method, request.path, request.body)

    with json_server(answer) as place:
        yield place
