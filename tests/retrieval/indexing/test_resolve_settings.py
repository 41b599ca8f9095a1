"""An index that takes the place of another keeps what nobody said otherwise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import chunkwise
from chunkwise import ChunkwiseError, Document
from chunkwise.base.errors import InvalidOption
from chunkwise.options import IndexOptions
from chunkwise.retrieval.indexing.resolve_settings import resolve_for_rebuild
from chunkwise.retrieval.local.manifest import MANIFEST_NAME
from retrieval.tiny_embedder import Tiny, WholeTexts

DOCUMENTS = [
    Document(f"{number}.md", f"# Note {number}\n\nThe {word} is here.\n")
    for number, word in enumerate(["heron", "otter", "badger"])
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


def _made(folder: Path) -> chunkwise.Index:
    return chunkwise.index(
        DOCUMENTS, "sentences(max_tokens=25)", into=folder, vectors="none", context="headings",
        settings=IndexOptions(language="en", tokenizer="cl100k_base"),
    )  # fmt: skip


def test_the_settings_stay(folder: Path) -> None:
    first = _made(folder)
    anew = chunkwise.index(DOCUMENTS[:1], into=folder, rebuild=True)
    assert anew.settings == first.settings
    other = chunkwise.index(
        DOCUMENTS, into=folder, embedder=Tiny(), settings=IndexOptions(language="de"), rebuild=True
    )
    assert (other.settings.vectors, other.settings.language) == ("late", "de")
    assert other.settings.strategy == first.settings.strategy


def test_what_a_language_model_wrote_is_written_again_and_no_more(folder: Path) -> None:
    first = replace(_made(folder).settings, context="document", llm="openai:gpt-5")
    for before in ("", "names", "relations"):
        for requested in (None, False, True, "names", "relations"):
            if requested is None or (requested is True and before):
                expected = before
            else:
                expected = {False: "", True: "names"}.get(requested, requested)
            options = IndexOptions(graph=requested)  # type: ignore[arg-type]
            made = resolve_for_rebuild(options, replace(first, graph=before)).settings
            assert (made.context, made.llm, made.graph) == ("document", first.llm, expected)


def test_those_of_an_older_version_too(folder: Path) -> None:
    first = _made(folder)
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    manifest["settings"]["gone"] = 3
    (folder / MANIFEST_NAME).write_text(json.dumps(manifest | {"format": 1}))
    anew = chunkwise.index(DOCUMENTS, into=folder, rebuild=True)
    assert anew.settings == first.settings
    assert anew.changes is not None
    assert anew.changes.notes == ()


@pytest.mark.parametrize("settings", [{}, {"strategy": 3}, {"strategy": "x", "vectors": "all"}, 7])
def test_what_cannot_be_read_is_told(folder: Path, settings: object) -> None:
    _made(folder)
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    (folder / MANIFEST_NAME).write_text(json.dumps(manifest | {"settings": settings}))
    anew = chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny(), rebuild=True)
    assert anew.settings.strategy == "structure(max_tokens=400, overlap=0)"
    assert anew.changes is not None
    assert "could not be read" in anew.changes.notes[0]


def test_a_model_of_ones_own_has_to_be_passed_again(folder: Path) -> None:
    chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny())
    with pytest.raises(ChunkwiseError, match=r"'tiny-16'.*pass it"):
        chunkwise.index(DOCUMENTS, into=folder, rebuild=True)
    assert len(chunkwise.open_index(folder)) == len(DOCUMENTS)
    anew = chunkwise.index(DOCUMENTS, into=folder, embedder=WholeTexts(), rebuild=True)
    assert anew.settings.vectors == "own"  # a model without late vectors may still take the place


@pytest.mark.parametrize("said", [{"strategy": "sentenses"}, {"embedder": "minilmm"}])
def test_a_slip_is_not_laid_at_the_door_of_the_index_before(
    folder: Path, said: dict[str, str]
) -> None:
    chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny())
    with pytest.raises(ChunkwiseError) as caught:
        chunkwise.index(DOCUMENTS, into=folder, rebuild=True, **{"embedder": Tiny(), **said})
    assert "was made with" not in str(caught.value)
    assert next(iter(said.values())) in str(caught.value)


def test_vectors_of_whole_texts_that_stay_are_told(folder: Path) -> None:
    """The model before may have had no others to give."""
    chunkwise.index(DOCUMENTS, into=folder, embedder=WholeTexts())
    anew = chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny(), rebuild=True)
    assert anew.settings.vectors == "own"
    assert anew.changes is not None
    assert "as before (vectors='own')" in anew.changes.notes[0]
    again = chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny(), vectors="late", rebuild=True)
    assert again.changes is not None
    assert again.changes.notes == ()


def test_a_model_whose_token_vectors_are_poor_embeds_each_chunk_unless_told_otherwise(
    folder: Path,
) -> None:
    class FirstToken(Tiny):
        suits_late = False

    made = chunkwise.index(DOCUMENTS, into=folder, embedder=FirstToken())
    assert made.settings.vectors == "own"
    assert made.changes is not None
    assert "each chunk is embedded by itself" in made.changes.notes[0]
    late = chunkwise.index(DOCUMENTS, embedder=FirstToken(), vectors="late")
    assert late.settings.vectors == "late"
    again = chunkwise.index(DOCUMENTS, into=folder, embedder=FirstToken(), rebuild=True)
    assert again.settings.vectors == "own"
    assert not any("several sizes need" in note for note in again.changes.notes)  # type: ignore[union-attr]


def test_no_embedder_is_words_alone_in_every_verb(folder: Path) -> None:
    made = chunkwise.index(DOCUMENTS, into=folder, embedder="none")
    assert (made.settings.vectors, made.settings.embedder) == ("none", "")
    again = chunkwise.index(DOCUMENTS, into=folder, embedder="none")
    assert again.changes is not None
    assert again.changes.unchanged == len(DOCUMENTS)
    asked = [chunkwise.Query("q", "otter", (chunkwise.Reference("1.md", 12, 28),))]
    results = chunkwise.evaluate(DOCUMENTS, asked, embedder="none")
    assert results.configuration["vectors"] == "none"
    with pytest.raises(InvalidOption) as caught:
        chunkwise.index(DOCUMENTS, embedder="none", vectors="late")
    assert caught.value.field == "vectors"
