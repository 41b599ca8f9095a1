"""Files that are whole or not there: written beside their place, moved into it when done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chunkwise.errors import ChunkwiseError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that takes the name of `path` at the end, and vanishes on any error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise ChunkwiseError(f"cannot write {path}: {error.strerror or error}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # A temporary file is private; the result gets the rights any new file would have.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except BrokenPipeError:  # of another stream than this file
        raise
    except OSError as error:
        raise ChunkwiseError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
