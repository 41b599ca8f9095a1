"""One writer a folder: the second waits a while, then is told who writes."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chunkwise.atomic import says_what_it_writes
from chunkwise.core import Advance
from chunkwise.errors import ChunkwiseError

NAME = ".index.lock"
WAIT = 30.0
"""Seconds."""
_LOOK_AGAIN = 0.1


@contextmanager
def locked(folder: Path, wait: float = WAIT, advance: Advance | None = None) -> Iterator[None]:
    """Holds the folder's lock, which goes with the process however it ends."""
    path = folder / NAME
    with says_what_it_writes(path):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with says_what_it_writes(path):
            _acquire(handle, path, wait, advance)
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps(_myself()).encode(), 0)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, path: Path, wait: float, advance: Advance | None) -> None:
    until = time.monotonic() + wait
    while not _try(handle):
        holder = _holder(handle)
        if time.monotonic() >= until:
            raise ChunkwiseError(
                f"{path.parent} is being written by {holder}; waited {wait:.0f} s: try again when it is done"
            )
        if advance:
            advance(0, f"waiting for {holder}")
        time.sleep(_LOOK_AGAIN)


def _try(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:
        raise ChunkwiseError(
            "an index in a folder needs the file locks of Linux or macOS; keep it in memory (into=None) or on a server"
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _myself() -> dict[str, object]:
    return {"process": os.getpid(), "host": socket.gethostname()}


def _holder(handle: int) -> str:
    try:
        known = json.loads(os.pread(handle, 1000, 0))
        return f"process {known['process']} on {known['host']}"
    except (ValueError, KeyError, TypeError):  # it has the lock and has not said so yet
        return "another process"
