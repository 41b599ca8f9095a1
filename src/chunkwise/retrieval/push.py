"""Chunks, vectors and metadata into databases that people run already, over each one's own protocol."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.wording import did_you_mean
from chunkwise.core import OnProgress
from chunkwise.records.read import rows
from chunkwise.retrieval.export import ListedIndex, chunked_documents
from chunkwise.retrieval.stored.address import StoreAddress, checked_name, parse_store_address

BATCH = 200
_ATTEMPTS = 4
_FIRST_PAUSE = 0.5
_AGAIN = frozenset({429, 502, 503, 504})
_NAME = re.compile(r"([a-z]+)(?:\+https?)?://", re.IGNORECASE)


class PushedChunk(NamedTuple):
    """One chunk as databases take it."""

    id: str
    text: str
    vector: list[float]
    fields: dict[str, Any]
    """Where it stands, and what is known of its document: plain values."""

    @property
    def uuid(self) -> str:
        """The same for the same id, for databases that take no others."""
        return str(uuid5(NAMESPACE_URL, f"chunkwise:{self.id}"))


class PushError(ChunkwiseError):
    """A database could not be reached, or refused."""


class _Service:
    """A database behind HTTP; no message shows its key."""

    def __init__(self, address: StoreAddress, target: PushTarget) -> None:
        secure = address.variant == "https" or (target.is_secure and address.variant != "http")
        host, _, port = address.host.partition(":")
        if not host:
            raise InvalidParameter(f"the address is {address.shown}; name a host: {target.example}")
        number = port or str(target.port)
        self._base = (
            f"{'https' if secure else 'http'}://{host}{f':{number}' if number != '0' else ''}"
        )
        self._key = os.environ.get(target.key_variable, "").strip()
        self._headers = {"Content-Type": "application/json", **target.headers}
        if self._key:
            self._headers[target.key_header] = f"{target.key_prefix}{self._key}"
        self._variable = target.key_variable
        self._client: Any = None
        self.shown = address.shown

    def ask(self, method: str, path: str, body: object = None, *, known: Sequence[int] = ()) -> Any:
        """The JSON that comes back; None: the status is one of those `known`."""
        try:
            import httpx2
        except ImportError:
            raise MissingExtra("pushing to a database", "search") from None
        if self._client is None:
            self._client = httpx2.Client(timeout=60.0)
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1))
            try:
                answer = self._client.request(
                    method, f"{self._base}{path}", content=data, headers=self._headers
                )
            except httpx2.HTTPError as error:
                problem = f"could not be asked ({type(error).__name__})"
                continue
            if answer.status_code in known:
                return None
            if answer.status_code < 300:
                return json.loads(answer.content) if answer.content else {}
            said = " ".join(answer.text.split())[:300].replace(self._key or "\0", "***")
            problem = f"answered {answer.status_code}: {said}"
            if answer.status_code not in _AGAIN:
                break
        raise PushError(
            f"{self.shown} {problem}; check the address, the key ({self._variable}), and that the server runs"
        )

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


Sender = Callable[[Sequence[PushedChunk]], None]
Opened = Callable[[_Service, str, int], Sender]
"""Makes the collection where there is none, for vectors of this many numbers; gives what sends chunks there."""


@dataclass(frozen=True)
class PushTarget:
    """What has to be known of a database."""

    open: Opened
    port: int
    example: str
    key_variable: str
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=dict)
    is_secure: bool = False


def _chroma(service: _Service, name: str, dimensions: int) -> Sender:
    home = "/api/v2/tenants/default_tenant/databases/default_database/collections"
    made = service.ask(
        "POST", home, {"name": name, "get_or_create": True, "configuration": {"hnsw": {"space": "cosine"}}}
    )  # fmt: skip

    def send(chunks: Sequence[PushedChunk]) -> None:
        service.ask(
            "POST", f"{home}/{made['id']}/upsert",
            {
                "ids": [each.id for each in chunks],
                "embeddings": [each.vector for each in chunks],
                "documents": [each.text for each in chunks],
                "metadatas": [each.fields for each in chunks],
            },
        )  # fmt: skip

    return send


def _weaviate(service: _Service, name: str, dimensions: int) -> Sender:
    name = name[0].upper() + name[1:].replace("-", "_")  # as Weaviate has it
    if service.ask("GET", f"/v1/schema/{name}", known=(404,)) is None:
        service.ask("POST", "/v1/schema", {"class": name, "vectorizer": "none"})

    def send(chunks: Sequence[PushedChunk]) -> None:
        objects = [
            {
                "class": name,
                "id": each.uuid,
                "vector": each.vector,
                "properties": {
                    "text": each.text, "chunk_id": each.id,
                    **{_property(key): value for key, value in each.fields.items()},
                },
            }
            for each in chunks
        ]  # fmt: skip
        for answer in service.ask("POST", "/v1/batch/objects", {"objects": objects}):
            errors = ((answer.get("result") or {}).get("errors") or {}).get("error")
            if errors:
                raise PushError(
                    f"{service.shown} refused a chunk: {errors[0].get('message', '')[:300]}"
                )

    return send


def _property(key: str) -> str:
    """As GraphQL can say it; two names are Weaviate's own."""
    found = re.sub(r"\W", "_", key, flags=re.ASCII)
    return f"_{found}" if found[:1].isdigit() or found in ("id", "vector", "") else found


