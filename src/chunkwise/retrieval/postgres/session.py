"""One connection for reading, opened when it is needed and again when it was lost."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.postgres.about import About, check_format, read_about
from chunkwise.retrieval.postgres.address import Address
from chunkwise.retrieval.postgres.connect import connect, told
from chunkwise.retrieval.postgres.extension import Version, use_vectors
from chunkwise.retrieval.postgres.schema import Names

if TYPE_CHECKING:
    from psycopg import Connection


class Session:
    """Threads may share it: they take turns."""

    def __init__(self, place: Address) -> None:
        self.place = place
        self.names = Names(place.name)
        self.version: Version = ()
        """Of pgvector; empty: the server has none."""
        self._connection: Connection[Any] | None = None
        self._lock = RLock()
        self._inside = False

    @contextmanager
    def reading(self) -> Iterator[Connection[Any]]:
        """All statements of the block see the same state, whoever writes meanwhile; blocks may be nested."""
        with self._lock:
            if self._inside:
                yield self._open()
                return
            with ExitStack() as stack:
                connection = self._begin(stack)
                self._inside = True
                try:
                    yield connection
                finally:
                    self._inside = False

    def _begin(self, stack: ExitStack) -> Connection[Any]:
        connection = self._open()
        from psycopg import OperationalError

        stack.enter_context(told(self.place))
        try:
            stack.enter_context(connection.transaction())
        except OperationalError:
            # The server let an idle connection go, or was restarted: that is no reason to fail.
            connection.close()
            connection = self._open()
            stack.enter_context(connection.transaction())
        connection.execute("set transaction isolation level repeatable read, read only")
        return connection

    def about(self) -> About:
        with self.reading() as connection:
            found = read_about(connection, self.place)
        if found is None:
            raise ChunkwiseError(
                f"{self.place.shown}: no knowledge base {self.place.name!r} here yet; "
                "make it with: chunkwise index DOCUMENTS --into URL"
            )
        check_format(found, self.place)
        return found

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self.place)
            # An index that nobody closed takes its connection along.
            weakref.finalize(self, self._connection.close)
            with told(self.place):
                # Compiling takes longer than any of these statements.
                self._connection.execute("set jit = off")
                self.version = use_vectors(self._connection)
        return self._connection
