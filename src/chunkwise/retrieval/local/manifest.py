"""The files of an index folder: one a column, mapped when read, and the manifest that lists them."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from chunkwise.base.allow_hosts_and_code_from_files import distrust, refuse_links
from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.own_files import INDEX_FILE
from chunkwise.base.wording import counted, thousands
from chunkwise.retrieval.errors import REBUILD, REMEDY
from chunkwise.retrieval.local.columns import Array, Arrays, expected
from chunkwise.retrieval.settings import Settings, read_settings

_PIECE = 1 << 17
_LARGE = 1 << 20
"""Bytes."""
_SMALL = 1 << 16
"""Bytes that are read at once: a map keeps its file open, and a process may have a thousand open files."""


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """What the manifest says of a file."""

    dtype: str
    shape: Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(min_length=1)]
    check: str
    """Hash of the bytes."""

    @property
    def size(self) -> int:
        return np.dtype(self.dtype).itemsize * math.prod(self.shape)


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

    def finish(self, sync: bool) -> StoredColumn:
        """With `sync`, every byte is on the disk when this returns."""
        if self._waiting:
            self.write()
        if sync:
            with says_what_it_writes(self.path):
                os.fsync(self._file.fileno())
        self.close()
        return StoredColumn(self.dtype.str, (self.rows, *self.width), self._hash.hexdigest())

    def close(self) -> None:
        self._file.close()


class FileSink:
    """One file a column in a folder that is new."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._growing: dict[str, _Growing] = {}
        self.stored: dict[str, StoredColumn] = {}

    def append(self, name: str, values: Array) -> None:
        growing = self._growing.get(name)
        if growing is None:
            growing = self._growing[name] = _Growing(self.folder / name, values)
        growing.add(values)

    def take(self, name: str) -> Array:
        growing = self._growing[name]
        values = map_column(growing.path, growing.finish(sync=False))
        del self._growing[name]
        growing.path.unlink()  # the map keeps the bytes until it is let go
        return values

    def finish(self) -> Arrays:
        growing = sorted(self._growing.items())
        self.stored = {name: item.finish(sync=True) for name, item in growing}
        return {
            name: map_column(self.folder / name, column) for name, column in self.stored.items()
        }

    def finish_more(self, name: str, values: Array) -> Arrays:
        self.append(name, values)
        self.stored[name] = stored = self._growing[name].finish(sync=True)
        return {name: map_column(self.folder / name, stored)}

    def close(self) -> None:
        """Lets go of all files, whatever became of them."""
        for growing in self._growing.values():
            growing.close()


def map_column(path: Path, stored: StoredColumn) -> Array:
    """The array in a file, which is read when it is small, and else when it is looked at."""
    refuse_links((path,))
    size = path.stat().st_size
    if size != stored.size:
        raise ChunkwiseError(
            f"{path} has {counted(size, 'byte')}, expected {thousands(stored.size)}: {REMEDY}"
        )
    if not size:  # nothing cannot be mapped
        return np.empty(stored.shape, stored.dtype)
    if size <= _SMALL:
        values = np.fromfile(path, stored.dtype).reshape(stored.shape)
        values.flags.writeable = False
        return values
    # Of a `Path` the map would follow every link, which takes longer than to map it.
    return np.memmap(os.fspath(path), stored.dtype, "r", shape=stored.shape).view(np.ndarray)


def is_undamaged(values: Array, stored: StoredColumn) -> bool:
    """Whether an array still has the bytes that were written."""
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
    result = blake2b(digest_size=16)
    for first in range(0, len(data), _LARGE):
        result.update(data[first : first + _LARGE])
    return result.hexdigest() == stored.check


