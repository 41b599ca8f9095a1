"""Whether what a user names is an index that is there, or documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from chunkwise.core import Document
from chunkwise.retrieval.indexes import Index, open_index, settings_at
from chunkwise.retrieval.making.gather import Material


def named_index(source: Material | Index) -> Index | None:
    """The index itself, or the one at the place named; None: these are documents."""
    if isinstance(source, Index):
        return source
    given = [source] if isinstance(source, str | os.PathLike) else source
    # What is read only once is left alone: it cannot be an index.
    if not isinstance(given, Sequence) or len(given) != 1 or isinstance(given[0], Document):
        return None
    place = os.fspath(given[0])
    if "://" in place or (Path(place).is_dir() and settings_at(place) is not None):
        return open_index(place)
    return None
