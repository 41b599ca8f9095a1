"""The tables of one knowledge base, their indexes and version, and the row that says what it is made with."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.postgres.connection import MOST_DIMENSIONS, Address, Version, has_index
from chunkwise.retrieval.settings import Settings, read_settings

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed, Identifier


FORMAT = 7
TABLES = (
    "communities",
    "relations",
    "postings",
    "atoms",
    "chunks",
    "sections",
    "documents",
    "about",
)
"""In the order in which they may be dropped; the first three are there where they are kept."""

_MAKE = """
create table {about} (
    only_row boolean primary key default true check (only_row),
    format integer not null,
    settings text not null,
    languages text not null,
    born text not null,
    revision bigint not null,
    next_document integer not null,
    documents bigint not null,
    chunks bigint not null,
    terms bigint not null
);
create table {documents} (
    number integer primary key,
    key bytea not null unique,
    exact_id bytea not null,
    id text collate "C" not null,
    title text not null,
    source text not null,
    fingerprint text not null,
    read_as text not null,
    record text not null,
    pages bytea not null,
    blocks bytea not null,
    body bytea not null,
    chunks integer not null,
    atoms integer not null,
    tokens bigint not null
);
create table {sections} (
    document integer not null references {documents} on delete cascade,
    number integer not null,
    path text not null,
    words text collate "C" not null,
    primary key (document, number)
);
create table {chunks} (
    number bigint primary key,
    document integer not null references {documents} on delete cascade,
    start bigint not null,
    stop bigint not null,
    tokens integer not null,
    section integer not null,
    sections integer[] not null,
    first_page integer,
    last_page integer,
    place_pages integer[] not null,
    parent_start bigint not null,
    parent_stop bigint not null,
    terms integer not null,
    context bytea not null,
    level smallint not null,
    summary bytea not null,
    stood_for bytea not null{vector_column}
);
create table {atoms} (
    document integer primary key references {documents} on delete cascade,
    start bytea not null,
    stop bytea not null,
    tokens bytea not null,
    section bytea not null,
    flags bytea not null,
    term_first bytea not null,
    term bytea not null,
    times bytea not null,
    vectors bytea,
    scale bytea,
    mention_count bytea,
    mention_name bytea,
    mention_place bytea
);
create table {postings} (
    term bigint not null,
    chunk bigint not null,
    times integer not null,
    terms integer not null
);
"""

# A row whose relation is empty tells what is said of its subject.
_MAKE_RELATIONS = """
create table {relations} (
    document integer not null references {documents} on delete cascade,
    position integer not null,
    subject text not null,
    relation text not null,
    object text not null,
    start integer not null,
    stop integer not null,
    primary key (document, position)
);
create table {communities} (record text not null);
"""

# Made after the rows where the tables are new: quicker, and a better graph.
_INDEXES = """
create index on {chunks} (document);
create index on {chunks} (level) where level > 0;
create unique index on {postings} (term, chunk) include (times, terms);
create index on {postings} using brin (chunk) with (pages_per_range = 16);
"""


class TableNames(NamedTuple):
    """The tables of one schema, quoted."""

    schema: str

    @property
    def identifier(self) -> Identifier:
        from psycopg.sql import Identifier

        return Identifier(self.schema)

    def __call__(self, text: str, **more: Any) -> Composed:
        """A statement with `{documents}`, `{chunks}` … filled in; values never are, they travel beside it."""
        from psycopg import sql

        tables = {name: sql.Identifier(self.schema, name) for name in TABLES}
        # Our own statements only: nothing a user wrote is ever part of the text.
        return sql.SQL(text).format(schema=self.identifier, **tables, **more)


def make_tables(connection: Connection[Any], names: TableNames, settings: Settings) -> None:
    from psycopg import sql

    dimensions = settings.dimensions
    column = sql.SQL(",\n    vector vector({})").format(sql.Literal(dimensions))
    connection.execute(names(_MAKE, vector_column=column if dimensions else sql.SQL("")))
    if settings.graph == "relations":
        connection.execute(names(_MAKE_RELATIONS))


def make_indexes(
    connection: Connection[Any], names: TableNames, settings: Settings, version: Version
) -> None:
    from psycopg import sql

    dimensions = settings.dimensions
    connection.execute(names(_INDEXES))
    if has_index(dimensions, version):
        connection.execute(
            names(
                "create index chunks_vector on {chunks} using hnsw (({vector}) {operators})",
                vector=sql.SQL(indexed_vector("vector", dimensions)),
                operators=sql.SQL(
                    "vector_ip_ops" if dimensions <= MOST_DIMENSIONS else "halfvec_ip_ops"
                ),
            )
        )


def indexed_vector(of: str, dimensions: int) -> str:
    """The expression the HNSW index is over: a search must spell it the same way."""
    return of if dimensions <= MOST_DIMENSIONS else f"{of}::halfvec({int(dimensions)})"


def move(connection: Connection[Any], source: TableNames, target: TableNames) -> None:
    """Puts new tables in the place of old ones; what else lives in the schema stays."""
    if not connection.execute(
        "select 1 from pg_namespace where nspname = %s", [target.schema]
    ).fetchone():
        connection.execute(target("create schema {schema}"))
    for table in TABLES:
        connection.execute(target(f"drop table if exists {{{table}}}"))
        connection.execute(
            source(
                f"alter table if exists {{{table}}} set schema {{target}}", target=target.identifier
            )
        )
    connection.execute(source("drop schema {schema}"))


class IndexState(NamedTuple):
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


def read_state(connection: Connection[Any], address: Address) -> IndexState | None:
    """None: no knowledge base of this name yet."""
    names = TableNames(address.name)
    listed = "select relname from pg_class where relnamespace = to_regnamespace(%s) and relname = any(%s)"
    quoted = names.identifier.as_string(connection)
    there = {str(row[0]) for row in connection.execute(listed, [quoted, list(TABLES)])}
    if not there:
        return None
    if "about" not in there:
        raise _foreign(address, min(there))
    # As one value, so that tables of another version can be told from somebody else's.
    row = connection.execute(names("select to_jsonb(a) from {about} a")).fetchone()
    values = row[0] if row else {}
    try:
        if values["format"] != FORMAT:
            raise ChunkwiseError(
                f"{address.shown}: knowledge base {address.name!r} was written by another version of chunkwise "
                f"(tables of version {values['format']}, this one reads {FORMAT}); drop its schema, or name another kb"
            )
        return _about(values, f"the index {address.shown}")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _foreign(address, "about") from None


def _about(row: dict[str, Any], where: str) -> IndexState:
    languages = json.loads(row["languages"])
    if type(languages) is not list or any(type(each) is not str for each in languages):
        raise ValueError(f"languages is {languages!r}")
    return IndexState(
        int(row["format"]), read_settings(json.loads(row["settings"]), where), tuple(languages),
        row["born"], *(int(row[name]) for name in IndexState._fields[4:]),
    )  # fmt: skip


def write_about(connection: Connection[Any], names: TableNames, about: IndexState) -> None:
    connection.execute(names("delete from {about}"))
    columns, places = ", ".join(IndexState._fields), ", ".join(["%s"] * len(IndexState._fields))
    connection.execute(
        names(f"insert into {{about}} ({columns}) values ({places})"),
        [about.format, json.dumps(asdict(about.settings)), json.dumps(about.languages), *about[3:]],
    )


def _foreign(address: Address, table: str) -> ChunkwiseError:
    return ChunkwiseError(
        f"{address.shown}: schema {address.name!r} has a table {table!r} that is not chunkwise's; "
        "nothing was touched: choose another name with ?kb=NAME"
    )
