"""`push` into a real Chroma server; its package has an environment of its own: make test-push."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import chunkwise
from chunkwise.core import Document
from chunkwise.retrieval.push import push
from chunkwise.testkit.sample_run import HashedWords

chromadb = pytest.importorskip("chromadb")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    program = Path(sys.executable).parent / "chroma"
    running = subprocess.Popen(
        [program, "run", "--path", tmp_path / "data", "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = time.monotonic() + 600
        while time.monotonic() < until:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert running.poll() is None, "the server ended"
            time.sleep(0.2)
        yield port
    finally:
        running.terminate()
        running.wait()


def test_what_was_pushed_is_found_by_its_own_client(server: int) -> None:
    documents = [
        Document("a.md", "# Lamp\n\nThe lamp is red.", format="markdown", metadata={"year": 2024}),
        Document("b.md", "# Bell\n\nThe bell is rung in fog.", format="markdown"),
    ]
    index = chunkwise.index(documents, embedder=HashedWords(), vectors="own")
    for _ in range(2):  # again: nothing is there twice
        assert push(index.source, f"chroma://127.0.0.1:{server}/handbook") == 2
    collection = chromadb.HttpClient("127.0.0.1", server).get_collection(
        "handbook", embedding_function=None
    )
    assert collection.count() == 2
    asked = HashedWords().embed(["the lamp is red"], "query").tolist()
    found = collection.query(query_embeddings=asked, n_results=1, where={"year": 2024})
    assert found["ids"] == [["a.md::0"]]
    assert "The lamp is red." in found["documents"][0][0]
    assert found["metadatas"][0][0]["doc_id"] == "a.md"
    (hit,) = index.search("the lamp is red", k=1, retriever="dense")
    assert 1 - found["distances"][0][0] == pytest.approx(hit.score, abs=1e-4)
