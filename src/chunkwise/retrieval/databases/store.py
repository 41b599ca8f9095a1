"""A database that keeps an index: what an engine offers, and the one published value that says which rows count.

Visibility by membership: numbers of documents are never used twice, and a row counts exactly when the number of its
document is in the published state. A writer reserves its numbers by one conditional write before it writes rows, and
publishes by another one, which is refused if the reservation was taken over meanwhile. Rows that are neither live nor
reserved are garbage, which the next writer removes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from chunkwise.base.allow_hosts_and_code_from_files import distrust
from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.errors import REBUILD
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.settings import Settings
from chunkwise.text.terms import TermCounts

CHUNK_BITS = 32
"""A chunk's number is its document's, then its position in it."""
_FORMAT = 4

PartName = Literal["about", "outline", "chunks", "terms", "atoms", "text"]
PARTS: tuple[PartName, ...] = ("about", "outline", "chunks", "terms", "atoms", "text")
"""Of a document: a summary of it (JSON), its pages, blocks and sections, the arrays of its chunks, their terms, the
arrays of its sentences, and its record with its text."""


class StoreProblem(ChunkwiseError):
    """The database could not be reached, refused, or failed."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One document on its way into a database."""

    number: int
    parts: Mapping[PartName, bytes]
    chunks: Sequence[int]
    """The numbers of its chunks."""
    rows: Sequence[Mapping[str, Any]]
    """The readable fields of each chunk: `doc_id`, `text`, `start`, `end`, `section`, `metadata`, …; plain values, and
    texts that are whole Unicode. Nothing of it is read again."""
    vectors: NDArray[np.float32] | None
    """One row of length 1 per chunk; None: an index without vectors."""
    terms: TermCounts | None = None
    """Of each chunk, for a database that searches words itself."""


CALLS = frozenset(
    "read_state swap_state make drop put delete get vectors nearest is_exact settle expose size".split()
)
"""Methods of a store that ask its database."""


def _explaining(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Store, /, *given: Any, **named: Any) -> Any:
        with explained(self.shown, self.failures, self.advice):
            return method(self, *given, **named)

    return call


class Store(ABC):
    """What an engine offers; the rest is arithmetic of ours on what it keeps. No call needs more than one row changed
    in one step, and only `swap_state` is conditional."""

    shown: str
    """Its address, as it may be printed."""
    rows = ""
    """Which set of rows is read and written: each rebuild has a new one."""
    is_transactional = False
    """Whether all that is written within `lock` counts once that ends, or nothing of it."""

    has_versions = False
    """Whether rows stay as they are for whoever called `use`, also where they are removed."""
    advice = ""
    """What a user can do about an error of the client."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        for name in CALLS & vars(cls).keys():
            setattr(cls, name, _explaining(vars(cls)[name]))

    def failures(self) -> tuple[type[Exception], ...]:
        """What the client of the database raises; in the methods below it becomes a `StoreProblem`."""
        return ()

    def lock(self, wait: float) -> AbstractContextManager[object]:
        """Held by one writer at a time, where the database has locks that end with their holder."""
        return nullcontext()

    def reading(self) -> AbstractContextManager[object]:
        """Within it all that is read is of one moment, where the database can do that."""
        return nullcontext()

    def use(self, rows: str) -> None:
        """Read and write this set of rows from now on, as it is now."""
        self.rows = rows

    @abstractmethod
    def read_state(self) -> str | None:
        """The published value; None: there is none yet."""

    @abstractmethod
    def swap_state(self, old: str | None, new: str) -> None:
        """Replace the value in one step, but only if it still is `old`; otherwise nothing happens."""

    @abstractmethod
    def make(self, dimensions: int) -> None:
        """Make the current set of rows, which nobody else knows yet."""

    @abstractmethod
    def drop(self, rows: str) -> None:
        """Remove a set of rows, as far as it is there."""

    @abstractmethod
    def put(self, documents: Sequence[StoredDocument]) -> None: ...

    @abstractmethod
    def delete(self, first: int, last: int) -> None:
        """Remove the documents with these numbers, as far as they are there."""

    @abstractmethod
    def get(self, part: PartName, numbers: Sequence[int]) -> dict[int, bytes]:
        """A part of these documents, by number; those that are not there are left out."""

    @abstractmethod
    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        """Vectors of these chunks, in their order; one that is not there raises a `KeyError`."""

    @abstractmethod
    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | None,
        exact: bool | None,
    ) -> Ranking:
        """Chunks by their product with a vector of length 1, best first, whether they count or not.

        `among`: only these chunks; `exact`: whether all are compared, None leaves it to the engine.
        """

    def is_exact(self) -> bool:
        """Whether `nearest` compares all chunks where it is not said."""
        return True

    def settle(self) -> None:  # noqa: B027
        """Before the state is published: all that was written is found from now on."""

    def expose(self) -> None:  # noqa: B027
        """After the state is published: for people and their own tools, the rows get the name of the index."""

    @abstractmethod
    def size(self) -> int:
        """Bytes it takes, as far as the engine knows."""

    @abstractmethod
    def close(self) -> None: ...


@contextmanager
def explained(
    shown: str, failures: Callable[[], tuple[type[Exception], ...]], advice: str = ""
) -> Iterator[None]:
    """Turn what the client of a database raises into one line of ours."""
    try:
        yield
    except ChunkwiseError:
        raise
    except failures() as error:  # looked up late: clients are imported when they are needed
        reason = " ".join(str(error).split())[:400] or type(error).__name__
        raise StoreProblem(f"{shown}: {reason}{f'; {advice}' if advice else ''}") from error


class NumberRun(NamedTuple):
    """Numbers of documents, both ends included."""

    first: int
    last: int


def runs_of(numbers: Sequence[int]) -> tuple[NumberRun, ...]:
    """Ascending numbers as runs."""
    if not len(numbers):
        return ()
    every = np.asarray(numbers, np.int64)
    cuts = np.flatnonzero(np.diff(every) != 1) + 1
    firsts, lasts = every[np.append(0, cuts)].tolist(), every[np.append(cuts, 0) - 1].tolist()
    return tuple(map(NumberRun, firsts, lasts))


class Garbage(NamedTuple):
    """What the next writer removes: a run of documents, or a whole set of rows."""

    rows: str
    run: NumberRun | None = None


@dataclass(frozen=True, slots=True)
class Writer:
    """Who has reserved numbers, from the first one of these up to the next one of the state."""

    name: str
    until: float
    """By the clock; another writer may take over then, and is still kept apart from this one."""
    first: int
    rows: str
    """What it writes into."""


@dataclass(frozen=True, slots=True)
class State:
    """The published value, replaced as a whole."""

    settings: Settings | None = None
    """None: no index was published yet."""
    languages: tuple[str, ...] = ()
    published: str = ""
    """Another one for each update."""
    rows: str = ""
    next_number: int = 1
    live: tuple[NumberRun, ...] = ()
    """The documents; rows of all other numbers do not exist for a reader."""
    documents: int = 0
    chunks: int = 0
    terms: int = 0
    """Of all chunks together, every occurrence counted."""
    summaries: int = 0
    """Chunks that are summaries."""
    communities: int = 0
    """The number whose text is what a language model says of passages that hang together; 0: there is none."""
    garbage: tuple[Garbage, ...] = ()
    writer: Writer | None = None

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Of all documents."""
        parts = [np.arange(first, last + 1, dtype=np.int64) for first, last in self.live]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def to_json(self) -> str:
        return json.dumps({"kind": "chunkwise index", "format": _FORMAT, **asdict(self)})


