"""LanceDB: nothing that stops a writer, and nobody else's tables, harm an index there."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.cli.index import _say_recall
from chunkwise.core import Document
from chunkwise.retrieval import Index
from chunkwise.retrieval.databases import StoredIndex
from chunkwise.retrieval.databases.lancedb import LanceStore
from chunkwise.retrieval.databases.store import parse_store_address
from chunkwise.retrieval.filters import Filter
from chunkwise.testkit import check_engine
from chunkwise.testkit.sample_run import HashedWords

pytestmark = pytest.mark.usefixtures("database")

lancedb = pytest.importorskip("lancedb")

STRATEGY = "sentences(max_tokens=20, overlap=0)"


def documents(count: int, word: str = "lamp") -> list[Document]:
    return [
        Document(
            f"{number}.md", f"# Pier {number}\n\nThe {word} of pier {number} is red. It is lit."
        )
        for number in range(count)
    ]


def made(place: str, given: list[Document], **more: Any) -> Index:
    return chunkwise.index(
        given, STRATEGY, into=place, embedder=HashedWords(), vectors="own", **more
    )


def found(place: str) -> list[str]:
    index = chunkwise.open_index(place, embedder=HashedWords())
    hits = index.search("the lamp of pier 3", retriever="hybrid", k=50)
    return sorted(hit.text for hit in hits)


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"lancedb://{tmp_path}/kb"


def test_lancedb_keeps_the_contract(tmp_path: Path) -> None:
    numbers = itertools.count()
    check_engine(lambda: f"lancedb://{tmp_path}/kb{next(numbers)}")


class _Stops(Exception):
    pass


def _stopping(at: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The store is interrupted before its call of this number; gives how many there were."""
    calls = 0
    whole = LanceStore._explained

    @contextmanager
    def counted(self: LanceStore) -> Iterator[None]:
        nonlocal calls
        calls += 1
        if calls == at:
            raise _Stops
        with whole(self):
            yield

    monkeypatch.setattr(LanceStore, "_explained", counted)
    return lambda: calls


