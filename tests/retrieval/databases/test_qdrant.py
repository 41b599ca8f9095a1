"""Qdrant, in a folder without a server: the same contract, one writer at a time, nothing half written is read."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document
from chunkwise.retrieval.databases import StoredDocument, StoredIndex
from chunkwise.retrieval.databases.qdrant import QdrantStore, _check_version
from chunkwise.testkit import check_engine
from chunkwise.testkit.sample_run import HashedWords
from retrieval.databases.test_lancedb import STRATEGY, documents, found, made

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
    monkeypatch.setattr("chunkwise.retrieval.databases.lease.LOOK_AGAIN", 0.01)
    made(place, documents(4))
    old = found(place)
    changed = [*documents(3), *documents(8, "bell")[5:]]
    made(f"{place}2", changed)
    new = found(f"{place}2")
    for at in itertools.count(1, 2):
        with monkeypatch.context() as patched:
            patched.setattr("chunkwise.retrieval.databases.lease.SECONDS", 0.05)
            calls = _stopping(at, patched)
            try:
                made(place, changed)
            except (ChunkwiseError, UserWarning):
                pass  # stopped, or its time was over before; or all counts, and the name is not set
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
        store._take("other", time.time() + 100, store._lease.writer)  # another was given the lock
        with pytest.raises(ChunkwiseError, match=r"another writer took over.*run it again"):
            store.publish("{}")
        store._take(store._lease.writer, time.time() + 100, "other")
    assert len(index) == 2


def test_a_writer_whose_time_was_over_does_not_write(place: str) -> None:
    made(place, documents(2))
    index = chunkwise.open_index(place, embedder=HashedWords())
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    with store.locked(0.0):
        store.begin(HashedWords.dimensions, anew=False)
        store._take("other", time.time() + 100, store._lease.writer)
        store._lease.renew()
        number = HashedWords.dimensions
        late = StoredDocument(number, {"text": b"late"}, [], [], None)
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.add([late])
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.remove([1])
        store._take(store._lease.writer, time.time() + 100, "other")
    points, _ = store._server().scroll(store._now().entries, limit=1000, with_payload=True)
    assert number not in {point.payload["document"] for point in points}


@pytest.mark.parametrize("anew", [False, True])
def test_a_writer_whose_time_was_over_does_not_begin(place: str, anew: bool) -> None:
    """What it would take for leftovers is what the writer that has the lock now has just written."""
    made(place, documents(2))
    index = chunkwise.open_index(place, embedder=HashedWords())
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    client = store._server()
    with store.locked(0.0):
        store._take("other", time.time() + 100, store._lease.writer)
        store._lease.renew()
        payload = {"document": 99, "since": store._now().revision + 1, "until": 1 << 52}
        of_other = models.PointStruct(id=5, vector={}, payload=payload)
        client.upsert(store._now().entries, [of_other])
        client.create_collection("chunkwise__0123abcd", vectors_config={})
        before = {each.name for each in client.get_collections().collections}
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.begin(HashedWords.dimensions, anew=anew)
        assert client.retrieve(store._now().entries, ids=[5])
        assert {each.name for each in client.get_collections().collections} == before
        store._take(store._lease.writer, time.time() + 100, "other")
    assert len(index) == 2


def _client(index: chunkwise.Index) -> Any:
    source: Any = index.source
    return source.store._server()


def test_an_update_removes_only_collections_of_its_own(place: str) -> None:
    made(f"{place}?kb=a", documents(2))
    index = made(f"{place}?kb=kb", documents(2))
    client = _client(index)
    for name in ("kb__archive", "kb__0123456", "kb__012345678", "kb___0123abcd", "kb_0123abcd"):
        client.create_collection(name, vectors_config={})
    client.create_collection(
        "kb__0123abcd", vectors_config={}
    )  # as a writer that stopped leaves it
    before = {each.name for each in client.get_collections().collections}
    made(f"{place}?kb=kb", documents(3))
    after = {each.name for each in client.get_collections().collections}
    assert before - after == {"kb__0123abcd"}
    with pytest.raises(InvalidParameter, match=r"'a_'; a name ends in a letter, a digit or -"):
        made(f"{place}?kb=a_", documents(2))


@pytest.mark.parametrize("kind", ["collection", "alias"])
def test_a_name_that_others_have_is_refused_before_anything_is_written(
    place: str, kind: str
) -> None:
    mine = made(f"{place}?kb=mine", documents(2))
    client = _client(mine)  # which goes with the index
    client.create_collection("theirs", vectors_config={})
    name = "theirs"
    if kind == "alias":
        name = "called"
        named = models.CreateAlias(collection_name="theirs", alias_name=name)
        client.update_collection_aliases([models.CreateAliasOperation(create_alias=named)])
    with pytest.raises(ChunkwiseError, match=f"the {kind} '{name}' is not this index's; nothing"):
        made(f"{place}?kb={name}", documents(2))
    assert not [
        each.name
        for each in client.get_collections().collections
        if each.name.startswith(f"{name}__") and each.name != f"{name}__about"
    ]
    assert client.collection_exists("theirs")
    assert len(mine) == 2


def test_a_key_goes_unencrypted_to_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", "s3cret")
    with pytest.raises(InvalidParameter, match=r"unencrypted; write qdrant\+https") as told:
        chunkwise.open_index("qdrant://db.example:6333/kb")
    assert "s3cret" not in str(told.value)
    monkeypatch.delenv("QDRANT_API_KEY")
    for user in ("s3cret", "me:s3cret", ":s3cret"):
        with pytest.raises(InvalidParameter, match="put it into QDRANT_API_KEY") as told:
            chunkwise.open_index(f"qdrant://{user}@127.0.0.1/kb")
        assert "s3cret" not in str(told.value)


def test_what_is_replaced_goes_with_the_next_update(place: str) -> None:
    made(place, documents(3))
    made(place, documents(3, "bell"))
    index = made(place, documents(3, "buoy"))
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    client = store._server()
    points, _ = client.scroll(store._now().entries, limit=1000, with_payload=True)
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
    (near,) = store._server().query_points(
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
    client, entries = source.store._server(), source.store._now().entries
    client.create_collection("beside", vectors_config={})

    def write(first: int) -> None:
        for at in range(first, first + 40):
            client.upsert("beside", [models.PointStruct(id=at, vector={}, payload={"at": at})])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(0, 400, 100)))
    assert client.count("beside").count == 160
    assert client.count(entries).count > 0


def test_a_large_document_goes_in_pieces(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.qdrant.PIECE", 1000)
    monkeypatch.setattr("chunkwise.retrieval.databases.qdrant._BYTES", 3000)
    given = Document("long.txt", "The lamp is red. It is lit at dusk. " * 300)
    index = made(place, [given])
    assert texts(index) == [given.text]


def texts(index: chunkwise.Index) -> list[str]:
    source: Any = index.source
    return [source.document(each).text for each in source.document_numbers()]


def test_the_text_of_a_hit_is_fetched_by_its_id(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder, looking for it means that Python compares every point; on a server, one more way there and back."""
    index = made(place, documents(6))
    hits = index.search("pier 3", k=4, retriever="bm25")  # brings the arrays over
    del index
    index = chunkwise.open_index(place, embedder=HashedWords())
    index.search("lamp", k=1, retriever="bm25")
    source: Any = index.source
    client = source.store._server()

    def looked_for(*_: Any, **__: Any) -> None:
        raise AssertionError("all points were compared")

    monkeypatch.setattr(client, "scroll", looked_for)
    assert [hit.text for hit in index.search("pier 3", k=4, retriever="bm25")] == [
        hit.text for hit in hits
    ]
    assert len(texts(index)) == 6


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

    monkeypatch.setattr(source.store._server(), "query_points", asked)
    hits = index.search("red lamp of pier 7", k=3, retriever="dense", where="n>=4")
    assert [(hit.doc_id, round(hit.score, 4)) for hit in hits] == [
        (hit.doc_id, round(hit.score, 4)) for hit in wanted
    ]


def test_documents_whose_pieces_were_numbered_otherwise_are_read(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One behind the other over all parts, as earlier versions did."""
    now = QdrantStore._points

    def numbered_through(self: Any, document: StoredDocument) -> Iterator[tuple[int, Any]]:
        own = (document.number << 32) + (1 << 31)
        for size, point in now(self, document):
            if "pieces" in point.payload:
                del point.payload["pieces"]
                point.id, own = own, own + 1
            yield size, point

    monkeypatch.setattr("chunkwise.retrieval.databases.qdrant.PIECE", 50)
    given = documents(3)
    with monkeypatch.context() as earlier:
        earlier.setattr(QdrantStore, "_points", numbered_through)
        made(place, given)
    added = Document("new.txt", "The new pier has a red lamp. " * 9)
    index = made(place, [*given, added])
    assert texts(index) == [each.text for each in (*given, added)]
    assert index.search("new pier", k=1, retriever="bm25")[0].doc_id == "new.txt"


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
