"""An index whose rows a database keeps: words, filters and sizes are searched here, vectors there."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.ann_recall import Recall, recall_of
from chunkwise.retrieval.bm25 import K1, B
from chunkwise.retrieval.databases.serialization import FetchedArrays, read_text_part
from chunkwise.retrieval.databases.store import CHUNK_BITS, State, Store, parse_state
from chunkwise.retrieval.errors import (
    ChangedMeanwhile,
    DamagedIndex,
    no_vectors_error,
    wrong_dimensions_error,
)
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.indexed_document import StatedRelations, document_of
from chunkwise.retrieval.local.index import LocalIndex
from chunkwise.retrieval.ranking import NOTHING, Ranking
from chunkwise.retrieval.searchable import (
    AtomBounds,
    AtomTable,
    Communities,
    FoundChunk,
)
from chunkwise.retrieval.settings import IndexStats
from chunkwise.retrieval.tables_lists_code import WholeBlocks

_POSITION = (1 << CHUNK_BITS) - 1
_P = ParamSpec("_P")
_R = TypeVar("_R")
_I = TypeVar("_I", bound="StoredIndex")


def in_snapshot(
    method: Callable[Concatenate[_I, _P], _R],
) -> Callable[Concatenate[_I, _P], _R]:
    """All that a method looks up is of one state."""

    @wraps(method)
    def call(self: _I, /, *given: _P.args, **named: _P.kwargs) -> _R:
        with self.snapshot():
            return method(self, *given, **named)

    return call


class StoredIndex(LocalIndex):
    """Arrays are downloaded once per state, and searched like those of a folder; new states are seen with the
    next question. Documents and chunks have the numbers of the store. Threads may share it: they take turns."""

    fetched: FetchedArrays

    def __init__(self, store: Store, state: State | None = None) -> None:
        """With a state it shows that one, for whoever writes."""
        self.store = store
        self.state = State()
        self._lock = RLock()
        self._depth = 0
        self._is_fixed = state is not None
        if state is not None:
            self._show(state)
            return
        self._follow()
        # An index that nobody closed takes its connection along.
        weakref.finalize(self, store.close)

    def _published(self) -> State:
        state = parse_state(self.store.read_state(), self.store.shown)
        if state.settings is None:
            raise ChunkwiseError(
                f"{self.store.shown}: no index here; create it: chunkwise index DOCUMENTS --into "
                "ADDRESS"
            )
        return state

    def _follow(self) -> None:
        """Search what was published last from now on."""
        if not self._is_fixed:
            state = self._published()
            if state.published != self.state.published:
                self._show(state)

    def _show(self, state: State) -> None:
        assert state.settings is not None
        if self.state.settings not in (None, state.settings):
            raise ChunkwiseError(
                f"{self.store.shown}: the index was rebuilt with other settings; open it again"
            )
        for name in ("_bm25", "_atom_table", "_metadata", "_titles"):
            self.__dict__.pop(name, None)  # made of the arrays there were
        self.store.use(state.rows)
        self.fetched = FetchedArrays(self.store, state.settings, state.numbers)
        super().__init__(self.fetched, state.settings, state.languages)
        self.state = state

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Within it all questions are answered from one state, whoever writes meanwhile."""
        with self._lock, self.store.reading():
            if not self._depth:
                self._follow()
            self._depth += 1
            try:
                yield
            except (DamagedIndex, KeyError):
                self._check_unchanged()  # rows that are gone are no damage then
                raise
            finally:
                self._depth -= 1

    def _check_unchanged(self) -> None:
        """Rows that were replaced may be gone already: then the question is to be asked again."""
        if not self._is_fixed and self._published().published != self.state.published:
            raise self._changed()

    def _changed(self) -> ChangedMeanwhile:
        return ChangedMeanwhile(
            f"{self.store.shown}: the index changed during the search; try again"
        )

    @property
    def document_count(self) -> int:
        with self.snapshot():
            return self.state.documents

    @property
    def chunk_count(self) -> int:
        with self.snapshot():
            return self.state.chunks

    @property
    def has_summaries(self) -> bool:
        with self.snapshot():
            return self.state.summaries > 0

    @in_snapshot
    def words(
        self, queries: Sequence[str], depth: int, only: Filter, *, k1: float = K1, b: float = B
    ) -> list[Ranking]:
        result = super().words(queries, depth, only, k1=k1, b=b)
        return [Ranking(self._stored_numbers(row.numbers), row.scores) for row in result]

    @in_snapshot
    def nearest(
        self,
        vectors: NDArray[np.float32],
        depth: int,
        only: Filter = EVERYTHING,
        *,
        exact: bool | None = None,
    ) -> list[Ranking]:
        """By the engine; `exact` says whether all chunks are compared instead of leaving it to the engine."""
        self._check_vectors(vectors)
        among = self._among(only)
        if not self.state.chunks or depth < 1 or (among is not None and not len(among)):
            return [NOTHING] * len(vectors)
        result = [
            self._nearest(vector, depth, among, exact) if vector.any() else NOTHING
            for vector in np.ascontiguousarray(vectors, np.float32)
        ]
        if not self.store.is_transactional:
            self._check_unchanged()
        return result

    def _among(self, only: Filter) -> Any:
        """What a filter takes, as the store takes it; None: all."""
        taken = self.allowed("chunk", only)
        return None if taken is None else self._stored_numbers(np.flatnonzero(taken))

    def _nearest(
        self, vector: NDArray[np.float32], depth: int, among: Any, exact: bool | None
    ) -> Ranking:
        """Of the rows that count: as many more are asked for as do not."""
        asked = depth
        while True:
            result = self.store.nearest(vector, asked, among, exact)
            live = np.isin(result.numbers >> CHUNK_BITS, self.fetched.numbers)
            if live.all() or live.sum() >= depth or len(live) < asked:
                numbers, scores = result.numbers[live], result.scores[live]
                order = np.lexsort((numbers, -scores))[:depth]
                return Ranking(numbers[order], scores[order])
            asked *= 2

    def _check_vectors(self, vectors: NDArray[np.float32] | None = None) -> None:
        dimensions = self.settings.dimensions
        if not dimensions:
            raise no_vectors_error()
        if vectors is not None and (vectors.ndim != 2 or vectors.shape[1] != dimensions):
            raise wrong_dimensions_error(vectors.shape, dimensions)

    allowed = in_snapshot(LocalIndex.allowed)
    atom_table = in_snapshot(LocalIndex.atom_table)
    chunk_table = in_snapshot(LocalIndex.chunk_table)
    fingerprints = in_snapshot(LocalIndex.fingerprints)
    ids = in_snapshot(LocalIndex.ids)
    section_path = in_snapshot(LocalIndex.section_path)
    titles = in_snapshot(LocalIndex.titles)

    @in_snapshot
    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        every = np.asarray(numbers, np.int64)
        positions = self._positions(every >> CHUNK_BITS)
        return [
            found._replace(number=int(number), document=int(number) >> CHUNK_BITS)
            for number, found in zip(
                numbers,
                super().chunks(self._begins("chunk")[positions] + (every & _POSITION)),
                strict=True,
            )
        ]

    @in_snapshot
    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        self._check_vectors()
        if not len(numbers):
            return np.zeros((0, self.settings.dimensions), np.float32)
        return self.store.vectors([int(number) for number in numbers])

    @in_snapshot
    def chunk_range(self, document: int) -> tuple[int, int]:
        low, high = super().chunk_range(self._position(document))
        return document << CHUNK_BITS, (document << CHUNK_BITS) + high - low

    @in_snapshot
    def blocks(self, document: int) -> WholeBlocks:
        return super().blocks(self._position(document))

    @in_snapshot
    def atoms(self, document: int) -> AtomBounds:
        return super().atoms(self._position(document))

    @in_snapshot
    def relations(self, number: int) -> StatedRelations:
        return super().relations(self._position(number))

    @in_snapshot
    def communities(self) -> Communities:
        number = self.state.communities
        if not number:
            return Communities()
        return Communities.from_json(self.fetched.parts("text", [number])[0].decode("ascii"))

    @cached_property
    def _atom_table(self) -> AtomTable:
        atoms = super()._atom_table
        return replace(atoms, document=self.fetched.numbers[atoms.document].astype(np.int32))

    @in_snapshot
    def document_numbers(self) -> list[int]:
        """Those of documents that were replaced are missing, and never used again."""
        return self.fetched.numbers.tolist()

    def _position(self, document: int) -> int:
        return int(self._positions(np.array([document], np.int64))[0])

    def _positions(self, documents: NDArray[np.int64]) -> NDArray[np.intp]:
        """Where documents stand in the arrays, by their numbers."""
        numbers = self.fetched.numbers
        at = np.minimum(numbers.searchsorted(documents), max(0, len(numbers) - 1))
        if len(documents) and (not len(numbers) or (numbers[at] != documents).any()):
            raise self._changed()
        return at

    def _stored_numbers(self, chunks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of chunks by their place in the arrays."""
        first = np.cumsum([0, *(about_document.chunks for about_document in self.fetched.about)])
        document = first.searchsorted(chunks, "right") - 1
        values: NDArray[np.int64] = (self.fetched.numbers[document] << CHUNK_BITS) + chunks
        return values - first[document]

    def _read_document(self, number: int) -> WholeBlocks:
        (stored,) = self.fetched.parts("text", [int(self.fetched.numbers[number])])
        try:
            pages = tuple(self._pages(number).tolist())
            document = document_of(self.text_of("id", number), *read_text_part(stored), pages)
            return WholeBlocks(document, self.block_rows(number))
        except (ValueError, TypeError) as error:
            raise DamagedIndex(f"document {number}", error) from error

    def count_context_tokens(self) -> int:
        return sum(document.context_tokens for document in self.fetched.about)

    @property
    def is_exact(self) -> bool:
        """Whether the engine compares all chunks."""
        with self.snapshot():
            return not self.settings.dimensions or self.store.is_exact()

    @in_snapshot
    def recall(self, sample: int = 50, depth: int = 10) -> Recall:
        """How many of the truly nearest chunks the engine finds, measured on chunks of the index itself."""
        places = np.unique(np.linspace(0, self.state.chunks - 1, sample).astype(np.int64))
        numbers = self._stored_numbers(places) if self.state.chunks else places[:0]
        return recall_of(self, self.chunk_vectors(numbers.tolist()), depth)

    @in_snapshot
    def stats(self) -> IndexStats:
        """Bytes are those that the engine takes, as far as it knows."""
        about, settings = self.fetched.about, self.settings
        beside, atoms = self.count_context_tokens(), sum(document.atoms for document in about)
        late = atoms if settings.vectors in ("late", "both") else 0
        return IndexStats(
            documents=len(about),
            chunks=self.state.chunks,
            atoms=atoms,
            tokens=sum(document.tokens for document in about),
            indexed_tokens=sum(document.chunk_tokens for document in about) + beside,
            context_tokens=beside,
            vectors=(self.state.chunks if settings.dimensions else 0) + late,
            dimensions=settings.dimensions,
            bytes=self.store.size(),
        )

    def close(self) -> None:
        self.store.close()

    def __enter__(self: _I) -> _I:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
