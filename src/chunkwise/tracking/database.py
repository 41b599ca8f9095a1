"""Where runs are kept: one SQLite file, or the same tables on PostgreSQL; several may write, and none may be torn."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.secrets import mask_address, names_server
from chunkwise.base.sqlite import BUSY, DAMAGED, reason_of, shared_connection, use_wal
from chunkwise.base.wording import as_set, counted
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
Row = tuple[Any, ...]
Tables = Sequence[str]
"""Statements that make the tables; `{serial}` is a key that numbers itself."""
_VERSION = 1

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class HistoryProblem(ChunkwiseError):
    """A history cannot be read or written; the message says why and what to do."""


class Statements:
    """What is said to either kind of database: `?` stands for a value."""

    def __init__(
        self,
        run: Callable[[str, Sequence[object]], Iterable[Row]],
        run_many: Callable[[str, list[list[object]]], object],
    ) -> None:
        self._run = run
        self._run_many = run_many

    def rows(self, statement: str, *values: object) -> list[Row]:
        return list(self._run(statement, [_storable(each) for each in values]))

    def execute(self, statement: str, *values: object) -> None:
        self.rows(statement, *values)

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        found = [[_storable(each) for each in row] for row in rows]
        if found:
            self._run_many(statement, found)


def _storable(value: object) -> object:
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value


class Database(Protocol):
    """A place with tables."""

    @property
    def shown(self) -> str:
        """As it may be printed."""
        ...

    def exists(self) -> bool: ...
    def reading(self) -> Any:
        """A context manager of `Statements`."""
        ...

    def writing(self) -> Any:
        """The same for one change, which is made as a whole or not at all."""
        ...

    def alone(self, on_wait: Callable[[str], None]) -> Any:
        """A context manager: one at a time is inside, of all processes that ask; others write meanwhile as ever."""
        ...

    def shrink(self) -> None:
        """Gives room back where much was deleted, unless somebody else is at work."""
        ...


def database_at(place: str | Path, tables: Tables, wait: float) -> Database:
    """By what the place looks like."""
    if is_postgres(place):
        return PostgresDatabase(str(place), tables, wait)
    if names_server(str(place)):
        raise InvalidParameter(
            f"the history is {mask_address(str(place))!r}, no file and no server; name a file, or a server: "
            "postgresql://user@host/database"
        )
    return SqliteDatabase(Path(place).expanduser(), tables, wait)


def damaged(why: str) -> str:
    """What is said behind the name of a history whose bytes are not what was written."""
    return f"is damaged ({why}); {HISTORY_FILE.when_damaged}"


def _other_version(place: str, found: int, kind: FileKind | None = None) -> ChunkwiseError:
    kind = kind or HISTORY_FILE
    return kind.problem(
        f"the {kind.name} {place} was written by another version of chunkwise (its version is {found}, this one reads "
        f"{_VERSION}); name another file"
    )


@dataclass(frozen=True, slots=True)
class FileKind:
    """What is kept in a file, as messages call it, and what tells it from other programs' files."""

    name: str
    mark: int
    """In the head of the file."""
    problem: type[ChunkwiseError]
    when_damaged: str
    """What is done about one whose bytes are not what was written."""


HISTORY_FILE = FileKind(
    "history", 0x63687764, HistoryProblem,
    "move it away, and the next run that is kept begins a new one "
    "(`chunkwise runs import` takes files of results in)",
)  # fmt: skip


