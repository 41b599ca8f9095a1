"""LanceDB: nothing that stops a writer, and nobody else's tables, harm an index there."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
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


_WRITER = """
import os, resource, signal, sys
sys.path[:0] = {path!r}
from retrieval.databases import test_lancedb as tests
from chunkwise.retrieval.databases.lancedb import LanceStore
if {how!r} == "killed":
    LanceStore.settle = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
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
    table = lancedb.connect(str(tmp_path / "kb")).open_table("chunkwise__state")
    (row,) = table.to_arrow().to_pylist()
    row["text"] = json.dumps({**json.loads(row["text"]), "format": 99})
    table.add([row], mode="overwrite")
    for attempt in (
        found,
        lambda at: made(at, documents(3)),
        lambda at: made(at, documents(3), rebuild=True),
    ):
        with pytest.raises(ChunkwiseError, match=r"the index has format 99"):
            attempt(place)


@pytest.mark.parametrize("table", ["chunkwise__1_chunks", "chunkwise__state"])
def test_tables_of_others_are_never_touched(place: str, tmp_path: Path, table: str) -> None:
    mine = lancedb.connect(str(tmp_path / "kb")).create_table(table, [{"mine": 1}])
    with pytest.raises(ChunkwiseError, match=r"not a chunkwise index|already exists"):
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
    table = lancedb.connect(str(tmp_path / "kb")).open_table("chunkwise__1_chunks")
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
    assert [each.columns for each in tables._table("chunks").list_indices()] == [["vector"]]
    assert not index.source.is_exact
    _say_recall(index)
    assert "of the 10 nearest chunks found (20 questions)" in capsys.readouterr().err
    told = index.source.recall(sample=20, depth=5)
    assert told.questions == 20
    assert told.share > 0.9
    assert str(told).endswith("of the 5 nearest chunks found (20 questions)")
