"""A database that changes rows one by one: each row says from which revision on it counts, and until which.

A writer has a number of its own. What it wrote counts from the step that publishes the number; the numbers of writers
that never came so far are told by the state, so that what they still send, however late, never counts.
"""

from __future__ import annotations

import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

from chunkwise.base.errors import ChunkwiseError, warn_user
from chunkwise.retrieval.databases.lease import Lease
from chunkwise.retrieval.databases.store import StoreAddress, StoreProblem, explained
from chunkwise.retrieval.errors import ChangedMeanwhile

LIVE = 1 << 52
"""Until when a row counts that nobody has removed."""
PIECE = 1 << 20
"""Bytes of a part of a document in one row."""
LISTED_PAGE = 10_000
"""Rows whose names and sizes are asked for at once."""
_FETCHED_BYTES, _FETCHED = 1 << 23, 2_000
"""Rows whose bytes are asked for at once."""
_LOST_RUNS = 100
"""Runs of numbers that are remembered as lost; no request is under way for as long as so many updates take."""
_STATE, _LOCK, _NUMBER = "state", "lock", "number"


class Published(NamedTuple):
    """What readers read; `entries` names what holds the rows."""

    state: str
    revision: int
    entries: str
    lost: tuple[tuple[int, int], ...] = ()
    """First and last numbers of writers in a row that began and did not publish."""

    def row(self) -> dict[str, Any]:
        return {**self._asdict(), "lost": [list(each) for each in self.lost]}


class KeptRow(NamedTuple):
    """A row that says what counts, and what must still be true of it when it is replaced."""

    values: Mapping[str, Any]
    condition: Any


class ListedPiece(NamedTuple):
    """A piece of a part of a document that is still to be fetched."""

    document: int
    piece: int
    size: int
    """Bytes on its way."""
    id: Any


