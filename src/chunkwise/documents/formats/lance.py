"""Lance: the rows of a table as documents, here or in a store, as LanceDB keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chunkwise.base.errors import MissingExtra, UnreadableDocument
from chunkwise.records.lance import LanceFolder


class LanceTable:
    """Its rows, read as they are asked for."""

    def __init__(self, address: str, shown: str) -> None:
        self.name = address.rstrip("/").rpartition("/")[2]
        self._address, self._shown = address, shown

    def iter_batches(self, batch_format: str = "pyarrow", batch_size: int = 1024) -> Iterator[Any]:
        """As a data set of Ray hands them out: as tables of Arrow."""
        try:
            folder = LanceFolder(self._address, "reading Lance")
        except MissingExtra as problem:
            raise UnreadableDocument(self._shown, str(problem)) from None
        import pyarrow

        try:
            for batch in folder.table().search().to_batches(batch_size):
                yield pyarrow.Table.from_batches([batch])
        except Exception as error:  # of a library in another language: what it says is all there is
            why = " ".join(str(error).split())[:200]
            raise UnreadableDocument(self._shown, f"no table of Lance: {why}") from error
