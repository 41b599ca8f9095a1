"""Where runs are kept: one SQLite file, or the same tables on PostgreSQL; several may write, and none may be torn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.own_files import own_file_above
from chunkwise.base.secrets import mask_address, names_server
from chunkwise.base.sqlite import (
    VERSION,
    SqliteFile,
    SqliteFormat,
    Statements,
    Tables,
    other_version,
)
from chunkwise.base.wording import counted
from chunkwise.retrieval.postgres.connection import (
    LONGEST_NAME,
    Address,
    connect,
    is_postgres,
    parse_address,
    server_problems_explained,
)
from chunkwise.tracking import HISTORY_VARIABLE

if TYPE_CHECKING:
    from psycopg import Connection

FOLDER, FILE = ".chunkwise", "history.db"


class HistoryProblem(ChunkwiseError):
    """A history cannot be read or written; the message says why and what to do."""


WHEN_DAMAGED = (
    "move it away; the next saved run starts a new one (`chunkwise runs import` imports result "
    "files)"
)


def database_at(place: str | Path, tables: Tables, wait: float) -> SqliteFile | PostgresDatabase:
    """By what the place looks like."""
    if is_postgres(place):
        return PostgresDatabase(str(place), tables, wait)
    if names_server(str(place)):
        raise InvalidParameter(
            f"the history is {mask_address(str(place))!r}; expected a file, or "
            f"postgresql://user@host/database"
        )
    format = SqliteFormat("history", 0x63687765, tables, HistoryProblem, WHEN_DAMAGED)
    return SqliteFile(Path(place).expanduser(), format, wait)


class PostgresDatabase:
    """The tables in a schema of their own, `chunkwise_history`, or `NAME_history` with `?kb=NAME`."""

    def __init__(self, url: str, tables: Tables, wait: float) -> None:
        address = parse_address(url)
        name = f"{address.name}_history"
        if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
            raise InvalidParameter(
                f"kb is {address.name!r}; for a history its name has at most "
                f"{counted(LONGEST_NAME - 8, 'byte')}"
            )
        self._address: Address = replace(address, name=name)
        self._tables = tables
        self._wait = wait

    @property
    def shown(self) -> str:
        return self._address.shown

    def exists(self) -> bool:
        with connect(self._address) as connection, server_problems_explained(self._address):
            return self._is_made(connection)

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        with self._transaction() as connection:
            self._prepare(connection)
            yield Statements(connection, "%s")

    @contextmanager
    def writing(self) -> Iterator[Statements]:
        with self._transaction() as connection:
            # One writer at a time, as with a file: what is looked up stays true until the commit.
            self._lock(connection)
            self._prepare(connection)
            yield Statements(connection, "%s")

    @contextmanager
    def alone(self, on_wait: Callable[[], None]) -> Iterator[None]:
        connection = connect(self._address)
        try:
            with server_problems_explained(self._address):
                connection.execute(
                    "begin"
                )  # a pooler leaves a connection to who is in a transaction
                lock = [f"watch {self._address.name}"]
                row = connection.execute(
                    "select pg_try_advisory_xact_lock(hashtext(%s))", lock
                ).fetchone()
                if not (row and row[0]):
                    on_wait()
                    connection.execute("select pg_advisory_xact_lock(hashtext(%s))", lock)
            yield
        finally:
            connection.close()  # the server may have ended it long ago

    def shrink(self) -> None:
        """The server does that by itself."""

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Any]]:
        with connect(self._address) as connection, server_problems_explained(self._address):  # noqa: SIM117
            with connection.transaction():
                # Whatever the server is set to: behind a lock, what the writer before left is seen.
                connection.execute("set transaction isolation level read committed")
                wait = f"{max(1, round(self._wait * 1000))}ms"
                # For this transaction alone: poolers hand a connection to others behind it.
                connection.execute("select set_config('lock_timeout', %s, true)", [wait])
                connection.execute(
                    "select set_config('search_path', quote_ident(%s), true)", [self._address.name]
                )
                yield connection

    def _lock(self, connection: Connection[Any]) -> None:
        connection.execute("select pg_advisory_xact_lock(hashtext(%s))", [self._address.name])

    def _is_made(self, connection: Connection[Any]) -> bool:
        # Asked of the tables themselves: what is looked up by name may be older than another writer's commit.
        result = connection.execute(
            "select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = "
            "c.relnamespace where n.nspname = %s and c.relname = 'state'",
            [self._address.name],
        ).fetchone()
        if result is None:
            return False
        schema = '"' + self._address.name.replace('"', '""') + '"'
        row = connection.execute(f"select version from {schema}.state").fetchone()  # type: ignore[call-overload, unused-ignore]
        version = int(row[0]) if row else 0
        if version != VERSION:
            raise HistoryProblem(other_version("history", self.shown, version))
        return True

    def _prepare(self, connection: Connection[Any]) -> None:
        """One at a time: who comes second finds everything done."""
        if self._is_made(connection):
            return
        self._lock(connection)
        if self._is_made(connection):
            return
        schema = '"' + self._address.name.replace('"', '""') + '"'
        connection.execute(f"create schema if not exists {schema}")  # type: ignore[call-overload, unused-ignore]
        serial = "integer generated by default as identity primary key"
        for statement in self._tables:
            connection.execute(statement.format(serial=serial))  # type: ignore[call-overload, unused-ignore]


def history_place(named: str | Path | None = None, folder: str | Path = ".") -> str | Path:
    """What is named, else `CHUNKWISE_HISTORY`, else `.chunkwise/history.db` here or above, else that file here."""
    given = named if named not in (None, "") else os.environ.get(HISTORY_VARIABLE, "").strip()
    if given:
        return given
    try:
        start = Path(folder).resolve()
    except FileNotFoundError:
        raise HistoryProblem(
            f"the working folder no longer exists; change to another folder, or set the "
            f"history: --history PLACE, {HISTORY_VARIABLE}"
        ) from None
    return own_file_above(start, Path(FOLDER, FILE))