class RevisionStore(ABC):
    """Nothing is read that its revision does not hold; the next writer removes what no revision does."""

    kind: str
    """What the database calls that which holds rows."""
    advice: str
    """To whom it fails."""

    def __init__(self, address: StoreAddress, name: str) -> None:
        self.shown = address.shown
        self._address = address
        self._name = name
        self._about = f"{name}__about"
        """Holds the rows that say what counts."""
        self._own = re.compile(rf"{re.escape(name)}__[0-9a-f]{{8}}")
        """What those that hold our chunks are called."""
        self._client: Any = None
        self._read: Published | None = None
        self._writing: Published | None = None
        self._began: KeptRow | None = None
        self._lease = Lease(self.shown, self._take)

    # What is particular to a database.

    @abstractmethod
    def _connected(self) -> Any:
        """Its client."""

    @abstractmethod
    def _failures(self) -> tuple[type[Exception], ...]:
        """What its client raises where it fails."""

    @abstractmethod
    def _row(self, name: str) -> KeptRow | None:
        """As it is now; None: there is none."""

    @abstractmethod
    def _put(self, name: str, values: Mapping[str, Any], before: KeptRow | None) -> None:
        """In one step, and only where the row is still the one that was read; elsewhere nothing happens."""

    @abstractmethod
    def _make_about(self) -> None: ...

    @abstractmethod
    def _named(self) -> tuple[set[str], str]:
        """What holds our chunks, and of what kind it is that has our name and is not ours; empty: nothing has it."""

    @abstractmethod
    def _make_entries(self, entries: str, dimensions: int) -> None: ...

    @abstractmethod
    def _drop_entries(self, entries: str) -> None: ...

    @abstractmethod
    def _undo(self, before: Published) -> None:
        """Away with what no revision holds, back with what a writer that did not publish has removed."""

    @abstractmethod
    def _settle(self, made: Published) -> None:
        """All that was written is found from now on."""

    @abstractmethod
    def _is_named(self, published: Published) -> bool:
        """Whether the name of the index stands for the chunks of this revision."""

    @abstractmethod
    def _name_chunks(self, published: Published) -> None:
        """For people and their own tools: the name stands for the chunks that count."""

    # What they share.

    def _server(self) -> Any:
        if self._client is None:
            with self._explained():
                self._client = self._connected()
        return self._client

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.shown, self._failures, self._told)

    def _told(self, error: Exception, said: str) -> str:
        return f"{said[:400]}; {self.advice}"

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Around each call that changes something: only as long as nobody else may write."""
        self._lease.check()
        with self._explained():
            yield

    def _foreign(self) -> ChunkwiseError:
        return ChunkwiseError(
            f"{self.shown}: the {self.kind} {self._about!r} is not chunkwise's; nothing was touched: choose another "
            "name"
        )

    def _changed(self) -> ChangedMeanwhile:
        return ChangedMeanwhile(f"{self.shown}: the index changed during the search; ask again")

    def state(self) -> str | None:
        self._read = self._published()
        return self._read.state if self._read else None

    def _now(self) -> Published:
        assert self._read is not None
        return self._read

    def _published(self) -> Published | None:
        return self._read_published(self._row(_STATE))

    def _read_published(self, row: KeptRow | None) -> Published | None:
        if row is None:
            return None
        found = row.values
        try:
            lost = tuple((int(first), int(last)) for first, last in found.get("lost", ()))
            return Published(
                str(found["state"]), int(found["revision"]), str(found["entries"]), lost
            )
        except (KeyError, TypeError, ValueError):
            raise self._foreign() from None

    @contextmanager
    def locked(self, wait: float) -> Iterator[None]:
        self._make_about()
        try:
            with self._lease.held(wait):
                self._mend_name()
                yield
        finally:
            self._writing = self._began = None

    def _take(self, writer: str, until: float, before: str) -> str:
        """Who is second to replace the row that both have read is refused by the database."""
        held_by, held_until, row = self._held()
        if row is None or held_by == before or held_until < time.time():
            self._put(_LOCK, {"writer": writer, "until": until}, row)
            held_by, _, _ = self._held()
        return held_by

    def _held(self) -> tuple[str, float, KeptRow | None]:
        row = self._row(_LOCK)
        if row is None:
            return "", 0.0, None
        try:
            return str(row.values["writer"]), float(row.values["until"]), row
        except (KeyError, TypeError, ValueError):
            raise self._foreign() from None

    def _mend_name(self) -> None:
        """A writer may have published and not come so far as to name what it published."""
        published = self._published()
        if published is not None and not self._is_named(published):
            self._check_name()
            with self._written():
                self._name_chunks(published)

    def _check_name(self) -> set[str]:
        """The name is given last: whether it can be is known before anything is written."""
        own, taken_by = self._named()
        if taken_by:
            raise ChunkwiseError(
                f"{self.shown}: the {taken_by} {self._name!r} is not this index's; nothing was touched: choose another "
                "name for the index"
            )
        return own

    def begin(self, dimensions: int, *, anew: bool) -> None:
        self._began = self._row(_STATE)
        published = self._read_published(self._began)
        own = self._check_name()
        number = self._own_number(published.revision if published else 0)
        if published is None or anew:
            entries = f"{self._name}__{secrets.token_hex(4)}"
            self._make_entries(entries, dimensions)
            self._writing = Published("", number, entries)  # nobody else knows where this is
        else:
            entries, lost = published.entries, published.lost
            if number > published.revision + 1:
                lost = (*lost, (published.revision + 1, number - 1))
            self._undo(published._replace(lost=lost))
            self._writing = Published("", number, entries, lost[-_LOST_RUNS:])
        for each in own - {entries, published.entries if published else ""}:
            self._drop_entries(each)

    def _own_number(self, revision: int) -> int:
        """That no other writer ever has, whatever becomes of either."""
        while True:
            self._lease.check()
            row = self._row(_NUMBER)
            try:
                own = max(revision, int(row.values["last"]) if row else 0) + 1
            except (KeyError, TypeError, ValueError):
                raise self._foreign() from None
            self._put(_NUMBER, {"last": own, "writer": self._lease.writer}, row)
            kept = self._row(_NUMBER)
            if kept and (kept.values["last"], kept.values["writer"]) == (own, self._lease.writer):
                return own

    def publish(self, state: str) -> None:
        """One row is replaced, and only where it is the one that this writer began with."""
        assert self._writing is not None
        made = self._writing._replace(state=state)
        self._settle(made)
        self._lease.renew()
        self._lease.check()
        problem: StoreProblem | None = None
        try:
            self._put(_STATE, made.row(), self._began)
        except StoreProblem as error:  # the answer may have been lost, and not the request
            problem = error
        if self._published() != made:
            raise problem or self._lease.overtaken()
        try:
            with self._written():
                self._name_chunks(made)
        except ChunkwiseError as error:
            why = error if isinstance(error, StoreProblem) else "another writer has the index now"
            warn_user(
                f"the index is up to date, but the name {self._name!r}, by which other tools find its chunks, could "
                f"not be set ({why}); the next update sets it"
            )

    def close(self) -> None:
        client, self._client, self._read = self._client, None, None
        if client is not None:
            self._let_go(client)

    def _let_go(self, client: Any) -> None:
        client.close()


def fetched_together(listed: Iterable[ListedPiece]) -> Iterator[list[ListedPiece]]:
    """As many pieces at once as are few bytes: small ones by the thousand, large ones one by one."""
    group: list[ListedPiece] = []
    room = 0
    for each in listed:
        if group and (len(group) >= _FETCHED or room + each.size > _FETCHED_BYTES):
            yield group
            group, room = [], 0
        group.append(each)
        room += each.size
    if group:
        yield group


def joined_pieces(pieces: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Number and part of each document, of pieces in their order."""
    number, own = -1, list[bytes]()
    for document, piece in pieces:
        if document != number:
            if own:
                yield number, b"".join(own)
            number, own = document, []
        own.append(piece)
    if own:
        yield number, b"".join(own)