MANIFEST_NAME = INDEX_FILE
"""Hidden, so that documents read from around an index do not include it."""
MANIFEST_FORMAT = 4
_KIND = "chunkwise index"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What has to be known before anything else is read."""

    generation: str
    """The sub-folder with the arrays."""
    settings: Settings
    languages: tuple[str, ...]
    """Codes of what the documents were read as; a question is read as each of them."""
    files: dict[str, StoredColumn]

    def write(self, folder: Path) -> None:
        values = {"kind": _KIND, "format": MANIFEST_FORMAT, **dataclasses.asdict(self)}
        text = json.dumps(values, indent=1)
        with (
            replacing(folder / MANIFEST_NAME) as temporary,
            says_what_it_writes(folder / MANIFEST_NAME),
        ):
            temporary.write_text(text, "utf-8")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; every other thing than a sound one is an error that says what to do."""
    path = folder / MANIFEST_NAME
    refuse_links((path,))
    try:
        values = _read_json(path)
    except FileNotFoundError:
        raise _absent(folder) from None
    except OSError as error:
        raise ChunkwiseError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(values, dict) or values.get("kind") != _KIND:
        raise _foreign(path)
    if values.get("format") != MANIFEST_FORMAT or type(values["format"]) is not int:
        raise ChunkwiseError(
            f"{folder} has index format {values.get('format')!r}, but this chunkwise reads "
            f"{MANIFEST_FORMAT}; {REBUILD}, or use the version that wrote it"
        )
    try:
        return _manifest_of(values, _where(folder))
    except ValueError as error:
        raise _damaged(path, str(error)) from error


def _read_json(path: Path) -> Any:
    """What a manifest holds; a ValueError where that is not JSON, or none that can be read."""
    try:
        return json.loads(path.read_text("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def check_ours(folder: Path, known: bool) -> None:
    """An error where the file is somebody else's; one that cannot be read is, unless the folder is known as ours."""
    refuse_links((folder / MANIFEST_NAME,))
    try:
        values = _read_json(folder / MANIFEST_NAME)
    except (OSError, ValueError):
        if not known:
            raise _foreign(folder / MANIFEST_NAME) from None
        return
    if not isinstance(values, dict) or values.get("kind") != _KIND:
        raise _foreign(folder / MANIFEST_NAME)


def _foreign(path: Path) -> ChunkwiseError:
    return ChunkwiseError(f"{path} isn't a chunkwise index manifest; use another folder")


def _absent(folder: Path) -> ChunkwiseError:
    within = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    own = {name for name in within if name.startswith((".generation-", ".index."))}
    if within == own and any(name.startswith(".generation-") for name in own):
        return ChunkwiseError(
            f"{folder} has an unfinished index (no {MANIFEST_NAME}); run again: chunkwise "
            f"index DOCUMENTS --into {folder}"
        )
    # A folder of documents is named by mistake: an index among them is not what is wanted.
    command = f"index {folder} --into kb" if within - own else f"index DOCUMENTS --into {folder}"
    return ChunkwiseError(
        f"{folder} isn't an index (no {MANIFEST_NAME}); create one: chunkwise {command}"
    )


def current_generation(folder: Path) -> str | None:
    """The sub-folder that counts, even if the rest of the manifest cannot be used; None: there is no manifest."""
    try:
        result = _read_json(folder / MANIFEST_NAME)["generation"]
    except FileNotFoundError:
        return None
    if not isinstance(result, str):
        raise TypeError(f"the generation is {result!r}")
    return result


def former_settings(folder: Path) -> Settings | None:
    """What an index that will be made anew was made with, by whatever version; None: it cannot be read."""
    try:
        values = _read_json(folder / MANIFEST_NAME)
        return read_settings(values["settings"], _where(folder))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _where(folder: Path) -> str:
    return f"the index {folder}"


def _manifest_of(values: dict[str, Any], where: str) -> Manifest:
    manifest = msgspec.convert(values, Manifest)
    for name in (manifest.generation, *manifest.files):
        if os.path.basename(name) != name or name in ("", ".", "..") or "\0" in name:
            raise ValueError(f"{name!r} isn't a file name in the folder")
    if _shapes(manifest.files) != expected(manifest.settings):
        raise ValueError("its arrays don't match its settings")
    distrust(manifest.settings, where)
    return manifest


def _shapes(files: Mapping[str, StoredColumn]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Of each array the type, and the shape of one row."""
    return {name: (column.dtype, column.shape[1:]) for name, column in files.items()}


def _damaged(path: Path, why: str) -> ChunkwiseError:
    return ChunkwiseError(f"{path} is damaged ({why}); {REBUILD}")
