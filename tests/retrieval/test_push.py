"""`push`: what is sent to each database is what its protocol documents, and what was refused is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.cli.main import group as main_group
from chunkwise.core import Document
from chunkwise.retrieval.push import TARGETS, push
from chunkwise.testkit.sample_run import HashedWords

KEY = "s3cret-key"
DOCUMENTS = [
    Document("a.md", "# Lamp\n\nThe lamp is red.", format="markdown", metadata={"year": 2024, "tags": ["x"]}),
    Document("b.md", "# Bell\n\nThe bell is rung in fog. It is loud.", format="markdown"),
]  # fmt: skip
Answer = Callable[[str, str, Any], tuple[int, Any]]


@contextmanager
def endpoint(answer: Answer) -> Iterator[tuple[str, list[tuple[str, str, Any, dict[str, str]]]]]:
    """An address, and what was asked there: method, path, body, headers."""
    asked: list[tuple[str, str, Any, dict[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def _answer(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            asked.append(
                (self.command, self.path, body, {k.lower(): v for k, v in self.headers.items()})
            )
            status, found = answer(self.command, self.path, body)
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = _answer  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _chroma(method: str, path: str, body: Any) -> tuple[int, Any]:
    return (200, {"id": "c-1"}) if path.endswith("/collections") else (201, {})


def _weaviate(method: str, path: str, body: Any) -> tuple[int, Any]:
    if method == "GET":
        return 404, {}
    return 200, [{"result": {}} for _ in body.get("objects", ())]


def _milvus(method: str, path: str, body: Any) -> tuple[int, Any]:
    return 200, {"code": 0, "data": {"has": False}}


def _pinecone(method: str, path: str, body: Any) -> tuple[int, Any]:
    return 200, {"upsertedCount": len(body["vectors"])}


def _qdrant(method: str, path: str, body: Any) -> tuple[int, Any]:
    return (404, {}) if method == "GET" else (200, {"result": True})


def _rows(name: str, body: Any) -> list[dict[str, Any]]:
    """What was sent, in one form: id, text, vector, year."""
    if name == "chroma":
        columns = (body[each] for each in ("ids", "documents", "embeddings", "metadatas"))
        return [
            {"text": text, "vector": vector, **known, "chunk": id}
            for id, text, vector, known in zip(*columns, strict=True)
        ]
    if name == "weaviate":
        return [
            {**e["properties"], "vector": e["vector"], "chunk": e["properties"]["chunk_id"]}
            for e in body["objects"]
        ]
    if name == "milvus":
        return [{**each, "chunk": each["id"]} for each in body["data"]]
    if name == "pinecone":
        return [{**e["metadata"], "vector": e["values"], "chunk": e["id"]} for e in body["vectors"]]
    return [
        {**e["payload"], "vector": e["vector"], "chunk": e["payload"]["chunk_id"]}
        for e in body["points"]
    ]


PROTOCOLS: dict[str, tuple[Answer, str, list[str]]] = {
    "chroma": (_chroma, "x-chroma-token", [
        "POST /api/v2/tenants/default_tenant/databases/default_database/collections",
        "POST /api/v2/tenants/default_tenant/databases/default_database/collections/c-1/upsert",
    ]),
    "weaviate": (_weaviate, "authorization", ["GET /v1/schema/Kb", "POST /v1/schema", "POST /v1/batch/objects"]),
    "milvus": (_milvus, "authorization", [
        "POST /v2/vectordb/collections/has",
        "POST /v2/vectordb/collections/create",
        "POST /v2/vectordb/entities/upsert",
    ]),
    "pinecone": (_pinecone, "api-key", ["POST /vectors/upsert"]),
    "qdrant": (_qdrant, "api-key", [
        "GET /collections/kb", "PUT /collections/kb", "PUT /collections/kb/points?wait=true",
    ]),
}  # fmt: skip


@pytest.fixture
def index() -> chunkwise.Index:
    return chunkwise.index(
        DOCUMENTS, "sentences(max_tokens=12, overlap=0)", embedder=HashedWords(), vectors="own"
    )


def _address(name: str, host: str) -> str:
    return f"{name}+http://{host}/kb" if name == "pinecone" else f"{name}://{host}/kb"


def test_every_target_is_tested() -> None:
    assert PROTOCOLS.keys() == TARGETS.keys()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_chunks_vectors_and_metadata_arrive(
    name: str, index: chunkwise.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, header, paths = PROTOCOLS[name]
    monkeypatch.setenv(TARGETS[name].key_variable, KEY)
    with endpoint(answer) as (host, asked):
        count = push(index.source, _address(name, host), batch=1)
    chunks = list(index.chunks())
    assert count == len(chunks)
    said = [f"{method} {path}" for method, path, _, _ in asked]
    assert list(dict.fromkeys(said)) == paths
    assert said.count(paths[-1]) == len(chunks)
    assert all(KEY in headers[header] for *_, headers in asked)
    rows = [
        row
        for method, path, body, _ in asked
        if f"{method} {path}" == paths[-1]
        for row in _rows(name, body)
    ]
    ids, vectors = index.vectors()
    assert [row["chunk"] for row in rows] == ids == [chunk.id for chunk in chunks]
    assert [row["text"] for row in rows] == [chunk.text for chunk in chunks]
    assert [row["vector"] for row in rows] == vectors.tolist()
    assert [row["doc_id"] for row in rows] == [chunk.document.id for chunk in chunks]
    assert (rows[0]["year"], rows[0]["tags"]) == (2024, '["x"]')
    assert "year" not in rows[-1]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_a_file_that_an_index_wrote_is_the_same(
    suffix: str, index: chunkwise.Index, tmp_path: Path
) -> None:
    sent = []
    file = str(tmp_path / f"chunks{suffix}")
    index.export(file)
    for source in (index.source, file):
        with endpoint(_chroma) as (host, asked):
            push(source, f"chroma://{host}/kb")  # type: ignore[arg-type]
            sent.append(asked[-1][2])
    for mine, theirs in zip(sent[0]["embeddings"], sent[1].pop("embeddings"), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-6)
    del sent[0]["embeddings"]
    if suffix == ".csv":  # all cells are texts
        for each in sent:
            each["metadatas"] = [
                {k: str(v) for k, v in row.items() if v != ""} for row in each["metadatas"]
            ]
    assert sent[0] == sent[1]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (
            "weaviate",
            lambda *_: (200, [{"result": {"errors": {"error": [{"message": "no room"}]}}}]),
        ),
        ("milvus", lambda *_: (200, {"code": 1100, "message": "no room"})),
        ("chroma", lambda *_: (400, {"error": f"no room for {KEY}"})),
    ],
)
def test_what_a_database_refuses_is_told_without_the_key(
    name: str, answer: Answer, index: chunkwise.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TARGETS[name].key_variable, KEY)
    with endpoint(answer) as (host, _), pytest.raises(ChunkwiseError, match="no room") as told:
        push(index.source, f"{name}://{host}/kb")
    assert KEY not in str(told.value)


def test_a_server_that_is_busy_is_asked_again(
    index: chunkwise.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.push._FIRST_PAUSE", 0.0)
    answers = iter([(503, {}), (200, {"id": "c"}), (429, {}), (200, {})])
    with endpoint(lambda *_: next(answers)) as (host, asked):
        assert push(index.source, f"chroma://{host}/kb") == 3
    assert len(asked) == 4
    with (
        endpoint(lambda *_: (503, {})) as (host, asked),
        pytest.raises(ChunkwiseError, match="answered 503"),
    ):
        push(index.source, f"chroma://{host}/kb")
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "a", "text": "x"}, "line 1: vector is missing; push an index"),
        ({"id": "a", "text": "x", "vector": "no"}, "the vector is no list of numbers"),
        ({"text": "x", "vector": [1]}, "id is missing"),
    ],
)
def test_rows_that_are_no_chunks_with_vectors(
    row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "chunks.jsonl"
    file.write_text(json.dumps(row) + "\n", "utf-8")
    with pytest.raises(InvalidParameter, match=said):
        push(str(file), "chroma://127.0.0.1:1/kb")


def test_vectors_of_two_models_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "chunks.jsonl"
    rows = [{"id": str(n), "text": "x", "vector": [1.0] * n} for n in (2, 3)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with pytest.raises(InvalidParameter, match="has 3 numbers, those before it 2"):
        push(str(file), "chroma://127.0.0.1:1/kb")


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("chrome://h/kb", "did you mean chroma"),
        ("kb", "name one of: chroma://"),
        ("chroma:///kb", "name a host"),
        ("chroma://h/a/b", "letters, digits"),
        ("chroma://h/kb?x=1", "option 'x'"),
    ],
)
def test_addresses_that_name_nothing(to: str, said: str, index: chunkwise.Index) -> None:
    with pytest.raises(InvalidParameter, match=said):
        push(index.source, to)


def test_the_command_sends_an_index(tmp_path: Path) -> None:
    place = str(tmp_path / "kb")
    (tmp_path / "a.md").write_text("# Lamp\n\nThe lamp is red.", "utf-8")
    embedder = f"{Path(__file__).parents[1]}/retrieval/test_push.py:HashedWords"
    chunkwise.index(str(tmp_path / "a.md"), into=place, embedder=embedder, vectors="own")
    with endpoint(_chroma) as (host, asked):
        done = CliRunner().invoke(
            main_group, ["push", place, "--to", f"chroma://{host}/kb", "--json"]
        )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"source": place, "to": f"chroma://{host}/kb", "chunks": 1}
    assert asked[-1][2]["ids"] == ["a.md::0"]
