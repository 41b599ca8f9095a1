"""Cells of table rows: where one too long for a chunk may be cut."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.blocks.blocks import Blocks

_DELIMITERS = ",;\t|"
_LONGEST_HEADER = 10_000
"""Characters of a row that are looked at to tell what parts its cells."""


def cell_starts(text: str, blocks: Blocks, *, verbatim: bool) -> NDArray[np.int64]:
    """Where cells but the first of each row start; `verbatim`: a CSV's own text, where quotes hide delimiters."""
    found: list[int] = []
    group, delimiter = -1, "|"
    for index in blocks.of("header", "row").tolist():
        start, end = int(blocks.start[index]), int(blocks.end[index])
        if verbatim and int(blocks.group[index]) != group:
            group, delimiter = int(blocks.group[index]), _delimiter(text[start:end])
        behind = {
            match.end()
            for match in _token(delimiter, verbatim).finditer(text, start, end)
            if match[0] == delimiter
        }
        found.extend(sorted(behind - {start + 1, end}))
    return np.array(found, dtype=np.int64)


def _delimiter(row: str) -> str:
    """What parts the cells of a table: the sign that stands most often outside quotes in its first row."""
    bare = _token("", quoted=True).sub("", row[:_LONGEST_HEADER])
    return max(_DELIMITERS, key=bare.count)


@cache
def _token(delimiter: str, quoted: bool) -> re.Pattern[str]:
    """A quoted stretch, an escaped sign, or the delimiter; without one, quoted stretches alone."""
    hidden = r'"(?:[^"]|"")*+"' if quoted else r"\\."
    return re.compile(f"{hidden}|{re.escape(delimiter)}" if delimiter else hidden, re.DOTALL)
