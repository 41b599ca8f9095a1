"""The folder of a data set of chunks, here or in a store: what lies in it under which names."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from chunkwise.base.atomic_files import shown_path
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.object_store import address_of, asked, move_file, store
from chunkwise.records.json import parse_json

MANIFEST = "_chunkwise.json"
"""Says what makes the data set: written last. Readers of Parquet pass by what begins with `_`."""
STAGED, RECORDS = "_staged", "_parts"
FORMAT = "chunkwise chunks"

_PART = re.compile(r"part-\d{6,}-[0-9a-f]{20}(-[0-9a-f]{8})?")
_BEGUN = re.compile(r"\.?part-\d{6,}-[0-9a-f]{20}.*")
"""In the folder of what is not yet part of the data set: parts, their records, and files that were never finished."""


def part_name(number: int, key: str) -> str:
    """`key` is the same for the same documents, cut in the same way: see `PartRecipe`."""
    return f"part-{number:06}-{key}"


def renamed_part(name: str, ids: str) -> str:
    """Of the same part with other ids of its documents; `ids` is their hash."""
    return f"{name}-{ids[:8]}"


def is_part(name: str) -> bool:
    return _PART.fullmatch(name) is not None


def is_begun_part(name: str) -> bool:
    return _BEGUN.fullmatch(name) is not None


class DatasetFolder:
    """Where the data set lies: on this machine, or in a store."""

    def __init__(self, path: Path) -> None:
        self.address = address_of(path)
        """None: on this machine."""
        self.path = path
        self._files, self._root = store(self.address or f"file://{os.path.abspath(path)}")
        self.shown = shown_path(path)

    def names(self, folder: str = "") -> set[str]:
        place = f"{self._root}/{folder}".rstrip("/")
        try:
            result = asked(lambda: self._files.ls(place, detail=False, refresh=True))
        except FileNotFoundError:
            return set()
        return {each.rstrip("/").rpartition("/")[2] for each in result}

    def json(self, name: str) -> Any:
        """None: it is not there, or cannot be read."""
        try:
            data: bytes = asked(lambda: self._files.cat_file(f"{self._root}/{name}"))
            return parse_json(data.decode("utf-8"))
        except (OSError, ValueError, RecursionError):
            return None

    def manifest(self) -> dict[str, Any]:
        """Empty: there is none of ours."""
        known = self.json(MANIFEST)
        return known if isinstance(known, dict) and known.get("format") == FORMAT else {}

    def check(self) -> None:
        """Nothing is written into a folder that holds what is not ours."""
        names = self.names()
        foreign = {name for name in names if not name.startswith((".", "_"))}
        # A store has no empty folders: `_staged` may be gone before the manifest is there.
        if foreign and not self.manifest() and names.isdisjoint({STAGED, RECORDS}):
            shown = ", ".join(map(repr, sorted(foreign)[:3]))
            raise ChunkwiseError(
                f"{self.shown} isn't a chunk dataset and isn't empty ({shown}); use a new folder"
            )

    def move(self, name: str, to: str) -> None:
        target = f"{self._root}/{to}"
        asked(lambda: self._files.makedirs(target.rpartition("/")[0], exist_ok=True))
        scheme = (self.address or "").partition(":")[0]
        move_file(self._files, scheme, f"{self._root}/{name}", target)

    def remove(self, name: str) -> None:
        """A file."""
        asked(lambda: self._files.rm(f"{self._root}/{name}"))

    def remove_empty(self, folder: str) -> None:
        if folder in self.names() and not self.names(folder):
            with suppress(OSError):  # a store whose folders are names
                asked(lambda: self._files.rmdir(f"{self._root}/{folder}"))
