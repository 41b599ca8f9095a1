"""Qdrant, in a folder without a server: the same contract, one writer at a time, nothing half written is read."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document
from chunkwise.retrieval.qdrant import QdrantStore, _check_version
from chunkwise.retrieval.stored import StoredIndex
from chunkwise.testkit import check_engine
from chunkwise.testkit.sample_run import HashedWords
from retrieval.test_lancedb import STRATEGY, documents, found, made

qdrant_client = pytest.importorskip("qdrant_client")


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"qdrant+local://{tmp_path}/kb"


def test_qdrant_keeps_the_contract(tmp_path: Path) -> None:
    numbers = itertools.count()
    check_engine(lambda: f"qdrant+local://{tmp_path}/kb{next(numbers)}")


def test_over_http_the_same_hits_updates_and_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """In front of the local mode: what is sent and read is the client's own, what answers is no real server."""
    from retrieval.qdrant_endpoint import qdrant_endpoint

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
        with store.locked(0.0), pytest.raises(ChunkwiseError, match="is being written by process"):
            made(place, documents(2), wait=0.0)
        assert first.stats().bytes > 0
        assert {each.rpartition(" ")[2] for each in asked} == {"k3y"}
        assert "k3y" not in repr(first)


class _Stops(ChunkwiseError):
    pass


def _stopping(at: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The store is interrupted before its call of this number, and for good; gives how many there were."""
    calls = 0
    whole = QdrantStore._explained

    @contextmanager
    def counted(self: QdrantStore) -> Iterator[None]:
        nonlocal calls
        calls += 1
        if calls >= at:
            raise _Stops
        with whole(self):
            yield

    monkeypatch.setattr(QdrantStore, "_explained", counted)
    return lambda: calls


def test_wherever_an_update_stops_the_index_is_the_old_or_the_new_one(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock of a writer that is gone, too, is taken once its time is over."""
    monkeypatch.setattr("chunkwise.retrieval.qdrant.LEASE", 0.05)
    monkeypatch.setattr("chunkwise.retrieval.qdrant._LOOK_AGAIN", 0.01)
    made(place, documents(4))
    old = found(place)
    changed = [*documents(3), *documents(8, "bell")[5:]]
    made(f"{place}2", changed)
    new = found(f"{place}2")
    for at in itertools.count(1, 2):
        with monkeypatch.context() as patched:
            calls = _stopping(at, patched)
            try:
                made(place, changed)
            except _Stops:
                pass
            else:
                assert calls() < at
                break
        assert found(place) in (old, new), at
        made(place, documents(4))
        assert found(place) == old
    assert at > 10
    assert found(place) == new


def test_a_writer_whose_time_was_over_does_not_publish(place: str) -> None:
    made(place, documents(2))
    index = chunkwise.open_index(place, embedder=HashedWords())
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    with store.locked(0.0):
        store.begin(HashedWords.dimensions, anew=False)
        store._take(
            "other", "other", time.time() + 100, store._writer
        )  # another was given the lock
        with pytest.raises(ChunkwiseError, match=r"another writer took over.*run it again"):
            store.publish("{}")
        store._take("other", store._writer, time.time() + 100, "other")
    assert len(index) == 2


def test_what_is_replaced_goes_with_the_next_update(place: str) -> None:
    made(place, documents(3))
    made(place, documents(3, "bell"))
    index = made(place, documents(3, "buoy"))
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    client = store._qdrant()
    points, _ = client.scroll(store._now().collection, limit=1000, with_payload=True)
    words = {
        word
        for point in points
        for word in ("lamp", "bell", "buoy")
        if word in point.payload.get("text", "")
    }
    assert words == {"bell", "buoy"}  # of the state before, in which somebody may still read
    assert {each.alias_name for each in client.get_aliases().aliases} == {"chunkwise"}
    made(place, documents(3), rebuild=True)
    made(place, documents(2))
    assert len(client.get_collections().collections) == 2


def test_chunks_are_points_that_other_tools_read(place: str) -> None:
    given = Document("a.md", "# Lamp\n\nThe lamp is red.", metadata={"year": 2024})
    index = made(place, [given])
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    (near,) = store._qdrant().query_points(
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


def test_a_large_document_goes_in_pieces(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkwise.retrieval.qdrant._PIECE", 1000)
    monkeypatch.setattr("chunkwise.retrieval.qdrant._BYTES", 3000)
    given = Document("long.txt", "The lamp is red. It is lit at dusk. " * 300)
    index = made(place, [given])
    assert [index.source.document(each).text for each in index.source.document_numbers()] == [
        given.text
    ]


@pytest.mark.parametrize(
    ("version", "is_taken"), [("1.15.4", False), ("1.16.0", True), ("2.0.0-dev", True)]
)
def test_servers_that_take_conditions_for_nothing_are_refused(version: str, is_taken: bool) -> None:
    if is_taken:
        _check_version(version, "qdrant://h/kb")
    else:
        with pytest.raises(ChunkwiseError, match=r"1\.16 or later"):
            _check_version(version, "qdrant://h/kb")


def test_a_server_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ChunkwiseError, match=r"qdrant://127\.0\.0\.1:1/kb: .*that the server runs"):
        chunkwise.open_index("qdrant://127.0.0.1:1/kb")
