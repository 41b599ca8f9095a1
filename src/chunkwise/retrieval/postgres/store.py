"""PostgreSQL as a store: documents, chunks and postings as tables of a schema, and a row that is the state."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.retrieval.databases.store import (
    CHUNK_BITS,
    PARTS,
    PartName,
    Store,
    StoredDocument,
)
from chunkwise.retrieval.postgres.connection import (
    MOST_DIMENSIONS,
    Address,
    ServerProblem,
    Version,
    connect,
    has_index,
    need_vectors,
    server_problems_explained,
    use_vectors,
)
from chunkwise.retrieval.postgres.search_sql import (
    EVERY_CHUNK,
    FEW,
    FilterCondition,
    indexed_vector,
    is_exact,
    near_statement,
    search_index,
)
from chunkwise.retrieval.ranking import Ranking

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed

_ROWS = ("documents", "chunks", "postings")
_NEW = "new_"
"""Tables of a rebuild begin with it until they are put in the place of the old ones."""

_MAKE = """
create table {documents} (
    number integer primary key,
    %(parts)s
);
create table {chunks} (
    number bigint primary key,
    document integer not null,
    %(fields)s%(vector)s
);
create table {postings} (
    term bigint not null,
    chunk bigint not null,
    times integer not null,
    terms integer not null
);
"""
_FIELDS = {
    "doc_id": "text",
    "title": "text",
    "source": "text",
    "metadata": "json",
    "position": "integer",
    "start": "bigint",
    "stop": "bigint",
    "tokens": "integer",
    "level": "integer",
    "section": "text",
    "sections": "text[]",
    "page": "integer",
    "pages": "integer[]",
    "text": "text",
    "context": "text",
}
"""Columns of a chunk."""
_ROW_FIELD = {"stop": "end"}
"""A word of SQL is called otherwise."""

# Made after the rows: quicker, and a better graph.
_INDEXES = """
create index on {chunks} (document);
create unique index on {postings} (term, chunk) include (times, terms);
create index on {postings} using brin (chunk) with (pages_per_range = 16);
"""


class PostgresStore(Store):
    """All that a writer does is one transaction: it counts as a whole once that is committed."""

    is_transactional = True

    def __init__(self, address: Address) -> None:
        self.shown = address.shown
        self.version: Version = ()
        """Of pgvector; empty: the server has none."""
        self._address = address
        self._connection: Connection[Any] | None = None
        self._is_within = False
        self._is_known = False
        """Whether an index was found here."""
        self._is_changed = False
        self._prefix = ""
        self._dimensions = 0

    def _names(self, text: str) -> Composed:
        """A statement with `{documents}`, `{chunks}` … filled in; values never are, they travel beside it."""
        from psycopg import sql

        schema = self._address.name
        tables = {name: sql.Identifier(schema, f"{self._prefix}{name}") for name in _ROWS}
        # Our own statements only: nothing a user wrote is ever part of the text.
        return sql.SQL(text).format(
            schema=sql.Identifier(schema), state=sql.Identifier(schema, "state"), **tables
        )

    def _open(self) -> Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._address)
            with server_problems_explained(self._address):
                # Compiling takes longer than any of these statements.
                self._connection.execute("set jit = off")
                # The server takes the chunks with frequent words for a few hundred. When they are a hundred thousand,
                # its table of sums no longer fits, and is written out and read again for minutes; sorting is steady.
                self._connection.execute("set enable_hashagg = off")
                self.version = use_vectors(self._connection)
            # An index that nobody closed takes its connection along.
            weakref.finalize(self, self._connection.close)
        return self._connection

    def _run(self, statement: str, values: Any = None) -> Any:
        """A statement; what it answers is in the binary form, which has every character and digit."""
        return (
            self._open().cursor(binary=values is not None).execute(self._names(statement), values)
        )

    def ask(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """All rows of an answer."""
        with self.reading():
            result: list[tuple[Any, ...]] = self._run(statement, values).fetchall()
            return result

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._is_within:
            yield
            return
        connection = self._open()
        with server_problems_explained(self._address), ExitStack() as stack:
            self._begin(connection, stack)
            self._is_within = True
            try:
                yield
            finally:
                self._is_within = False

    def _begin(self, connection: Connection[Any], stack: ExitStack) -> None:
        from psycopg import OperationalError

        try:
            stack.enter_context(connection.transaction())
        except OperationalError:
            # The server let an idle connection go, or was restarted: that is no reason to fail.
            connection.close()
            stack.enter_context(self._open().transaction())
        self._run("set transaction isolation level repeatable read, read only")
        if self._is_known:
            # Before the state is looked at: a rebuild cannot put other tables in their place then.
            self._run("lock table {documents}, {chunks}, {postings} in access share mode")

    @contextmanager
    def lock(self, wait: float) -> Iterator[None]:
        """Held until the transaction ends, however it ends."""
        connection = self._open()
        with server_problems_explained(self._address):
            with connection.transaction():
                _check_encoding(connection, self._address)
                _lock(connection, self._address.name, wait)
                self._is_within = True
                try:
                    yield
                finally:
                    self._is_within, self._prefix = False, ""
            if self._is_changed:
                self._vacuum()

    def _vacuum(self) -> None:
        """After the commit: plans need figures, and scans of an index alone need the map of visible rows."""
        from psycopg import Error

        for table in _ROWS:
            with suppress(Error):  # all is written by now
                self._run(f"vacuum (analyze, skip_locked) {{{table}}}")
        self._is_changed = False

    def read_state(self) -> str | None:
        with self.reading():
            if not self._is_known and not self._is_there():
                return None
            row = self._run("select to_jsonb(s) from {state} s").fetchone()
        text = row[0].get("text") if row else None
        if not isinstance(text, str):
            raise self._foreign("state")
        self._is_known = True
        return text

    def _is_there(self) -> bool:
        listed = "select tablename from pg_tables where schemaname = %s and tablename = any(%s)"
        there = {str(row[0]) for row in self._run(listed, [self._address.name, ["state", *_ROWS]])}
        if there and "state" not in there:
            raise self._foreign(min(there))
        return bool(there)

    def _foreign(self, table: str) -> ChunkwiseError:
        return ChunkwiseError(
            f"{self.shown}: schema {self._address.name!r} has a table {table!r} that is not "
            "chunkwise's; nothing was changed: choose another name with ?kb=NAME"
        )

    def swap_state(self, old: str | None, new: str) -> None:
        if old is not None:
            self._run("update {state} set text = %s where text = %s", [new, old])
            return
        known = "select from pg_namespace where nspname = %s"
        if not self._run(known, [self._address.name]).fetchone():
            self._run("create schema {schema}")
        self._run("create table {state} (text text not null)")
        self._run("insert into {state} values (%s)", [new])

    def make(self, dimensions: int) -> None:
        """Beside the tables that there are."""
        self._prefix, self._dimensions = _NEW, dimensions
        if dimensions:
            self.version = need_vectors(self._open(), self._address)
        self._run(
            _MAKE
            % {
                "parts": ", ".join(f"{part} bytea" for part in PARTS),
                "fields": ", ".join(f"{name} {kind}" for name, kind in _FIELDS.items()),
                "vector": f", vector vector({int(dimensions)})" if dimensions else "",
            }
        )

    def drop(self, rows: str) -> None:
        """New tables take the place of the old ones, which go then."""

    def put(self, documents: Sequence[StoredDocument]) -> None:
        self._is_changed = True
        parts = (
            (document.number, *(document.parts.get(part) for part in PARTS))
            for document in documents
        )
        self._copy("documents", "integer" + " bytea" * len(PARTS), parts)
        has_vectors = any(document.vectors is not None for document in documents)
        types = f"bigint integer {' '.join(_FIELDS.values())}{' vector' * has_vectors}"
        self._copy("chunks", types, (row for document in documents for row in _chunks(document)))
        with self._open().cursor().copy(self._names(_COPY.format("{postings}"))) as copy:
            copy.write(_COPY_HEAD)
            for document in documents:
                copy.write(_postings(document))
            copy.write(_COPY_END)

    def _copy(self, table: str, types: str, rows: Iterable[Sequence[object]]) -> None:
        with self._open().cursor().copy(self._names(_COPY.format(f"{{{table}}}"))) as copy:
            copy.set_types(types.split())
            for row in rows:
                copy.write_row(row)

    def delete(self, first: int, last: int) -> None:
        self._is_changed = True
        self._run("delete from {documents} where number between %s and %s", [first, last])
        for table, column in (("chunks", "number"), ("postings", "chunk")):
            self._run(
                f"delete from {{{table}}} where {column} >= %s and {column} < %s",
                [first << CHUNK_BITS, (last + 1) << CHUNK_BITS],
            )

    def get(self, part: PartName, numbers: Sequence[int]) -> dict[int, bytes]:
        asked = f"select number, {part} from {{documents}} where number = any(%s) and {part} is not null"
        return dict(self.ask(asked, [list(numbers)]))

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        asked = "select number, vector from {chunks} where number = any(%s)"
        result = dict(self.ask(asked, [list(chunks)]))
        return np.array([result[int(chunk)].to_numpy() for chunk in chunks], np.float32)

    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | FilterCondition | None,
        exact: bool | None,
    ) -> Ranking:
        """All are compared where that is as good as the index, or the only way."""
        if isinstance(among, np.ndarray):
            among = FilterCondition("c.number = any(%(among)s)", {"among": among.tolist()})
        chosen = among or EVERY_CHUNK
        with self.reading():
            if not has_index(len(vector), self.version):
                exact = True
            elif exact is None:
                few = f"select from {{chunks}} c where {chosen.text} limit {FEW + 1}"
                ((count,),) = self.ask(f"select count(*) from ({few}) as few", chosen.values)
                exact = is_exact(count, depth, among is not None, self.version)
            if not exact:
                search_index(self._open(), depth, self.version)
            statement = near_statement(len(vector), exact).replace("{condition}", chosen.text)
            return self.rank(statement, {**chosen.values, "vector": vector, "depth": depth})

    def rank(self, statement: str, values: Mapping[str, Any]) -> Ranking:
        """What a statement for numbers and scores finds."""
        rows = self.ask(statement, values)
        numbers = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        return Ranking(numbers, np.fromiter((row[1] for row in rows), np.float32, len(rows)))

    def settle(self) -> None:
        if self._prefix:
            self._run(_INDEXES)
            if has_index(self._dimensions, self.version):
                kind = "vector" if self._dimensions <= MOST_DIMENSIONS else "halfvec"
                indexed = indexed_vector("vector", self._dimensions)
                self._run(f"create index on {{chunks}} using hnsw (({indexed}) {kind}_ip_ops)")

    def expose(self) -> None:
        """Put new tables in the place of old ones; what else lives in the schema stays."""
        if self._prefix:
            self._prefix = ""
            for table in _ROWS:
                self._run(f"drop table if exists {{{table}}}")
                self._run(f"alter table {{schema}}.{_NEW}{table} rename to {table}")

    def size(self) -> int:
        """Of all tables and their indexes."""
        asked = """select sum(pg_total_relation_size(c.oid))::bigint from pg_class c
            join pg_namespace n on n.oid = relnamespace where nspname = %s and relkind = 'r'"""
        return int(self.ask(asked, [self._address.name])[0][0])

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


_COPY = "copy {} from stdin (format binary)"
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"
_POSTING = np.dtype(
    [
        ("fields", ">i2"),
        *(
            pair
            for name, size in {"term": 8, "chunk": 8, "times": 4, "terms": 4}.items()
            for pair in ((f"{name}_size", ">i4"), (name, f">i{size}"))
        ),
    ]
)
"""A row of COPY's binary form: there are dozens a chunk, written all at once."""


