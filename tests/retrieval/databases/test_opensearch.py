"""OpenSearch and Elasticsearch, by an endpoint of the tests that speaks their protocol: the same contract."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.core import Document
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


@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_it_keeps_the_contract(kind: str) -> None:
    numbers = itertools.count()
    with opensearch_endpoint(kind) as (address, _):
        check_engine(lambda: f"{address}/kb{next(numbers)}")


@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_many_chunks_are_found_by_the_index_of_vectors(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch.MANY", 3)
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch._LISTED", 5)
    with opensearch_endpoint(kind) as (address, _):
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


def test_more_than_one_answer_holds_comes_in_pages(
    served: tuple[str, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch._WINDOW", 2)
    place, _ = served
    store: Any = made(place, documents(6)).source
    ranked = store.store.nearest(HashedWords().embed(["the lamp"])[0], 5, None, True)
    assert len(ranked.numbers) == 5
    assert (np.diff(ranked.scores) <= 0).all()


@pytest.mark.parametrize("status", [-1, 403])
def test_wherever_the_server_fails_the_index_is_the_old_or_the_new_one(
    served: tuple[str, Server], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection drops, or the disk is full: at any request, and for good."""
    monkeypatch.setattr("chunkwise.retrieval.databases.opensearch._TRIES", 0)
    monkeypatch.setattr("chunkwise.retrieval.databases.update.SECONDS", 2.0)
    place, server = served
    made(place, documents(3))
    old = found(place)
    changed = [*documents(2), *documents(5, "bell")[3:]]
    made(f"{place}2", changed)
    new = found(f"{place}2")
    for at in itertools.count(2, 3):
        count = itertools.count(1)
        server.fault = lambda method, path, count=count, at=at: (
            status if next(count) >= at and (status < 0 or method in ("PUT", "POST")) else 0
        )
        try:
            made(place, changed)
        except (ChunkwiseError, UserWarning):  # of a name that could not be set
            is_done = False
        else:
            is_done = True
        server.fault = lambda method, path: 0
        assert found(place) in (old, new), at
        if is_done:
            break
        made(place, documents(3))
        assert found(place) == old
    assert at > 8
    assert found(place) == new


def test_the_name_stands_for_the_chunks_of_the_latest_rows(served: tuple[str, Server]) -> None:
    place, server = served
    made(place, documents(2))
    first = server.aliases["kb"]
    made(place, documents(2), rebuild=True)
    assert server.aliases["kb"] != first
    made(place, documents(3))  # takes away what was replaced
    assert sorted(server.indexes) == sorted([server.aliases["kb"], "kb__state"])
    texts = [each["_source"].get("text") for each in server.indexes[server.aliases["kb"]].values()]
    assert len([*filter(None, texts)]) == made(place, documents(3)).source.chunk_count


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
        with pytest.raises(ChunkwiseError, match="has no inner-product vector search; use"):
            _check_version(kind, version, "opensearch://h/kb")


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(
        ChunkwiseError, match=r"opensearch://127\.0\.0\.1:1/kb: .*that the server runs"
    ):
        chunkwise.open_index("opensearch://127.0.0.1:1/kb")
