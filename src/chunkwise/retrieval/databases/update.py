"""Documents in and out of a database: one writer, everything is published at once or nothing is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.options import IndexOptions
from chunkwise.retrieval.databases.index import StoredIndex
from chunkwise.retrieval.databases.serialization import (
    AboutDocument,
    read_about,
    recorded_anew,
    stored_document,
)
from chunkwise.retrieval.databases.store import (
    Store,
    StoredDocument,
    StoredState,
    read_state,
)
from chunkwise.retrieval.indexed_document import record_of
from chunkwise.retrieval.indexing.build import BuiltDocument
from chunkwise.retrieval.indexing.long_documents import as_a_whole
from chunkwise.retrieval.indexing.resolve_settings import (
    resolve_for_rebuild,
    resolve_settings,
)
from chunkwise.retrieval.indexing.update import BuiltIndex, Reading, update_documents
from chunkwise.retrieval.settings import Settings

_BATCH = 2000
"""Chunks written at a time."""
_BYTES = 1 << 25


class _Known(NamedTuple):
    number: int
    about: AboutDocument


class StoredUpdate:
    """Documents are added or kept; the others go at the end. Nothing is written before something has changed."""

    def __init__(
        self, store: Store, settings: Settings, before: StoredState | None, anew: bool
    ) -> None:
        self._store = store
        self._settings = settings
        # Numbers go on where the last update stopped: none ever means another document.
        self._next = before.next_document if before else 1
        self._revision = before.revision if before else 0
        self._known: dict[str, _Known] = {}
        self._kept: dict[str, AboutDocument] = {}
        self._waiting: list[StoredDocument] = []
        self._doomed: list[int] = []
        self._anew = anew
        self._has_begun = False
        if not anew:
            for number, stored in store.parts("about"):
                about = read_about(stored)
                self._known[about.id] = _Known(number, about)

    def fingerprints(self) -> dict[str, str]:
        return {id: known.about.fingerprint for id, known in self._known.items()}

    def sources(self) -> dict[str, str]:
        return {id: known.about.source for id, known in self._known.items()}

    def revisions(self) -> dict[str, str]:
        every = (
            (id, json.loads(known.about.record).get("revision"))
            for id, known in self._known.items()
        )
        return {id: revision for id, revision in every if revision}

    def knows(self, id: str, fingerprint: str) -> bool:
        return id in self._known and self._known[id].about.fingerprint == fingerprint

    def add(self, built: BuiltDocument) -> None:
        id = built.part.document.id
        self._meet(id)
        if id in self._known:
            self._doomed.append(self._known[id].number)
        self._write(stored_document(self._next, built, self._settings))

    def leave(self, id: str) -> None:
        self._meet(id)
        self._kept[id] = self._known[id].about

    def add_segments(self, segments: Iterator[BuiltDocument]) -> None:
        self.add(as_a_whole(segments))

    def keep(self, document: Document, fingerprint: str) -> None:
        """A document whose text has not changed; what is said about it may have."""
        self._meet(document.id)
        known = self._known[document.id]
        if known.about.record == record_of(document):
            self._kept[document.id] = known.about
            return
        self._doomed.append(known.number)
        self._write(
            recorded_anew(
                self._next, document, known.about, known.number, self._store, self._settings
            )
        )

    def _meet(self, id: str) -> None:
        if id in self._kept:
            raise InvalidParameter(
                f"two documents have the id {id!r}; an index knows documents by their ids: give one of them another"
            )

    def _write(self, document: StoredDocument) -> None:
        about = read_about(document.parts["about"])
        self._kept[about.id] = about
        self._next += 1
        self._waiting.append(document)
        chunks = sum(len(each.chunks) for each in self._waiting)
        room = sum(len(part) for each in self._waiting for part in each.parts.values())
        if chunks >= _BATCH or room >= _BYTES:
            self._flush()

    def _begin(self) -> None:
        if not self._has_begun:
            self._store.begin(self._settings.dimensions, anew=self._anew)
            self._has_begun = True

    def _flush(self) -> None:
        if self._waiting:
            self._begin()
            self._store.add(self._waiting)
            self._waiting = []

    def finish(self) -> None:
        """Removes what was neither added nor kept, and publishes."""
        self._doomed += [known.number for id, known in self._known.items() if id not in self._kept]
        self._flush()
        if not (self._has_begun or self._doomed or self._anew):
            return
        self._begin()
        if self._doomed:
            self._store.remove(self._doomed)
        about = self._kept.values()
        state = StoredState(
            self._settings,
            tuple(sorted({each.language for each in about})),
            self._revision + 1,
            self._next,
            len(about),
            sum(each.chunks for each in about),
        )
        self._store.publish(state.to_json())


@contextmanager
def closed_on_errors(store: Store) -> Iterator[Store]:
    try:
        yield store
    except BaseException:
        store.close()
        raise


class StoredEngine:
    """An engine is a class of this kind with `store`: what it gives does the rest."""

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
        with closed_on_errors(self.store(place)) as store, store.locked(wait):
            published = store.state()
            before = None
            if published is not None:
                before = read_state(published, store.shown)
            if rebuild and before:
                resolved = resolve_for_rebuild(requested, before.settings, reading.advance)
            else:
                resolved = resolve_settings(
                    requested, before.settings if before else None, reading.advance
                )
            if resolved.settings.graph == "relations":
                raise InvalidParameter(
                    f"{store.shown}: graph is 'relations', which a language model reads, and here names alone can be "
                    "kept; choose graph='names' (--graph without --llm), or index into a folder or PostgreSQL"
                )
            anew = before is None or rebuild or before.settings != resolved.settings
            update = StoredUpdate(store, resolved.settings, before, anew)
            changes = update_documents(update, reading, resolved)
            update.finish()
        with closed_on_errors(store):
            return BuiltIndex(StoredIndex(store), resolved, changes)

    def open(self, place: str) -> StoredIndex:
        with closed_on_errors(self.store(place)) as store:
            return StoredIndex(store)

    def settings(self, place: str) -> Settings | None:
        store = self.store(place)
        try:
            published = store.state()
            if published is None:
                return None
            return read_state(published, store.shown).settings
        finally:
            store.close()
