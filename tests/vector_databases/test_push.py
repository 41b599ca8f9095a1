"""Chunks pushed into vector databases: what every row holds, whatever comes, and what is refused beforehand."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.http_client import JsonClient
from chunkwise.retrieval.databases.address import parse_store_address
from chunkwise.retrieval.databases.qdrant import QdrantStore
from chunkwise.vector_databases.database import (
    COLLECTION,
    kept_fields,
    open_database,
    parse_database,
)
from cli.in_process import Run, here
from retrieval.tiny_embedder import Tiny
from tables import cases
from vector_databases.pushed_corpus import DOCUMENTS, STRATEGY, check_database
from vector_databases.rest_databases import Pinecone, Weaviate, serving

__all__ = ["here"]  # a fixture

ROWS = [
    {"id": f"d::{n}", "doc_id": "d", "start": n * 10, "end": n * 10 + 9, "text": f"text {n}", "vector": [1.0, n, 0.5]}
    for n in range(5)
]  # fmt: skip


def chunk_file(folder: Path, rows: list[Any], name: str = "chunks.jsonl") -> str:
    path = folder / name
    path.write_text(
        "".join(f"{json.dumps(row) if not isinstance(row, str) else row}\n" for row in rows),
        "utf-8",
    )
    return str(path)


def test_weaviate_keeps_what_the_index_has() -> None:
    server = Weaviate()
    with serving(server) as place:
        check_database(f"weaviate://{place}/hand-book", server.rows)
    assert server.classes == {"Hand_book"}


def test_pinecone_keeps_what_the_index_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINECONE_API_KEY", "pc-secret")
    server = Pinecone(dimensions=Tiny().dimensions)
    with serving(server) as place:
        check_database(f"pinecone://{place}/team", server.rows)
    _, _, headers, body = server.requests[-1]
    assert headers["api-key"] == "pc-secret"
    assert headers["x-pinecone-api-version"]
    assert body["namespace"] == "team"


def test_vectors_of_another_length_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    server = Pinecone(dimensions=1536)
    with (
        serving(server) as place,
        pytest.raises(InvalidParameter, match="1,536 dimensions, these vectors 3"),
    ):
        chunkwise.push(chunk_file(tmp_path, ROWS), f"pinecone://{place}")
    assert server.kept == {}


def test_a_server_that_is_busy_is_asked_again_and_one_that_refuses_a_row_is_told(
    tmp_path: Path,
) -> None:
    server = Weaviate()
    server.failing = [503]
    with serving(server) as place:
        chunkwise.push(chunk_file(tmp_path, ROWS), f"weaviate://{place}/Kb1")
        assert len(server.rows()) == 5
        wider = chunk_file(tmp_path, [{**ROWS[0], "vector": [1, 2]}], "wide.jsonl")
        with pytest.raises(
            ChunkwiseError, match="rejected the chunk 'd::0': vector lengths don't match"
        ):
            chunkwise.push(wider, f"weaviate://{place}/Kb1")


def test_rows_that_are_none_are_told_and_the_rest_goes_on(here: Run, tmp_path: Path) -> None:
    rows = [
        ROWS[0], "{broken", {"text": ""}, {**ROWS[0]}, {"text": "x", "vector": "no"}, {"text": "x", "metadata": 3},
        {"id": "short", "text": "x", "vector": [1]}, {"id": "zero", "text": "x", "vector": [0, 0, 0]},
        {"page_content": "theirs", "embedding": [1, 2, 3], "metadata": {"source": "a.txt"}}, ROWS[1],
    ]  # fmt: skip
    server = Weaviate()
    with serving(server) as place:
        done = here("push", chunk_file(tmp_path, rows), "--to", f"weaviate://{place}/Kb1", "--json")
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert (result["chunks"], result["skipped"]) == (3, 7)
    assert {row["text"] for row in server.rows().values()} == {"text 0", "text 1", "theirs"}
    for told in (
        "duplicate id 'd::0'",
        "no text",
        "not a list of numbers",
        "its vector has 1 number",
        "all zeros",
    ):
        assert told in done.stderr


@cases("suffix", [".parquet", ".jsonl", ".csv"])
def test_a_file_that_we_wrote_is_pushed_as_the_index_is(tmp_path: Path, suffix: str) -> None:
    index = chunkwise.index(DOCUMENTS, STRATEGY, embedder=Tiny())
    index.export(tmp_path / f"chunks{suffix}")
    both = []
    for source in (index, tmp_path / f"chunks{suffix}"):
        server = Weaviate()
        with serving(server) as place:
            chunkwise.push(source, f"weaviate://{place}/Kb1")
        both.append({
            id: (row["text"], row["doc_id"], row["start"], row.get("nested"), [round(x, 5) for x in row["vector"]])
            for id, row in server.rows().items()
        })  # fmt: skip
    assert both[0] == both[1]


def test_a_folder_of_parts_is_pushed_whole(tmp_path: Path) -> None:
    parts = tmp_path / "chunks"
    parts.mkdir()
    chunk_file(parts, ROWS[:2], "part-000001.jsonl")
    chunk_file(parts, ROWS[2:], "part-000000.jsonl")
    chunk_file(parts, [{"text": "expected a file, an index or chunks"}], "_chunkwise.json")
    told: list[str] = []
    server = Weaviate()
    with serving(server) as place:
        result = chunkwise.push(parts, f"weaviate://{place}/Kb1", on_bad=told.append)
        assert (result.chunks, result.skipped, told) == (5, 0, [])
        chunk_file(parts, ROWS[:1], "part-000002.jsonl")
        result = chunkwise.push(parts, f"weaviate://{place}/Kb1", on_bad=told.append)
    assert (result.chunks, result.skipped) == (5, 1)
    assert "part-000002.jsonl" in told[0]
    assert "duplicate id 'd::0'" in told[0]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InvalidParameter, match="t an index; give the output of"):
        chunkwise.push(empty, "weaviate://127.0.0.1:1/Kb1")


@pytest.mark.usefixtures("processes")
def test_a_data_set_that_we_wrote_is_pushed(here: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe lamp of {name} is lit at dusk.")
    cut = here("chunk", str(tmp_path / "a.md"), str(tmp_path / "b.md"), "-o", str(tmp_path / "set"))
    assert cut.returncode == 0, cut.stderr
    assert (tmp_path / "set" / "_chunkwise.json").is_file()
    server = Weaviate()
    with serving(server) as place:
        result = chunkwise.push(tmp_path / "set", f"weaviate://{place}/Kb1", embedder=Tiny())
    assert (result.documents, result.skipped) == (2, 0)


def test_chunks_without_vectors_need_a_model(here: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Lamps\n\nThe lamp is lit at dusk.\n")
    here("chunk", "a.md", "-o", "chunks.jsonl")
    done = here("push", "chunks.jsonl", "--to", "weaviate://127.0.0.1:1/Kb1")
    assert done.returncode == 2
    assert "--embedder minilm" in done.stderr
    server = Weaviate()
    with serving(server) as place:
        chunkwise.push(
            chunkwise.chunk(tmp_path / "a.md"), f"weaviate://{place}/Kb1", embedder=Tiny()
        )
    (row,) = server.rows().values()
    assert row["text"].endswith("The lamp is lit at dusk.")


@cases(
    "address, told",
    [
        ("kb", "a vector database url"),
        ("chrom:///x", "did you mean chroma?"),
        ("chroma://", "// has no server or folder; allowed"),
        ("chroma://u:secret@host/kb1", "CHROMA_API_KEY"),
        ("chroma://host:99999/kb1", "not a vector database url"),
        ("chroma+ftp://host/kb1", "allowed: chroma://, chroma+https://"),
        ("weaviate:///folder", "expected weaviate://"),
        ("pinecone:///folder", "expected pinecone://"),
        (
            "weaviate://host/../../etc",
            "allowed: 3 to 63 letters, digits, _ and -, starting with a letter",
        ),
    ],
)
def test_an_address_that_is_none_is_refused_without_its_secrets(
    tmp_path: Path, address: str, told: str
) -> None:
    with pytest.raises(InvalidParameter) as error:
        chunkwise.push(chunk_file(tmp_path, ROWS), address)
    assert told in str(error.value).lower().replace("chroma_api_key", "CHROMA_API_KEY")
    assert "secret" not in str(error.value)


def test_a_key_does_not_travel_in_the_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEAVIATE_API_KEY", "secret")
    with pytest.raises(InvalidParameter, match=r"WEAVIATE_API_KEY.*weaviate\+https") as error:
        chunkwise.push(chunk_file(tmp_path, ROWS), "weaviate://db.example.com/Kb1")
    assert "secret" not in str(error.value)


def test_addresses_have_their_parts() -> None:
    with pytest.raises(
        InvalidParameter, match=r"is an unknown vector database; did you mean chroma\? known: "
    ):
        parse_database("croma:///x")
    with pytest.raises(InvalidParameter, match="is an unknown vector database; known: "):
        parse_database("zzz:///x")
    local = parse_database("chroma:///srv/my folder/x", "notes")
    assert (local.folder, local.collection) == (Path("/srv/my folder/x"), "notes")
    server = parse_database("qdrant+https://[::1]:6334")
    assert (server.url(), server.collection) == ("https://[::1]:6334", COLLECTION)


def test_a_folder_has_the_address_that_an_index_there_has(tmp_path: Path) -> None:
    for address in (f"qdrant://{tmp_path}/kb", f"qdrant+local://{tmp_path}/kb"):
        store = QdrantStore(parse_store_address(address))
        assert parse_database(address).folder == store._address.folder == tmp_path / "kb"
        named = parse_database(f"{address}?kb=notes")
        assert named.collection == "notes"
        assert QdrantStore(parse_store_address(f"{address}?kb=notes"))._name == "notes"
        with pytest.raises(InvalidParameter, match="two collections given"):
            parse_database(f"{address}?kb=notes", "others")


@pytest.mark.parametrize(
    ("address", "plain", "over_tls"),
    [
        ("chroma", 8000, 443),
        ("milvus", 19530, 443),
        ("weaviate", 8080, 443),
        ("qdrant", 6333, 6333),
    ],
)
def test_over_tls_a_server_is_asked_at_the_port_of_the_web(
    address: str, plain: int, over_tls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is handed to the client of each database, which connects to it as it likes."""
    asked: list[str] = []

    class Client:
        def __init__(self, *given: Any, **named: Any) -> None:
            if len(given) == 1:
                asked.append(given[0])
                return
            # Chroma's and Qdrant's take the parts.
            host, port = given or (named["host"], named["port"])
            scheme = "https" if named.get("ssl") or named.get("https") else "http"
            asked.append(f"{scheme}://{host}:{port}")

    class Posted(JsonClient):
        def post(self, *_: Any, **__: Any) -> Any:
            asked.append(self.endpoint.url.removesuffix("/v1/schema"))

    modules = {
        "chromadb": {"HttpClient": Client},
        "pymilvus": {"MilvusClient": Client},
        "qdrant_client": {"QdrantClient": Client},
    }
    for name, held in modules.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**held))
    monkeypatch.setattr("chunkwise.vector_databases.weaviate.JsonClient", Posted)
    for place in (
        f"{address}://db.example",
        f"{address}+https://db.example",
        f"{address}+https://db.example:99",
    ):
        database = open_database(parse_database(place))
        if address == "weaviate":
            database.open(3)
    assert asked == [
        f"http://db.example:{plain}", f"https://db.example:{over_tls}", "https://db.example:99",
    ]  # fmt: skip


