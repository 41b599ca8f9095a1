"""The header of a table that was cut, told beside the chunks that begin among its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from chunkwise.core import Block, Chunk, Piece
from chunkwise.text.analyzed import Analyzed


def table_headers(
    document: Analyzed, chunks: Sequence[Piece | Chunk], fits: Callable[[Block], bool]
) -> dict[int, str]:
    """The header of the table in whose rows a chunk begins, by the chunk's number; "" for one that does not fit."""
    starts = np.array([chunk.start for chunk in chunks], dtype=np.int64)
    told: dict[Block, str] = {}
    found: dict[int, str] = {}
    for number, header in document.blocks.headers_above(starts).items():
        if header not in told:
            text = document.text[header.start : header.end].removeprefix("\ufeff")
            told[header] = text if fits(header) else ""
        found[number] = told[header]
    return found
