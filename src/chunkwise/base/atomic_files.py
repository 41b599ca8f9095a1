"""Files that are whole or not there: written beside their place, moved into it when done."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.object_store import address_of, local_name, shown_address, store, upload

FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""Errors that nothing but writing meets: a full disk, or a full share of it."""


@contextmanager
def says_what_it_writes(path: Path) -> Iterator[None]:
    """An error of the file system, a full disk for one, names the file that was to be written."""
    try:
        yield
    except OSError as error:
        raise ChunkwiseError(
            f"cannot write {shown_path(path)}: {error.strerror or error}"
        ) from error


def shown_path(path: Path) -> str:
    """As a user wrote it: of an address `pathlib` keeps one slash."""
    address = address_of(path)
    return str(path) if address is None else shown_address(address)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that takes the name of `path` at the end, and vanishes on any error.

    Behind a link, what it leads to is replaced. What was there before leaves its rights. A device or a pipe is written
    itself: it has no place to move into. What has an address is written here, and sent there when it is whole.
    """
    if (address := address_of(path)) is not None:
        with scratch_folder() as folder:
            temporary = folder / path.name
            with _write_errors(path, FULL):
                yield temporary
            with says_what_it_writes(path):
                upload(temporary, address)
        return
    path = Path(local_name(os.fspath(path)))
    with says_what_it_writes(path):
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if mode is not None and not stat.S_ISREG(mode):
        with _write_errors(path, FULL | {errno.EPIPE}):
            yield path
        return
    target = Path(os.path.realpath(path))
    prefix = f".{target.name[:40]}."
    with says_what_it_writes(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        clear_abandoned(target.parent, prefix)
    with _own(target.parent, prefix, path) as temporary:
        if mode is not None:  # what only its owner may read is not shown to others meanwhile
            with says_what_it_writes(path):
                temporary.chmod(stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR)
        with _write_errors(path, FULL):
            yield temporary
        with says_what_it_writes(path):
            with temporary.open("r+b") as written:
                os.fsync(written.fileno())
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            temporary.replace(target)
            sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Names of new files survive a loss of power, too; where folders cannot be opened, the system sees to it."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system without that
            raise
    finally:
        os.close(handle)


@contextmanager
def scratch_folder(parent: Path | None = None, prefix: str = "chunkwise-") -> Iterator[Path]:
    """A folder of this run's own, among the system's temporary ones unless a place is named; it goes at the end."""
    parent = parent or Path(tempfile.gettempdir())
    with says_what_it_writes(parent):
        parent.mkdir(parents=True, exist_ok=True)
        clear_abandoned(parent, prefix)
    with _own(parent, prefix, parent, is_folder=True) as folder:
        yield folder


@contextmanager
def _own(parent: Path, prefix: str, told: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """A new file or folder that nobody clears away while this process lives."""
    for _ in range(_TRIES):
        # Named before it is made: an interrupt at any moment finds what to take away.
        path = parent / f"{prefix}{secrets.token_hex(8)}"
        try:
            with says_what_it_writes(told):
                # A file has the rights any new one has: to ask for the umask would be to change it for a moment.
                path.mkdir(mode=0o700) if is_folder else path.touch(mode=0o666, exist_ok=False)
            with ExitStack() as stack:
                try:
                    stack.enter_context(locked(path, wait=True))
                except FileNotFoundError:
                    continue  # somebody cleared it away before it was locked
                yield path
            return
        finally:
            with suppress(OSError):  # where none could be made, that is what is told
                shutil.rmtree(path, ignore_errors=True) if is_folder else path.unlink()
    raise ChunkwiseError(
        f"cannot write {told}: another process keeps removing the temporary files there"
    )


def clear_abandoned(folder: Path, prefix: str) -> None:
    """Removes what `replacing` and `scratch_folder` began here and nobody owns any more, after a `kill -9` for one."""
    name = re.compile(re.escape(prefix) + "[0-9a-f]{16}")
    try:
        texts = [item for item in os.listdir(folder) if name.fullmatch(item)]
    except OSError:
        return
    for path in (folder / item for item in texts):
        with suppress(OSError), locked(path, wait=False) as is_abandoned:
            if is_abandoned:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


_TRIES = 5
_HAS_LOCKS = find_spec("fcntl") is not None
"""Not on Windows."""


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[bool | None]:
    """Whether it is this process's alone meanwhile; None: there are no locks, as on Windows and some network disks.

    A lock on the file or folder itself goes with its owner, however that ends; the number of a process is given again.
    """
    if not _HAS_LOCKS:  # there what is open cannot be moved either
        yield None
        return
    import fcntl

    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    is_mine: bool | None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # Who clears up may have come between its making and its lock.
            is_mine = os.path.samestat(os.fstat(handle), os.stat(path))
        except (BlockingIOError, FileNotFoundError):
            if wait:
                raise
            is_mine = False
        except OSError:
            is_mine = None
        yield is_mine
    finally:
        with suppress(OSError):  # at once, though a process that was forked has it open, too
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Refuses a second run that writes into the same folder; a store, or a system without locks, is not guarded."""
    if address_of(folder) is not None:
        yield
        return
    with says_what_it_writes(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, wait=False) as is_mine:
        if is_mine is False:
            raise ChunkwiseError(
                f"another run is writing to {folder}; wait for it, or use another folder"
            )
        try:
            yield
        finally:
            with suppress(OSError):  # one in which nothing was made
                folder.rmdir()


def check_writable(path: Path) -> None:
    """Raises what writing to this path would raise, before the work; nothing is left behind."""
    if (address := address_of(path)) is not None:
        with says_what_it_writes(path):
            store(address)
        return
    with says_what_it_writes(path):
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is not None and not stat.S_ISREG(mode):
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        folder = Path(os.path.realpath(path)).parent
        while not os.path.lexists(folder):
            folder = folder.parent
        # Tried, not asked: rights, a disk that can only be read and a folder that is a file all refuse it.
        with tempfile.TemporaryFile(dir=folder):
            pass


def _mode(path: Path) -> int | None:
    """What is at the end of a path, links followed; None: nothing yet."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


@contextmanager
def _write_errors(path: Path, errors: frozenset[int]) -> Iterator[None]:
    """Closing a file writes the rest of it, outside of whatever guards the writing."""
    try:
        yield
    except OSError as error:
        if error.errno not in errors:
            raise
        raise ChunkwiseError(f"cannot write {path}: {error.strerror or error}") from error


def bytes_in(folder: Path) -> int:
    """What the files below a folder take; others may remove some of them meanwhile."""
    total = 0
    # Folders that are gone between the look and the question `os.walk` passes over.
    for home, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(home, name)).st_size
    return total
