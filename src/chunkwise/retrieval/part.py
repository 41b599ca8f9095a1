"""What an index knows about one document, as arrays: made once, carried over while the document stays the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.text.term_counts import TermCounts


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Spans of one document in order, each with its size and its section."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int32]
    section: NDArray[np.int32]
    """Position in the part's list of section paths."""
    terms: TermCounts

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class Summaries:
    """What is to be known of those chunks of a document that are summaries: they come behind the others."""

    level: NDArray[np.int8]
    """Of each chunk; 0: it is a place in the document."""
    texts: tuple[str, ...]
    """Of each chunk; empty where it is a place."""
    places: NDArray[np.int64]
    """A row each place a summary stands for, by chunk: the chunk's position, start, end, tokens."""

    @classmethod
    def none(cls, chunks: int) -> Summaries:
        """Of chunks that are all places."""
        return cls(np.zeros(chunks, np.int8), ("",) * chunks, np.empty((0, 4), np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One document with its chunks and its atoms (sentences, list items, rows, lines: they tile the text)."""

    document: Document
    fingerprint: str
    """Of the document's text and title: the same means that nothing has to be made again."""
    paths: tuple[tuple[str, ...], ...]
    """Section paths, each once."""
    chunks: Rows
    contexts: tuple[str, ...]
    """Text indexed beside each chunk; its terms are in `chunks.terms`."""
    parents: NDArray[np.int64]
    """Start and end of the span handed out for each chunk: two columns."""
    chunk_vectors: NDArray[np.float32] | None
    """One row of length 1 a chunk; None: an index of words alone, or one without vectors for chunks."""
    atoms: Rows
    atom_sums: NDArray[np.float32] | None
    """Sum of the vectors of the tokens of each atom ("late" vectors): any span's vector is a difference of sums."""
    summaries: Summaries | None = None
    """None: no chunk is one."""