class SqliteDatabase:
    """A file that is opened for each piece of work: a killed process leaves nothing half done behind."""

    def __init__(
        self, path: Path, tables: Tables, wait: float, kind: FileKind | None = None
    ) -> None:
        self.path = path
        self._tables = tables
        self._wait = wait
        self._kind = kind or HISTORY_FILE

    @property
    def shown(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return os.path.lexists(self.path)

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        with self._explained(), closing(self._opened_to_read()) as connection:
            connection.execute("begin")
            yield _sqlite_statements(connection)

    @contextmanager
    def writing(self) -> Iterator[Statements]:
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._opened()) as connection:
                connection.execute("begin immediate")
                try:
                    yield _sqlite_statements(connection)
                    connection.execute("commit")
                except BaseException:
                    with suppress(sqlite3.Error):
                        connection.execute("rollback")
                    raise

    @contextmanager
    def alone(self, on_wait: Callable[[str], None]) -> Iterator[None]:
        handle = None
        # What cannot be locked (Windows, a folder that is read-only, some network disks) is gone into as it is.
        with suppress(ImportError, OSError):
            import fcntl

            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Its lock goes with its owner, however that ends; the file stays, so that all mean the same one.
            handle = os.open(
                self.path.with_name(f"{self.path.name}.watch"), os.O_RDWR | os.O_CREAT, 0o600
            )
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                on_wait(_holder(handle))
                fcntl.flock(handle, fcntl.LOCK_EX)
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode("ascii"), 0)
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)

    def shrink(self) -> None:
        with suppress(self._kind.problem), self._explained(), closing(self._opened()) as connection:
            connection.execute("vacuum")
            connection.execute("pragma wal_checkpoint(truncate)")

    def _opened(self) -> sqlite3.Connection:
        connection = shared_connection(self.path, self._wait)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _opened_to_read(self) -> sqlite3.Connection:
        """A file that nobody may write to is read as it is."""
        try:
            return self._opened()
        except sqlite3.OperationalError as error:
            if reason_of(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
        if not self.path.is_file():
            raise FileNotFoundError(2, "no such file")
        address = f"{self.path.resolve().as_uri()}?immutable=1"
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            if not self._is_made(connection):
                raise self._kind.problem(
                    f"the {self._kind.name} {self.shown} is empty and cannot be written to; name another file"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if not self._is_made(connection):
            use_wal(connection, self._wait)
            connection.execute("begin immediate")
            try:
                # Another process may have been quicker.
                if not self._is_made(connection):
                    for statement in self._tables:
                        connection.execute(statement.format(serial="integer primary key"))
                    connection.execute(f"pragma application_id = {self._kind.mark}")
                    connection.execute(f"pragma user_version = {_VERSION}")
                connection.execute("commit")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("rollback")
                raise
        # A run that is said to be kept outlives a loss of power, too.
        connection.execute("pragma synchronous = full")

    def _is_made(self, connection: sqlite3.Connection) -> bool:
        """False: a new file. What is not ours, or of another version, is refused before anything is changed in it."""
        # In one statement: another process may begin the file between two of them.
        version, mark, tables = connection.execute(
            "select user_version, application_id, (select count(*) from sqlite_master)"
            " from pragma_user_version, pragma_application_id"
        ).fetchone()
        if mark != self._kind.mark and (version or tables):
            raise self._kind.problem(
                f"{self.shown} is a database of another program, no {self._kind.name} of chunkwise; name another file"
            )
        if version not in (0, _VERSION):
            raise _other_version(self.shown, version, self._kind)
        return bool(version)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._kind.problem(
                f"the {self._kind.name} {self.shown} {self._why(error)}"
            ) from error
        except OSError as error:
            raise self._kind.problem(
                f"the {self._kind.name} {self.shown} cannot be used: {error.strerror or error}"
            ) from error

    def _why(self, error: sqlite3.Error) -> str:
        reason = reason_of(error)
        if reason in BUSY:
            return f"is locked: another process was writing for more than {as_set(self._wait)} seconds; try again"
        if reason in DAMAGED:
            return f"is damaged ({error}); {self._kind.when_damaged}"
        if not reason and str(error).startswith("Could not decode"):  # what Python says of a text
            return f"is damaged (a text in it is no UTF-8); {self._kind.when_damaged}"
        if reason == sqlite3.SQLITE_FULL:
            return "cannot be written: the disk is full"
        if reason in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return f"cannot be written ({error}); check the rights of the file and its folder"
        return f"cannot be used: {error}"


def _holder(handle: int) -> str:
    """ " (process 4711)", as far as it can be told."""
    number = os.pread(handle, 20, 0)
    return f" (process {number.decode('ascii')})" if number.isdigit() else ""


def _sqlite_statements(connection: sqlite3.Connection) -> Statements:
    return Statements(connection.execute, connection.executemany)


class PostgresDatabase:
    """The same tables in a schema of their own, `chunkwise_history`, or `NAME_history` with `?kb=NAME`."""

    def __init__(self, url: str, tables: Tables, wait: float) -> None:
        address = parse_address(url)
        name = f"{address.name}_history"
        if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
            raise InvalidParameter(
                f"kb is {address.name!r}; for a history its name has at most {counted(LONGEST_NAME - 8, 'byte')}"
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
            yield _postgres_statements(connection)

    @contextmanager
    def writing(self) -> Iterator[Statements]:
        with self._transaction() as connection:
            # One writer at a time, as with a file: what is looked up stays true until the commit.
            self._lock(connection)
            self._prepare(connection)
            yield _postgres_statements(connection)

    @contextmanager
    def alone(self, on_wait: Callable[[str], None]) -> Iterator[None]:
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
                    on_wait("")
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
        found = connection.execute(
            "select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
            " where n.nspname = %s and c.relname = 'state'",
            [self._address.name],
        ).fetchone()
        if found is None:
            return False
        schema = '"' + self._address.name.replace('"', '""') + '"'
        row = connection.execute(f"select version from {schema}.state").fetchone()  # type: ignore[call-overload, unused-ignore]
        version = int(row[0]) if row else 0
        if version != _VERSION:
            raise _other_version(self.shown, version)
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


def _postgres_statements(connection: Connection[Any]) -> Statements:
    def run(statement: str, values: Sequence[object]) -> Iterable[Row]:
        done = connection.execute(statement.replace("?", "%s"), values)  # type: ignore[call-overload, unused-ignore]
        return done.fetchall() if done.description else []

    def run_many(statement: str, rows: list[list[object]]) -> None:
        with connection.cursor() as cursor:
            cursor.executemany(statement.replace("?", "%s"), rows)  # type: ignore[arg-type, unused-ignore]

    return Statements(run, run_many)


def history_place(named: str | Path | None = None, folder: str | Path = ".") -> str | Path:
    """What is named, else `CHUNKWISE_HISTORY`, else `.chunkwise/history.db` here or above, else that file here."""
    given = named if named not in (None, "") else os.environ.get(HISTORY_VARIABLE, "").strip()
    if given:
        return given
    try:
        start = Path(folder).resolve()
    except FileNotFoundError:
        raise HistoryProblem(
            "the working folder is gone, so the history of its project is not known; go to another folder, "
            f"or name the history: --history PLACE, {HISTORY_VARIABLE}"
        ) from None
    for each in (start, *start.parents):
        if _is_own(each / FOLDER / FILE):
            return each / FOLDER / FILE
        if os.path.lexists(each / ".git") or each == _home():
            break
    return start / FOLDER / FILE


def _is_own(file: Path) -> bool:
    """Whether it is there and belongs to the user: anybody may put one above a folder that all may write to."""
    try:
        owner = file.lstat().st_uid
    except (OSError, ValueError):
        return False
    return not hasattr(os, "geteuid") or owner == os.geteuid()


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):  # a container may run as a number without one
        return None