def parse_state(text: str | None, shown: str) -> State:
    """Read the value of a store."""
    if text is None:
        return State()
    try:
        values = json.loads(text)
        if values["kind"] != "chunkwise index":
            raise ValueError(f"kind is {values['kind']!r}")
        if (written := values["format"]) != _FORMAT:
            raise ChunkwiseError(
                f"{shown}: the index has format {written}, but this chunkwise reads {_FORMAT}; "
                f"remove it, or use another place"
            )
        state = msgspec.convert(values, State)
        if state.settings:
            distrust(state.settings, f"the index {shown}")
        return state
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise StoreProblem(
            f"{shown}: not a chunkwise index, or damaged ({error}); nothing was changed: use "
            f"another place, or {REBUILD}"
        ) from None


PIECE = 1 << 20
"""Bytes of a part in one row, where a database has limits."""
_ANSWER = 1 << 23
"""Bytes asked for at once, about."""
Fetch = Callable[[Sequence[tuple[int, int]]], Mapping[tuple[int, int], tuple[bytes, int]]]
"""Pieces by document and place, each with how many the part has; those that are not there are left out."""


def pieces_of(part: bytes) -> list[bytes]:
    """One at least."""
    return [part[low : low + PIECE] for low in range(0, max(1, len(part)), PIECE)]


def join_pieces(numbers: Sequence[int], fetch: Fetch) -> dict[int, bytes]:
    """A part of each of these documents, as many together as are few bytes; what is not whole is left out."""
    waiting, at, count = [(number, 0) for number in numbers], 0, 16
    result: dict[tuple[int, int], bytes] = {}
    wanted: dict[int, int] = {}
    while at < len(waiting):
        group = waiting[at : at + count]
        answer = fetch(group)
        at += len(group)
        for (number, place), (data, pieces) in answer.items():
            result[number, place] = data
            if not place:
                wanted[number] = pieces
                waiting += [(number, further) for further in range(1, pieces)]
        size = sum(len(data) for data, _ in answer.values())
        count = min(2000, max(1, _ANSWER * len(answer) // max(1, size)))
    return {
        number: b"".join(result[number, place] for place in range(pieces))
        for number, pieces in wanted.items()
        if all((number, place) in result for place in range(pieces))
    }
