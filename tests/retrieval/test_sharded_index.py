"""An index in parts is searched as one: the same hits and scores, and a part that is gone is told."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn

import chunkwise
from chunkwise import Document, Index
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.retrieval.shard_server import answer_shard
from chunkwise.retrieval.sharded_index import (
    KEY_VARIABLE,
    ServedShard,
    ShardDown,
    ShardedIndex,
    shard_addresses,
)
from chunkwise.studio.access_control import KeyAccess
from chunkwise.studio.accounts import Account, Accounts, hashed_key
from chunkwise.studio.app import service_app
from chunkwise.studio.project import Project, ProjectSources
from chunkwise.studio.rate_limits import USUAL_LIMITS
from chunkwise.studio.server import bound_socket
from hash_embedder import HashEmbedder
from models.endpoint_server import Answer, serving
from tables import cases

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
        self.calls: list[str] = []
        self.stops_at = ""
        """The call from which on it is down."""

    def ask(self, call: str, given: Mapping[str, Any]) -> Any:
        self.calls.append(call)
        self.is_down = self.is_down or call == self.stops_at
        if self.is_down:
            raise ShardDown("cannot be reached")
        return json.loads(answer_shard(self._index.source, call, json.dumps(given)))

    def close(self) -> None: ...


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


def _not_waited_for(index: Index) -> None:
    """The time is over for which a shard that was down is left alone."""
    source: Any = index.source
    for part in source._parts:
        part.down_until = 0.0


FILTERS = [
    Filter(),
    Filter(documents=("book/0*",)),
    Filter(sections=("river",)),
    Filter(where=("year>=2002 or year=2000",)),  # type: ignore[arg-type]
]


@pytest.mark.usefixtures("large_inputs")
@cases("retriever", ["bm25", "dense", "hybrid"])
@cases("only", FILTERS)
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
    _not_waited_for(sharded)
    assert sharded.search("otter by the river", k=30, retriever="bm25") == every
    assert sharded.source.down == ()  # type: ignore[attr-defined]


def test_one_that_is_down_at_first_is_taken_in_when_it_comes_back(
    shards: list[ShardHere], whole: Index
) -> None:
    shards[0].is_down = True
    with pytest.warns(UserWarning, match="shard 0 does not answer"):
        sharded = _sharded(shards)
    shards[0].is_down = False
    _not_waited_for(sharded)
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


@cases(
    "call, given",
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


def test_one_that_is_down_is_not_asked_at_every_question(shards: list[ShardHere]) -> None:
    sharded = _sharded(shards)
    shards[2].is_down = True
    try:
        with pytest.warns(UserWarning, match="shard 2 does not answer"):
            sharded.search("otter", k=3, retriever="bm25")
        before = len(shards[2].calls)
        with pytest.warns(UserWarning, match=r"shard 2 does not answer \(cannot be reached\)"):
            assert sharded.search("otter", k=3, retriever="bm25")
        assert len(shards[2].calls) == before
        assert sharded.source.down == ("shard 2",)  # type: ignore[attr-defined]
    finally:
        shards[2].is_down = False


@cases("stops_at", ["chunks", "document", "vectors"])
def test_one_that_stops_between_ranking_and_reading_is_left_out(
    shards: list[ShardHere], stops_at: str
) -> None:
    sharded = _sharded(shards)
    shards[1].stops_at = stops_at
    try:
        with pytest.warns(UserWarning, match="shard 1 does not answer"):
            found = sharded.search("otter by the river", k=30, retriever="dense", mmr=0.9)
    finally:
        shards[1].stops_at, shards[1].is_down = "", False
    gone = {each.id for each in PARTS[1]}
    assert found
    assert not gone & {hit.document.id for hit in found}
    assert sharded.source.down == ("shard 1",)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("retriever", ["bm25", "dense"])
def test_a_shard_that_is_indexed_anew_is_known_by_its_stamp(
    shards: list[ShardHere], retriever: str
) -> None:
    """Its counts, its documents and what is known of it belong to what it held before."""
    own = [ShardHere(each._index, each.name) for each in shards]
    sharded = _sharded(own)
    before = sharded.search(QUESTIONS, k=5, retriever=retriever)
    changed = [
        Document(
            each.id, each.text.replace("otter", "lamp"), format="markdown", metadata=each.metadata
        )
        for each in PARTS[0][:3]
    ]
    own[0]._index = _index(changed)
    expected = _index([*changed, *PARTS[1], *PARTS[2]])
    for given in ({"k": 7}, {"k": 3, "neighbours": 1}):
        found = [
            each.search([*QUESTIONS, "the lamp"], retriever=retriever, **given)  # type: ignore[call-overload]
            for each in (expected, sharded)
        ]
        for one, other in zip(*found, strict=True):
            assert [(hit.document.id, hit.start, hit.text) for hit in one] == [
                (hit.document.id, hit.start, hit.text) for hit in other
            ]
            np.testing.assert_allclose(
                [hit.score for hit in one], [hit.score for hit in other], rtol=0, atol=1e-6
            )
    assert len(sharded) == 29
    assert sharded.source.ids() == expected.source.ids()
    own[0]._index = shards[0]._index
    assert len(sharded) == 30
    assert sharded.search(QUESTIONS, k=5, retriever=retriever) == before


def test_what_one_refuses_is_raised_in_its_words(shards: list[ShardHere]) -> None:
    class Refusing(ShardHere):
        def ask(self, call: str, given: Mapping[str, Any]) -> Any:
            if call == "words":
                raise InvalidParameter("this shard takes no such words")
            return super().ask(call, given)

    sharded = _sharded([*shards[:2], Refusing(shards[2]._index, "refusing")])
    with pytest.raises(InvalidParameter, match="this shard takes no such words"):
        sharded.search("otter", k=3, retriever="bm25")
    assert sharded.source.down == ()  # type: ignore[attr-defined]


def test_conditions_are_nested_as_deep_as_in_one_index(
    shards: list[ShardHere], whole: Index
) -> None:
    sharded = _sharded(shards)
    for depth, is_taken in ((20, True), (30, True), (31, False)):
        texts = "not " * depth + "year>=2002"
        made: Any = {"year": 2003}
        for _ in range(depth):
            made = {"$not": made}
        for where in (texts, made):
            answers = []
            for each in (whole, sharded):
                try:
                    hits = each.search("otter", k=5, retriever="bm25", where=where)
                    answers.append([(hit.document.id, hit.start) for hit in hits])
                except InvalidParameter as error:
                    answers.append(str(error))  # type: ignore[arg-type]
            assert answers[0] == answers[1]
            assert isinstance(answers[0], list) == is_taken
    clause: Any = {"key": "a", "comparison": "=", "values": [1]}
    for _ in range(32):
        clause = {"how": "not", "clauses": [clause]}
    only = {"documents": [], "sections": [], "pages": None, "level": None, "where": [clause]}
    given = json.dumps({"vectors": [], "depth": 1, "only": only})
    with pytest.raises(InvalidParameter, match="nested more than 30 times"):
        answer_shard(shards[0]._index.source, "nearest", given)


@contextmanager
def _served(folder: Path, key: str, port: int | None = None) -> Iterator[str]:
    """As `chunkwise serve` does, in a thread: the address."""
    project = Project(ProjectSources(index=str(folder), counts_issues=False))
    accounts = Accounts(None, [Account("a", "reader", keys=(hashed_key(key),))])
    listening = bound_socket("127.0.0.1", port)
    own = listening.getsockname()[1]
    app = service_app(project, port=own, access=KeyAccess(accounts), limits=USUAL_LIMITS)
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"127.0.0.1:{own}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        listening.close()


def _made(folder: Path, documents: list[Document]) -> Path:
    chunkwise.index(documents, "sentences(max_tokens=40)", embedder=HashEmbedder(), into=folder)
    return folder


KEY = "a-key-of-the-tests"


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    folders = [
        _made(tmp_path / f"kb{at}", each) for at, each in enumerate((DOCUMENTS[:9], DOCUMENTS[9:]))
    ]
    with _served(folders[0], KEY) as first, _served(folders[1], KEY) as second:
        yield [first, second]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("retriever", ["bm25", "dense"])
def test_servers_answer_for_their_shards(two: list[str], whole: Index, retriever: str) -> None:
    index = chunkwise.open_index(f"shards://{','.join(two)}", embedder=HashEmbedder())
    found = index.search(QUESTIONS, k=4, retriever=retriever)
    expected = whole.search(QUESTIONS, k=4, retriever=retriever)
    for one, other in zip(found, expected, strict=True):
        assert [(hit.text, round(hit.score, 5)) for hit in one] == [
            (hit.text, round(hit.score, 5)) for hit in other
        ]
    index.source.close()  # type: ignore[attr-defined]


def test_a_key_that_is_wrong_or_missing_is_told_as_the_server_says_it(
    two: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no server that is down: the hits of the others would pass for all there are."""
    place = f"shards://{','.join(two)}"
    monkeypatch.setenv(KEY_VARIABLE, "another-key-of-the-tests")
    with pytest.raises(
        ChunkwiseError, match=rf"answered 401.*check the key in {KEY_VARIABLE}"
    ) as told:
        chunkwise.open_index(place)
    assert "another-key" not in str(told.value)
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(ChunkwiseError, match=r"answered 40[13]"):
        chunkwise.open_index(place)


