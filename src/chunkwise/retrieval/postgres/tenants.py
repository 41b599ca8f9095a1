"""Tenants of one knowledge base, kept apart by the server: a role reads the documents of the tenants it belongs to.

A tenant is a value of one key of the documents' metadata, and a role of the server with the same name. Whoever owns the
tables reads all; a document without a tenant is read by the owner alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, shown
from chunkwise.retrieval.indexed_document import metadata_of, readable
from chunkwise.retrieval.metadata_conditions import flat_metadata
from chunkwise.retrieval.postgres.connection import LONGEST_NAME
from chunkwise.retrieval.postgres.schema import TABLES, TableNames

if TYPE_CHECKING:
    from psycopg import Connection

_POLICY = "only_own_tenants"
_REMEMBERED = "tenants: "
_AT_ONCE = 1000
"""Records."""

# Of the rows of tenants a role sees those whose name is its own or that of a role it is a member of; of all other
# tables the rows of documents that it sees there. What the subquery reads is under the policy, too.
_MEMBER = (
    "exists (select from pg_roles r where r.rolname = tenant and pg_has_role(r.oid, 'member'))"
)
_VISIBLE = "exists (select from {document_tenants} t where t.document = %s)"
_POLICIES = {
    "document_tenants": _MEMBER,
    "documents": _VISIBLE % "number",
    "sections": _VISIBLE % "{sections}.document",
    "chunks": _VISIBLE % "{chunks}.document",
    "atoms": _VISIBLE % "{atoms}.document",
    "postings": _VISIBLE % "(chunk >> 32)",
}
"""The table that says what the knowledge base is has none: counts of all tenants together, and settings."""


def remembered_key(connection: Connection[Any], names: TableNames) -> str:
    """By which key of the metadata tenants are kept apart already; empty: they are not."""
    row = connection.execute(
        "select obj_description(c.oid, 'pg_class') from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = %s and c.relname = 'document_tenants'",
        [names.schema],
    ).fetchone()
    told = str(row[0]) if row and row[0] else ""
    return told.removeprefix(_REMEMBERED) if told.startswith(_REMEMBERED) else ""


def separate_tenants(connection: Connection[Any], names: TableNames, key: str) -> None:
    """Says anew which document is whose, and who may read; within the transaction of the update."""
    from psycopg import sql

    connection.execute(
        names(
            "create table if not exists {document_tenants} ("
            " document integer not null references {documents} on delete cascade,"
            " tenant text not null, primary key (document, tenant))"
        )
    )
    connection.execute(names("delete from {document_tenants}"))
    # By a cursor of the server: records may be larger than memory, who owns them is not.
    with connection.cursor("records") as rows:
        rows.itersize = _AT_ONCE
        rows.execute(names("select number, record from {documents}"))
        owned = [(number, each) for number, record in rows for each in _tenants_of(record, key)]
    with connection.cursor().copy(names("copy {document_tenants} from stdin")) as copy:
        for row in owned:
            copy.write_row(row)
    connection.execute(
        sql.SQL("comment on table {} is {}").format(
            sql.Identifier(names.schema, "document_tenants"), sql.Literal(f"{_REMEMBERED}{key}")
        )
    )
    for table, condition in _POLICIES.items():
        connection.execute(names(f"alter table {{{table}}} enable row level security"))
        connection.execute(names(f"drop policy if exists {_POLICY} on {{{table}}}"))
        connection.execute(
            names(f"create policy {_POLICY} on {{{table}}} for select using ({condition})")
        )
    _grant(connection, names, sorted({tenant for _, tenant in owned}))


def drop_policies(connection: Connection[Any], names: TableNames) -> None:
    """Before tables are replaced: each policy needs the table of tenants."""
    asked = "select tablename from pg_policies where schemaname = %s and policyname = %s"
    for (table,) in connection.execute(asked, [names.schema, _POLICY]).fetchall():
        if table in TABLES:
            connection.execute(names(f"drop policy {_POLICY} on {{{table}}}"))


def _tenants_of(record: str, key: str) -> list[str]:
    """One, several where the value is a list, or none."""
    value = flat_metadata(metadata_of(record)).get(key)
    values = value if isinstance(value, list) else [value]
    found = {readable(str(each)) for each in values if isinstance(each, str | int) and each != ""}
    for each in found:
        if len(each.encode()) > LONGEST_NAME:
            raise InvalidParameter(
                f"a document has the {key} {shown(each, 40)}; a tenant is a role of the server, whose name has up to "
                f"{counted(LONGEST_NAME, 'byte')}"
            )
    return sorted(found)


def _grant(connection: Connection[Any], names: TableNames, tenants: list[str]) -> None:
    """To roles that are there; of a tenant without one nobody but the owner reads."""
    from psycopg import sql

    there = connection.execute("select rolname from pg_roles where rolname = any(%s)", [tenants])
    for (role,) in there.fetchall():
        who = sql.Identifier(role)
        connection.execute(names("grant usage on schema {schema} to {who}", who=who))
        for table in (*_POLICIES, "about"):
            connection.execute(names(f"grant select on {{{table}}} to {{who}}", who=who))