def _milvus(service: _Service, name: str, dimensions: int) -> Sender:
    name = name.replace("-", "_")  # as Milvus has it

    def asked(path: str, body: object) -> Any:
        answer = service.ask("POST", f"/v2/vectordb/{path}", body)
        if answer.get("code") not in (0, 200):  # the HTTP status is 200 all the same
            raise PushError(f"{service.shown} refused: {str(answer.get('message'))[:300]}")
        return answer.get("data")

    if not asked("collections/has", {"collectionName": name})["has"]:
        asked(
            "collections/create",
            {
                "collectionName": name, "dimension": dimensions, "metricType": "COSINE", "idType": "VarChar",
                "autoId": False, "primaryFieldName": "id", "vectorFieldName": "vector",
                "params": {"max_length": "1024"},
            },
        )  # fmt: skip

    def send(chunks: Sequence[PushedChunk]) -> None:
        data: list[dict[str, Any]] = [
            {**each.fields, "id": each.id, "vector": each.vector, "text": each.text}
            for each in chunks
        ]
        asked("entities/upsert", {"collectionName": name, "data": data})

    return send


def _pinecone(service: _Service, name: str, dimensions: int) -> Sender:
    def send(chunks: Sequence[PushedChunk]) -> None:
        vectors: list[dict[str, Any]] = [
            {"id": each.id, "values": each.vector, "metadata": {**each.fields, "text": each.text}}
            for each in chunks
        ]
        service.ask("POST", "/vectors/upsert", {"vectors": vectors, "namespace": name})

    return send


def _qdrant(service: _Service, name: str, dimensions: int) -> Sender:
    if service.ask("GET", f"/collections/{name}", known=(404,)) is None:
        service.ask(
            "PUT", f"/collections/{name}", {"vectors": {"size": dimensions, "distance": "Cosine"}}
        )

    def send(chunks: Sequence[PushedChunk]) -> None:
        points: list[dict[str, Any]] = [
            {
                "id": each.uuid,
                "vector": each.vector,
                "payload": {**each.fields, "chunk_id": each.id, "text": each.text},
            }
            for each in chunks
        ]
        service.ask("PUT", f"/collections/{name}/points?wait=true", {"points": points})

    return send


TARGETS: Mapping[str, PushTarget] = {
    "chroma": PushTarget(
        _chroma, 8000, "chroma://localhost:8000/handbook", "CHROMA_API_KEY", "X-Chroma-Token", ""
    ),
    "weaviate": PushTarget(_weaviate, 8080, "weaviate://localhost:8080/Handbook", "WEAVIATE_API_KEY"),
    "milvus": PushTarget(_milvus, 19530, "milvus://localhost:19530/handbook", "MILVUS_TOKEN"),
    "pinecone": PushTarget(
        _pinecone, 0, "pinecone://INDEX-HOST/namespace", "PINECONE_API_KEY", "Api-Key", "",
        {"X-Pinecone-API-Version": "2025-04"}, is_secure=True,
    ),
    "qdrant": PushTarget(
        _qdrant, 6333, "qdrant://localhost:6333/handbook", "QDRANT_API_KEY", "api-key", ""
    ),
}  # fmt: skip


