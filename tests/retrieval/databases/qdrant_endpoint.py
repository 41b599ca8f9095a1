"""Qdrant's protocol over HTTP, in front of the local mode of its client: no server can be installed for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from qdrant_client import QdrantClient, models

from json_server import Request, json_server

VERSION = "1.16.0"


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


_DONE = {"operation_id": 1, "status": "completed"}


class _Answers:
    """By method and what stands behind /collections/NAME."""

    def __init__(self, client: QdrantClient) -> None:
        self.client = client

    def of_collection(self, method: str, rest: str, name: str, body: Any) -> Any:
        known: dict[tuple[str, str], Callable[[str, Any], Any]] = {
            ("GET", "/exists"): lambda name, _: {"exists": self.client.collection_exists(name)},
            ("GET", ""): self.information,
            ("PUT", ""): self.create,
            ("DELETE", ""): lambda name, _: self.client.delete_collection(name),
            ("PUT", "/index"): lambda name, _: _DONE,
            ("PUT", "/points"): self.upsert,
            ("POST", "/points"): self.retrieve,
            ("POST", "/points/scroll"): self.scroll,
            ("POST", "/points/query"): self.query,
            ("POST", "/points/delete"): self.delete,
            ("POST", "/points/payload"): self.set_payload,
        }
        return known[method, rest](name, body)

    def information(self, name: str, _: Any) -> Any:
        return self.client.get_collection(name)

    def create(self, name: str, body: Any) -> Any:
        vectors = models.CreateCollection.model_validate(body).vectors
        return self.client.create_collection(name, vectors_config=vectors or {})

    def upsert(self, name: str, body: Any) -> Any:
        given = models.PointsList.model_validate(body)
        self.client.upsert(name, given.points, update_filter=given.update_filter)
        return _DONE

    def retrieve(self, name: str, body: Any) -> Any:
        given = models.PointRequest.model_validate(body)
        return self.client.retrieve(
            name, given.ids, with_payload=given.with_payload or False, with_vectors=given.with_vector or False
        )  # fmt: skip

    def scroll(self, name: str, body: Any) -> Any:
        given = models.ScrollRequest.model_validate(body)
        points, after = self.client.scroll(
            name, given.filter, limit=given.limit or 10, offset=given.offset,
            with_payload=given.with_payload or False, with_vectors=given.with_vector or False,
        )  # fmt: skip
        return {"points": _plain(points), "next_page_offset": after}

    def query(self, name: str, body: Any) -> Any:
        given = models.QueryRequest.model_validate(body)
        return self.client.query_points(
            name, query=given.query, using=given.using, query_filter=given.filter, limit=given.limit or 10,
            with_payload=False,
        )  # fmt: skip

    def delete(self, name: str, body: Any) -> Any:
        self.client.delete(name, models.PointIdsList.model_validate(body))
        return _DONE

    def set_payload(self, name: str, body: Any) -> Any:
        given = models.SetPayload.model_validate(body)
        self.client.set_payload(name, given.payload, points=given.filter)
        return _DONE


@contextmanager
def qdrant_endpoint() -> Iterator[tuple[str, list[str]]]:
    """The address of one, and what was asked of it."""
    answers, asked = _Answers(QdrantClient(":memory:")), list[str]()

    def answer(request: Request) -> tuple[int, Any]:
        path, body = request.path.partition("?")[0], request.body
        asked.append(f"{request.method} {path} {request.headers.get('api-key', '')}".strip())
        client = answers.client
        try:
            if path == "/":
                return 200, {"title": "qdrant - vector search engine", "version": VERSION}
            if path == "/aliases":
                result: Any = client.get_aliases()
            elif path == "/collections":
                result = client.get_collections()
            elif path == "/collections/aliases":
                actions = models.ChangeAliasesOperation.model_validate(body).actions
                result = client.update_collection_aliases(actions)
            else:
                _, _, name, *rest = path.split("/")
                behind = "".join(f"/{each}" for each in rest)
                result = answers.of_collection(request.method, behind, name, body)
        except (ValueError, KeyError) as error:
            return 404, {"status": {"error": str(error)}, "time": 0.0}
        return 200, {"result": _plain(result), "status": "ok", "time": 0.0}

    try:
        with json_server(answer) as place:
            yield f"qdrant://{place}", asked
    finally:
        answers.client.close()
