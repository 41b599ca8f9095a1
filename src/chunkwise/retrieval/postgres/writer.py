"""One writer a knowledge base, one transaction: everything happens, or nothing; others read on meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from chunkwise.retrieval.postgres.about import About, check_format, read_about
from chunkwise.retrieval.postgres.address import Address
from chunkwise.retrieval.postgres.connect import ServerProblem, connect, told
from chunkwise.retrieval.postgres.extension import Version, need_vectors
from chunkwise.retrieval.postgres.schema import FORMAT, Names
from chunkwise.retrieval.postgres.update import Update
from chunkwise.retrieval.settings import Settings

if TYPE_CHECKING:
    from psycopg import Connection

WAIT_SECONDS = 30.0


class Writer:
    """Holds the lock of a knowledge base: nobody else changes it before the transaction ends."""

    def __init__(self, connection: Connection[Any], place: Address, before: About | None) -> None:
        self.settings = before.settings if before else None
        """What the knowledge base was made with, by whatever version; None: it is new."""
        self._before = before
        self.update: Update | None = None
        self._connection = connection
        self._place = place

    def check_format(self) -> None:
        """Where tables are to be kept: those of an older version cannot be."""
        if self._before is not None:
            check_format(self._before, self._place)

    def start(self, settings: Settings, *, anew: bool = False) -> Update:
        """With `anew`, or with other settings than before, nothing is carried over."""
        version: Version = ()
        if settings.dimensions:
            version = need_vectors(self._connection, self._place)
        carried = self.settings == settings and not anew
        target = Names(self._place.name)
        fresh = Names(f"chunkwise_new_{_key(self._place.name):016x}")
        self.update = Update(
            self._connection, target, settings, self._before, None if carried else fresh, version
        )
        return self.update


@contextmanager
def writing(place: Address, wait: float = WAIT_SECONDS) -> Iterator[Writer]:
    """What was started is committed where the block ends, and undone where it raises.

    A second writer waits `wait` seconds for the first. A connection that breaks off leaves the last good state.
    """
    with connect(place) as connection, told(place):
        with connection.transaction():
            _check_encoding(connection, place)
            _lock(connection, place.name, wait)
            before = read_about(connection, place)
            if before is not None and before.format > FORMAT:
                check_format(before, place)
            writer = Writer(connection, place, before)
            yield writer
            if writer.update is not None:
                writer.update.finish()
        if writer.update is not None and writer.update.changed:
            _tidy(connection, Names(place.name))


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


def _check_encoding(connection: Connection[Any], place: Address) -> None:
    found = connection.info.parameter_status("server_encoding")
    if found != "UTF8":
        raise ServerProblem(
            f"{place.shown}: the database has the encoding {found}; texts of all languages need UTF8: "
            "createdb -E UTF8 -T template0 NAME"
        )


def _key(name: str) -> int:
    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8, person=b"chunkwise").digest())


def _tidy(connection: Connection[Any], names: Names) -> None:
    """After the commit: plans need figures, and scans of an index alone need the map of visible rows."""
    from psycopg import Error

    for table in ("documents", "sections", "chunks", "postings"):
        # All is written by now: the next writer may have put other tables there already.
        with suppress(Error):
            connection.execute(names(f"vacuum (analyze, skip_locked) {{{table}}}"))
