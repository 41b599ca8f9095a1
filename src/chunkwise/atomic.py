"""Files that are whole or not there: written beside their place, moved into it when done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chunkwise.errors import ChunkwiseError


@contextmanager
def says_what_it_writes(path: Path) -> Iterator[None]:
    """An error of the file system, a full disk for one, names the file that was to be written."""
    try:
        yield
    except OSError as error:
        raise ChunkwiseError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that takes the name of `path` at the end, and vanishes on any error."""
    with says_what_it_writes(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with says_what_it_writes(path):
            # A temporary file is private; the result gets the rights any new file would have.
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            with temporary.open("r+b") as written:
                os.fsync(written.fileno())
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
