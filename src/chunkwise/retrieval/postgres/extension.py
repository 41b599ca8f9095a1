"""pgvector on the server: made where it is missing, found wherever it was installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chunkwise.errors import MissingExtra
from chunkwise.retrieval.postgres.address import Address
from chunkwise.retrieval.postgres.connect import ServerProblem, connect

if TYPE_CHECKING:
    from psycopg import Connection

Version = tuple[int, ...]

MOST_DIMENSIONS = 2000
"""What an HNSW index takes as 4-byte numbers; up to twice that it is built over 2-byte ones."""
HALVES: Version = (0, 7)
"""From this version on there are 2-byte numbers."""
ITERATIVE: Version = (0, 8)
"""From this version on, an index scan goes on until enough rows pass the filter."""


def need_vectors(connection: Connection[Any], place: Address) -> Version:
    """Creates the extension if nobody has; one line says what is missing where that cannot be done."""
    if not _found(connection):
        _create(place)
    return use_vectors(connection)


def has_index(dimensions: int, version: Version) -> bool:
    """Whether vectors of this size can be indexed; others are all compared."""
    most = 2 * MOST_DIMENSIONS if version >= HALVES else MOST_DIMENSIONS
    return 0 < dimensions <= most


def _create(place: Address) -> None:
    """On a connection of its own, so that writers of other knowledge bases need not wait for this one's end."""
    from psycopg import Error, errors

    try:
        with connect(place) as connection:
            connection.execute("create extension if not exists vector")
    except errors.UniqueViolation:
        return  # somebody else was quicker
    except errors.InsufficientPrivilege:
        raise ServerProblem(
            f"{place.shown}: this role may not create the extension pgvector; "
            "let a superuser run once: CREATE EXTENSION vector"
        ) from None
    except Error:
        raise ServerProblem(
            f"{place.shown}: the server has no pgvector; install it there, or index words alone (vectors='none')"
        ) from None


def use_vectors(connection: Connection[Any]) -> Version:
    """Makes the extension's types and operators known to this connection; its version, () where there is none."""
    found = _found(connection)
    if found is None:
        return ()
    try:
        from pgvector.psycopg import register_vector
    except ImportError:
        raise MissingExtra("a PostgreSQL index", "postgres") from None
    schema, version = found
    # Tables are always named with their schema: the path is for operators alone.
    connection.execute("select set_config('search_path', quote_ident(%s), false)", [schema])
    register_vector(connection)
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _found(connection: Connection[Any]) -> tuple[str, str] | None:
    row = connection.execute(
        "select n.nspname, e.extversion from pg_extension e"
        " join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"
    ).fetchone()
    return (str(row[0]), str(row[1])) if row else None
