"""What a retriever asks of an index, wherever the index lives: in memory, in a folder, on a server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document, Span
from chunkwise.retrieval.atom_table import AtomTable
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.settings import Settings


class FoundChunk(NamedTuple):
    """One chunk as the index knows it."""

    number: int
    """Its number in the index; chunks of one document are numbered in order and without gaps."""
    document: int
    position: int
    """Its number in its document."""
    start: int
    end: int
    tokens: int
    section: tuple[str, ...]
    parent: tuple[int, int]
    context: str
    level: int = 0
    """0: a place in the document; above: a summary."""
    summary: str = ""
    spans: tuple[Span, ...] = ()
    """The places a summary stands for."""
    span_tokens: tuple[int, ...] = ()
    """Of each of them, counted when the index was made."""


class ChunkTable(NamedTuple):
    """All chunks of an index, by document; summaries behind the chunks of their document."""

    document: NDArray[np.int64]
    """Position among the index's documents."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int64]
    level: NDArray[np.int64] | None = None
    """0: a chunk, above it a summary; None: there are no summaries."""
    stood_for: NDArray[np.int64] | None = None
    """A row each place that a summary stands for, in order: which chunk the summary is, start, end, tokens."""


class Bounds(NamedTuple):
    """Atoms of one document: they tile its text, and their tokens add up."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int32]


class Searchable(Protocol):
    """Numbers stand for chunks and documents until a hit is handed out."""

    @property
    def settings(self) -> Settings: ...

    def words(self, queries: Sequence[str], depth: int, only: Filter) -> list[Ranking]:
        """Chunks by BM25, `depth` a question at most; chunks that share no term with it are left out."""

    def nearest(self, vectors: NDArray[np.float32], depth: int, only: Filter) -> list[Ranking]:
        """Chunks by cosine to each question's vector."""

    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        """The chunks of these numbers, in this order."""

    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Their vectors, one row each."""

    def chunk_range(self, document: int) -> tuple[int, int]:
        """First number of a document's chunks, and the number behind its last."""

    def document(self, number: int) -> Document: ...

    def atoms(self, document: int) -> Bounds:
        """The atoms of one document, at which a budget cuts."""


@runtime_checkable
class AtomSource(Protocol):
    """What an index offers beside `Searchable` when it can be searched at several sizes."""

    @property
    def languages(self) -> Sequence[str]: ...

    def atom_table(self) -> AtomTable: ...

    def allowed(self, table: Literal["atom"], only: Filter) -> NDArray[np.bool_] | None:
        """The atoms a filter takes; None: all."""

    def section_path(self, number: int) -> tuple[str, ...]:
        """The path behind a section number of the atom table."""


@runtime_checkable
class Summarised(Protocol):
    """An index that may have summaries among its chunks."""

    @property
    def has_summaries(self) -> bool: ...


@runtime_checkable
class Snapshots(Protocol):
    """An index that others may write to while it is searched."""

    def snapshot(self) -> AbstractContextManager[object]:
        """Within it everything is looked up in one state."""
