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
