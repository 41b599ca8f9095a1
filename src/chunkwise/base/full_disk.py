"""A machine without room for temporary files, and whether another one of a cluster would do its work."""

from __future__ import annotations

import socket
import tempfile

from chunkwise.base.errors import ChunkwiseError


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
