"""A connection to the server, and its many ways to fail told in one line each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chunkwise.errors import ChunkwiseError, MissingExtra
from chunkwise.retrieval.postgres.address import Address, secrets

if TYPE_CHECKING:
    from psycopg import Connection

CONNECT_SECONDS = 10


class ServerProblem(ChunkwiseError):
    """The server could not be reached, refused, or failed."""


def connect(place: Address) -> Connection[Any]:
    """An open connection in autocommit; statements are planned anew each time, so poolers and new tables do no harm."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingExtra("a PostgreSQL index", "postgres") from None
    try:
        options = conninfo_to_dict(place.url)
        options.setdefault("connect_timeout", CONNECT_SECONDS)
        options.setdefault("application_name", "chunkwise")
        return psycopg.connect(
            **{key: str(value) for key, value in options.items()},
            autocommit=True,
            prepare_threshold=None,
        )
    except psycopg.Error as error:
        reason = _one_line(error, place)
        raise ServerProblem(f"{place.shown}: {reason}; {_next_step(reason)}") from None


@contextmanager
def told(place: Address) -> Iterator[None]:
    """Turns what the server says in the middle of the work into one line of ours."""
    from psycopg import Error, errors

    try:
        yield
    except errors.LockNotAvailable:
        raise ServerProblem(
            f"{place.shown}: knowledge base {place.name!r} is being written by somebody else "
            "(or held by a long transaction); waited for them: try again when they are done"
        ) from None
    except errors.InsufficientPrivilege as error:
        raise ServerProblem(
            f"{place.shown}: {_one_line(error, place)}; the role needs CREATE on the database "
            f"(or a schema {place.name!r} of its own)"
        ) from None
    except errors.DependentObjectsStillExist as error:
        raise ServerProblem(
            f"{place.shown}: tables of {place.name!r} must be made again, but something of yours uses them: "
            f"{_one_line(error, place)}"
        ) from None
    except errors.OperationalError as error:
        reason = _one_line(error, place)
        raise ServerProblem(f"{place.shown}: {reason}; the server's log says why") from None
    except Error as error:
        raise ServerProblem(f"{place.shown}: {_one_line(error, place)}") from None


def _one_line(error: BaseException, place: Address) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = lines[0] if lines else type(error).__name__
    # libpq puts the reason behind the address it tried, and a hint on the lines after it.
    told = told.rsplit("FATAL:", 1)[-1].strip()
    for secret in secrets(place.url):
        told = told.replace(secret, "***")
    return told


def _next_step(reason: str) -> str:
    steps = {
        "password": "check user and password (PGPASSWORD and ~/.pgpass are read too)",
        "does not exist": "create it first: createdb NAME",
        "authentication": "check user and password",
        "no pg_hba": "the server does not let this user in from here",
        "ssl": "check sslmode",
    }
    for sign, step in steps.items():
        if sign in reason.lower():
            return step
    return "check host and port, and that the server runs"
