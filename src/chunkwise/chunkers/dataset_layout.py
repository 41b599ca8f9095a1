"""The folder of a data set of chunks, here or in a store: what lies in it under which names; or its table of Lance."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from chunkwise.base.atomic_files import shown_path
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.object_store import address_of, asked, move_file, store
from chunkwise.chunkers.write_chunks import schema
from chunkwise.records.json import parse_json
from chunkwise.records.lance import LanceFolder, check_lance_name, lance_errors
from chunkwise.records.write import arrow

MANIFEST = "_chunkwise.json"
"""Says what makes the data set: written last. Readers of Parquet and Lance pass by what begins with `_`."""
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
            found = asked(lambda: self._files.ls(place, detail=False, refresh=True))
        except FileNotFoundError:
            return set()
        return {each.rstrip("/").rpartition("/")[2] for each in found}

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
                f"{self.shown} is no data set of chunks and is not empty ({shown}): nothing is written into it; name "
                "a new folder"
            )

    def open(self, name: str) -> BinaryIO:
        """A file, to be read in ranges."""
        return cast(BinaryIO, asked(lambda: self._files.open(f"{self._root}/{name}", "rb")))

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


_ROWS = 1024
_VERSION = "table_version"
"""In the manifest: of which version of the table it speaks."""


class LanceParts:
    """Which parts are rows of the table, and how others become some: they wait as files of Parquet for one commit.

    The rows of a part stand one behind the other in the table, in the order of the parts: the manifest has their
    number, so that a later run takes those of a part that is as it was from the table, and cuts nothing of it again.
    """

    ending = ""

    def __init__(self, folder: DatasetFolder) -> None:
        self._folder = folder
        address = folder.address or str(folder.path.absolute())
        check_lance_name(address, folder.shown)
        self._lance = LanceFolder(address, "writing Lance")
        self._arrow = arrow("writing Lance")
        self._is_new = not folder.names("_versions")
        self._table: Any = None
        self._rows: dict[str, tuple[int, int]] = {}
        """Of each part in the table: the number of its first row, and how many they are."""
        manifest = folder.manifest()
        if not self._is_new and _VERSION in manifest:
            with suppress(Exception):  # damaged, or gone: all parts are made again
                table = self._lance.table()
                # Another version is of a run that was stopped right here, or of somebody else.
                if table.version == manifest[_VERSION]:
                    self._table, first = table, 0
                    for part in manifest["parts"]:
                        self._rows[part["name"]] = first, part["chunks"]
                        first += part["chunks"]

    def there(self) -> set[str]:
        """The parts that the table has."""
        return set(self._rows)

    def publish(self, parts: Sequence[str], waiting: set[str]) -> Mapping[str, object]:
        """One commit; until then readers have the rows that were."""
        if not waiting and [*self._rows] == [*parts]:
            return {_VERSION: self._table.version}
        batches = (batch for name in parts for batch in self._batches(name, name in waiting))
        reader = self._arrow.RecordBatchReader.from_batches(schema(), batches)
        with lance_errors(self._folder.shown, "write"):
            return {_VERSION: self._lance.replace(reader, is_new=self._is_new)}

    def _batches(self, name: str, is_waiting: bool) -> Iterator[Any]:
        if is_waiting:
            with self._folder.open(f"{STAGED}/{name}.parquet") as file:
                yield from self._arrow.parquet.ParquetFile(file).iter_batches(_ROWS)
            return
        first, count = self._rows[name]
        if count:
            found = self._table.search().offset(first).limit(count).to_batches(_ROWS)
            for batch in found:
                yield batch.cast(schema())

    def clear(self, parts: Sequence[str], waiting: set[str]) -> None:
        """Records go behind the manifest: stopped before, the next run finds each beside its part."""
        for name in sorted(waiting):
            self._folder.move(f"{STAGED}/{name}.json", f"{RECORDS}/{name}.json")
