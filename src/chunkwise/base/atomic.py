"""Files that are whole or not there: written beside their place, moved into it when done."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError

_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""Errors that nothing but writing meets: a full disk, or a full share of it."""


@contextmanager
def says_what_it_writes(path: Path) -> Iterator[None]:
    """An error of the file system, a full disk for one, names the file that was to be written."""
    try:
        yield
    except OSError as error:
        raise ChunkwiseError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that takes the name of `path` at the end, and vanishes on any error.

    Behind a link, what it leads to is replaced. A device or a pipe is written itself: it has no place to move into.
    """
    with says_what_it_writes(path):
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if mode is not None and not stat.S_ISREG(mode):
        with _write_errors(path, _FULL | {errno.EPIPE}):
            yield path
        return
    target = Path(os.path.realpath(path))
    # Named before it is made: an interrupt at any moment finds what to take away.
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}")
    try:
        with says_what_it_writes(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary.touch(mode=0o600, exist_ok=False)
        with _write_errors(path, _FULL):
            yield temporary
        with says_what_it_writes(path):
            # A temporary file is private; the result gets the rights any new file would have.
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            with temporary.open("r+b") as written:
                os.fsync(written.fileno())
            temporary.replace(target)
    finally:
        with suppress(OSError):  # where none could be made, that is what is told
            temporary.unlink()


def refuse_links(paths: Iterable[Path]) -> None:
    """For a folder of ours that somebody else may have filled: what is written there is to stay there."""
    for path in paths:
        if path.is_symlink():
            raise ChunkwiseError(
                f"{path} is a link, and nothing of ours is: it is not followed; remove it, or name another folder"
            )


def check_writable(path: Path) -> None:
    """Raises what writing to this path would raise, before the work; nothing is left behind."""
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
