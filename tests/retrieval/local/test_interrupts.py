"""Ctrl-C at any line of publishing: the index is the old one or the new one, whole."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

import chunkwise
from chunkwise import ChunkwiseError, Document
from chunkwise.base import atomic_files
from chunkwise.retrieval.local import folder as folder_module
from chunkwise.retrieval.local import manifest as manifest_module
from chunkwise.retrieval.local.folder import Generation, open_folder, verify_folder
from chunkwise.retrieval.local.manifest import MANIFEST_NAME
from how_many import some_of
from interrupting import interrupt_at, lines_since
from untimed import HANG

OLD = [Document("old.md", "The old text.")]
NEW = [Document("new.md", "The new text.")]


def write(folder: Path, documents: list[Document]) -> None:
    chunkwise.index(documents, into=folder, vectors="none")


def ids(folder: Path) -> list[str]:
    verify_folder(folder)
    return list(chunkwise.open_index(folder).source.ids())


def written_again(folder: Path, like: Path) -> None:
    """What a writer does at the end, with the columns of another index: no model, no chunking."""
    manifest, arrays = open_folder(like)
    with folder_module.locked(folder), Generation(folder) as made:
        for name, values in arrays.items():
            made.sink.append(name, values)
        made.sink.finish()
        made.publish(manifest.settings, manifest.languages)


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("is_first", [False, True], ids=["update", "first"])
def test_an_interrupt_at_any_line_leaves_the_old_index_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    old, new, folder = tmp_path / "old", tmp_path / "new", tmp_path / "kb"
    write(old, OLD)
    write(new, NEW)
    monkeypatch.setattr(
        os, "fsync", lambda handle: None
    )  # the disk's own time is not what is tried

    def fresh() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if not is_first:
            shutil.copytree(old, folder)

    def work() -> None:
        written_again(folder, new)

    fresh()
    lines = lines_since(Generation.publish, work)
    found, seen = ["new.md"], []
    for line in some_of(lines, 3):
        if found != ["old.md"]:
            fresh()
        interrupt_at(line, Generation.publish, work)
        is_there = (folder / MANIFEST_NAME).exists()
        assert is_there or is_first, line
        found = ids(folder) if is_there else []
        assert found in (["new.md"], [] if is_first else ["old.md"]), line
        seen.append(found)
        with folder_module.locked(folder), Generation(folder):
            pass  # the next writer clears what was left
        left = os.listdir(folder) if folder.exists() else []
        assert len(left) == 3 if is_there else left in ([], [folder_module.LOCK_NAME]), line
    assert min(seen.count(["new.md"]), len(seen) - seen.count(["new.md"])) > 5


def test_a_manifest_that_cannot_be_read_keeps_every_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many open files, for one: what it names is not known, and might be any of them."""
    folder = tmp_path / "kb"
    write(folder, OLD)
    with folder_module.locked(folder), monkeypatch.context() as patched:

        def refused(folder: Path) -> None:
            raise OSError(24, "Too many open files")

        patched.setattr(manifest_module, "current_generation", refused)
        folder_module.clear(folder)
    assert ids(folder) == ["old.md"]


def test_a_folder_that_cannot_be_synced_is_told_and_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kb"
    write(folder, OLD)

    def refused(folder: Path) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(atomic_files, "sync_folder", refused)
        with pytest.raises(ChunkwiseError, match="cannot write"):
            write(folder, NEW)
    assert ids(folder) in (["old.md"], ["new.md"])


@pytest.mark.parametrize("is_there", [True, False])
def test_work_that_fails_leaves_no_folder_that_was_not_there(
    tmp_path: Path, is_there: bool
) -> None:
    folder = tmp_path / "kb"
    if is_there:
        folder.mkdir()
    with pytest.raises(ZeroDivisionError), folder_module.locked(folder):
        raise ZeroDivisionError
    assert folder.exists() == is_there


def test_who_waited_for_a_folder_that_is_gone_makes_it_again(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    waited = threading.Event()

    def waits(_: int, note: str) -> None:
        waited.set()

    def write() -> None:
        with folder_module.locked(folder, HANG, waits):
            (folder / "made").touch()

    thread = threading.Thread(target=write)
    with folder_module.locked(folder):  # which makes nothing in it
        thread.start()
        assert waited.wait(HANG)
    thread.join(HANG)
    assert sorted(os.listdir(folder)) == [folder_module.LOCK_NAME, "made"]
