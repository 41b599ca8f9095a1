"""Qdrant, in a folder without a server: the same contract, one writer at a time, nothing half written is read."""

from __future__ import annotations

import itertools
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document
from chunkwise.retrieval.databases import StoredIndex
from chunkwise.retrieval.databases.qdrant import _check_version
from chunkwise.retrieval.databases.update import Reservation
from chunkwise.testkit import check_engine
from chunkwise.testkit.sample_run import HashedWords
from retrieval.databases.test_lancedb import STRATEGY, documents, made

qdrant_client = pytest.importorskip("qdrant_client")
from qdrant_client import models  # noqa: E402

from tables import cases  # noqa: E402

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"qdrant+local://{tmp_path}/kb"


def test_qdrant_keeps_the_contract(tmp_path: Path) -> None:
    numbers = itertools.count()
    check_engine(lambda: f"qdrant+local://{tmp_path}/kb{next(numbers)}")


def test_over_http_the_same_hits_updates_and_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """In front of the local mode: what is sent and read is the client's own, what answers is no real server."""
    from retrieval.databases.qdrant_endpoint import qdrant_endpoint

    monkeypatch.setenv("QDRANT_API_KEY", "k3y")
    with qdrant_endpoint() as (address, asked), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a key over plain HTTP
        place = f"{address}/kb"
        made(place, documents(4))
        first = chunkwise.open_index(place, embedder=HashedWords())
        memory = chunkwise.index(documents(4), STRATEGY, embedder=HashedWords(), vectors="own")
        for retriever in ("bm25", "dense", "hybrid", "multiscale"):
            mine, theirs = (
                [
                    (hit.doc_id, hit.start, round(hit.score, 4))
                    for hit in each.search("pier 3", budget=40, retriever=retriever)
                ]
                for each in (first, memory)
            )
            assert sorted(mine) == sorted(theirs)
        made(place, documents(5))
        assert len(first) == 5
        store: Any = first.source.store  # type: ignore[attr-defined]
        monkeypatch.setattr("chunkwise.retrieval.local.folder.LOCK_WAIT", 0.0)
        with (
            Reservation(store).held(0.0),
            pytest.raises(ChunkwiseError, match="is locked by process"),
        ):
            made(place, documents(2))
        assert first.stats().bytes > 0
        assert {each.rpartition(" ")[2] for each in asked} == {"k3y"}
        assert "k3y" not in repr(first)


def test_a_key_goes_unencrypted_to_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", "s3cret")
    with pytest.raises(InvalidParameter, match=r"unencrypted; write qdrant\+https") as told:
        chunkwise.open_index("qdrant://db.example:6333/kb")
    assert "s3cret" not in str(told.value)
    monkeypatch.delenv("QDRANT_API_KEY")
    for user in ("s3cret", "me:s3cret", ":s3cret"):
        with pytest.raises(InvalidParameter, match="set QDRANT_API_KEY") as told:
            chunkwise.open_index(f"qdrant://{user}@127.0.0.1/kb")
        assert "s3cret" not in str(told.value)


def test_chunks_are_points_that_other_tools_read(place: str) -> None:
    given = Document("a.md", "# Lamp\n\nThe lamp is red.", metadata={"year": 2024})
    index = made(place, [given])
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    (near,) = store._client.query_points(
        "chunkwise", query=HashedWords().embed(["the lamp is red"])[0].tolist(), using="vector", limit=1
    ).points  # fmt: skip
    assert near.payload["metadata"] == {"year": 2024}
    assert given.text[near.payload["start"] : near.payload["end"]] == near.payload["text"]


def test_an_index_that_goes_while_another_is_opened_stops_nobody(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As garbage is collected at any line, also where a client is being made."""
    going: Any = made(place, documents(2)).source

    class Interrupted(qdrant_client.QdrantClient):  # type: ignore[misc, name-defined]
        def __init__(self, *given: Any, **named: Any) -> None:
            going.close()
            super().__init__(*given, **named)

    monkeypatch.setattr("qdrant_client.QdrantClient", Interrupted)
    made(f"{place}2", documents(3))
    assert len(chunkwise.open_index(f"{place}2", embedder=HashedWords())) == 3
    assert len(chunkwise.open_index(place, embedder=HashedWords())) == 2


def test_threads_that_write_into_a_folder_take_turns(place: str) -> None:
    """As a writer and the thread that renews its lease do: one ended the transaction of the other."""
    source: Any = made(place, documents(2)).source
    client, entries = source.store._client, source.store._entries
    client.create_collection("beside", vectors_config={})

    def write(first: int) -> None:
        for at in range(first, first + 40):
            client.upsert("beside", [models.PointStruct(id=at, vector={}, payload={"at": at})])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(0, 400, 100)))
    assert client.count("beside").count == 160
    assert client.count(entries).count > 0


def test_a_large_document_goes_in_pieces(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.store.PIECE", 1000)
    monkeypatch.setattr("chunkwise.retrieval.databases.qdrant._BYTES", 3000)
    given = Document("long.txt", "The lamp is red. It is lit at dusk. " * 300)
    index = made(place, [given])
    assert texts(index) == [given.text]


def texts(index: chunkwise.Index) -> list[str]:
    source: Any = index.source
    return [source.document(each).text for each in source.document_numbers()]


def test_chunks_that_a_filter_takes_are_compared_here_in_a_folder(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client goes through all ids of a condition for each of its points: minutes a question at 100,000."""
    given = [
        Document(f"{n}.txt", f"The lamp of pier {n} is red.", metadata={"n": n}) for n in range(9)
    ]
    index = made(place, given)
    memory = chunkwise.index(given, STRATEGY, embedder=HashedWords(), vectors="own")
    source: Any = index.source
    wanted = memory.search("red lamp of pier 7", k=3, retriever="dense", where="n>=4")

    def asked(*_: Any, **__: Any) -> None:
        raise AssertionError("a condition with ids was sent")

    monkeypatch.setattr(source.store._client, "query_points", asked)
    hits = index.search("red lamp of pier 7", k=3, retriever="dense", where="n>=4")
    assert [(hit.doc_id, round(hit.score, 4)) for hit in hits] == [
        (hit.doc_id, round(hit.score, 4)) for hit in wanted
    ]


@cases("version, is_taken", [("1.15.4", False), ("1.16.0", True), ("2.0.0-dev", True)])
def test_servers_that_take_conditions_for_nothing_are_refused(version: str, is_taken: bool) -> None:
    if is_taken:
        _check_version(version, "qdrant://h/kb")
    else:
        with pytest.raises(ChunkwiseError, match=r"1\.16 or later"):
            _check_version(version, "qdrant://h/kb")


def test_a_server_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ChunkwiseError, match=r"qdrant://127\.0\.0\.1:1/kb: .*that the server runs"):
        chunkwise.open_index("qdrant://127.0.0.1:1/kb")
