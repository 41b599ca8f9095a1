"""OpenSearch and Elasticsearch, by an endpoint of the tests that speaks their protocol: the same contract."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document
from chunkwise.retrieval.databases import StoredIndex
from chunkwise.retrieval.databases.opensearch import _check_version
from chunkwise.testkit import check_engine
from chunkwise.testkit.sample_run import HashedWords
from retrieval.databases.test_lancedb import STRATEGY, documents, found, made

pytest.importorskip("opensearchpy")
from retrieval.databases.opensearch_endpoint import Server, opensearch_endpoint
from tables import cases

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def served() -> Iterator[tuple[str, Server]]:
    with opensearch_endpoint() as (address, server):
        yield f"{address}/kb", server


def _store(place: str) -> Any:
    index = chunkwise.open_index(place, embedder=HashedWords())
    assert isinstance(index.source, StoredIndex)
    store: Any = index.source.store
    store.opened_by = (
        index  # one that nobody holds any more closes its store, whenever it is collected
    )
    return store


def test_it_keeps_the_contract() -> None:
    numbers = itertools.count()
    with opensearch_endpoint() as (address, _):
        check_engine(lambda: f"{address}/kb{next(numbers)}")


@cases("retriever", ["bm25", "dense", "hybrid", "multiscale"])
def test_elasticsearch_finds_what_memory_finds(retriever: str) -> None:
    """All of its requests that are not OpenSearch's: what a vector is, and how it is compared."""
    with opensearch_endpoint("elasticsearch") as (address, _):
        made(f"{address}/kb", documents(4))
        index = made(f"{address}/kb", documents(6, "bell")[2:])
        memory = chunkwise.index(
            documents(6, "bell")[2:], STRATEGY, embedder=HashedWords(), vectors="own"
        )
        mine, theirs = (
            sorted(
                (hit.doc_id, hit.start, round(hit.score, 4))
                for hit in each.search("pier 3", budget=60, retriever=retriever)
            )
            for each in (index, memory)
        )
        assert mine == theirs


