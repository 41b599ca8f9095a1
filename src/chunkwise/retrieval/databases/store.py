"""A database that keeps an index: its address, and what it keeps of documents, chunks and the published state."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray

from chunkwise.base.allow_hosts_and_code_from_files import distrust
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.secrets import mask_address
from chunkwise.retrieval.errors import REBUILD
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.settings import Settings

DEFAULT_NAME = "chunkwise"
LOCAL = "local"
"""The variant of an address whose host is the first part of a folder."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """One place of a database."""

    engine: str
    """The first word, without what stands behind its +."""
    variant: str
    """What stands behind the + of the first word; empty: nothing."""
    host: str
    """With its port, and without a user."""
    user: str = field(repr=False)
    """What stands before the @; empty: nothing."""
    path: str
    """As it is spelt behind the host, with its slash."""
    options: dict[str, str] = field(repr=False)
    shown: str
    """The address as it may be printed."""

    @property
    def folder(self) -> Path | None:
        """Of a database on this machine that needs no server; None: a server is named, or nothing."""
        if self.variant != LOCAL and (self.variant or self.host):
            return None
        return Path(self.host + self.path) if (self.host + self.path).strip("/") else None

    @property
    def hostname(self) -> str:
        return urlsplit(f"//{self.host}").hostname or ""

    @property
    def port(self) -> int | None:
        try:
            return urlsplit(f"//{self.host}").port
        except ValueError:
            raise InvalidParameter(
                f"the address is {self.shown}; a port is a number up to 65535"
            ) from None

    @property
    def is_encrypted(self) -> bool:
        return self.variant == "https"

    def secret(self, variable: str) -> str | None:
        """From the environment; over an open connection it goes to this machine alone."""
        value = os.environ.get(variable, "").strip() or None
        is_near = self.folder is not None or self.hostname in LOOPBACK
        if value and not is_near and not self.is_encrypted:
            raise InvalidParameter(
                f"{variable} would travel to {self.hostname} unencrypted; write {self.engine}+https://…, or unset it"
            )
        return value

    def no_secrets(self, instead: str) -> None:
        """A key has no place in an address: it is shown, and kept in the history of shells."""
        if self.user:
            # Not the address itself: a key without a colon is shown as if it were a user.
            raise InvalidParameter(
                f"the address of {self.engine} has a user or a key in it; put it into {instead} and leave it out"
            )

    def only(self, *known: str) -> None:
        """An option that nobody reads is a slip of the pen."""
        for name in self.options:
            if name not in known:
                raise InvalidParameter(
                    f"the address {self.shown} has the option {name!r}; known: {', '.join(known) or 'none'}"
                )


def parse_store_address(place: str) -> StoreAddress:
    """Percent signs are decoded; a name given twice counts as it is given last."""
    try:
        parts = urlsplit(place)
        host = parts.netloc.rpartition("@")
    except ValueError as error:
        raise InvalidParameter(f"the address is {mask_address(place)!r}: {error}") from None
    engine, _, variant = parts.scheme.lower().partition("+")
    return StoreAddress(
        engine,
        variant,
        host[2],
        unquote(host[0]),
        unquote(parts.path),
        dict(parse_qsl(parts.query, keep_blank_values=True)),
        mask_address(place),
    )


def checked_name(name: str, shown: str) -> str:
    """What tables and collections are called by."""
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"the index of {shown} is named {name!r}; letters, digits, - and _ make a name, 63 at most"
        )
    return name


FORMAT = 2
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


@dataclass(frozen=True, slots=True)
class StoredState:
    """As of one moment; `revision` grows with every change."""

    settings: Settings
    languages: tuple[str, ...]
    revision: int
    next_document: int
    documents: int
    chunks: int

    def to_json(self) -> str:
        return json.dumps({"kind": "chunkwise index", "format": FORMAT, **asdict(self)})


def read_state(text: str, shown: str) -> StoredState:
    """What a store published."""
    try:
        values = json.loads(text)
        if values["kind"] != "chunkwise index":
            raise ValueError(f"kind is {values['kind']!r}")
        written = int(values["format"])
        if written != FORMAT:
            raise ChunkwiseError(
                f"{shown}: the index was written by another version of chunkwise (format {written}, this one reads "
                f"{FORMAT}); remove it, or name another place"
            )
        state = msgspec.convert(values, StoredState)
        distrust(state.settings, f"the index {shown}")
        return state
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise StoreProblem(
            f"{shown}: what is there is no index of chunkwise, or a damaged one ({error}); name another place, or "
            f"{REBUILD}"
        ) from None
