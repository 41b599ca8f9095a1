"""Documents in and out of a database: a writer reserves numbers, and publishes everything at once."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, warn_user
from chunkwise.base.wording import thousands
from chunkwise.core import Document, OnProgress
from chunkwise.options import IndexOptions
from chunkwise.retrieval.databases.index import StoredIndex
from chunkwise.retrieval.databases.serialization import (
    AboutDocument,
    brief_record,
    read_about,
    stored_document,
    stored_parts,
    text_part,
)
from chunkwise.retrieval.databases.store import (
    CHUNK_BITS,
    PARTS,
    Garbage,
    State,
    Store,
    StoredDocument,
    StoreProblem,
    Writer,
    parse_state,
    runs_of,
)
from chunkwise.retrieval.graph.communities import community_writer
from chunkwise.retrieval.indexing.build import BuiltDocument
from chunkwise.retrieval.indexing.long_documents import as_a_whole
from chunkwise.retrieval.indexing.resolve_settings import (
    ResolvedSettings,
    resolve_for_rebuild,
    resolve_settings,
)
from chunkwise.retrieval.indexing.update import (
    BuiltIndex,
    Changes,
    IndexUpdate,
    Reading,
    is_made_again,
    update_documents,
)
from chunkwise.retrieval.settings import Settings

SECONDS = 20.0
"""For which a writer has its numbers unless it renews them."""
LOOK_AGAIN = 0.2
_RESERVED = 1000
"""Numbers at a time."""
_BATCH = 2000
"""Chunks written at a time."""
_BYTES = 1 << 25


class Reservation:
    """Numbers of documents that no other writer ever has; a thread renews it as long as its writer lives.

    Whoever takes over one that ended makes every later write of its former holder garbage, and its publishing fails.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._host = f"{socket.gethostname()}, "
        self.name = f"process {os.getpid()} on {self._host}{secrets.token_hex(8)}"
        self._lock = threading.Lock()
        self._held_until = 0.0
        """By the clock that never goes back."""
        self.state = State()

    @contextmanager
    def held(self, wait: float) -> Iterator[None]:
        with self._store.lock(wait):
            over = threading.Event()
            renewing = threading.Thread(target=self._renew, args=(over,), daemon=True)
            if self._store.is_transactional:
                self.state = parse_state(self._store.read_state(), self._store.shown)
                self._next = self._first = self.state.next_number
                self._held_until = float("inf")
            else:
                self._acquire(wait)
                renewing.start()
            try:
                yield
            finally:
                over.set()
                if renewing.ident:
                    renewing.join()
                with suppress(ChunkwiseError):  # it ends by itself
                    if self._is_mine(self.state) and not self._store.is_transactional:
                        self.swap(lambda state: replace(state, writer=None))

    def _acquire(self, wait: float) -> None:
        until = time.monotonic() + wait
        while True:
            asked, text = time.monotonic(), self._store.read_state()
            state = parse_state(text, self._store.shown)
            if state.writer is None or self._has_ended(state.writer):
                mine = Writer(self.name, time.time() + SECONDS, state.next_number, state.rows)
                new = replace(state, writer=mine, garbage=state.garbage + _left_by(state))
                if self._swapped(text, new, self._is_mine):
                    self._held_until = asked + SECONDS
                    self._next = self._first = self.state.next_number
                    return
                state = self.state
            if time.monotonic() >= until:
                holder = state.writer.name.partition(",")[0] if state.writer else "another"
                raise ChunkwiseError(
                    f"{self._store.shown} is locked by {holder}; waited {thousands(wait)} s, "
                    f"try again later"
                )
            time.sleep(LOOK_AGAIN)

    def _has_ended(self, writer: Writer) -> bool:
        if writer.until < time.time():
            return True
        process, _, host = writer.name.removeprefix("process ").partition(" on ")
        if not host.startswith(self._host):
            return False
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return True  # it was killed; were it alive elsewhere, what it writes would not count all the same
        except (OSError, ValueError):
            return False
        return False

    def _is_mine(self, state: State) -> bool:
        return state.writer is not None and state.writer.name == self.name

    def _swapped(self, old: str | None, new: State, is_done: Callable[[State], bool]) -> bool:
        """Whether it was done is looked up: the answer may be lost, and not the request."""
        problem: StoreProblem | None = None
        try:
            self._store.swap_state(old, new.to_json())
        except StoreProblem as error:
            problem = error
        self.state = parse_state(self._store.read_state(), self._store.shown)
        if is_done(self.state):
            return True
        if problem:
            raise problem
        return False

    def swap(
        self, change: Callable[[State], State], is_done: Callable[[State], bool] | None = None
    ) -> None:
        """Change the state as the holder; an error where another has taken over."""
        with self._lock:
            while True:
                text = self._store.read_state()
                state = parse_state(text, self._store.shown)
                if not (self._is_mine(state) or self._store.is_transactional):
                    raise self._overtaken()
                new = change(state)
                if self._swapped(text, new, is_done or new.__eq__):
                    return

    def _renew(self, over: threading.Event) -> None:
        while not over.wait(SECONDS / 4):
            asked = time.monotonic()
            try:
                self.swap(
                    lambda state: replace(
                        state, writer=state.writer and replace(state.writer, until=time.time() + SECONDS)
                    )
                )  # fmt: skip
                self._held_until = asked + SECONDS
            except StoreProblem:
                continue  # next time
            except ChunkwiseError:
                self._held_until = 0.0
                return

    def check(self) -> None:
        """Before every step that writes."""
        if time.monotonic() >= self._held_until:
            raise self._overtaken()

    def _overtaken(self) -> ChunkwiseError:
        return ChunkwiseError(
            f"{self._store.shown}: the write lock expired and another writer took over; this "
            f"update was discarded, run it again"
        )

    def number(self) -> int:
        """The next one."""
        if self._next == self.state.next_number and not self._store.is_transactional:
            self.swap(lambda state: replace(state, next_number=state.next_number + _RESERVED))
        self._next += 1
        return self._next - 1

    def begin(self, *, anew: bool) -> None:
        """Remove what earlier writers left, and say what this one writes into."""
        rows = self.state.rows
        if anew:
            self.number()  # taken, so that nobody else begins with the same
            rows = str(self._first)
        for row in self.state.garbage:
            self.check()
            if row.run is None:
                self._store.drop(row.rows)
            elif row.rows == self.state.rows:
                self._store.delete(*row.run)
        self.swap(
            lambda state: replace(
                state, garbage=(), writer=state.writer and replace(state.writer, rows=rows)
            )
        )
        self._store.use(rows)

    def publish(self, new: State) -> None:
        """One value is replaced, and only as long as this writer holds its reservation."""
        self.swap(
            lambda state: replace(
                new, published=self.name, next_number=max(self._next, 1), writer=None
            ),
            lambda state: state.published == self.name,
        )


