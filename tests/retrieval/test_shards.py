"""An index in parts is searched as one: the same hits and scores, and a part that is gone is told."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import chunkwise
from chunkwise import Document, Index
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.retrieval.shards import (
    KEY_VARIABLE,
    ServedShard,
    ShardedIndex,
    answer_shard,
    shard_addresses,
)
from chunkwise.studio.accounts import Account, Accounts, hashed_key
from chunkwise.studio.app import service_app
from chunkwise.studio.guard import USUAL_LIMITS, KeyAccess
from chunkwise.studio.project import Project, ProjectSources
from hash_embedder import HashEmbedder

WORDS = "heron otter badger falcon river forest meadow night winter stone bridge boat".split()
QUESTIONS = ["otter by the river", "a falcon in winter", "bridge", "nothing of the kind", "?"]


def _documents() -> list[Document]:
    chance = random.Random(11)
    found = []
    for number in range(30):
        sections = [
            f"## {chance.choice(WORDS)}\n\n"
            + " ".join(
                f"The {chance.choice(WORDS)} by the {chance.choice(WORDS)} saw a {chance.choice(WORDS)}."
                for _ in range(chance.randrange(2, 12))
            )
            for _ in range(3)
        ]
        text = f"# Part {number}\n\n" + "\n\n".join(sections)
        metadata = {"year": 2000 + number % 5}
        found.append(Document(f"book/{number:02}.md", text, format="markdown", metadata=metadata))
    return found


DOCUMENTS = _documents()
PARTS = [DOCUMENTS[:4], DOCUMENTS[4:19], DOCUMENTS[19:]]


class ShardHere:
    """A part in this process; what it is asked and answers is sent as text."""

    def __init__(self, index: Index, name: str) -> None:
        self._index, self.name = index, name
        self.is_down = False

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        if self.is_down:
            raise ChunkwiseError("cannot be reached")
        return json.loads(answer_shard(self._index.source, call, json.dumps(given)))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


def _index(documents: list[Document]) -> Index:
    return chunkwise.index(documents, "sentences(max_tokens=40)", embedder=HashEmbedder())


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[ShardHere]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHUNKWISE_HOME", str(tmp_path_factory.mktemp("home")))
        return [ShardHere(_index(each), f"shard {at}") for at, each in enumerate(PARTS)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Index:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHUNKWISE_HOME", str(tmp_path_factory.mktemp("home")))
        return _index(DOCUMENTS)


def _sharded(shards: list[ShardHere]) -> Index:
    source = ShardedIndex(shards)
    return Index(source, LazyEmbedder(HashEmbedder(), source.settings.identity))  # type: ignore[arg-type]


FILTERS = [
    Filter(),
    Filter(documents=("book/0*",)),
    Filter(sections=("river",)),
    Filter(where=("year>=2002 or year=2000",)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("retriever", ["bm25", "dense", "hybrid"])
@pytest.mark.parametrize("only", FILTERS, ids=["all", "documents", "sections", "where"])
def test_hits_and_scores_are_those_of_one_index(
    shards: list[ShardHere], whole: Index, retriever: str, only: Filter
) -> None:
    for given in ({"k": 7}, {"budget": 120}, {"k": 3, "neighbours": 1}, {"k": 4, "mmr": 0.5}):
        found = [
            each.search(QUESTIONS, retriever=retriever, only=only, **given)  # type: ignore[call-overload]
            for each in (whole, _sharded(shards))
        ]
        for one, other in zip(*found, strict=True):
            assert [(hit.document.id, hit.start, hit.end, hit.text) for hit in one] == [
                (hit.document.id, hit.start, hit.end, hit.text) for hit in other
            ]
            np.testing.assert_allclose(
                [hit.score for hit in one], [hit.score for hit in other], rtol=0, atol=1e-6
            )


def test_it_counts_and_lists_as_one_index(shards: list[ShardHere], whole: Index) -> None:
    sharded = _sharded(shards)
    assert len(sharded) == 30
    assert [each.text for each in sharded.chunks()] == [each.text for each in whole.chunks()]
    assert sharded.source.ids() == whole.source.ids()
    assert sharded.stats().chunks == whole.stats().chunks
    for one, other in zip(
        sharded.source.chunk_table()[:4], whole.source.chunk_table()[:4], strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_shard_that_is_down_is_told_and_the_others_answer(shards: list[ShardHere]) -> None:
    sharded = _sharded(shards)
    every = sharded.search("otter by the river", k=30, retriever="bm25")
    shards[1].is_down = True
    try:
        with pytest.warns(UserWarning, match="the shard shard 1 does not answer"):
            left = sharded.search("otter by the river", k=30, retriever="bm25")
        assert sharded.source.down == ("shard 1",)  # type: ignore[attr-defined]
        gone = {each.id for each in PARTS[1]}
        # Their scores stay what they were: what was counted there still counts.
        stay = [hit for hit in every if hit.document.id not in gone]
        assert 0 < len(stay) < len(every)
        assert [(hit.document.id, hit.start, hit.score) for hit in left][: len(stay)] == [
            (hit.document.id, hit.start, hit.score) for hit in stay
        ]
    finally:
        shards[1].is_down = False
    assert sharded.search("otter by the river", k=30, retriever="bm25") == every
    assert sharded.source.down == ()  # type: ignore[attr-defined]


def test_one_that_is_down_at_first_is_taken_in_when_it_comes_back(
    shards: list[ShardHere], whole: Index
) -> None:
    shards[0].is_down = True
    with pytest.warns(UserWarning, match="shard 0 does not answer"):
        sharded = _sharded(shards)
    shards[0].is_down = False
    again = sharded.search("falcon", k=5, retriever="bm25")
    assert [(hit.document.id, hit.start) for hit in again] == [
        (hit.document.id, hit.start) for hit in whole.search("falcon", k=5, retriever="bm25")
    ]


def test_no_shard_at_all_and_others_settings_are_errors(shards: list[ShardHere]) -> None:
    other = ShardHere(
        chunkwise.index(PARTS[0], "sentences(max_tokens=20)", embedder=HashEmbedder()), "other"
    )
    with pytest.raises(ChunkwiseError, match="other was made with other settings than shard 0"):
        ShardedIndex([shards[0], other])
    other.is_down = True
    with (
        pytest.warns(UserWarning, match="does not answer"),
        pytest.raises(ChunkwiseError, match="no shard answers"),
    ):
        ShardedIndex([other])


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("nothing", "{}"), ("about", "[]"), ("about", "{"), ("words", "{}"), ("chunks", '{"numbers": [-1]}'),
        ("chunks", '{"numbers": ["a"]}'), ("chunks", '{"numbers": [99999]}'), ("document", '{"number": 4}'),
        ("nearest", '{"vectors": [["a"]], "depth": 1, "only": {}}'), ("frequencies", '{"terms": [-1]}'),
    ],
)  # fmt: skip
def test_a_shard_refuses_what_it_does_not_understand(
    shards: list[ShardHere], call: str, given: str
) -> None:
    with pytest.raises(InvalidParameter):
        answer_shard(shards[0]._index.source, call, given)


def test_addresses() -> None:
    assert shard_addresses("shards://a:1,b:2/") == ["http://a:1", "http://b:2"]
    assert shard_addresses("shards+https://a,b") == ["https://a", "https://b"]
    for wrong in ("shards://", "shards://a,,b", "shards://u:p@a", "shards+ftp://a"):
        with pytest.raises(InvalidParameter, match="shards://host:8420"):
            shard_addresses(wrong)
    with pytest.raises(InvalidParameter, match="is searched, not written"):
        chunkwise.index(DOCUMENTS[:1], into="shards://localhost:1", vectors="none")


def test_a_server_answers_for_its_shard(
    tmp_path: Path, whole: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a-key-of-the-tests")
    chunkwise.index(DOCUMENTS, "sentences(max_tokens=40)", vectors="none", into=tmp_path / "kb")
    project = Project(ProjectSources(index=str(tmp_path / "kb"), counts_issues=False))
    accounts = Accounts(None, [Account("a", "reader", keys=(hashed_key("a-key-of-the-tests"),))])
    app = service_app(project, port=8420, access=KeyAccess(accounts), limits=USUAL_LIMITS)
    client = TestClient(app, base_url="http://127.0.0.1:8420")
    shard = ServedShard("http://127.0.0.1:8420")

    class Sent:
        def ask(self, payload: Any, read: Any) -> Any:
            headers = {"authorization": "Bearer a-key-of-the-tests"}
            return read(client.post("/api/shard", json=payload, headers=headers).json())

    monkeypatch.setattr(shard, "_client", Sent())
    found = Index(ShardedIndex([shard]), None).search("falcon", k=4)  # type: ignore[arg-type]
    assert [hit.text for hit in found] == [
        hit.text for hit in whole.search("falcon", k=4, retriever="bm25")
    ]
    assert client.post("/api/shard", json={"call": "about"}).status_code in (401, 403)
