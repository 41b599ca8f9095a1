"""Documents out of the tables, with all that belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chunkwise.retrieval.postgres.loading import CHUNK_BITS
from chunkwise.retrieval.postgres.schema import Names

if TYPE_CHECKING:
    from psycopg import Connection

_FEW = 20
"""Documents whose postings are looked up one by one; for more, all postings are looked through once."""


def remove(connection: Connection[Any], names: Names, numbers: Sequence[int]) -> None:
    """Chunks, sections and atoms go with their document; postings know chunks alone."""
    if not numbers:
        return
    connection.execute(names("delete from {documents} where number = any(%s)"), [list(numbers)])
    if len(numbers) <= _FEW:
        statement = names("delete from {postings} where chunk >= %s and chunk < %s")
        for number in numbers:
            connection.execute(statement, [number << CHUNK_BITS, (number + 1) << CHUNK_BITS])
    else:
        connection.execute(
            names("delete from {postings} where (chunk >> %s) = any(%s)"),
            [CHUNK_BITS, list(numbers)],
        )
