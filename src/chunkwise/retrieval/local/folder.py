"""An index folder: one writer at a time, a new generation beside the old one, checked byte by byte."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chunkwise.base.allow_hosts_and_code_from_files import refuse_links
from chunkwise.base.atomic_files import says_what_it_writes, sync_folder
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import thousands
from chunkwise.core import OnProgress
from chunkwise.retrieval.errors import REMEDY
from chunkwise.retrieval.local import manifest as files_module
from chunkwise.retrieval.local.columns import Arrays
from chunkwise.retrieval.local.manifest import (
    FileSink,
    Manifest,
    is_undamaged,
    map_column,
    read_manifest,
)
from chunkwise.retrieval.settings import Settings

LOCK_NAME = ".index.lock"
LOCK_WAIT = 30.0
"""Seconds."""
_LOOK_AGAIN = 0.1


@contextmanager
def locked(
    folder: Path, wait: float = LOCK_WAIT, advance: OnProgress | None = None
) -> Iterator[None]:
    """Holds the folder's lock, which goes with the process however it ends."""
    path = folder / LOCK_NAME
    is_new = not os.path.lexists(folder)
    while True:
        with says_what_it_writes(path):
            folder.mkdir(parents=True, exist_ok=True)
            refuse_links((path,))
            # A file object: one that an interrupt keeps from being closed is closed when nobody has it any more.
            lock = open(path, "r+b", buffering=0, opener=_made_if_missing)  # noqa: SIM115
        with lock:
            handle = lock.fileno()
            with says_what_it_writes(path):
                _acquire(handle, path, wait, advance)
                if not _is_at(path, handle):
                    continue  # who had it before began the folder, failed, and took both away
                os.ftruncate(handle, 0)
                os.pwrite(handle, json.dumps(_myself()).encode(), 0)
            try:
                yield
            finally:
                if is_new:
                    _remove_if_bare(folder)
        return


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _remove_if_bare(folder: Path) -> None:
    """A folder in which nothing but the lock was made is none that anybody wants."""
    with suppress(OSError):
        if os.listdir(folder) == [LOCK_NAME]:
            (folder / LOCK_NAME).unlink()
            folder.rmdir()


def _made_if_missing(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _acquire(handle: int, path: Path, wait: float, advance: OnProgress | None) -> None:
    until = time.monotonic() + wait
    while not _try(handle):
        holder = _holder(handle)
        if time.monotonic() >= until:
            raise ChunkwiseError(
                f"{path.parent} is locked by {holder}; waited {thousands(wait)} s, try again later"
            )
        if advance:
            advance(0, f"waiting for {holder}")
        time.sleep(_LOOK_AGAIN)


def _try(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:
        raise ChunkwiseError(
            "an index folder needs file locks (Linux or macOS); use an in-memory index "
            "(into=None) or a database"
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
    except (
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
    ):  # it has the lock and has not said so yet
        return "another process"


_TRIES = 5


def open_folder(folder: Path) -> tuple[Manifest, Arrays]:
    """What is in the folder now; a writer that comes later does not change it."""
    manifest = read_manifest(folder)
    for _ in range(_TRIES):
        home = folder / manifest.generation
        refuse_links((home,))
        try:
            return manifest, {
                name: map_column(home / name, column) for name, column in manifest.files.items()
            }
        except FileNotFoundError as error:
            # A writer may have put a new generation in place between the two looks.
            before, manifest = manifest, read_manifest(folder)
            if before.generation == manifest.generation:
                raise ChunkwiseError(f"{error.filename} is missing: {REMEDY}") from error
        except OSError as error:
            # A map that cannot be made does not say of which file.
            which = error.filename or home
            raise ChunkwiseError(f"cannot read {which}: {error.strerror or error}") from error
    raise ChunkwiseError(f"{folder} changed while it was opened; try again")


def verify_folder(folder: Path) -> None:
    """Reads every byte and compares it with what was written; an error names the first file that differs."""
    check_bytes(folder, *open_folder(folder))


def check_bytes(folder: Path, manifest: Manifest, arrays: Arrays) -> None:
    """The same of what was opened: it stays readable, even if a writer replaces the index meanwhile."""
    for name, stored in manifest.files.items():
        if not is_undamaged(arrays[name], stored):
            path = folder / manifest.generation / name
            raise ChunkwiseError(f"{path} is damaged (checksum mismatch): {REMEDY}")


# Hidden, so that documents read from around the index do not include it.
_GENERATION = re.compile(r"\.generation-(\d{6,})")
_TEMPORARY = f".{files_module.MANIFEST_NAME}."


def check_folder(folder: Path) -> bool:
    """Whether there is something in the folder; what is not an index is never written over."""
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise ChunkwiseError(f"{folder} is a file; expected a folder")
    with says_what_it_writes(folder):
        names = os.listdir(folder)
    if files_module.MANIFEST_NAME in names:
        files_module.check_ours(folder, known=LOCK_NAME in names)
        return True
    foreign = sorted(name for name in names if not _is_ours(name))
    if foreign or (names and LOCK_NAME not in names):
        shown = ", ".join(repr(name) for name in (foreign or names)[:3])
        raise ChunkwiseError(f"{folder} isn't an index and isn't empty ({shown}); use a new folder")
    return False


def _is_ours(name: str) -> bool:
    return name == LOCK_NAME or name.startswith(_TEMPORARY) or bool(_GENERATION.fullmatch(name))


class Generation:
    """To be used by whoever holds the folder's lock; left without `publish`, nothing has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Generation:
        clear(self.folder)
        numbers = [int(generation[1]) for generation in _generations(self.folder)]
        self.name = f".generation-{max(numbers, default=0) + 1:06}"
        home = self.folder / self.name
        with says_what_it_writes(home):
            home.mkdir()
        self.sink = FileSink(home)
        return self

    def __exit__(self, *error: object) -> None:
        self.sink.close()
        # Not by what this object knows: an interrupt may come when the manifest is there and nobody has noted it yet.
        clear(self.folder)

    def publish(self, settings: Settings, languages: tuple[str, ...]) -> Manifest:
        """Makes the new generation the one that counts, which is one step: the manifest takes its name."""
        made = Manifest(self.name, settings, languages, self.sink.stored)
        with says_what_it_writes(self.folder):
            sync_folder(self.folder / self.name)
        made.write(self.folder)
        return made


def _generations(folder: Path) -> list[re.Match[str]]:
    names = os.listdir(folder)
    return [found for name in names if (found := _GENERATION.fullmatch(name))]


def clear(folder: Path) -> None:
    """Removes what the manifest on disk does not name: what was replaced, and what a stopped writer left."""
    try:
        keep = files_module.current_generation(folder)
    except (OSError, ValueError, LookupError, TypeError):
        return  # it names one of them, and cannot be read now: nothing goes before the next one is in its place
    for generation in _generations(folder):
        if generation[0] != keep:
            shutil.rmtree(folder / generation[0], ignore_errors=True)
    for left in folder.glob(f"{_TEMPORARY}*"):
        left.unlink(missing_ok=True)
