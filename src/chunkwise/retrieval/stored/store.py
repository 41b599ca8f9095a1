"""What a database keeps of an index: parts of documents, rows of chunks with their vectors, and the published state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.errors import REBUILD
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.settings import Settings, read_settings

FORMAT = 1
CHUNK_BITS = 32
"""A chunk's number is its document's, then its place in it: never used again for another chunk."""

PartName = Literal["about", "chunks", "atoms", "text"]
PARTS: tuple[PartName, ...] = ("about", "chunks", "atoms", "text")
"""Of a document: what is known of it (JSON), the arrays of its chunks, those of its sentences, and its text."""


class StoreProblem(ChunkwiseError):
    """The database could not be reached, refused, or failed."""


@contextmanager
def explained(
    shown: str,
    failures: Callable[[], tuple[type[Exception], ...]],
    told: Callable[[Exception, str], str],
) -> Iterator[None]:
    """What the client of a database raises, in one line of ours; `told` says it, given the error and its words."""
    try:
        yield
    except ChunkwiseError:
        raise
    except failures() as error:  # looked up late: clients are imported when they are needed
        said = " ".join(str(error).split()) or type(error).__name__
        raise StoreProblem(f"{shown}: {told(error, said)}") from error


class NewerState(ChunkwiseError):
    """Another version of chunkwise wrote what is there."""


def position_of(chunk: int) -> tuple[int, int]:
    """The number of a chunk's document, and its place in it."""
    return chunk >> CHUNK_BITS, chunk & ((1 << CHUNK_BITS) - 1)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One document on its way into a database."""

    number: int
    parts: Mapping[PartName, bytes]
    chunks: Sequence[int]
    """The numbers of its chunks."""
    rows: Sequence[Mapping[str, Any]]
    """Of each chunk what people and other tools read: `doc_id`, `text`, `start`, `end`, `section`, `metadata`, …;
    plain values, and texts that are whole Unicode. Nothing of it is read again."""
    vectors: NDArray[np.float32] | None
    """One row of length 1 a chunk; None: an index without vectors."""


class Store(Protocol):
    """What an engine offers; the rest is arithmetic of ours on what it keeps.

    Readers see what was published last and nothing else, whatever a writer does meanwhile or left when it died.
    Between `begin` and `publish`, within `locked`, nothing of what they see may change.
    """

    shown: str
    """Its address, as it may be printed."""

    def state(self) -> str | None:
        """What was published last, and from now on what this object reads; None: nothing was yet."""

    def parts(
        self, name: PartName, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """Number and part of all documents, or of these, in the order of their numbers."""

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        """Of these chunks, in their order; one that is not there raises a `KeyError`."""

    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | None,
        exact: bool | None,
    ) -> Ranking:
        """Chunks by their product with a vector of length 1, best first: numbers and scores.

        `among`: only these chunks; `exact`: whether all are compared, None leaves it to the engine.
        """

    def is_exact(self) -> bool:
        """Whether `nearest` compares all chunks where it is not said."""

    def size(self) -> int:
        """Bytes it takes, as far as the engine knows."""

    def locked(self, wait: float) -> AbstractContextManager[None]:
        """Held by one writer at a time; who waits for longer than these seconds is told by a `ChunkwiseError`."""

    def begin(self, dimensions: int, *, anew: bool) -> None:
        """Away with what an earlier writer left unpublished; `anew`: nothing is to be kept, once it is published."""

    def add(self, documents: Sequence[StoredDocument]) -> None: ...

    def remove(self, numbers: Sequence[int]) -> None:
        """These documents, with their chunks."""

    def publish(self, state: str) -> None:
        """In one step: all that was added and removed since `begin` counts, or, if this fails, nothing of it."""

    def close(self) -> None: ...


class StoredState(NamedTuple):
    """As of one moment; `revision` grows with every change."""

    settings: Settings
    languages: tuple[str, ...]
    revision: int
    next_document: int
    documents: int
    chunks: int

    def to_json(self) -> str:
        known = {**self._asdict(), "settings": asdict(self.settings)}
        return json.dumps({"kind": "chunkwise index", "format": FORMAT, **known})


def read_state(text: str, shown: str, *, of_any_version: bool = False) -> StoredState:
    """What a store published; `of_any_version`: it will be made anew."""
    try:
        values = json.loads(text)
        if values["kind"] != "chunkwise index":
            raise ValueError(f"kind is {values['kind']!r}")
        written = int(values["format"])
        if written > FORMAT:
            raise NewerState(
                f"{shown}: the index was written by a newer chunkwise (format {written}, this one reads {FORMAT}); "
                "update chunkwise"
            )
        if written < FORMAT and not of_any_version:
            raise NewerState(
                f"{shown}: the index was written by an older chunkwise (format {written}, this one reads {FORMAT}); "
                f"{REBUILD}, or use the version that wrote it"
            )
        languages = values["languages"]
        if not isinstance(languages, list) or not all(isinstance(each, str) for each in languages):
            raise ValueError(f"languages is {languages!r}")
        return StoredState(
            read_settings(values["settings"], f"the index {shown}"),
            tuple(languages),
            *(int(values[name]) for name in StoredState._fields[2:]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise StoreProblem(
            f"{shown}: what is there is no index of chunkwise, or a damaged one ({error}); name another place, or "
            f"{REBUILD}"
        ) from None
