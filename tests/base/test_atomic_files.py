"""Files that are whole or not there; what is no file is written itself."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from chunkwise.base.atomic_files import check_writable, clear_abandoned, replacing, scratch_folder
from chunkwise.base.errors import ChunkwiseError
from interrupting import interrupt_at, lines_since
from tables import cases
from untimed import HANG

needs_devices = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


def write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_an_error_leaves_the_older_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text(f"new {1 / 0}")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_address_of_this_machine_is_written_as_its_path(tmp_path: Path) -> None:
    write(Path(f"file://{tmp_path}/a%20b.txt"), "new")
    assert (tmp_path / "a b.txt").read_text() == "new"


def test_behind_a_link_the_file_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link, further = tmp_path / "real" / "a.txt", tmp_path / "link", tmp_path / "further"
    target.write_text("old")
    link.symlink_to(Path("real") / "a.txt")
    further.symlink_to(link)
    write(further, "new")
    assert link.is_symlink()
    assert further.is_symlink()
    assert target.read_text() == "new"
    assert not target.is_symlink()


def test_a_link_that_leads_nowhere_yet_gets_its_file(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later" / "a.txt")
    write(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "later" / "a.txt").read_text() == "new"


def test_a_loop_of_links_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ChunkwiseError, match="cannot write"):
        write(tmp_path / "a", "x")
    with pytest.raises(ChunkwiseError, match="cannot write"):
        check_writable(tmp_path / "a")


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    check_writable(link)
    write(link, "through")
    reader.join(HANG)
    assert read == ["through"]
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


@needs_devices
def test_a_full_disk_is_told_even_when_closing_meets_it(tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    with (
        pytest.raises(ChunkwiseError, match=r"cannot write .*full: No space left on device"),
        replacing(tmp_path / "full") as place,
        place.open("w") as out,
    ):
        out.write("kept in memory until it is closed")
    assert (tmp_path / "full").is_symlink()
    assert not Path("/dev/full").is_file()


def test_other_errors_of_the_work_are_not_called_writing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "a.txt"):
        (tmp_path / "missing").read_text()
    with (
        pytest.raises(ChunkwiseError, match=r"cannot write .*a\.txt"),
        replacing(tmp_path / "a.txt"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    check_writable(path)
    write(path, "x")
    assert path.read_text() == "x"


def test_what_can_be_written_is_known_before_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "new" / "folder" / "a.txt")
    for path in (tmp_path, tmp_path / "file" / "a.txt", tmp_path / ("n" * 300)):
        with pytest.raises(ChunkwiseError, match="cannot write"):
            check_writable(path)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_without_rights_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(ChunkwiseError, match="Permission denied"):
            check_writable(tmp_path / "a.txt")
    finally:
        tmp_path.chmod(0o755)


def test_an_interrupt_when_the_file_has_just_been_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch = Path.touch

    def interrupted(self: Path, mode: int, exist_ok: bool) -> None:
        touch(self, mode, exist_ok)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "touch", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "a.txt"):
        pass
    assert not list(tmp_path.iterdir())


def test_where_no_file_can_be_made_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, **_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(self))

    monkeypatch.setattr(Path, "touch", refused)
    monkeypatch.setattr(Path, "unlink", refused)
    told = rf"cannot write .*{os.sep}a\.txt: Read-only file system"
    with pytest.raises(ChunkwiseError, match=told), replacing(tmp_path / "a.txt"):
        pass


def test_an_interrupt_at_any_line_leaves_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    seen = []
    umask = os.umask(0o027)
    try:
        write(path, "old")
        for line in lines_since(replacing, lambda: write(path, "old")):
            interrupt_at(line, replacing, lambda: write(path, "new"))
            seen.append(path.read_text())
            assert seen[-1] in ("old", "new"), line
            write(path, "old")  # clears what was left
            assert os.listdir(tmp_path) == ["a.txt"], line
            assert path.stat().st_mode & 0o777 == 0o640
    finally:
        assert os.umask(umask) == 0o027  # which was changed for a moment once
    assert min(seen.count("old"), seen.count("new")) > 5


_HOLDS = """
import sys
from pathlib import Path
from chunkwise.base.atomic_files import replacing, scratch_folder
folder = Path(sys.argv[1])
with replacing(folder / "a.txt") as temporary, scratch_folder(folder, ".work-") as scratch:
    temporary.write_text("half of")
    (scratch / "part").write_text("a part")
    print(flush=True)
    sys.stdin.read()
"""


@pytest.mark.usefixtures("processes")
def test_what_a_killed_run_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == "\n"
        begun = set(os.listdir(tmp_path))
        assert len(begun) == 2
        write(tmp_path / "a.txt", "mine")
        with scratch_folder(tmp_path, ".work-"):
            pass
        assert set(os.listdir(tmp_path)) == {*begun, "a.txt"}
        other.send_signal(signal.SIGKILL)
        other.wait(HANG)
    write(tmp_path / "b.txt", "another target is not looked for")
    assert begun < set(os.listdir(tmp_path))
    write(tmp_path / "a.txt", "again")
    with scratch_folder(tmp_path, ".work-") as mine:
        assert set(os.listdir(tmp_path)) == {"a.txt", "b.txt", mine.name}
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


def test_a_file_with_another_name_is_not_cleared(tmp_path: Path) -> None:
    names = [".a.txt.backup", ".a.txt.0123456789abcdef.old", ".a.txt", "a.txt.0123456789abcdef"]
    for name in names:
        (tmp_path / name).write_text("mine")
    clear_abandoned(tmp_path, ".a.txt.")
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_one_that_is_cleared_before_it_is_owned_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch, made = Path.touch, []

    def cleared(self: Path, mode: int, exist_ok: bool) -> None:
        touch(self, mode, exist_ok)
        made.append(self)
        if len(made) == 1:
            clear_abandoned(tmp_path, ".a.txt.")

    monkeypatch.setattr(Path, "touch", cleared)
    write(tmp_path / "a.txt", "new")
    assert len(made) == 2
    assert (tmp_path / "a.txt").read_text() == "new"


@cases("mode", [0o600, 0o640, 0o444, 0o755])
def test_rights_of_the_file_that_was_there_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == mode | 0o600
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_name_of_a_new_file_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss of power just after it was said to be written would take it away again."""
    synced: list[tuple[int, bool]] = []

    def fsync(handle: int) -> None:
        synced.append((os.fstat(handle).st_ino, (tmp_path / "new.txt").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    with replacing(tmp_path / "new.txt") as temporary:
        temporary.write_text("new")
    file, folder = (tmp_path / "new.txt").stat().st_ino, tmp_path.stat().st_ino
    assert synced == [(file, False), (folder, True)]
