"""The one row that says what a knowledge base is made with, and how much is in it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from chunkwise.errors import ChunkwiseError
from chunkwise.retrieval.postgres.address import Address
from chunkwise.retrieval.postgres.schema import FORMAT, TABLES, Names
from chunkwise.retrieval.refusals import REBUILD
from chunkwise.retrieval.settings import Settings, read_settings

if TYPE_CHECKING:
    from psycopg import Connection


class About(NamedTuple):
    """As of one moment; `revision` grows with every change."""

    format: int
    settings: Settings
    languages: tuple[str, ...]
    """What the documents were read as: a question is read as each of them."""
    born: str
    """Of this knowledge base alone: one that was dropped and made again counts its revisions anew."""
    revision: int
    next_document: int
    documents: int
    chunks: int
    terms: int
    """Of all chunks together, every occurrence counted."""


def read_about(connection: Connection[Any], place: Address) -> About | None:
    """None: no knowledge base of this name yet."""
    names = Names(place.name)
    listed = "select relname from pg_class where relnamespace = to_regnamespace(%s) and relname = any(%s)"
    quoted = names.identifier.as_string(connection)
    there = {str(row[0]) for row in connection.execute(listed, [quoted, list(TABLES)])}
    if not there:
        return None
    if "about" not in there:
        raise _foreign(place, min(there))
    # As one value, so that tables of an older version can be told from somebody else's.
    row = connection.execute(names("select to_jsonb(a) from {about} a")).fetchone()
    try:
        return _about(row[0] if row else {})
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _foreign(place, "about") from None


def _about(row: dict[str, Any]) -> About:
    return About(
        int(row["format"]), read_settings(json.loads(row["settings"])), tuple(json.loads(row["languages"])),
        row.get("born", ""), *(int(row[name]) for name in About._fields[4:]),
    )  # fmt: skip


def write_about(connection: Connection[Any], names: Names, about: About) -> None:
    connection.execute(names("delete from {about}"))
    columns, places = ", ".join(About._fields), ", ".join(["%s"] * len(About._fields))
    connection.execute(
        names(f"insert into {{about}} ({columns}) values ({places})"),
        [about.format, json.dumps(asdict(about.settings)), json.dumps(about.languages), *about[3:]],
    )


def check_format(about: About, place: Address) -> None:
    """Tables of another version are not read."""
    if about.format != FORMAT:
        older = about.format < FORMAT
        raise ChunkwiseError(
            f"{place.shown}: knowledge base {place.name!r} was written by {'an older' if older else 'a newer'} "
            f"chunkwise (tables of version {about.format}, this one reads {FORMAT}); "
            + (f"{REBUILD}, or use the version that wrote it" if older else "update chunkwise")
        )


def _foreign(place: Address, table: str) -> ChunkwiseError:
    return ChunkwiseError(
        f"{place.shown}: schema {place.name!r} has a table {table!r} that is not chunkwise's; "
        "nothing was touched: choose another name with ?kb=NAME"
    )
