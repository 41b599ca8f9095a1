"""A file in a store takes the place of an older one, or the older one stays; none of them is lost."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fsspec")

from fsspec.implementations.memory import MemoryFileSystem

from chunkwise.base import object_store
from chunkwise.base.object_store import move_file, upload

OLD, NEW = b"older", b"the new one"


class Renaming(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory on a server that renames: over a file that has the name, or only to a free one."""

    cachable = False

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.store: dict[str, Any] = {}
        self.pseudo_dirs = [""]
        self.kind = kind
        self.lose: Callable[[str, str], None] = lambda path, target: None
        """May raise before a file is renamed, or looked at (without a target)."""
        self.lose_answer: Callable[[str, str], None] = lambda path, target: None
        """May raise when it is renamed."""

    def info(self, path: str, **how: Any) -> dict[str, Any]:
        self.lose(path, "")
        found: dict[str, Any] = super().info(path, **how)
        return found

    def mv(self, path: str, target: str, **how: Any) -> None:
        self.lose(path, target)
        is_refused = path not in self.store or (target in self.store and self.kind != "replaces")
        if is_refused and self.kind == "silent":
            return  # as the library of WebHDFS does
        if is_refused:
            number = errno.EEXIST if path in self.store else errno.ENOENT
            raise OSError(number, "refused")
        self.store[target] = self.store.pop(path)
        self.lose_answer(path, target)

    def contents(self) -> dict[str, bytes]:
        return {path: file.getvalue() for path, file in self.store.items()}


@pytest.fixture(params=["replaces", "refuses", "silent"])
def files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Renaming:
    made = Renaming(request.param)
    made.pipe_file("/d/out", OLD)
    monkeypatch.setattr(object_store, "store", lambda address: (made, "/d/out"))
    monkeypatch.setattr(object_store, "_FIRST_WAIT", 0.0)
    return made


@pytest.fixture
def local(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.write_bytes(NEW)
    return path


def _lost() -> None:
    raise ConnectionResetError(errno.ECONNRESET, "reset")


def test_a_file_takes_the_place_of_an_older_one(files: Renaming, local: Path) -> None:
    upload(local, "smb://host/d/out")
    assert files.contents() == {"/d/out": NEW}
    files.rm_file("/d/out")
    upload(local, "smb://host/d/out")
    assert files.contents() == {"/d/out": NEW}


def test_the_older_file_stays_where_the_new_one_cannot_take_its_place(
    files: Renaming, local: Path
) -> None:
    def lose(path: str, target: str) -> None:
        if target == "/d/out" and not path.endswith(".old"):
            _lost()

    files.lose = lose
    with pytest.raises(OSError, match="reset"):
        upload(local, "smb://host/d/out")
    assert files.contents() == {"/d/out": OLD}
    files.rm_file("/d/out")
    with pytest.raises(OSError, match="reset"):
        upload(local, "smb://host/d/out")
    assert files.contents() == {}


def test_a_server_that_renames_nothing_and_says_nothing_has_not_written() -> None:
    files = Renaming("silent")
    files.pipe_file("/d/out", OLD)
    files.pipe_file("/d/staged", NEW)
    files.mv = lambda path, target, **how: None
    with pytest.raises(OSError, match="the server did not rename"):
        move_file(files, "webhdfs", "/d/staged", "/d/out")
    assert files.contents() == {"/d/out": OLD, "/d/staged": NEW}


def test_both_files_are_kept_and_named_where_the_older_one_cannot_come_back(
    files: Renaming, local: Path
) -> None:
    is_lost = False

    def lose(path: str, target: str) -> None:
        if is_lost:
            _lost()

    def lose_from_here(path: str, target: str) -> None:
        nonlocal is_lost
        is_lost = target.endswith(".old")

    files.lose, files.lose_answer = lose, lose_from_here
    if files.kind == "replaces":  # nothing is put aside, so that nothing is lost
        upload(local, "smb://host/d/out")
        return
    with pytest.raises(OSError, match="reset") as raised:
        upload(local, "smb://host/d/out")
    contents = files.contents()
    assert sorted(contents.values()) == [OLD, NEW]
    for path in contents:
        assert path != "/d/out"
        assert path in str(raised.value)


def test_an_older_file_does_not_pass_for_one_that_is_gone(files: Renaming) -> None:
    with pytest.raises(FileNotFoundError):
        move_file(files, "sftp", "/d/staged", "/d/out")
    files.pipe_file("/d/staged", NEW)

    def lose(path: str, target: str) -> None:
        if (path, target) == ("/d/staged", "/d/out"):
            files.store.pop(path, None)

    files.lose = lose
    with pytest.raises(OSError, match=r"refused|did not rename"):
        move_file(files, "sftp", "/d/staged", "/d/out")
    assert files.contents() == {"/d/out": OLD}


def test_a_file_that_was_moved_though_the_answer_was_lost_is_moved(
    files: Renaming, local: Path
) -> None:
    lost: set[tuple[str, str]] = set()

    def lose_answer(path: str, target: str) -> None:
        if (path, target) not in lost:
            lost.add((path, target))
            _lost()

    files.lose_answer = lose_answer
    upload(local, "smb://host/d/out")
    assert lost
    assert files.contents() == {"/d/out": NEW}


def test_a_store_that_cannot_be_asked_has_not_moved_a_file(files: Renaming, local: Path) -> None:
    """Whether there is a file, a library answers with no where the connection is lost."""

    def lose(path: str, target: str) -> None:
        if path != "/d/out":
            _lost()

    files.lose = lose
    with pytest.raises(OSError, match="reset"):
        upload(local, "smb://host/d/out")
    assert files.contents() == {"/d/out": OLD}


def test_a_folder_is_not_replaced_by_a_file(files: Renaming, local: Path) -> None:
    files.rm_file("/d/out")
    files.pipe_file("/d/out/within", OLD)
    with pytest.raises(IsADirectoryError):
        upload(local, "smb://host/d/out")
    assert files.contents() == {"/d/out/within": OLD}