def test_wherever_an_update_stops_the_index_is_the_old_or_the_new_one(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(place, documents(4))
    old = found(place)
    made(f"{place}2", [*documents(3), *documents(8, "bell")[5:]])
    new = found(f"{place}2")
    for at in itertools.count(1):
        with monkeypatch.context() as patched:
            calls = _stopping(at, patched)
            try:
                made(place, [*documents(3), *documents(8, "bell")[5:]])
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


@pytest.mark.parametrize("kept", [timedelta(milliseconds=1), timedelta(hours=1)])
def test_an_index_of_any_age_is_updated_and_made_anew_and_what_was_replaced_is_still_read(
    place: str, monkeypatch: pytest.MonkeyPatch, kept: timedelta
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.lancedb._KEPT", kept)
    made(place, documents(4))
    for count, rebuild in ((5, False), (6, True), (3, False), (4, False)):
        reader = LanceStore(parse_store_address(place))
        assert reader.state() is not None
        before = dict(reader.parts("text"))
        made(place, documents(count, f"lamp {count}"), rebuild=rebuild)
        assert dict(reader.parts("text")) == before
        assert len(found(place)) > 0
        assert len(chunkwise.open_index(place, embedder=HashedWords())) == count
        versions = {each["version"] for each in _versions(reader)}
    assert (1 in versions) == (kept > timedelta(seconds=1))  # what nobody reads any more goes


def _versions(store: LanceStore) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = store._open("documents").list_versions()
    return listed


_WRITER = """
import os, resource, signal, sys
sys.path[:0] = {path!r}
from retrieval.databases import test_lancedb as tests
from chunkwise.retrieval.databases.lancedb import LanceStore
if {how!r} == "killed":
    LanceStore._publish = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    tests.made({place!r}, tests.documents(200, "bell"))
except tests.ChunkwiseError as error:
    print(error)
    sys.exit(1)
"""


@pytest.mark.parametrize(("how", "status"), [("killed", -9), ("full", 1)])
def test_a_writer_that_is_killed_or_finds_the_disk_full_leaves_the_index(
    place: str, how: str, status: int
) -> None:
    made(place, documents(4))
    old = found(place)
    program = _WRITER.format(path=sys.path, how=how, place=place)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == status, ended.stderr
    if how == "full":
        assert "lancedb://" in ended.stdout
        assert "Traceback" not in ended.stderr
    assert found(place) == old
    made(place, documents(5))
    assert len(chunkwise.open_index(place, embedder=HashedWords())) == 5


def test_an_index_of_another_version_is_left_alone(place: str, tmp_path: Path) -> None:
    made(place, documents(2))
    table = lancedb.connect(str(tmp_path / "kb")).open_table("chunkwise_about")
    (row,) = table.to_arrow().to_pylist()
    row["state"] = json.dumps({**json.loads(row["state"]), "format": 99})
    table.add([row], mode="overwrite")
    for attempt in (
        found,
        lambda at: made(at, documents(3)),
        lambda at: made(at, documents(3), rebuild=True),
    ):
        with pytest.raises(ChunkwiseError, match=r"another version of chunkwise .format 99"):
            attempt(place)


@pytest.mark.parametrize("table", ["chunkwise_chunks", "chunkwise_about"])
def test_tables_of_others_are_never_touched(place: str, tmp_path: Path, table: str) -> None:
    mine = lancedb.connect(str(tmp_path / "kb")).create_table(table, [{"mine": 1}])
    with pytest.raises(ChunkwiseError, match="not chunkwise's; nothing was touched"):
        made(place, documents(2))
    assert mine.to_arrow().to_pylist() == [{"mine": 1}]
    made(f"{place}?kb=other", documents(2))
    assert len(chunkwise.open_index(f"{place}?kb=other", embedder=HashedWords())) == 2


def test_chunks_are_rows_that_other_tools_read(place: str, tmp_path: Path) -> None:
    given = [
        Document("a.md", "# Lamp\n\nThe lamp is red.", format="markdown", metadata={"year": 2024})
    ]
    made(place, given)
    made(
        place,
        [
            Document(
                "a.md", "# Lamp\n\nThe lamp is red.", format="markdown", metadata={"year": 2025}
            )
        ],
    )
    table = lancedb.connect(str(tmp_path / "kb")).open_table("chunkwise_chunks")
    (*_, row) = table.to_arrow().to_pylist()
    assert (row["doc_id"], row["section"]) == ("a.md", "Lamp")
    assert given[0].text[row["start"] : row["end"]] == row["text"]
    assert json.loads(row["metadata"]) == {"year": 2025}
    (near,) = table.search(HashedWords().embed([row["text"]])[0]).limit(1).to_list()
    assert near["number"] == row["number"]


def test_filters_that_take_many_chunks_find_what_all_compared_do(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.lancedb._LISTED", 3)
    given = documents(60)
    source = made(place, given).source
    assert isinstance(source, StoredIndex)
    assert source.is_exact
    memory = chunkwise.index(given, STRATEGY, embedder=HashedWords(), vectors="own").source
    asked = HashedWords().embed(["the lamp of pier 3", "pier 41", "it is lit"])
    for only in (Filter(), Filter(documents=("1*",)), Filter(documents=("5?.md",))):
        for mine, theirs in zip(
            source.nearest(asked, 7, only), memory.nearest(asked, 7, only), strict=True
        ):
            assert np.allclose(mine.scores, theirs.scores, atol=1e-6)


def test_what_its_own_index_of_vectors_misses_is_measured_and_told(
    place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("chunkwise.retrieval.databases.lancedb.MANY", 150)
    made(place, documents(200))
    index = made(place, documents(210))  # the rows that came later are found, too
    assert isinstance(index.source, StoredIndex)
    tables: Any = index.source.store
    assert [each.columns for each in tables._tables["chunks"].list_indices()] == [["vector"]]
    assert not index.source.is_exact
    _say_recall(index)
    assert "of the 10 nearest chunks found (20 questions)" in capsys.readouterr().err
    told = index.source.recall(sample=20, depth=5)
    assert told.questions == 20
    assert told.share > 0.9
    assert str(told).endswith("of the 5 nearest chunks found (20 questions)")
