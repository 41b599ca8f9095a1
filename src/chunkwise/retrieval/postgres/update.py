"""Documents in and out of a knowledge base: one writer, one transaction, everything happens or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import blake2b, sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document, OnProgress
from chunkwise.options import IndexOptions
from chunkwise.retrieval.graph.communities import CommunityWriter, community_writer
from chunkwise.retrieval.indexed_document import DocumentsCache, readable, record_of
from chunkwise.retrieval.indexing.long_documents import as_a_whole
from chunkwise.retrieval.indexing.resolve_settings import (
    resolve_for_rebuild,
    resolve_settings,
)
from chunkwise.retrieval.indexing.update import BuiltIndex, Reading, update_documents
from chunkwise.retrieval.postgres.connection import (
    Address,
    ServerProblem,
    Version,
    connect,
    need_vectors,
    parse_address,
    server_problems_explained,
)
from chunkwise.retrieval.postgres.index import PostgresIndex
from chunkwise.retrieval.postgres.loading import (
    NumberedDocument,
    key_of,
    load,
    remove,
    text_of,
)
from chunkwise.retrieval.postgres.reading import read_atoms, read_communities, read_document
from chunkwise.retrieval.postgres.schema import (
    FORMAT,
    IndexState,
    TableNames,
    make_indexes,
    make_tables,
    move,
    read_state,
    write_about,
)
from chunkwise.retrieval.settings import Settings
from chunkwise.retrieval.tables_lists_code import WholeBlocks

if TYPE_CHECKING:
    from psycopg import Connection

    from chunkwise.retrieval.indexing.build import BuiltDocument


_BATCH = 2000
"""Chunks copied at a time."""


class _Known(NamedTuple):
    number: int
    fingerprint: str
    record: bytes
    """Digest of all that is said about it."""


def _digest(record: str) -> bytes:
    return sha256(record.encode()).digest()


class PostgresUpdate:
    """Documents are added or kept; the others go at the end. New tables are filled beside those they replace."""

    def __init__(
        self,
        connection: Connection[Any],
        target: TableNames,
        settings: Settings,
        before: IndexState | None,
        fresh: TableNames | None,
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
        self._waiting: list[NumberedDocument] = []
        self._doomed: list[int] = []
        self.changed = fresh is not None
        """Whether there is anything to commit."""
        if fresh:
            connection.execute(fresh("create schema {schema}"))
            make_tables(connection, fresh, settings)
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

    def revisions(self) -> dict[str, str]:
        rows = self._connection.cursor(binary=True).execute(
            self._names("select exact_id, record from {documents} order by number")
        )
        found = ((text_of(id), json.loads(record).get("revision")) for id, record in rows)
        return {id: revision for id, revision in found if revision}

    def knows(self, id: str, fingerprint: str) -> bool:
        known = self._known.get(key_of(id))
        return known is not None and known.fingerprint == fingerprint

    def add(self, built: BuiltDocument) -> None:
        """A new document, or what takes the place of the one with its id."""
        key = self._meet(built.part.document.id)
        if key in self._known:
            self._doomed.append(self._known.pop(key).number)
        self._waiting.append(NumberedDocument(self._next, *built))
        self._next += 1
        self.changed = True
        if sum(len(each.part.chunks) for each in self._waiting) >= _BATCH:
            self._flush()

    def leave(self, id: str) -> None:
        """A document that stays as it was."""
        self._meet(id)

    def add_segments(self, segments: Iterator[BuiltDocument]) -> None:
        self.add(as_a_whole(segments))

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

    def summarize(self, writer: CommunityWriter, advance: OnProgress | None) -> None:
        """Once all documents are there: what they have in common is of all of them."""
        self._settle()
        connection, names = self._connection, self._names
        if not self.changed and not read_communities(connection, names).missing:
            return

        def read(number: int) -> WholeBlocks:
            found = read_document(connection, names, number)
            assert found is not None
            return found

        atoms, documents = read_atoms(connection, names, self._settings).table, DocumentsCache(read)
        found = writer.write(atoms, lambda number: documents.get(number).document, advance)
        connection.execute(names("delete from {communities}"))
        connection.execute(names("insert into {communities} values (%s)"), [found.to_json()])
        self.changed = True

    def _settle(self) -> None:
        """Removes what was neither added nor kept."""
        self._doomed += [
            known.number for key, known in self._known.items() if key not in self._seen
        ]
        self._known = {key: known for key, known in self._known.items() if key in self._seen}
        self.changed |= bool(self._doomed)
        self._flush()

    def finish(self) -> None:
        """Removes what was neither added nor kept, and puts new tables in their place."""
        self._settle()
        if self._fresh:
            make_indexes(self._connection, self._names, self._settings, self._version)
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
            load(self._connection, self._names, self._waiting, self._settings)
            self._waiting.clear()

    def _about(self) -> IndexState:
        counted = self._connection.execute(
            self._names(
                "select (select count(*) from {documents}), count(*), coalesce(sum(terms), 0) from {chunks}"
            )
        ).fetchone()
        rows = self._connection.execute(self._names("select distinct read_as from {documents}"))
        languages = tuple(sorted(str(row[0]) for row in rows))
        return IndexState(
            FORMAT,
            self._settings,
            languages,
            self._born,
            self._revision,
            self._next,
            *map(int, counted or ()),
        )


WAIT_SECONDS = 30.0


class PostgresWriter:
    """Holds the lock of a knowledge base: nobody else changes it before the transaction ends."""

    def __init__(
        self, connection: Connection[Any], address: Address, before: IndexState | None
    ) -> None:
        self.settings = before.settings if before else None
        """What the knowledge base was made with; None: it is new."""
        self._before = before
        self.update: PostgresUpdate | None = None
        self._connection = connection
        self._address = address

    def start(self, settings: Settings, *, anew: bool = False) -> PostgresUpdate:
        """With `anew`, or with other settings than before, nothing is carried over."""
        version: Version = ()
        if settings.dimensions:
            version = need_vectors(self._connection, self._address)
        reused = self.settings == settings and not anew
        target = TableNames(self._address.name)
        fresh = TableNames(f"chunkwise_new_{_key(self._address.name):016x}")
        self.update = PostgresUpdate(
            self._connection,
            target,
            settings,
            self._before,
            None if reused else fresh,
            version,
        )
        return self.update


@contextmanager
def writing(address: Address, wait: float = WAIT_SECONDS) -> Iterator[PostgresWriter]:
    """What was started is committed where the block ends, and undone where it raises.

    A second writer waits `wait` seconds for the first. A connection that breaks off leaves the last good state.
    """
    with connect(address) as connection, server_problems_explained(address):
        with connection.transaction():
            _check_encoding(connection, address)
            _lock(connection, address.name, wait)
            before = read_state(connection, address)
            writer = PostgresWriter(connection, address, before)
            yield writer
            if writer.update is not None:
                writer.update.finish()
        if writer.update is not None and writer.update.changed:
            _tidy(connection, TableNames(address.name))


def _lock(connection: Connection[Any], name: str, wait: float) -> None:
    """Held until the transaction ends, however it ends."""
    settings = {
        "lock_timeout": f"{max(1, round(wait * 1000))}ms",
        # A writer may be busy with its documents for hours; one that died is noticed within seconds.
        "idle_in_transaction_session_timeout": "0",
        "statement_timeout": "0",
        "client_connection_check_interval": "5s",
    }
    for setting, value in settings.items():
        connection.execute("select set_config(%s, %s, true)", [setting, value])
    connection.execute("select pg_advisory_xact_lock(%s)", [_key(name) - (1 << 63)])


def _check_encoding(connection: Connection[Any], address: Address) -> None:
    found = connection.info.parameter_status("server_encoding")
    if found != "UTF8":
        raise ServerProblem(
            f"{address.shown}: the database has the encoding {found}; texts of all languages need UTF8: "
            "createdb -E UTF8 -T template0 NAME"
        )


def _key(name: str) -> int:
    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8, person=b"chunkwise").digest())


def _tidy(connection: Connection[Any], names: TableNames) -> None:
    """After the commit: plans need figures, and scans of an index alone need the map of visible rows."""
    from psycopg import Error

    for table in ("documents", "sections", "chunks", "postings", "relations"):
        # All is written by now: the next writer may have put other tables there already.
        with suppress(Error):
            connection.execute(names(f"vacuum (analyze, skip_locked) {{{table}}}"))


def into_postgres(
    url: str,
    reading: Reading,
    requested: IndexOptions,
    *,
    rebuild: bool = False,
    wait: float = WAIT_SECONDS,
) -> BuiltIndex[PostgresIndex]:
    """A knowledge base on a server: a new one, or the one that is there brought up to date."""
    if requested.maxsim is not None:
        raise InvalidParameter(
            f"maxsim is {requested.maxsim!r}: token vectors are kept in folders and in memory, not on a server; "
            "leave it out, or name a folder"
        )
    address = parse_address(url)
    with writing(address, wait) as writer:
        if rebuild and writer.settings:
            resolved = resolve_for_rebuild(requested, writer.settings, reading.advance)
        else:
            resolved = resolve_settings(requested, writer.settings, reading.advance)
        update = writer.start(resolved.settings, anew=rebuild)
        changes = update_documents(cast(Any, update), reading, resolved)
        if summaries := community_writer(resolved):
            update.summarize(summaries, reading.advance)
            changes = replace(changes, notes=changes.notes + summaries.notes())
    return BuiltIndex(PostgresIndex(address), resolved, changes)


def server_settings(url: str) -> Settings | None:
    """What a knowledge base was made with; None: it is not there yet."""
    address = parse_address(url)
    with connect(address) as connection, server_problems_explained(address):
        found = read_state(connection, address)
    return found.settings if found else None


class PostgresEngine:
    """A knowledge base on a PostgreSQL server."""

    def into(
        self,
        place: str,
        reading: Reading,
        requested: IndexOptions,
        *,
        rebuild: bool,
        wait: float,
    ) -> BuiltIndex[PostgresIndex]:
        return into_postgres(place, reading, requested, rebuild=rebuild, wait=wait)

    def open(self, place: str) -> PostgresIndex:
        return PostgresIndex(parse_address(place))

    def settings(self, place: str) -> Settings | None:
        return server_settings(place)
