"""All atoms of an index side by side: what a search at several sizes runs over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.small_vectors import SmallVectors
from chunkwise.retrieval.term_table import TermTable


@dataclass(frozen=True, slots=True, eq=False)
class AtomTable:
    """Atoms of one document are contiguous and in order; documents are numbered from 0."""

    document: NDArray[np.int32]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int32]
    """Of the document's own tokens: those of a stretch of atoms add up."""
    section: NDArray[np.int32]
    """Number of a section path, counted across the index: its `section_path` tells the titles."""
    terms: TermTable
    """Rows are atoms."""
    vectors: SmallVectors | None
    """Sums of token vectors; None: an index of words alone."""

    def __len__(self) -> int:
        return len(self.document)
