"""The same with the databases themselves, on this machine; `make test-adapters` has their packages."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import InvalidParameter
from retrieval.tiny_embedder import Tiny
from untimed import HANG
from vector_databases.pushed_corpus import DOCUMENTS, STRATEGY, check_database


def chroma_rows(client: Any, name: str) -> dict[str, dict[str, Any]]:
    found = client.get_collection(name, embedding_function=None).get(
        include=["embeddings", "documents", "metadatas"]
    )
    every = zip(
        found["ids"], found["embeddings"], found["documents"], found["metadatas"], strict=True
    )
    return {id: {**fields, "vector": vector, "text": text} for id, vector, text, fields in every}


def test_chroma_in_a_folder(tmp_path: Path) -> None:
    chromadb = pytest.importorskip("chromadb")
    place = f"chroma://{tmp_path}/chroma db"
    check_database(
        place, lambda: chroma_rows(chromadb.PersistentClient(str(tmp_path / "chroma db")), "handbook"),
        collection="handbook",
    )  # fmt: skip
    # Found by its own search, with the vectors of our models.
    collection = chromadb.PersistentClient(str(tmp_path / "chroma db")).get_collection(
        "handbook", embedding_function=None
    )
    (ids,) = collection.query(Tiny().embed(["The lamp is lit at dusk."]).tolist(), n_results=1)[
        "ids"
    ]
    assert ids == [f"{DOCUMENTS[0].id}::0"]
    narrow = chunkwise.index(DOCUMENTS, STRATEGY, embedder=Tiny(8))
    with pytest.raises(InvalidParameter, match="use another collection, or its model"):
        chunkwise.push(narrow, place, collection="handbook")


@pytest.fixture
def chroma_server(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("chromadb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(Path(sys.executable).with_name("chroma")),
        "run",
        "--path",
        str(tmp_path / "served"),
    ]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        ended = time.monotonic() + HANG
        while time.monotonic() < ended:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(HANG)


@pytest.mark.usefixtures("processes")
def test_chroma_behind_a_server(chroma_server: str) -> None:
    import chromadb

    host, port = chroma_server.split(":")
    client = chromadb.HttpClient(host, int(port))
    check_database(f"chroma://{chroma_server}/handbook", lambda: chroma_rows(client, "handbook"))


def test_milvus_in_a_file(tmp_path: Path) -> None:
    pymilvus = pytest.importorskip("pymilvus")
    pytest.importorskip("milvus_lite")

    def rows() -> dict[str, dict[str, Any]]:
        client = pymilvus.MilvusClient(str(tmp_path / "kb.db"))
        try:
            found = client.query("hand_book", filter='id != ""', output_fields=["*"], limit=1000)
            return {row["id"]: dict(row) for row in found}
        finally:
            client.close()

    place = f"milvus://{tmp_path}/kb.db"
    check_database(place, rows, collection="hand-book")
    narrow = chunkwise.index(DOCUMENTS, STRATEGY, embedder=Tiny(8))
    with pytest.raises(InvalidParameter, match="use another collection, or its model"):
        chunkwise.push(narrow, place, collection="hand-book")
    with pytest.raises(InvalidParameter, match=r"t a Milvus Lite file; expected a name ending in"):
        chunkwise.push(narrow, f"milvus://{tmp_path}/folder")


def test_qdrant_in_a_folder(tmp_path: Path) -> None:
    qdrant_client = pytest.importorskip("qdrant_client")

    def rows() -> dict[str, dict[str, Any]]:
        client = qdrant_client.QdrantClient(path=str(tmp_path / "qd"))
        try:
            points, _ = client.scroll("handbook", limit=1000, with_vectors=True)
            return {
                point.payload["chunk_id"]: {**point.payload, "vector": point.vector}
                for point in points
            }
        finally:
            client.close()

    place = f"qdrant://{tmp_path}/qd"
    check_database(place, rows, collection="handbook")
    narrow = chunkwise.index(DOCUMENTS, STRATEGY, embedder=Tiny(8))
    with pytest.raises(InvalidParameter, match="use another collection, or its model"):
        chunkwise.push(narrow, place, collection="handbook")
