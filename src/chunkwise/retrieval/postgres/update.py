"""Documents in and out of a knowledge base, within the transaction of its writer."""

from __future__ import annotations

import json
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

from chunkwise.core import Document
from chunkwise.errors import InvalidParameter
from chunkwise.retrieval.postgres.about import About, write_about
from chunkwise.retrieval.postgres.extension import Version
from chunkwise.retrieval.postgres.loading import Numbered, key_of, load, remove
from chunkwise.retrieval.postgres.schema import FORMAT, Names, make_indexes, make_tables, move
from chunkwise.retrieval.postgres.storable import readable, text_of
from chunkwise.retrieval.record import record_of
from chunkwise.retrieval.settings import Settings

if TYPE_CHECKING:
    from psycopg import Connection

    from chunkwise.retrieval.making.build import Built

_BATCH = 2000
"""Chunks copied at a time."""


class _Known(NamedTuple):
    number: int
    fingerprint: str
    record: bytes
    """Digest of all that is said about it."""


def _digest(record: str) -> bytes:
    return sha256(record.encode()).digest()


class Update:
    """Documents are added or kept; the others go at the end. New tables are filled beside those they replace."""

    def __init__(
        self,
        connection: Connection[Any],
        target: Names,
        settings: Settings,
        before: About | None,
        fresh: Names | None,
        version: Version,
    ) -> None:
        self._connection = connection
        self._target = target
        self._fresh = fresh
        self._version = version
        self._names = fresh or target
        self._settings = settings
        # Numbers go on where the last update stopped: none ever means another document.
        self._next = before.next_document if before else 0
        self._revision = before.revision + 1 if before else 1
        self._born = before.born if before and before.born else token_hex(16)
        self._ids: dict[bytes, str] = {}
        self._known: dict[bytes, _Known] = {}
        self._seen: set[bytes] = set()
        self._waiting: list[Numbered] = []
        self._doomed: list[int] = []
        self.changed = fresh is not None
        """Whether there is anything to commit."""
        if fresh:
            connection.execute(fresh("create schema {schema}"))
            make_tables(connection, fresh, settings.dimensions)
        else:
            self._read_known()

    def fingerprints(self) -> dict[str, str]:
        """Of the documents that may be kept, by id."""
        return {id: self._known[key].fingerprint for key, id in self._ids.items()}

    def sources(self) -> dict[str, str]:
        rows = self._connection.cursor(binary=True).execute(
            self._names("select exact_id, record from {documents} order by number")
        )
        return {text_of(id): json.loads(record)["source"] for id, record in rows}

    def knows(self, id: str, fingerprint: str) -> bool:
        known = self._known.get(key_of(id))
        return known is not None and known.fingerprint == fingerprint

    def add(self, built: Built) -> None:
        """A new document, or what takes the place of the one with its id."""
        key = self._meet(built.part.document.id)
        if key in self._known:
            self._doomed.append(self._known.pop(key).number)
        self._waiting.append(Numbered(self._next, *built))
        self._next += 1
        self.changed = True
        if sum(len(each.part.chunks) for each in self._waiting) >= _BATCH:
            self._flush()

    def leave(self, id: str) -> None:
        """A document that stays as it was."""
        self._meet(id)

    def keep(self, document: Document, fingerprint: str) -> None:
        """A document whose text has not changed; what is said about it may have."""
        known = self._known[self._meet(document.id)]
        record = record_of(document)
        if known.record == _digest(record):
            return
        self.changed = True
        self._connection.execute(
            self._names("update {documents} set title = %s, source = %s, record = %s where number = %s"),
            [readable(document.title), readable(document.source), record, known.number],
        )  # fmt: skip

    def finish(self) -> None:
        """Removes what was neither added nor kept, and puts new tables in their place."""
        self._doomed += [
            known.number for key, known in self._known.items() if key not in self._seen
        ]
        self.changed |= bool(self._doomed)
        self._flush()
        if self._fresh:
            make_indexes(self._connection, self._names, self._settings.dimensions, self._version)
        if self.changed:
            write_about(self._connection, self._names, self._about())
        if self._fresh:
            move(self._connection, self._fresh, self._target)

    def _read_known(self) -> None:
        rows = self._connection.cursor(binary=True).execute(
            self._names(
                "select key, exact_id, number, fingerprint, sha256(convert_to(record, 'UTF8'))"
                " from {documents} order by number"
            )
        )
        for key, id, *known in rows:
            self._ids[key] = text_of(id)
            self._known[key] = _Known(*known)

    def _meet(self, id: str) -> bytes:
        key = key_of(id)
        if key in self._seen:
            raise InvalidParameter(
                f"two documents have the id {id!r}; an index knows documents by their ids: give one of them another"
            )
        self._seen.add(key)
        return key

    def _flush(self) -> None:
        remove(self._connection, self._names, self._doomed)
        self._doomed.clear()
        if self._waiting:
            load(self._connection, self._names, self._waiting, self._settings.dimensions > 0)
            self._waiting.clear()

    def _about(self) -> About:
        counted = self._connection.execute(
            self._names(
                "select (select count(*) from {documents}), count(*), coalesce(sum(terms), 0) from {chunks}"
            )
        ).fetchone()
        rows = self._connection.execute(self._names("select distinct read_as from {documents}"))
        languages = tuple(sorted(str(row[0]) for row in rows))
        return About(
            FORMAT,
            self._settings,
            languages,
            self._born,
            self._revision,
            self._next,
            *map(int, counted or ()),
        )
