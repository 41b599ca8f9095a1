"""Bytes of an index that were changed behind its back: the file is named, or nothing goes wrong."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import chunkwise
from chunkwise import ChunkwiseError, Document
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.options import SearchOptions
from chunkwise.retrieval.errors import DamagedIndex
from retrieval.tiny_embedder import Tiny

DOCUMENTS = [
    Document(
        f"notes/{number}.md",
        f"# Note {number}\n\n"
        + "".join(f"## Part {at}\n\nThe {word} of {at} is here.\n\n" for at in range(3)),
        format="markdown",
    )
    for number, word in enumerate(["heron", "otter", "badger", "falcon"])
]
CHANGED = [*DOCUMENTS[1:], Document("new.md", "# New\n\nA crane.")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "kb"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHUNKWISE_HOME", str(folder.parent))
        strategy = "sentences(max_tokens=20)"
        chunkwise.index(DOCUMENTS, strategy, into=folder, embedder=Tiny(), context="headings")
    return folder


@pytest.fixture
def folder(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    return Path(shutil.copytree(made, tmp_path / "kb"))


def _spoil(folder: Path, name: str, byte: Callable[[int], int]) -> None:
    (path,) = folder.glob(f".generation-*/{name}")
    path.write_bytes(bytes(map(byte, path.read_bytes())))


def _zero(_: int) -> int:
    return 0


def _flipped(byte: int) -> int:
    return byte ^ 0xFF


def _ask(folder: Path, **how: object) -> list[chunkwise.Hit]:
    index = chunkwise.open_index(folder, embedder=Tiny())
    return index.search("the otter of 2", **how)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(
    ("name", "byte", "how"),
    [
        ("title.bytes", _zero, {}),
        ("title.bytes", _flipped, {}),
        ("atom.section", _flipped, {"budget": 100}),
        ("atom.first", _flipped, {"budget": 100}),
        ("chunk.section", _flipped, {"retriever": "bm25"}),
        ("atom.section", _flipped, {"options": SearchOptions(sections=("part",))}),
        ("path.first", _flipped, {}),
        ("title.first", _flipped, {}),
        ("title.first", _zero, {}),
        ("chunk.first", _flipped, {}),
        ("chunk.first", _zero, {}),
        ("context.first", _flipped, {}),
        ("record.bytes", _zero, {}),
        ("chunk_terms.row", _flipped, {"retriever": "bm25"}),
        ("chunk_terms.first", _flipped, {"retriever": "bm25"}),
        ("atom_terms.row", _flipped, {"budget": 100}),
        ("atom_terms.first", _flipped, {"budget": 100}),
    ],
)
def test_a_search_names_the_damaged_file(
    folder: Path, name: str, byte: Callable[[int], int], how: dict[str, object]
) -> None:
    assert _ask(folder, **how)
    _spoil(folder, name, byte)
    with pytest.raises(ChunkwiseError, match=rf"/{name} is damaged.*damaged.*--rebuild"):
        _ask(folder, **how)


@pytest.mark.parametrize("name", ["atom.first", "id.first", "record.bytes", "title.bytes"])
def test_an_update_names_the_damaged_file_and_leaves_the_index(folder: Path, name: str) -> None:
    _spoil(folder, name, _flipped)
    before = (folder / ".index.json").read_bytes()
    with pytest.raises(ChunkwiseError, match=rf"/{name} is damaged.*damaged.*--rebuild"):
        chunkwise.index(CHANGED, into=folder, embedder=Tiny())
    assert (folder / ".index.json").read_bytes() == before
    anew = chunkwise.index(CHANGED, into=folder, embedder=Tiny(), rebuild=True)
    assert len(anew) == len(CHANGED)


def test_a_manifest_of_lists_in_lists_is_told_and_the_index_made_anew(folder: Path) -> None:
    (folder / ".index.json").write_text("[" * 200_000)
    with pytest.raises(ChunkwiseError, match=r"index\.json is damaged.*--rebuild"):
        chunkwise.open_index(folder)
    anew = chunkwise.index(CHANGED, into=folder, embedder=Tiny(), rebuild=True)
    assert len(anew) == len(CHANGED)


def test_figures_of_a_damaged_index(folder: Path) -> None:
    _spoil(folder, "context.bytes", _flipped)
    with pytest.raises(ChunkwiseError, match=r"/context.bytes is damaged"):
        chunkwise.open_index(folder).stats()


def test_an_error_of_somebody_elses_stays_what_it_is(folder: Path) -> None:
    class Broken:
        identity = "broken"

        def scores(self, query: str, texts: list[str]) -> list[float]:
            raise KeyError("mine")

    broken = Broken()
    assert isinstance(broken, Reranker)
    with pytest.raises(KeyError, match="mine"):
        _ask(folder, reranker=broken)


def test_it_can_be_told_in_another_process() -> None:
    error = DamagedIndex("document 3", "no JSON")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
