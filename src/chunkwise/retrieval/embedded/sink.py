"""Where the arrays of a growing index go: documents come in one after the other, whole columns come out."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from chunkwise.retrieval.embedded.layout import (
    COLUMNS,
    PARENT,
    TERM_COLUMNS,
    Array,
    Arrays,
    Portion,
)
from chunkwise.retrieval.term_table import TermTable
from chunkwise.text.term_counts import TermCounts


class Sink(Protocol):
    """Takes columns piece by piece."""

    def append(self, name: str, values: Array) -> None: ...

    def take(self, name: str) -> Array:
        """A column as far as it is there, which is then no longer part of the index."""

    def finish(self) -> Arrays:
        """All columns, ready to be searched."""


class Collector:
    """Puts portions together: counts where rows begin, and turns rows of terms into tables at the end."""

    def __init__(self, sink: Sink, dimensions: int, leave_out: frozenset[str]) -> None:
        self._sink = sink
        self._rows = dict.fromkeys(PARENT, 0)
        self.languages: set[str] = set()
        for table in PARENT:
            sink.append(f"{table}.first", np.zeros(1, np.int64))
        # An index of no documents has every column, too.
        for name, column in COLUMNS.items():
            if name not in leave_out:
                sink.append(name, np.empty((0, *column.shape(dimensions)), column.dtype))

    def add(self, portion: Portion) -> None:
        for table, sizes in portion.size.items():
            first = np.cumsum(sizes, dtype=np.int64) + self._rows[table]
            self._rows[table] = int(first[-1]) if len(first) else self._rows[table]
            self._sink.append(f"{table}.first", first)
        for name, values in portion.column.items():
            self._sink.append(name, values)
        known = np.unique(portion.column["document.language"]).tolist()
        self.languages.update(code.decode() for code in known)

    def finish(self) -> Arrays:
        for table in ("chunk", "atom"):
            counts = TermCounts(
                self._sink.take(f"{table}_term.first"),
                self._sink.take(f"{table}_term.hash"),
                self._sink.take(f"{table}_term.times"),
            )
            made = TermTable.of(counts)
            for name, dtype in TERM_COLUMNS.items():
                values = np.ascontiguousarray(getattr(made, name), dtype)
                self._sink.append(f"{table}_terms.{name}", values)
        return self._sink.finish()