def test_nothing_to_push_is_no_success(here: Run, tmp_path: Path) -> None:
    done = here("push", chunk_file(tmp_path, []), "--to", "weaviate://127.0.0.1:1/Kb1")
    assert done.returncode == 1
    assert "no chunks in" in done.stderr


def test_a_chunk_larger_than_a_row_may_be_is_told_and_nothing_is_pruned(tmp_path: Path) -> None:
    rows = [
        {"id": "large", "text": "x " * 30_000, "vector": [1, 2, 3]},
        {**ROWS[0], "id": "i" * 600},
        ROWS[1],
    ]
    told: list[str] = []
    server = Pinecone()
    with serving(server) as place:
        result = chunkwise.push(
            chunk_file(tmp_path, rows), f"pinecone://{place}", prune=True, on_bad=told.append
        )
    assert (result.chunks, result.skipped, result.pruned) == (1, 2, False)
    assert "60,057 bytes" in told[0]
    assert "40,960" in told[0]
    assert "its id has 600 bytes" in told[1]
    assert [path for _, path, _, _ in server.requests] == [
        "/describe_index_stats",
        "/vectors/upsert",
    ]


def test_no_request_is_larger_than_a_database_takes(tmp_path: Path) -> None:
    wide = [
        {"id": f"w{n}", "text": "x", "vector": [0.12345678901234567] * 1536} for n in range(100)
    ]
    server = Pinecone()
    with serving(server) as place:
        chunkwise.push(chunk_file(tmp_path, wide), f"pinecone://{place}")
    assert len(server.kept) == 100
    assert (
        max(len(json.dumps(body)) for _, path, _, body in server.requests if "upsert" in path)
        < 2_000_000
    )


def test_ids_of_other_tools_name_one_row_each(tmp_path: Path) -> None:
    rows = [
        {"id": 0, "text": "zero", "vector": [1, 2]},
        {"doc_id": 5, "text": "same", "vector": [1, 2]},
        {"doc_id": 6, "text": "same", "vector": [1, 2]},
    ]
    server = Weaviate()
    with serving(server) as place:
        assert chunkwise.push(chunk_file(tmp_path, rows), f"weaviate://{place}/Kb1").chunks == 3
    found = server.rows()
    assert "0" in found
    assert sorted(str(row.get("doc_id")) for row in found.values()) == ["5", "6", "None"]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.dates()
    | st.just(b"x"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), values, max_size=5))
def test_whatever_metadata_holds_becomes_what_databases_keep(metadata: dict[str, Any]) -> None:
    for name, value in kept_fields(metadata).items():
        name.encode()
        json.dumps(value, allow_nan=False)
        assert isinstance(value, str | int | float) or all(isinstance(each, str) for each in value)
        assert not isinstance(value, int) or abs(value) <= 2**53


def test_dates_are_kept_as_they_are_written() -> None:
    assert kept_fields({"day": date(2024, 5, 3)}) == {"day": "2024-05-03"}