def _left_by(state: State) -> tuple[Garbage, ...]:
    """What a writer that did not publish may have written."""
    writer = state.writer
    if writer is None:
        return ()
    if writer.rows != state.rows:
        return (Garbage(writer.rows),)
    runs = runs_of(range(writer.first, state.next_number))
    return tuple(Garbage(state.rows, run) for run in runs)


class StoreRows:
    """Documents are added or kept; the others go. Nothing is written before something has changed."""

    def __init__(
        self, store: Store, reservation: Reservation, settings: Settings, before: StoredIndex | None
    ) -> None:  # fmt: skip
        self._store = store
        self._reservation = reservation
        self._settings = settings
        self._before = before
        self._kept: dict[int, AboutDocument] = {}
        """What is live from now on, by number."""
        self._ids: set[str] = set()
        self._waiting: list[StoredDocument] = []
        self._has_begun = False

    def add(self, built: BuiltDocument) -> None:
        self._write(stored_document(self._reservation.number(), built, self._settings))

    def add_segments(self, segments: Iterator[BuiltDocument]) -> None:
        self.add(as_a_whole(segments))

    def keep(self, number: int) -> None:
        assert self._before is not None
        arrays = self._before.fetched
        self._keep(int(arrays.numbers[number]), arrays.about[number])

    def copy(self, number: int, document: Document) -> None:
        assert self._before is not None
        arrays = self._before.fetched
        old, known = int(arrays.numbers[number]), arrays.about[number]
        about = replace(known, id=document.id, record=brief_record(document))
        parts = {part: arrays.parts(part, [old])[0] for part in PARTS}
        parts |= {"about": about.to_bytes(), "text": text_part(document)}
        first = old << CHUNK_BITS
        vectors = None
        if self._settings.dimensions:
            vectors = self._store.vectors(range(first, first + known.chunks))
        self._write(
            stored_parts(self._reservation.number(), document, parts, self._settings, vectors)
        )

    def _keep(self, number: int, about: AboutDocument) -> None:
        if about.id in self._ids:
            raise InvalidParameter(
                f"two documents have the id {about.id!r}; document ids must be unique"
            )
        self._ids.add(about.id)
        self._kept[number] = about

    def _write(self, document: StoredDocument) -> None:
        self._keep(document.number, read_about(document.parts["about"]))
        self._waiting.append(document)
        chunks = sum(len(item.chunks) for item in self._waiting)
        size = sum(len(part) for each in self._waiting for part in each.parts.values())
        if chunks >= _BATCH or size >= _BYTES:
            self._flush()

    def _begin(self) -> None:
        if self._has_begun:
            return
        is_anew = self._before is None
        self._reservation.begin(anew=is_anew)
        if is_anew:
            self._store.make(self._settings.dimensions)
        self._has_begun = True

    def _flush(self) -> None:
        self._begin()
        if self._waiting:
            self._reservation.check()
            self._store.put(self._waiting)
            self._waiting = []

    def finish(
        self, resolved: ResolvedSettings, changes: Changes, advance: OnProgress | None
    ) -> Changes:
        """Publish what was added and kept, if it is not the index that was."""
        before, writer = self._before, community_writer(resolved)
        old = before.state if before else State()
        live = runs_of(sorted(self._kept))
        is_same = live == old.live and old.settings == self._settings
        if before and is_same and not before.communities().missing:
            return changes
        self._flush()
        new = State(
            self._settings,
            tuple(sorted({document.language for document in self._kept.values()})),
            rows=self._store.rows,
            live=live,
            documents=len(self._kept),
            chunks=sum(document.chunks for document in self._kept.values()),
            terms=sum(document.terms for document in self._kept.values()),
            summaries=sum(document.summaries for document in self._kept.values()),
        )
        if writer:
            made = StoredIndex(self._store, new)
            text = writer.write(made.atom_table(), made.document, advance).to_json()
            new = replace(new, communities=self._reservation.number())
            self._store.put(
                [StoredDocument(new.communities, {"text": text.encode()}, (), (), None)]
            )
            changes = replace(changes, notes=changes.notes + writer.notes())
        self._store.settle()
        garbage = self._replaced(old)
        self._reservation.publish(replace(new, garbage=garbage))
        try:
            self._store.expose()
            for row in garbage if self._store.has_versions else ():
                if row.run:
                    self._store.delete(*row.run)
        except StoreProblem as problem:
            warn_user(
                f"the index is up to date, but its view for other tools isn't ({problem}); the "
                f"next update repairs it"
            )
        return changes

    def _replaced(self, old: State) -> tuple[Garbage, ...]:
        """What the next writer removes: until then, whoever reads the state before finds it."""
        if self._before is None:
            former = self._reservation.state.rows
            if former and self._store.is_transactional:
                self._store.drop(former)
                return ()
            return (Garbage(former),) if former else ()
        gone = {*old.numbers.tolist(), *([old.communities] if old.communities else [])}
        runs = runs_of(sorted(gone - self._kept.keys()))
        if not self._store.is_transactional:
            return tuple(Garbage(old.rows, run) for run in runs)
        for run in runs:
            self._store.delete(*run)
        return ()


