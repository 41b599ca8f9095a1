"""The engine of the page about databases, as a package, keeps the contract; what is damaged is told."""

from __future__ import annotations

import itertools
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.core import Document
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.retrieval.errors import DamagedIndex
from chunkwise.retrieval.indexed_document import StatedRelations
from chunkwise.testkit import check_engine
from chunkwise.testkit.sample_run import HashedWords

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "databases.md").read_text("utf-8")
DOCUMENTS = [
    Document("a.md", "# Lamp\n\nThe lamp is red. It is lit at dusk.", format="markdown"),
    Document("b.md", "# Bell\n\nThe bell is rung in fog.", format="markdown"),
]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What pip would leave of a package with the engine of the page."""
    (code,) = re.findall(
        r"<!-- file: sqlite_engine.py -->\n```python\n(.*?)^```$", PAGE, re.M | re.S
    )
    site = tmp_path / "site"
    about = site / "sqlite_engine-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "sqlite_engine.py").write_text(code, "utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sqlite-engine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[chunkwise.engines]\nsqlite = sqlite_engine:SqliteEngine\n"
    )
    monkeypatch.syspath_prepend(site)
    return tmp_path


@pytest.mark.usefixtures("large_inputs")
def test_the_engine_of_the_page_keeps_the_contract(installed: Path) -> None:
    numbers = itertools.count()
    check_engine(lambda: f"sqlite://{installed}/{next(numbers)}.db")


def made(place: str, **more: object) -> chunkwise.Index:
    return chunkwise.index(
        DOCUMENTS, "sentences(max_tokens=20, overlap=0)", into=place, embedder=HashedWords(), vectors="own", **more
    )  # fmt: skip


class _Asked:
    """A language model that counts what it is asked."""

    identity, price_name, window, concurrency = "counting", "local", None, 1

    def __init__(self) -> None:
        self.requests = 0

    def complete(self, request: Request, stop: object = None) -> Completion:
        self.requests += 1
        return Completion('{"names": [], "relations": []}', 10, 10)


def test_relations_and_communities_are_kept(installed: Path) -> None:
    asked = _Asked()
    place = f"sqlite://{installed}/kb.db"
    index = made(place, graph=True, llm=asked)
    assert asked.requests > 0
    requests = asked.requests
    again = made(place, graph=True, llm=asked)
    assert asked.requests == requests
    source: Any = chunkwise.open_index(place, embedder=HashedWords()).source
    for number in source.document_numbers():
        assert source.relations(number) == StatedRelations()
    assert source.communities() == again.source.communities() == index.source.communities()  # type: ignore[attr-defined]


_WRONG = {
    "empty": lambda whole: b"",
    "short": lambda whole: whole[:-1],
    "long": lambda whole: whole + b"x",
    "other": lambda whole: b"\xff" * len(whole),
}


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("wrong", _WRONG)
@pytest.mark.parametrize("part", ["about", "outline", "chunks", "atoms"])
def test_bytes_that_were_not_written_so_are_damage(installed: Path, part: str, wrong: str) -> None:
    file = installed / "kb.db"
    made(f"sqlite://{file}")
    with closing(sqlite3.connect(file)) as db, db:
        ((number, whole),) = db.execute(f"select number, {part} from documents limit 1").fetchall()
        change = f"update documents set {part} = ? where number = ?"
        db.execute(change, [_WRONG[wrong](whole), number])
    with pytest.raises(DamagedIndex, match="the index is damaged"):
        _look_at_everything(f"sqlite://{file}")


def _look_at_everything(place: str) -> None:
    index = chunkwise.open_index(place, embedder=HashedWords())
    index.search("the lamp", k=3, retriever="hybrid")
    index.search("the lamp", budget=50, retriever="multiscale")


def test_a_part_that_is_missing_is_damage(installed: Path) -> None:
    file = installed / "kb.db"
    made(f"sqlite://{file}")
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("delete from documents where number = (select min(number) from documents)")
    with pytest.raises(DamagedIndex, match=r"the part '(about|chunks|outline|terms)'"):
        _look_at_everything(f"sqlite://{file}")


@pytest.mark.parametrize(
    ("settings", "retriever"), [({"graph": True}, "graph"), ({"vectors": "none"}, "bm25")]
)
def test_what_a_folder_keeps_beside_chunks_is_kept(
    installed: Path, settings: dict[str, object], retriever: str
) -> None:
    given = {"embedder": HashedWords(), "vectors": "own", **settings}
    if settings.get("vectors") == "none":
        given["embedder"] = None
    hits = []
    for into in (None, f"sqlite://{installed}/kb.db"):
        index = chunkwise.index(DOCUMENTS, into=into, **given)  # type: ignore[arg-type]
        found = index.search("When is the Bell rung?", retriever=retriever, budget=40)
        hits.append([(hit.doc_id, hit.start, hit.end) for hit in found])
        assert index.stats().chunks == index.source.chunk_count
    assert hits[0] == hits[1] != []
