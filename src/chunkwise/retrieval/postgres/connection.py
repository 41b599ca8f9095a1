"""The connection to a knowledge base on PostgreSQL, and how it fails; no password is ever shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.secrets import address_secrets, mask_address
from chunkwise.base.wording import counted

if TYPE_CHECKING:
    from psycopg import Connection


SCHEMES = ("postgresql", "postgres")
DEFAULT_NAME = "chunkwise"
LONGEST_NAME = 63
"""Bytes; PostgreSQL cuts longer names off without a word."""


@dataclass(frozen=True, slots=True)
class Address:
    """One knowledge base on a server."""

    url: str = field(repr=False)
    """What the client library takes, with the password."""
    name: str
    """The schema that holds the tables: one a knowledge base."""
    shown: str
    """The address as it may be printed."""


def is_postgres(into: object) -> bool:
    """Whether this names a server rather than a folder."""
    return isinstance(into, str) and into.split("://", 1)[0].lower() in SCHEMES and "://" in into


def parse_address(url: str) -> Address:
    """`postgresql://user:password@host:port/database?kb=name`; other options go to the server's client."""
    if not is_postgres(url):
        raise InvalidParameter(
            f"into is {mask_address(url)!r}; expected a URL starting with postgresql://"
        )
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidParameter(f"into is {mask_address(url)!r}: {error}") from None
    if parts.netloc.count("@") > 1 or "@" in parts.path or "@" in parts.fragment:
        # The server's client would take a part of the password for the host or the port, and name it.
        raise InvalidParameter(
            f"into is {mask_address(url)!r}; in a password, encode @ as %40, / as %2F, ? as %3F "
            "and # as %23"
        )
    options = parse_qsl(parts.query, keep_blank_values=True)
    names = [value for key, value in options if key == "kb"]
    name = names[-1] if names else DEFAULT_NAME
    _check_name(name)
    rest = urlencode([pair for pair in options if pair[0] != "kb"], quote_via=quote)
    plain = urlunsplit(("postgresql", parts.netloc, parts.path, rest, ""))
    return Address(plain, name, mask_address(url))


def _check_name(name: str) -> None:
    # The client library takes a percent sign for the start of a parameter, even in a quoted name.
    if not name or set("\0%") & set(name) or len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        raise InvalidParameter(
            f"kb is {name!r}; expected 1 to {counted(LONGEST_NAME, 'byte')} without NUL and %"
        )
    if name.startswith("pg_") or name == "information_schema":
        raise InvalidParameter(f"kb is {name!r}, a name reserved by PostgreSQL")


CONNECT_SECONDS = 10


class ServerProblem(ChunkwiseError):
    """The server could not be reached, refused, or failed."""


def connect(address: Address) -> Connection[Any]:
    """An open connection in autocommit; statements are planned anew each time, so poolers and new tables do no harm."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingExtra("a PostgreSQL index", "postgres") from None
    try:
        options = conninfo_to_dict(address.url)
        options.setdefault("connect_timeout", CONNECT_SECONDS)
        options.setdefault("application_name", "chunkwise")
        return psycopg.connect(
            **{key: str(value) for key, value in options.items()},
            autocommit=True,
            prepare_threshold=None,
        )
    except psycopg.Error as error:
        reason = _one_line(error, address)
        raise ServerProblem(f"{address.shown}: {reason}; {_next_step(reason)}") from None


@contextmanager
def server_problems_explained(address: Address) -> Iterator[None]:
    """Turns what the server says in the middle of the work into one line of ours."""
    from psycopg import Error, errors

    hints: dict[type[Error], str] = {
        errors.LockNotAvailable: f"knowledge base {address.name!r} is locked by another writer "
        f"or a long transaction; try again later",
        errors.InsufficientPrivilege: "the role needs CREATE on the database (or its own schema "
        f"{address.name!r})",
        errors.DependentObjectsStillExist: f"tables of {address.name!r} must be recreated, but other objects use them",
        errors.OperationalError: "see the server's log",
    }
    try:
        yield
    except Error as error:
        hint = next((f"; {hint}" for kind, hint in hints.items() if isinstance(error, kind)), "")
        raise ServerProblem(f"{address.shown}: {_one_line(error, address)}{hint}") from None


def _one_line(error: BaseException, address: Address) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    message = lines[0] if lines else type(error).__name__
    # libpq puts the reason behind the address it tried, and a hint on the lines after it.
    message = message.rsplit("FATAL:", 1)[-1].strip()
    for secret in address_secrets(address.url):
        message = message.replace(secret, "***")
    return message


def _next_step(reason: str) -> str:
    steps = {
        "password": "check user and password (also PGPASSWORD and ~/.pgpass)",
        "does not exist": "create it first: createdb NAME",
        "authentication": "check user and password",
        "no pg_hba": "the server rejects this user or host (pg_hba.conf)",
        "ssl": "check sslmode",
    }
    for sign, step in steps.items():
        if sign in reason.lower():
            return step
    return "check host and port, and that the server is running"


Version = tuple[int, ...]

MOST_DIMENSIONS = 2000
"""What an HNSW index takes as 4-byte numbers; up to twice that it is built over 2-byte ones."""
HALVES: Version = (0, 7)
"""From this version on there are 2-byte numbers."""
ITERATIVE: Version = (0, 8)
"""From this version on, an index scan goes on until enough rows pass the filter."""


def need_vectors(connection: Connection[Any], address: Address) -> Version:
    """Creates the extension if nobody has; one line says what is missing where that cannot be done."""
    if not _pgvector_installed(connection):
        _create(address)
    return use_vectors(connection)


def has_index(dimensions: int, version: Version) -> bool:
    """Whether vectors of this size can be indexed; others are all compared."""
    most = 2 * MOST_DIMENSIONS if version >= HALVES else MOST_DIMENSIONS
    return 0 < dimensions <= most


def _create(address: Address) -> None:
    """On a connection of its own, so that writers of other knowledge bases need not wait for this one's end."""
    from psycopg import Error, errors

    try:
        with connect(address) as connection:
            connection.execute("create extension if not exists vector")
    except errors.UniqueViolation:
        return  # somebody else was quicker
    except errors.InsufficientPrivilege:
        raise ServerProblem(
            f"{address.shown}: this role can't create the extension pgvector; have a superuser "
            f"run: CREATE EXTENSION vector"
        ) from None
    except Error:
        raise ServerProblem(
            f"{address.shown}: the server has no pgvector; install it there, or use BM25 only "
            "(vectors='none')"
        ) from None


def use_vectors(connection: Connection[Any]) -> Version:
    """Makes the extension's types and operators known to this connection; its version, () where there is none."""
    result = _pgvector_installed(connection)
    if result is None:
        return ()
    try:
        from pgvector.psycopg import register_vector
    except ImportError:
        raise MissingExtra("a PostgreSQL index", "postgres") from None
    schema, version = result
    # Tables are always named with their schema: the path is for operators alone.
    connection.execute("select set_config('search_path', quote_ident(%s), false)", [schema])
    register_vector(connection)
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _pgvector_installed(connection: Connection[Any]) -> tuple[str, str] | None:
    row = connection.execute(
        "select n.nspname, e.extversion from pg_extension e"
        " join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"
    ).fetchone()
    return (str(row[0]), str(row[1])) if row else None
