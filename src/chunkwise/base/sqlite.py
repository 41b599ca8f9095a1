"""A SQLite file that several processes share, any of which may be killed: how it is opened, and why it refuses."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

BUSY = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
"""Another process writes."""
DAMAGED = frozenset((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB))
_LOOK_AGAIN = 0.02
"""Seconds."""


def shared_connection(
    path: Path, wait: float, *, check_same_thread: bool = True
) -> sqlite3.Connection:
    """Waits so many seconds for others that write; transactions are begun and ended by who uses it."""
    return sqlite3.connect(
        path, timeout=wait, isolation_level=None, check_same_thread=check_same_thread
    )


def reason_of(error: Exception) -> int:
    """SQLite's code without the details above its lowest byte; 0 for what Python itself found wrong."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def use_wal(connection: sqlite3.Connection, wait: float) -> None:
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
