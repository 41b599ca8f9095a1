"""A new generation of an index beside the old one, which counts until the new one is whole."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from chunkwise.atomic import says_what_it_writes
from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.embedded.store import lock, manifest
from chunkwise.retrieval.embedded.store.files import FileSink
from chunkwise.retrieval.embedded.store.manifest import Manifest, sync_folder
from chunkwise.retrieval.settings import Settings

# Hidden, so that documents read from around the index do not include it.
_GENERATION = re.compile(r"\.generation-(\d{6,})")
_TEMPORARY = f".{manifest.NAME}."


def check_folder(folder: Path) -> bool:
    """Whether there is something in the folder; what is not an index is never written over."""
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise ChunkwiseError(f"{folder} is a file; an index is a folder: name another")
    with says_what_it_writes(folder):
        names = os.listdir(folder)
    if manifest.NAME in names:
        manifest.check_ours(folder, known=lock.NAME in names)
        return True
    foreign = sorted(name for name in names if not _is_ours(name))
    if foreign or (names and lock.NAME not in names):
        shown = ", ".join(repr(name) for name in (foreign or names)[:3])
        raise ChunkwiseError(
            f"{folder} is no index and is not empty ({shown}): nothing is written into it; name a new folder"
        )
    return False


def _is_ours(name: str) -> bool:
    return name == lock.NAME or name.startswith(_TEMPORARY) or bool(_GENERATION.fullmatch(name))


class Generation:
    """To be used by whoever holds the folder's lock; left without `publish`, nothing has changed."""

    def __init__(self, folder: Path, current: str | None) -> None:
        self.folder = folder
        self._current = current

    def __enter__(self) -> Generation:
        clear(self.folder, self._current)
        numbers = [int(found[1]) for found in _generations(self.folder)]
        self.name = f".generation-{max(numbers, default=0) + 1:06}"
        home = self.folder / self.name
        with says_what_it_writes(home):
            home.mkdir()
        self.sink = FileSink(home)
        return self

    def __exit__(self, *error: object) -> None:
        self.sink.close()
        if self._current != self.name:
            shutil.rmtree(self.folder / self.name, ignore_errors=True)

    def publish(self, settings: Settings, languages: tuple[str, ...]) -> Manifest:
        """Makes the new generation the one that counts, and removes the one before."""
        made = Manifest(self.name, settings, languages, self.sink.stored)
        with says_what_it_writes(self.folder):
            sync_folder(self.folder / self.name)
        made.write(self.folder)
        self._current = self.name
        clear(self.folder, self.name)
        return made


def _generations(folder: Path) -> list[re.Match[str]]:
    names = os.listdir(folder)
    return [found for name in names if (found := _GENERATION.fullmatch(name))]


def clear(folder: Path, keep: str | None) -> None:
    """Removes what counts no longer: what was replaced, and what a killed writer left."""
    for found in _generations(folder):
        if found[0] != keep:
            shutil.rmtree(folder / found[0], ignore_errors=True)
    for left in folder.glob(f"{_TEMPORARY}*"):
        left.unlink(missing_ok=True)
