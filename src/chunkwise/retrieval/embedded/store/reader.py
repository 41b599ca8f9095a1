"""Opening an index folder: the manifest is read, everything else only mapped."""

from __future__ import annotations

from pathlib import Path

from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.damage import REMEDY
from chunkwise.retrieval.embedded.layout import Arrays
from chunkwise.retrieval.embedded.store.files import is_whole, mapped
from chunkwise.retrieval.embedded.store.manifest import Manifest, read_manifest

_TRIES = 5


def open_folder(folder: Path) -> tuple[Manifest, Arrays]:
    """What is in the folder now; a writer that comes later does not change it."""
    manifest = read_manifest(folder)
    for _ in range(_TRIES):
        home = folder / manifest.generation
        try:
            return manifest, {
                name: mapped(home / name, each) for name, each in manifest.files.items()
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
    raise ChunkwiseError(f"{folder} is written faster than it can be opened; try again")


def verify(folder: Path) -> None:
    """Reads every byte and compares it with what was written; an error names the first file that differs."""
    check(folder, *open_folder(folder))


def check(folder: Path, manifest: Manifest, arrays: Arrays) -> None:
    """The same of what was opened: it stays readable, even if a writer replaces the index meanwhile."""
    for name, stored in manifest.files.items():
        if not is_whole(arrays[name], stored):
            path = folder / manifest.generation / name
            raise ChunkwiseError(f"{path} has other bytes than were written: {REMEDY}")