@contextmanager
def _closed_on_errors(store: Store) -> Iterator[Store]:
    try:
        yield store
    except BaseException:
        store.close()
        raise


class StoredEngine:
    """An engine is a class of this kind with `store`: what it gives does the rest."""

    opened: type[StoredIndex] = StoredIndex

    def store(self, place: str) -> Store:
        """What is at an address; nothing is made there before something is written."""
        raise NotImplementedError

    def into(
        self,
        place: str,
        reading: Reading,
        requested: IndexOptions,
        *,
        rebuild: bool,
        wait: float,
    ) -> BuiltIndex[StoredIndex]:
        with _closed_on_errors(self.store(place)) as store:
            reservation = Reservation(store)
            with reservation.held(wait):
                state = reservation.state
                resolve = resolve_for_rebuild if rebuild and state.settings else resolve_settings
                resolved = resolve(requested, state.settings)
                is_anew = rebuild or is_made_again(state.settings, resolved, reading)
                before = None if is_anew else StoredIndex(store, state)
                rows = StoreRows(store, reservation, resolved.settings, before)
                update = IndexUpdate(before, rows, brief_record)
                changes = update_documents(update, reading, resolved)
                changes = rows.finish(resolved, changes, reading.advance)
            return BuiltIndex(self.opened(store), resolved, changes)

    def open(self, place: str) -> StoredIndex:
        with _closed_on_errors(self.store(place)) as store:
            return self.opened(store)

    def settings(self, place: str) -> Settings | None:
        store = self.store(place)
        try:
            return parse_state(store.read_state(), store.shown).settings
        finally:
            store.close()