@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_many_chunks_are_found_by_the_index_of_vectors(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch.MANY", 3)
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch._LISTED", 5)
    with opensearch_endpoint(kind) as (address, server):
        given = [
            Document(each.id, each.text, metadata={"n": int(each.id[0])}) for each in documents(8)
        ]
        index = made(f"{address}/kb", given)
        memory = chunkwise.index(given, STRATEGY, embedder=HashedWords(), vectors="own")
        source: Any = index.source
        assert not source.is_exact
        assert source.recall(5, 3).share == 1.0
        for where in ((), "n>=2"):
            mine, theirs = (
                [
                    round(hit.score, 4)
                    for hit in each.search("pier 3", retriever="dense", k=4, where=where)
                ]
                for each in (index, memory)
            )
            assert mine == theirs
        assert server.requests


def test_more_than_one_answer_holds_comes_in_pages(
    served: tuple[str, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch._WINDOW", 2)
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch.LISTED_PAGE", 2)
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch.PIECE", 40)
    monkeypatch.setattr("chunkwise.retrieval.databases.revisions._FETCHED_BYTES", 100)
    place, _ = served
    index = made(place, documents(6))
    assert index.source.ids() == [f"{number}.md" for number in range(6)]
    store = _store(place)
    vector = HashedWords().embed(["the lamp"])[0]
    ranked = store.nearest(vector, 5, None, True)
    assert len(ranked.numbers) == 5
    assert (np.diff(ranked.scores) <= 0).all()
    assert [index.source.document(each).text for each in index.source.document_numbers()] == [
        each.text for each in documents(6)
    ]


@pytest.mark.parametrize("status", [-1, 403])
def test_wherever_the_server_fails_the_index_is_the_old_or_the_new_one(
    served: tuple[str, Server], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection drops, or the disk is full: at any request, and for good."""
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch._TRIES", 0)
    place, server = served
    made(place, documents(3))
    old = found(place)
    changed = [*documents(2), *documents(5, "bell")[3:]]
    made(f"{place}2", changed)
    new = found(f"{place}2")
    for at in itertools.count(4, 6):
        count = itertools.count(1)
        server.fault = lambda method, path, count=count, at=at: (  # type: ignore[misc]
            status if next(count) >= at and (status < 0 or method in ("PUT", "POST")) else 0
        )
        try:
            made(place, changed)
        except (ChunkwiseError, UserWarning):  # of a name that could not be set
            is_done = False
        else:
            is_done = True
        server.fault = lambda method, path: 0
        server.indexes["kb__about"].put(
            "lock", {"writer": "gone", "until": 0.0}
        )  # its time is over
        assert found(place) in (old, new), at
        if is_done:
            break
        made(place, documents(3))
        assert found(place) == old
    assert at > 8
    assert found(place) == new


@pytest.mark.parametrize("anew", [False, True])
def test_a_writer_whose_time_was_over_changes_nothing(
    served: tuple[str, Server], anew: bool
) -> None:
    place, server = served
    made(place, documents(2))
    store = _store(place)
    with store.locked(0.0):
        store._take("other", time.time() + 100, store._lease.writer)
        store._lease.renew()
        before = {name: dict(index.entries) for name, index in server.indexes.items()}
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.begin(HashedWords.dimensions, anew=anew)
        assert before == {name: dict(index.entries) for name, index in server.indexes.items()}
        store._take("", 0.0, "other")
        store._lease.renew()  # nobody has it, yet somebody may have written
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.begin(HashedWords.dimensions, anew=anew)
    store = _store(place)
    with store.locked(0.0):
        store.begin(HashedWords.dimensions, anew=anew)
        store._take("other", time.time() + 100, store._lease.writer)
        with pytest.raises(ChunkwiseError, match=r"another writer took over.*run it again"):
            store.publish("{}")
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.remove([1])
        store._take(store._lease.writer, time.time() + 100, "other")
    assert len(chunkwise.open_index(place, embedder=HashedWords())) == 2


def test_who_began_from_another_state_does_not_publish(served: tuple[str, Server]) -> None:
    """Even with a lease that both believe in: the server looks whether the state is the one that was read."""
    place, server = served
    made(place, documents(2))
    store = _store(place)
    with store.locked(0.0):
        store.begin(HashedWords.dimensions, anew=False)
        about = server.indexes["kb__about"]
        about.put("state", dict(about.entries["state"]["_source"]))  # written again meanwhile
        with pytest.raises(ChunkwiseError, match="another writer took over"):
            store.publish("{}")


def test_the_second_writer_is_told(served: tuple[str, Server]) -> None:
    place, _ = served
    made(place, documents(2))
    with (
        _store(place).locked(0.0),
        pytest.raises(ChunkwiseError, match="is being written by process"),
    ):
        made(place, documents(1), wait=0.0)


def test_the_name_stands_for_the_chunks_that_count(served: tuple[str, Server]) -> None:
    place, server = served
    made(place, documents(2))
    made(place, documents(2), rebuild=True)
    made(place, documents(3))
    ((_, index),) = ((name, each) for name, each in server.indexes.items() if "kb" in each.aliases)
    hits = server._hits(
        index, {"query": index.aliases["kb"]["filter"], "size": 100, "_source": ["text"]}
    )
    assert len(hits) == len(made(place, documents(3)).source.chunk_table().start)
    assert all(hit["_source"]["text"] for hit in hits)
    assert len(server.indexes) == 2  # with the one that says what counts


@pytest.mark.parametrize("kind", ["index", "alias"])
def test_a_name_that_others_have_is_refused_before_anything_is_written(
    served: tuple[str, Server], kind: str
) -> None:
    place, server = served
    empty = {"mappings": {"properties": {}}}
    server._whole_index("PUT", "theirs", empty)
    name = "theirs"
    if kind == "alias":
        name = "called"
        server._set_aliases({"actions": [{"add": {"index": "theirs", "alias": "called"}}]})
    with pytest.raises(ChunkwiseError, match=f"the {kind} '{name}' is not this index's; nothing"):
        made(f"{place.rpartition('/')[0]}/{name}", documents(2))
    assert sorted(server.indexes) == sorted(["theirs", f"{name}__about"])


def test_an_update_removes_only_indexes_of_its_own(served: tuple[str, Server]) -> None:
    place, server = served
    made(place, documents(2))
    others = ["kb__archive", "kb__0123456", "kb__012345678", "kb2", "kb-0123abcd"]
    for name in (*others, "kb__0123abcd"):
        server._whole_index("PUT", name, {"mappings": {"properties": {}}})
    before = {*server.indexes}
    made(place, documents(3))
    assert before - {*server.indexes} == {"kb__0123abcd"}  # as a writer that stopped leaves it


def test_who_may_is_asked_for_in_the_environment_alone(
    served: tuple[str, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, server = served
    monkeypatch.setenv("OPENSEARCH_USER", "ada")
    monkeypatch.setenv("OPENSEARCH_PASSWORD", "s3cret")
    index = made(place, documents(1))
    assert {sent for _, _, sent in server.requests} == {"Basic YWRhOnMzY3JldA=="}
    assert "s3cret" not in repr(index)
    monkeypatch.setenv("OPENSEARCH_API_KEY", "k3y")
    server.requests.clear()
    chunkwise.open_index(place, embedder=HashedWords())
    assert {sent for _, _, sent in server.requests} == {"ApiKey k3y"}
    with pytest.raises(InvalidParameter, match=r"unencrypted; write opensearch\+https"):
        chunkwise.open_index("opensearch://db.example/kb")
    with pytest.raises(InvalidParameter, match="OPENSEARCH_USER and OPENSEARCH_PASSWORD") as told:
        chunkwise.open_index("opensearch://ada:s3cret@db.example/kb")
    assert "s3cret" not in str(told.value)


@cases(
    "kind, version, is_taken",
    [
        ("opensearch", "2.12.0", False), ("opensearch", "2.13.0", True), ("opensearch", "3.0.0-beta1", True),
        ("elasticsearch", "8.10.4", False), ("elasticsearch", "9.1.0", True),
    ],
)  # fmt: skip
def test_servers_that_cannot_compare_are_refused(kind: Any, version: str, is_taken: bool) -> None:
    if is_taken:
        _check_version(kind, version, "opensearch://h/kb")
    else:
        with pytest.raises(ChunkwiseError, match="or later is needed"):
            _check_version(kind, version, "opensearch://h/kb")


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(
        ChunkwiseError, match=r"opensearch://127\.0\.0\.1:1/kb: .*that the server runs"
    ):
        chunkwise.open_index("opensearch://127.0.0.1:1/kb")
