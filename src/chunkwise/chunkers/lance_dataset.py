"""A data set of chunks as one table of Lance: parts wait as files of Parquet, and become rows in one commit.

The rows of a part stand one behind the other in the table, in the order of the parts: the manifest has their number,
so that a later run takes those of a part that is as it was from the table, and cuts nothing of it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from chunkwise.chunkers.dataset_folder import RECORDS, STAGED, DatasetFolder
from chunkwise.chunkers.write_chunks import schema
from chunkwise.records.lance import LanceFolder, check_lance_name, lance_errors
from chunkwise.records.write import arrow

_ROWS = 1024
_VERSION = "table_version"
"""In the manifest: of which version of the table it speaks."""


class LanceParts:
    """Which parts are rows of the table, and how others become some."""

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