@pytest.mark.usefixtures("large_inputs")
def test_questions_go_in_groups_that_a_server_takes(two: list[str], whole: Index) -> None:
    """A server takes a million bytes: thousands of questions in one request were refused, and no hits."""
    index = chunkwise.open_index(f"shards://{','.join(two)}", embedder=HashEmbedder())
    chance = random.Random(3)
    many = [" ".join(chance.choices(WORDS, k=9)) + f" {at}" for at in range(1500)]
    source: Any = index.source
    vectors = np.tile(HashEmbedder().embed(["otter"]), (4000, 1))
    ranked = source.nearest(vectors, 3)
    assert len(ranked) == 4000
    assert all(len(each.numbers) == 3 for each in ranked)
    ranked = source.words(many, 3, Filter())
    expected = whole.source.words(many, 3, Filter())
    for one, other in zip(ranked, expected, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)


def test_a_request_that_is_too_large_is_told(two: list[str]) -> None:
    index = chunkwise.open_index(f"shards://{','.join(two)}", embedder=HashEmbedder())
    large = Filter(documents=tuple(f"book/{number:080}" for number in range(20_000)))
    with pytest.raises(ChunkwiseError, match=r"413.*too large"):
        index.search("otter", k=3, retriever="bm25", only=large)


def test_a_served_shard_is_indexed_anew_and_served_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    folder = _made(tmp_path / "kb", DOCUMENTS[:9])
    with _served(folder, KEY) as address:
        index = chunkwise.open_index(f"shards://{address}", embedder=HashEmbedder())
        assert len(index) == 9
        assert index.search("otter", k=3, retriever="bm25")
    with (
        pytest.warns(UserWarning, match="does not answer"),
        pytest.raises(ChunkwiseError, match="no shard answers"),
    ):
        index.search("otter", k=3, retriever="bm25")
    _made(folder, DOCUMENTS[:4])
    _not_waited_for(index)
    with _served(folder, KEY, int(address.rpartition(":")[2])):
        expected = _index(DOCUMENTS[:4]).search("otter by the river", k=3, retriever="bm25")
        found = index.search("otter by the river", k=3, retriever="bm25")
        assert [(hit.text, round(hit.score, 5)) for hit in found] == [
            (hit.text, round(hit.score, 5)) for hit in expected
        ]
        assert len(index) == 4


@pytest.mark.parametrize(("status", "is_down"), [(500, True), (503, True), (400, False), (429, False)])  # fmt: skip
def test_what_is_down_and_what_is_a_refusal(
    status: int, is_down: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with serving(lambda number, seen: Answer(b"so it is", status)) as server:
        shard = ServedShard(server.url)
        with pytest.raises(ChunkwiseError, match=str(status)) as told:
            shard.ask("about", {})
        assert isinstance(told.value, ShardDown) == is_down
        assert "so it is" in str(told.value)
        assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
        shard.close()
    with pytest.raises(ShardDown):
        shard.ask("about", {})
