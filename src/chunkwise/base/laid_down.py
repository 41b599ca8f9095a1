"""What is too much to be held at once, one piece after the other in a file of this machine."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from chunkwise.base.disk_room import own_disk
from chunkwise.base.errors import ChunkwiseError


def lay_down(pieces: Iterable[bytes], path: Path) -> None:
    """Pickled values into a file, each let go of before the next is made; what was there goes."""
    with path.open("wb", buffering=0) as file:  # closing it writes nothing that could fail
        for piece in pieces:
            _write(file.write, memoryview(piece))
            del piece


def _write(write: Any, rest: memoryview) -> None:
    try:
        while rest:
            rest = rest[write(rest) :]
    except OSError as error:
        raise ChunkwiseError(
            f"cannot write what is made of a long document, which waits in {own_disk()}: "
            f"{error.strerror or error}"
        ) from error


def take_up(path: Path) -> Iterator[Any]:
    """The values, one by one; the file goes."""
    with path.open("rb") as file:
        path.unlink()
        while True:
            try:
                found = pickle.load(file)  # what a process of ours wrote
            except EOFError:
                return
            yield found
            del found  # before the next one is read