def _postings(document: StoredDocument) -> bytes:
    terms = document.terms
    if terms is None:
        return b""
    counts, total = np.diff(terms.first), np.append(0, np.cumsum(terms.times, dtype=np.int64))
    values = {
        "term": terms.term.view(np.int64),
        "chunk": np.repeat(np.array(document.chunks, np.int64), counts),
        "times": terms.times,
        "terms": np.repeat(np.diff(total[terms.first]), counts),
    }
    rows = np.empty(len(terms.term), _POSTING)
    rows["fields"] = len(values)
    for name, item in values.items():
        rows[name], rows[f"{name}_size"] = item, _POSTING[name].itemsize
    return rows.tobytes()


def _chunks(document: StoredDocument) -> Iterator[Sequence[object]]:
    for at, (number, row) in enumerate(zip(document.chunks, document.rows, strict=True)):
        fields = [row[_ROW_FIELD.get(name, name)] for name in _FIELDS]
        vector = [] if document.vectors is None else [document.vectors[at]]
        yield number, document.number, *fields, *vector


def _lock(connection: Connection[Any], name: str, wait: float) -> None:
    settings = {
        "lock_timeout": f"{max(1, round(wait * 1000))}ms",
        # A writer may be busy with its documents for hours; one that died is noticed within seconds.
        "idle_in_transaction_session_timeout": "0",
        "statement_timeout": "0",
        "client_connection_check_interval": "5s",
    }
    for setting, value in settings.items():
        connection.execute("select set_config(%s, %s, true)", [setting, value])
    key = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, person=b"chunkwise")
    number = int.from_bytes(key.digest(), signed=True)
    connection.execute("select pg_advisory_xact_lock(%s)", [number])


def _check_encoding(connection: Connection[Any], address: Address) -> None:
    result = connection.info.parameter_status("server_encoding")
    if result != "UTF8":
        raise ServerProblem(
            f"{address.shown}: the database has the encoding {result}; use UTF8: createdb -E "
            f"UTF8 -T template0 NAME"
        )