def push(
    source: str | ListedIndex, to: str, *, batch: int = BATCH, advance: OnProgress | None = None
) -> int:
    """Sends every chunk of a file, or of an index, with its vector; how many there were.

    A chunk that is there already under its id is replaced; others stay. What fails midway is said with how much was
    sent: the same command again goes on from the start, and changes nothing that was sent.
    """
    if not 1 <= batch <= 1000:
        raise InvalidParameter(f"batch is {batch}; 1 to 1,000 chunks go at once")
    found = _NAME.match(to)
    name = found[1].lower() if found else ""
    if name not in TARGETS:
        examples = ", ".join(each.example for each in TARGETS.values())
        hint = did_you_mean(name, list(TARGETS), "") if name else ""
        raise InvalidParameter(
            f"to is {parse_store_address(to).shown!r}; {f'{hint} ' if hint else ''}name one of: {examples}"
        )
    target, address = TARGETS[name], parse_store_address(to)
    address.only()
    collection = checked_name(address.path.strip("/") or "chunkwise", address.shown)
    service = _Service(address, target)
    chunks = _of_file(source) if isinstance(source, str) else _of_index(source)
    try:
        return _sent(chunks, target, service, collection, batch, advance)
    finally:
        service.close()


def _sent(
    chunks: Iterator[PushedChunk], target: PushTarget, service: _Service, collection: str, batch: int,
    advance: OnProgress | None,
) -> int:  # fmt: skip
    send: Sender | None = None
    dimensions = count = 0
    while some := list(islice(chunks, batch)):
        for each in some:
            dimensions = dimensions or len(each.vector)
            if len(each.vector) != dimensions:
                raise InvalidParameter(
                    f"the vector of {each.id!r} has {len(each.vector)} numbers, those before it {dimensions}; all "
                    "chunks need vectors of one model"
                )
        send = send or target.open(service, collection, dimensions)
        try:
            send(some)
        except PushError as error:
            raise PushError(f"{error} ({count:,} chunks were sent before)") from error
        count += len(some)
        if advance:
            advance(len(some), f"{count:,} chunks")
    return count


def _of_file(name: str) -> Iterator[PushedChunk]:
    for row in rows(name):
        if row.problem or not isinstance(row.value, Mapping):
            raise InvalidParameter(
                f"{name}, {row.where}: {row.problem or 'a row of a chunk is needed'}"
            )
        yield _chunk(row.value, f"{name}, {row.where}")


def _chunk(row: Mapping[str, Any], where: str) -> PushedChunk:
    missing = [name for name in ("id", "text", "vector") if row.get(name) in (None, "")]
    if missing:
        raise InvalidParameter(
            f"{where}: {missing[0]} is missing; push an index (chunkwise push kb --to …), or a file of its chunks "
            "with vectors (Index.export)"
        )
    vector = row["vector"]
    try:
        vector = json.loads(vector) if isinstance(vector, str) else list(vector)
        numbers = [float(each) for each in vector]
    except (TypeError, ValueError):
        raise InvalidParameter(f"{where}: the vector is no list of numbers") from None
    metadata = row.get("metadata") or {}
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            metadata = {"metadata": metadata}
    own = {name: row.get(name) for name in _FIELDS}
    return PushedChunk(str(row["id"]), str(row["text"]), numbers, _plain({**metadata, **own}))


_FIELDS = ("doc_id", "index", "start", "end", "section", "page", "title", "source")


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Texts, numbers, true and false, as every database takes them; anything else as JSON, nothing where it is None."""
    return {
        str(key): value if isinstance(value, str | int | float) else json.dumps(value)
        for key, value in values.items()
        if value is not None
    }


def _of_index(source: ListedIndex) -> Iterator[PushedChunk]:
    numbers: Iterable[int] = source.document_numbers()
    for number, chunked in zip(numbers, chunked_documents(source), strict=True):
        vectors = source.chunk_vectors(range(*source.chunk_range(number)))
        for chunk, vector in zip(chunked.chunks, vectors.tolist(), strict=True):
            own = {
                "doc_id": chunk.document.id, "index": chunk.index, "start": chunk.start, "end": chunk.end,
                "section": chunk.section_path, "page": chunk.page, "title": chunk.document.title,
                "source": chunk.document.source,
            }  # fmt: skip
            fields = _plain({**chunk.document.metadata, **own})
            yield PushedChunk(chunk.id, chunk.text, vector, fields)
