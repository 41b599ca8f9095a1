"""Cheap signs that arrays of an index are not those that were written: looked for before they are followed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.damage import Damaged
from chunkwise.retrieval.embedded.layout import COLUMNS, Arrays

_COLUMN = {column.table: name for name, column in reversed(COLUMNS.items())}
"""One column of each table that has any."""


def check_first(arrays: Arrays, table: str) -> None:
    """Where the rows of each parent begin: from 0 on, never back, and no further than there are rows."""
    first = arrays[f"{table}.first"]
    # Paths have no column of their own: each has one title.
    rows = len(arrays["title.first"]) - 1 if table == "path" else len(arrays[_COLUMN[table]])
    if not len(first) or first[0] != 0 or first[-1] > rows or (first[1:] < first[:-1]).any():
        raise Damaged(f"{table}.first", f"it does not count {rows:,} rows")


def check_sections(
    table: str, section: NDArray[np.int32], first: NDArray[np.int64], owner: NDArray[np.int32]
) -> None:
    """Numbers of section paths, each among those of its document."""
    if (
        len(section) != len(owner)
        or (section < 0).any()
        or (section >= np.diff(first)[owner]).any()
    ):
        raise Damaged(f"{table}.section", "it names sections that its document does not have")
