"""An index whose rows a database keeps: words, filters and sizes are searched here, vectors there."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import thousands
from chunkwise.retrieval.ann_recall import Recall, recall_of
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.databases.serialization import FetchedArrays
from chunkwise.retrieval.databases.store import CHUNK_BITS, Store, StoredState, read_state
from chunkwise.retrieval.errors import (
    ChangedMeanwhile,
    DamagedIndex,
    no_vectors_error,
    wrong_dimensions_error,
)
from chunkwise.retrieval.filters import EVERYTHING, Filter, RowKind
from chunkwise.retrieval.indexed_document import document_of
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.searchable import AtomBounds, AtomTable, ChunkTable, FoundChunk
from chunkwise.retrieval.settings import IndexStats
from chunkwise.retrieval.tables_lists_code import WholeBlocks

_POSITION = (1 << CHUNK_BITS) - 1


class StoredIndex(LocalIndex):
    """Arrays are brought over once for each state, and searched as those of a folder; what others publish is seen
    with the next question. Threads may share it: they take turns."""

    _state: StoredState
    _fetched: FetchedArrays

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = RLock()
        self._depth = 0
        self._published = ""
        self._follow()
        # An index that nobody closed takes its connection along.
        weakref.finalize(self, store.close)

    def _follow(self) -> None:
        """What was published last is what is searched from now on."""
        published = self.store.state()
        if published is None:
            raise ChunkwiseError(
                f"{self.store.shown}: no index here yet; make it with: chunkwise index DOCUMENTS --into ADDRESS"
            )
        if published == self._published:
            return
        state = read_state(published, self.store.shown)
        if self._published and state.settings != self._state.settings:
            raise ChunkwiseError(
                f"{self.store.shown}: the index was made again with other settings; open it again"
            )
        arrays = FetchedArrays(self.store, state.settings)
        if len(arrays.about) != state.documents:
            raise DamagedIndex(
                "the number of documents",
                f"{thousands(len(arrays.about))} instead of {thousands(state.documents)}",
            )
        for name in ("_bm25", "_atom_table", "_metadata"):
            self.__dict__.pop(name, None)  # made of the arrays there were
        super().__init__(arrays, state.settings, state.languages)
        self._fetched, self._state, self._published = arrays, state, published

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Within it all questions are answered from one state, whoever writes meanwhile."""
        with self._lock:
            if not self._depth:
                self._follow()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @property
    def document_count(self) -> int:
        with self.snapshot():
            return self._state.documents

    @property
    def chunk_count(self) -> int:
        with self.snapshot():
            return self._state.chunks

    @property
    def has_summaries(self) -> bool:
        with self.snapshot():
            return super().has_summaries

    def words(
        self, queries: Sequence[str], depth: int, only: Filter, *, k1: float = K1, b: float = B
    ) -> list[Ranking]:
        with self.snapshot():
            found = super().words(queries, depth, only, k1=k1, b=b)
            return [Ranking(self._stored_numbers(each.numbers), each.scores) for each in found]

    def nearest(
        self,
        vectors: NDArray[np.float32],
        depth: int,
        only: Filter = EVERYTHING,
        *,
        exact: bool | None = None,
    ) -> list[Ranking]:
        """By the engine; `exact` says whether all chunks are compared instead of leaving it to the engine."""
        with self.snapshot():
            self._need_vectors()
            dimensions = self.settings.dimensions
            if vectors.ndim != 2 or vectors.shape[1] != dimensions:
                raise wrong_dimensions_error(vectors.shape, dimensions)
            taken = self.allowed("chunk", only)
            among = None if taken is None else self._stored_numbers(np.flatnonzero(taken))
            if not self.chunk_count or depth < 1 or (among is not None and not len(among)):
                return [NOTHING] * len(vectors)
            return [
                _ordered(self.store.nearest(vector, depth, among, exact), depth)
                if vector.any()
                else NOTHING
                for vector in np.ascontiguousarray(vectors, np.float32)
            ]

    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        with self.snapshot():
            document = self._positions(np.asarray(numbers, np.int64) >> CHUNK_BITS)
            own = self._begins("chunk")[document] + (np.asarray(numbers, np.int64) & _POSITION)
            return [
                found._replace(number=int(number), document=int(number) >> CHUNK_BITS)
                for number, found in zip(numbers, super().chunks(own), strict=True)
            ]

    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        with self.snapshot():
            self._need_vectors()
            if not len(numbers):
                return np.zeros((0, self.settings.dimensions), np.float32)
            try:
                return self.store.vectors([int(number) for number in numbers])
            except KeyError:
                raise self._changed() from None

    def chunk_range(self, document: int) -> tuple[int, int]:
        with self.snapshot():
            low, high = super().chunk_range(self._position(document))
            return document << CHUNK_BITS, (document << CHUNK_BITS) + high - low

    def blocks(self, document: int) -> WholeBlocks:
        with self.snapshot():
            return super().blocks(self._position(document))

    def atoms(self, document: int) -> AtomBounds:
        with self.snapshot():
            return super().atoms(self._position(document))

    def atom_table(self) -> AtomTable:
        with self.snapshot():
            return super().atom_table()

    @cached_property
    def _atom_table(self) -> AtomTable:
        atoms = super()._atom_table
        return replace(atoms, document=self._fetched.numbers[atoms.document].astype(np.int32))

    def section_path(self, number: int) -> tuple[str, ...]:
        with self.snapshot():
            return super().section_path(number)

    def allowed(self, table: RowKind, only: Filter) -> NDArray[np.bool_] | None:
        with self.snapshot():
            return super().allowed(table, only)

    def document_numbers(self) -> list[int]:
        """Those of documents that were replaced are missing, and never used again."""
        with self.snapshot():
            return self._fetched.numbers.tolist()

    def ids(self) -> list[str]:
        with self.snapshot():
            return [each.id for each in self._fetched.about]

    def fingerprints(self) -> list[str]:
        with self.snapshot():
            return [each.fingerprint for each in self._fetched.about]

    def chunk_table(self) -> ChunkTable:
        with self.snapshot():
            return super().chunk_table()

    def _position(self, document: int) -> int:
        return int(self._positions(np.array([document], np.int64))[0])

    def _positions(self, documents: NDArray[np.int64]) -> NDArray[np.intp]:
        """Where documents stand in the arrays, by their numbers."""
        numbers = self._fetched.numbers
        at = np.minimum(numbers.searchsorted(documents), max(0, len(numbers) - 1))
        if len(documents) and (not len(numbers) or (numbers[at] != documents).any()):
            raise self._changed()
        return at

    def _changed(self) -> ChangedMeanwhile:
        return ChangedMeanwhile(
            f"{self.store.shown}: the index changed during the search; ask again"
        )

    def _stored_numbers(self, chunks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of chunks by their place in the arrays."""
        first = self._begins("chunk")
        document = first.searchsorted(chunks, "right") - 1
        found: NDArray[np.int64] = (
            (self._fetched.numbers[document] << CHUNK_BITS) + chunks - first[document]
        )
        return found

    def _need_vectors(self) -> None:
        if not self.settings.dimensions:
            raise no_vectors_error()

    def _read_document(self, number: int) -> WholeBlocks:
        about = self._fetched.about[number]
        stored = dict(self.store.parts("text", [int(self._fetched.numbers[number])]))
        if not stored:
            raise self._changed()
        try:
            (text,) = (each.decode("utf-8", "surrogatepass") for each in stored.values())
            pages = tuple(self._pages(number).tolist())
            document = document_of(about.id, about.record, text, pages)
            return WholeBlocks(document, self.block_rows(number))
        except (ValueError, TypeError) as error:
            raise DamagedIndex(f"document {number}", error) from error

    def count_context_tokens(self) -> int:
        return sum(each.context_tokens for each in self._fetched.about)

    @property
    def is_exact(self) -> bool:
        """Whether the engine compares all chunks."""
        with self.snapshot():
            return not self.settings.dimensions or self.store.is_exact()

    def recall(self, sample: int = 50, depth: int = 10) -> Recall:
        """How many of the truly nearest chunks the engine finds, measured on chunks of the index itself."""
        with self.snapshot():
            places = np.unique(np.linspace(0, self.chunk_count - 1, sample).astype(np.int64))
            numbers = self._stored_numbers(places) if self.chunk_count else places[:0]
            return recall_of(self, self.chunk_vectors(numbers.tolist()), depth)

    def stats(self) -> IndexStats:
        """Bytes are those that the engine takes, as far as it knows."""
        with self.snapshot():
            about, settings = self._fetched.about, self.settings
            beside, atoms = self.count_context_tokens(), sum(each.atoms for each in about)
            late = atoms if settings.vectors in ("late", "both") else 0
            return IndexStats(
                documents=len(about),
                chunks=self.chunk_count,
                atoms=atoms,
                tokens=sum(each.tokens for each in about),
                indexed_tokens=sum(each.chunk_tokens for each in about) + beside,
                context_tokens=beside,
                vectors=(self.chunk_count if settings.dimensions else 0) + late,
                dimensions=settings.dimensions,
                bytes=self.store.size(),
            )

    def close(self) -> None:
        self.store.close()


def _ordered(found: Ranking, depth: int) -> Ranking:
    """Among equal scores the lower number comes first."""
    order = np.lexsort((found.numbers, -found.scores))[:depth]
    return Ranking(found.numbers[order], found.scores[order])
