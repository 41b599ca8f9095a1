"""The columns of an index as files of one folder, written as they grow and read by mapping them into memory."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from chunkwise.atomic import says_what_it_writes
from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.damage import REMEDY
from chunkwise.retrieval.embedded.layout import Array, Arrays

_PIECE = 1 << 17
_LARGE = 1 << 20
"""Bytes."""
_SMALL = 1 << 16
"""Bytes that are read at once: a map keeps its file open, and a process may have a thousand open files."""


class Stored(NamedTuple):
    """What the manifest says of a file."""

    dtype: str
    shape: tuple[int, ...]
    check: str
    """Hash of the bytes."""

    @property
    def size(self) -> int:
        return int(np.dtype(self.dtype).itemsize * np.prod(self.shape, dtype=np.int64))


class _Growing:
    """A file that is written a good piece at a time."""

    def __init__(self, path: Path, values: Array) -> None:
        self.path = path
        self.dtype = values.dtype
        self.width = values.shape[1:]
        self.rows = 0
        self._hash = blake2b(digest_size=16)
        self._waiting: list[Array] = []
        self._size = 0
        with says_what_it_writes(path):
            self._file = path.open("wb", buffering=0)

    def add(self, values: Array) -> None:
        assert values.dtype == self.dtype, (self.path.name, values.dtype)
        assert values.shape[1:] == self.width, (self.path.name, values.shape)
        self.rows += len(values)
        self._waiting.append(values)
        self._size += values.nbytes
        if self._size > _PIECE:
            self.write()

    def write(self) -> None:
        small = self._size < _LARGE
        pieces = [np.concatenate(self._waiting)] if small else self._waiting
        for values in pieces:  # a column of an older index is not copied into memory first
            self._put(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
        self._waiting = []
        self._size = 0

    def _put(self, data: memoryview) -> None:
        self._hash.update(data)
        with says_what_it_writes(self.path):
            while len(data):  # a disk that fills up may take a part
                data = data[self._file.write(data) :]

    def finish(self, sync: bool) -> Stored:
        """With `sync`, every byte is on the disk when this returns."""
        if self._waiting:
            self.write()
        if sync:
            with says_what_it_writes(self.path):
                os.fsync(self._file.fileno())
        self.close()
        return Stored(self.dtype.str, (self.rows, *self.width), self._hash.hexdigest())

    def close(self) -> None:
        self._file.close()


class FileSink:
    """One file a column in a folder that is new."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._growing: dict[str, _Growing] = {}
        self.stored: dict[str, Stored] = {}

    def append(self, name: str, values: Array) -> None:
        growing = self._growing.get(name)
        if growing is None:
            growing = self._growing[name] = _Growing(self.folder / name, values)
        growing.add(values)

    def take(self, name: str) -> Array:
        growing = self._growing[name]
        values = mapped(growing.path, growing.finish(sync=False))
        del self._growing[name]
        growing.path.unlink()  # the map keeps the bytes until it is let go
        return values

    def finish(self) -> Arrays:
        growing = sorted(self._growing.items())
        self.stored = {name: each.finish(sync=True) for name, each in growing}
        return {name: mapped(self.folder / name, each) for name, each in self.stored.items()}

    def close(self) -> None:
        """Lets go of all files, whatever became of them."""
        for growing in self._growing.values():
            growing.close()


def mapped(path: Path, stored: Stored) -> Array:
    """The array in a file, which is read when it is small, and else when it is looked at."""
    size = path.stat().st_size
    if size != stored.size:
        raise ChunkwiseError(f"{path} has {size:,} bytes and should have {stored.size:,}: {REMEDY}")
    if not size:  # nothing cannot be mapped
        return np.empty(stored.shape, stored.dtype)
    if size <= _SMALL:
        values = np.fromfile(path, stored.dtype).reshape(stored.shape)
        values.flags.writeable = False
        return values
    # Of a `Path` the map would follow every link, which takes longer than to map it.
    return np.memmap(os.fspath(path), stored.dtype, "r", shape=stored.shape).view(np.ndarray)


def is_whole(values: Array, stored: Stored) -> bool:
    """Whether an array still has the bytes that were written."""
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
    found = blake2b(digest_size=16)
    for first in range(0, len(data), _LARGE):
        found.update(data[first : first + _LARGE])
    return found.hexdigest() == stored.check
