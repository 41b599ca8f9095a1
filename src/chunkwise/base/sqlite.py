"""SQLite files that several processes share, any of which may be killed: one way to open, one way to change them."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkwise.base.atomic_files import locked
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import as_set

BUSY = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
"""Another process writes."""
DAMAGED = frozenset((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB))
_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
VERSION = 1
_LOOK_AGAIN = 0.02
"""Seconds."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Row = tuple[Any, ...]
Tables = Sequence[str]
"""Statements that make the tables; `{serial}` is a key that numbers itself."""


@dataclass(frozen=True, slots=True)
class SqliteFormat:
    """What a file holds, and how messages call it."""

    name: str
    mark: int
    """The file's `application_id`, which tells it from other programs' files."""
    tables: Tables
    problem: type[ChunkwiseError]
    when_damaged: str
    """What to do about one with other bytes than were written."""
    survives_power_loss: bool = True
    """False: a commit survives only the end of its process, and takes less time."""


def connect(
    path: Path, format: SqliteFormat, wait: float, *, check_same_thread: bool = True
) -> sqlite3.Connection:
    """Open a file, with its tables; transactions are the caller's, and others that write are waited for."""
    connection = sqlite3.connect(
        path, timeout=wait, isolation_level=None, check_same_thread=check_same_thread
    )
    try:
        if not _is_made(connection, path, format):
            _use_wal(connection, wait)
            with transaction(connection):
                # Another process may have been quicker.
                if not _is_made(connection, path, format):
                    for statement in format.tables:
                        connection.execute(statement.format(serial="integer primary key"))
                    connection.execute(f"pragma application_id = {format.mark}")
                    connection.execute(f"pragma user_version = {VERSION}")
        level = "full" if format.survives_power_loss else "normal"
        connection.execute(f"pragma synchronous = {level}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing: an interrupt at any moment leaves no transaction open, which would keep all others out."""
    with connection:
        connection.execute("begin immediate")
        yield


def reason_of(error: Exception) -> int:
    """SQLite's code without the details above its lowest byte; 0 for what Python itself found wrong."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _use_wal(connection: sqlite3.Connection, wait: float) -> None:
    """Readers and a writer at once, and nothing torn by `kill -9`."""
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            # Two that begin a file at the same moment: SQLite does not wait here by itself.
            if reason_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_AGAIN)


def _is_made(connection: sqlite3.Connection, path: Path, format: SqliteFormat) -> bool:
    """False: a new file. Another program's, or another version's, is refused before anything is changed in it."""
    # In one statement: another process may begin the file between two of them.
    version, mark, tables = connection.execute(
        "select user_version, application_id, (select count(*) from sqlite_master)"
        " from pragma_user_version, pragma_application_id"
    ).fetchone()
    if mark != format.mark and (version or tables):
        raise format.problem(
            f"{path} is another program's database, not a chunkwise {format.name}; use another file"
        )
    if version not in (0, VERSION):
        raise format.problem(other_version(format.name, str(path), version))
    return bool(version)


def other_version(name: str, place: str, version: int) -> str:
    """The message about tables of another version."""
    return (
        f"the {name} {place} has version {version}, but this chunkwise reads version "
        f"{VERSION}; use another file"
    )


class Statements:
    """Statements to a database, SQLite's or another: `?` stands for a value."""

    def __init__(self, connection: Any, placeholder: str = "?") -> None:
        self._connection = connection
        self._placeholder = placeholder

    def rows(self, statement: str, *values: object) -> list[Row]:
        done = self._connection.execute(self._written(statement), list(map(_storable, values)))
        return done.fetchall() if done.description else []

    def execute(self, statement: str, *values: object) -> None:
        self.rows(statement, *values)

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        values = [list(map(_storable, row)) for row in rows]
        if values:
            with closing(self._connection.cursor()) as cursor:
                cursor.executemany(self._written(statement), values)

    def _written(self, statement: str) -> str:
        return statement.replace("?", self._placeholder)


def _storable(value: object) -> object:
    return _UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value


class SqliteFile:
    """A file that is opened for each piece of work: a killed process leaves nothing half done behind."""

    def __init__(self, path: Path, format: SqliteFormat, wait: float) -> None:
        self.path = path
        self._format = format
        self._wait = wait

    @property
    def shown(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return os.path.lexists(self.path)

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        with self._explained(), closing(self._opened_to_read()) as connection:
            connection.execute("begin")
            yield Statements(connection)

    @contextmanager
    def writing(self) -> Iterator[Statements]:
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._opened()) as connection, transaction(connection):
                yield Statements(connection)

    @contextmanager
    def alone(self, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """One at a time is inside, of all processes that ask; others write meanwhile as ever."""
        # Beside it, as SQLite has locks of its own; the file stays, so that all mean the same one.
        path = self.path.with_name(f"{self.path.name}.watch")
        with ExitStack() as stack:
            with suppress(OSError):  # a folder that is read-only is gone into as it is
                self.path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(mode=0o600)
                if stack.enter_context(locked(path, wait=False)) is False:
                    on_wait()
                    stack.enter_context(locked(path, wait=True))
            yield

    def shrink(self) -> None:
        """Give room back where much was deleted, unless somebody else is at work."""
        with suppress(self._format.problem), self._explained(), closing(self._opened()) as file:
            file.execute("vacuum")
            file.execute("pragma wal_checkpoint(truncate)")

    def _opened(self) -> sqlite3.Connection:
        return connect(self.path, self._format, self._wait)

    def _opened_to_read(self) -> sqlite3.Connection:
        """A file that nobody may write to is read as it is."""
        try:
            return self._opened()
        except sqlite3.OperationalError as error:
            if reason_of(error) not in _READ_ONLY:
                raise
        if not self.path.is_file():
            raise FileNotFoundError(2, "no such file")
        address = f"{self.path.resolve().as_uri()}?immutable=1"
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            if not _is_made(connection, self.path, self._format):
                raise self._format.problem(
                    f"the {self._format.name} {self.shown} is empty and not writable; use "
                    "another file"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = (
                self._why(error)
                if isinstance(error, sqlite3.Error)
                else f"cannot be used: {error.strerror or error}"
            )
            raise self._format.problem(f"the {self._format.name} {self.shown} {reason}") from error

    def _why(self, error: sqlite3.Error) -> str:
        reason = reason_of(error)
        if reason in BUSY:
            return f"is locked by another process for more than {as_set(self._wait)} seconds; try again"
        if reason in DAMAGED:
            return f"is damaged ({error}); {self._format.when_damaged}"
        if not reason and str(error).startswith("Could not decode"):  # Python's words about a text
            return f"is damaged (invalid UTF-8); {self._format.when_damaged}"
        if reason == sqlite3.SQLITE_FULL:
            return "cannot be written: the disk is full"
        if reason in (*_READ_ONLY, sqlite3.SQLITE_PERM):
            return f"cannot be written ({error}); check the permissions of the file and its folder"
        return f"cannot be used: {error}"
