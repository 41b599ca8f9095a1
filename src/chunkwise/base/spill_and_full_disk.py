"""What is too much to be held at once, spilled into a file; and what becomes of a machine without room for it."""

from __future__ import annotations

import pickle
import socket
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chunkwise.base.errors import ChunkwiseError


def spill(pieces: Iterable[bytes], path: Path) -> None:
    """Pickled values into a file, each let go of before the next is made; what was there goes."""
    with _told():
        file = path.open("wb", buffering=0)  # closing it writes nothing that could fail
    with file:
        for piece in pieces:
            rest = memoryview(piece)
            with _told():
                while rest:
                    rest = rest[file.write(rest) :]
            del piece, rest


@contextmanager
def _told() -> Iterator[None]:
    """What pieces are made of may fail, too, and has words of its own: only writing is told here."""
    try:
        yield
    except OSError as error:
        raise ChunkwiseError(
            f"cannot write what is made of a long document, which waits in {own_disk()}: "
            f"{error.strerror or error}"
        ) from error


def read_spilled(path: Path) -> Iterator[Any]:
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


class NoRoomHere(ChunkwiseError):
    """The disk for temporary files of this machine is full; another one may have room."""

    node = ""
    """Which machine of a cluster this is."""


_has_others = False


def expect_others(has_others: bool) -> None:
    """From now on: whether another machine would do the work for which this one has no room."""
    global _has_others
    _has_others = has_others


def has_others() -> bool:
    """Whether work is better handed back than done without what there is no room for."""
    return _has_others


def own_disk() -> str:
    """Where temporary files lie, in words: which of many machines is asked by name."""
    return f"{tempfile.gettempdir()} of {socket.gethostname()} (TMPDIR)"
