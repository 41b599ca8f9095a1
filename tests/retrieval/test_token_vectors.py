"""Token vectors in an index: made once a document, kept with its files, asked for by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import chunkwise
from chunkwise import ChunkwiseError, Document
from chunkwise.base.errors import InvalidParameter
from chunkwise.options import IndexOptions
from chunkwise.retrieval.local import folder as folder_module
from chunkwise.retrieval.local.folder import Generation, open_folder, verify_folder
from chunkwise.retrieval.local.manifest import MANIFEST_NAME
from chunkwise.retrieval.settings import Settings, read_settings
from interrupting import interrupt_at, lines_since
from retrieval.tiny_embedder import Tiny, TinyTokens
from tables import cases

WORDS = ["heron", "otter", "badger", "falcon"]
DOCUMENTS = [
    Document(f"{word}.md", f"# Note {word}\n\nThe {word} number {number} is here.\n\n" * 3)
    for number, word in enumerate(WORDS)
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


def make(documents: list[Document], into: Path | None = None, **given: object) -> chunkwise.Index:
    return chunkwise.index(
        documents, into=into, embedder=Tiny(), settings=IndexOptions(maxsim=TinyTokens()), **given
    )  # type: ignore[arg-type]


def arrays_of(folder: Path) -> dict[str, bytes]:
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    home = folder / manifest["generation"]
    assert sorted(manifest["files"]) == sorted(path.name for path in home.iterdir())
    return {name: (home / name).read_bytes() for name in manifest["files"]}


def test_an_index_made_step_by_step_has_the_token_vectors_of_a_fresh_one(tmp_path: Path) -> None:
    changed = Document("badger.md", "# Changed\n\nNothing is as it was.\n")
    renamed = Document("else.md", DOCUMENTS[0].text, metadata={"by": "me"})
    folder = tmp_path / "kb"
    for number, step in enumerate(
        [DOCUMENTS[:1], DOCUMENTS, [DOCUMENTS[3], changed, DOCUMENTS[0]], [renamed, changed]]
    ):
        make(step, folder)
        fresh = tmp_path / f"fresh{number}"
        make(step, fresh)
        assert arrays_of(folder) == arrays_of(fresh)
        assert len(arrays_of(folder)["token.codes"]) > 0


def test_documents_that_have_not_changed_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(DOCUMENTS[:3], tmp_path / "kb")
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "other home"))
    encoder = TinyTokens()
    index = chunkwise.open_index(tmp_path / "kb", embedder=Tiny(), maxsim=encoder)
    changes = index.update(DOCUMENTS)
    assert (changes.added, changes.unchanged) == (1, 3)
    assert encoder.calls == 1


def test_token_vectors_do_not_depend_on_the_chunks(tmp_path: Path) -> None:
    for strategy in ("sentences(max_tokens=10)", "sections"):
        make(DOCUMENTS, tmp_path / strategy[:4], strategy=strategy)
    one, other = arrays_of(tmp_path / "sent"), arrays_of(tmp_path / "sect")
    assert one["chunk.start"] != other["chunk.start"]
    assert one["token.codes"] == other["token.codes"]
    assert one["token.first"] == other["token.first"]


@pytest.mark.parametrize("place", ["memory", "folder"])
def test_they_have_a_vote(tmp_path: Path, place: str) -> None:
    index = make(DOCUMENTS, None if place == "memory" else tmp_path / "kb")
    if place == "folder":
        index = chunkwise.open_index(tmp_path / "kb", embedder=Tiny(), maxsim=TinyTokens())
    alone = "multiscale(words=0, dense=0, maxsim=1)"
    (hit, *_) = index.search("falcon", budget=20, retriever=alone)
    assert hit.doc_id == "falcon.md"
    assert index.search("falcon", budget=20) == index.search(
        "falcon", budget=20, retriever="multiscale(maxsim=1)"
    )
    assert index.search(["falcon", "otter"], budget=20)[1] == index.search("otter", budget=20)
    assert index.search("…", budget=20, retriever=alone) == []


def test_an_index_without_them_says_how_to_add_them(tmp_path: Path) -> None:
    index = chunkwise.index(DOCUMENTS, into=tmp_path / "kb", embedder=Tiny())
    assert "token.codes" not in arrays_of(tmp_path / "kb")
    assert "token.first" not in arrays_of(tmp_path / "kb")
    command = "chunkwise index DOCUMENTS --into PLACE --maxsim colbert-small"
    with pytest.raises(InvalidParameter, match=command):
        index.search("otter", budget=20, retriever="multiscale(maxsim=0.5)")
    assert index.search("otter", budget=20) == index.search(
        "otter", budget=20, retriever="multiscale(maxsim=0)"
    )


def test_they_are_added_to_an_index_without_them(tmp_path: Path) -> None:
    folder, whole = tmp_path / "kb", tmp_path / "whole"
    chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny())
    with pytest.raises(InvalidParameter, match="built with strategy"):
        make(DOCUMENTS, folder, strategy="sentences")
    with pytest.raises(InvalidParameter, match="keep_others"):
        make(DOCUMENTS[:1], folder, keep_others=True)
    make(DOCUMENTS, folder)
    make(DOCUMENTS, whole)
    assert arrays_of(folder) == arrays_of(whole)


def test_they_are_kept_by_a_rebuild_and_can_be_given_up(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    make(DOCUMENTS, folder)
    make(DOCUMENTS[:2], folder, rebuild=True, strategy="sections")
    assert "token.codes" in arrays_of(folder)
    with pytest.raises(InvalidParameter, match=r"maxsim='tiny-16'.*maxsim=''"):
        chunkwise.index(
            DOCUMENTS, into=folder, embedder=Tiny(), settings=IndexOptions(maxsim="none")
        )
    chunkwise.index(
        DOCUMENTS, into=folder, embedder=Tiny(), settings=IndexOptions(maxsim="none"), rebuild=True
    )
    assert "token.codes" not in arrays_of(folder)


def test_token_vectors_of_another_model_are_refused(tmp_path: Path) -> None:
    make(DOCUMENTS, tmp_path / "kb")
    index = chunkwise.open_index(tmp_path / "kb", embedder=Tiny(), maxsim=TinyTokens(8))
    with pytest.raises(InvalidParameter, match="built with the model 'tiny-16'"):
        index.search("otter", budget=20)
    assert index.search("otter", k=1, retriever="bm25")  # needs none


@pytest.mark.usefixtures("large_inputs")
@cases("text", ["", "\n", "🦦🦦", "x" * 1_000_000, "…"])
def test_hostile_documents(tmp_path: Path, text: str) -> None:
    documents = [Document("odd.txt", text), DOCUMENTS[1]]
    make(documents, tmp_path / "kb")
    verify_folder(tmp_path / "kb")
    index = chunkwise.open_index(tmp_path / "kb", embedder=Tiny(), maxsim=TinyTokens())
    (hit, *_) = index.search("otter", budget=30, retriever="multiscale(words=0, dense=0, maxsim=1)")
    assert hit.doc_id == "otter.md"


def test_damage_is_found(tmp_path: Path) -> None:
    make(DOCUMENTS, tmp_path / "kb")
    manifest = json.loads((tmp_path / "kb" / MANIFEST_NAME).read_text())
    path = tmp_path / "kb" / manifest["generation"] / "token.codes"
    data = bytearray(path.read_bytes())
    data[3] ^= 16
    path.write_bytes(data)
    with pytest.raises(ChunkwiseError, match=r"token\.codes is damaged"):
        verify_folder(tmp_path / "kb")
    path.write_bytes(data[:-1])
    with pytest.raises(ChunkwiseError, match=r"token\.codes has .* bytes, expected"):
        chunkwise.open_index(tmp_path / "kb")


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_an_interrupt_while_publishing_leaves_the_old_index_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, folder = tmp_path / "old", tmp_path / "new", tmp_path / "kb"
    make(DOCUMENTS[:2], old)
    make(DOCUMENTS, new)
    monkeypatch.setattr("os.fsync", lambda handle: None)

    def fresh() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(old, folder)

    def work() -> None:
        manifest, arrays = open_folder(new)
        with folder_module.locked(folder), Generation(folder) as made:
            for name, values in arrays.items():
                made.sink.append(name, values)
            made.sink.finish()
            made.publish(manifest.settings, manifest.languages)

    fresh()
    before = arrays_of(folder)
    lines = lines_since(Generation.publish, work)
    after = arrays_of(folder)
    seen = []
    for line in lines[:: max(1, len(lines) // 12)]:
        fresh()
        interrupt_at(line, Generation.publish, work)
        with folder_module.locked(folder), Generation(folder):
            pass  # the next writer clears what was left
        verify_folder(folder)
        found = arrays_of(folder)
        assert found in (before, after), line
        seen.append(found == after)
    assert len(set(seen)) == 2


def test_settings_of_an_index_made_before_there_were_any() -> None:
    made = Settings("structure", dimensions=4)
    values = {name: getattr(made, name) for name in made.__slots__ if not name.startswith("maxsim")}
    assert read_settings(values, "here") == made
    for wrong in ({"maxsim_dimensions": -1}, {"maxsim_dimensions": "8"}, {"maxsim": 3}):
        with pytest.raises(ValueError, match=r"maxsim|dimensions"):
            read_settings({**values, **wrong}, "here")


def test_stats_count_their_bytes(tmp_path: Path) -> None:
    plain = chunkwise.index(DOCUMENTS, embedder=Tiny()).stats()
    index = make(DOCUMENTS)
    tokens = sum(len(TinyTokens().token_starts(each.text)) for each in DOCUMENTS)
    atoms = len(index.source.arrays["atom.start"])  # type: ignore[union-attr]
    assert index.stats().bytes == plain.bytes + tokens * 4 + 8 * (atoms + 1)
    assert np.diff(index.source.arrays["token.first"]).sum() == tokens  # type: ignore[union-attr]
