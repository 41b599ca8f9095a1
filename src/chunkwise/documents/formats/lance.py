"""Lance: a table in a folder whose name ends in `.lance`, here or in a store, as LanceDB keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chunkwise.base.errors import MissingExtra, UnreadableDocument

_SUFFIX = ".lance"


def is_lance(address: str) -> bool:
    """Whether a folder is such a table, by its name."""
    return address.rstrip("/").endswith(_SUFFIX)


class LanceTable:
    """Its rows, read as they are asked for."""

    def __init__(self, address: str, shown: str) -> None:
        folder, _, name = address.rstrip("/").rpartition("/")
        self.name = name
        self._folder, self._shown = folder or ".", shown

    def iter_batches(self, batch_format: str = "pyarrow", batch_size: int = 1024) -> Iterator[Any]:
        """As a data set of Ray hands them out: as tables of Arrow."""
        try:
            import lancedb
            import pyarrow
        except ImportError:
            problem = MissingExtra("reading Lance", "lancedb")
            raise UnreadableDocument(self._shown, str(problem)) from None
        try:
            table = lancedb.connect(self._folder).open_table(self.name.removesuffix(_SUFFIX))
            for batch in table.search().to_batches(batch_size):
                yield pyarrow.Table.from_batches([batch])
        except Exception as error:  # of a library in another language: what it says is all there is
            why = " ".join(str(error).split())[:200]
            raise UnreadableDocument(self._shown, f"no table of Lance: {why}") from error
