"""LanceDB: an index as tables in a folder or an object store, each with its versions; readers keep to those that were
published."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.atomic_files import bytes_in
from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.retrieval.databases import (
    PARTS,
    PartName,
    StoredDocument,
    StoredEngine,
    StoreProblem,
)
from chunkwise.retrieval.databases.lease import Lease
from chunkwise.retrieval.databases.store import (
    DEFAULT_NAME,
    StoreAddress,
    checked_name,
    explained,
    parse_store_address,
)
from chunkwise.retrieval.local import folder as folder_module
from chunkwise.retrieval.ranking import NOTHING, Ranking

MANY = 50_000
"""Chunks from which on LanceDB has an index of vectors; fewer are all compared."""
_LISTED = 1000
"""Chunks of a filter that are named to LanceDB; of more, enough are looked for until as many pass as are wanted."""
_TEXTS = ("doc_id", "title", "source", "section", "text", "context")
_NUMBERS = ("position", "start", "end", "tokens", "page")
_TAG = "published"
_OBJECT_STORES = ("s3", "gs", "az")


_FAILURES = (RuntimeError, OSError, ValueError, KeyError)
"""What LanceDB raises."""


def lance_storage_options(uri: str) -> dict[str, str] | None:
    """What Lance does not find by itself: a server of one's own of S3, a connection string of Azure."""
    if uri.startswith("s3://"):
        own = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        return {"aws_endpoint": own, **_by_http(own)} if own else None
    if uri.startswith("az://"):
        return _of_azure(os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "")) or None
    return None


def _by_http(endpoint: str) -> dict[str, str]:
    return {"allow_http": str(endpoint.startswith("http://")).lower()}


_OF_AZURE = {
    "AccountName": "azure_storage_account_name", "AccountKey": "azure_storage_account_key",
    "SharedAccessSignature": "azure_storage_sas_token", "BlobEndpoint": "azure_storage_endpoint",
}  # fmt: skip


def _of_azure(connection: str) -> dict[str, str]:
    """`AccountName=…;AccountKey=…`, as the tools of Azure take it; a value may have `=` in it."""
    parts = (each.partition("=") for each in connection.split(";"))
    given = {name: value for name, _, value in parts if value}
    account, suffix = given.get("AccountName"), given.get("EndpointSuffix")
    if account and suffix:  # of another cloud than the public one; a whole address goes before it
        protocol = given.get("DefaultEndpointsProtocol", "https")
        given.setdefault("BlobEndpoint", f"{protocol}://{account}.blob.{suffix}")
    known = {_OF_AZURE[name]: value for name, value in given.items() if name in _OF_AZURE}
    endpoint = known.get("azure_storage_endpoint")
    return {**known, **_by_http(endpoint)} if endpoint else known


class _Versions(NamedTuple):
    """What was published, and the versions of the tables that hold it."""

    state: str
    documents: int
    chunks: int


class LanceStore:
    """Three tables: chunks, documents, and one row that says which versions of those are the index."""

    def __init__(self, address: StoreAddress) -> None:
        address.only("kb")
        self.shown = address.shown
        self._folder = _folder(address)
        """None: an object store."""
        self._uri = str(self._folder or f"{address.variant}://{address.host}{address.path}")
        self._name = checked_name(address.options.get("kb", DEFAULT_NAME), address.shown)
        self._database: Any = None
        self._about: Any = None
        self._tables: dict[str, Any] = {}
        self._read: _Versions | None = None
        self._seen: frozenset[str] = frozenset()
        self._began: _Versions | None = None
        self._lease = None if self._folder else Lease(self.shown, self._take)
        try:
            import lancedb  # noqa: F401
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtra("a LanceDB index", "lancedb") from None

    def _table_name(self, table: str) -> str:
        return f"{self._name}_{table}"

    def _open_database(self) -> Any:
        if self._database is None:
            import lancedb

            with self._explained():
                options = None if self._folder else lance_storage_options(self._uri)
                self._database = lancedb.connect(self._uri, storage_options=options)
        return self._database

    def _has_table(self, table: str) -> bool:
        if self._folder:
            return (self._folder / f"{self._table_name(table)}.lance").is_dir()
        with self._explained():
            try:
                self._open_database().open_table(self._table_name(table))
            except (ValueError, FileNotFoundError) as error:
                if "not found" in str(error).lower():
                    return False
                raise
        return True

    def _open(self, table: str) -> Any:
        """As it is now, whatever was published."""
        with self._explained():
            return self._open_database().open_table(self._table_name(table))

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.shown, lambda: _FAILURES, _told)

    def state(self) -> str | None:
        seen = self._seen_versions()
        if seen and seen == self._seen and self._read:
            return self._read.state
        found = self._published()
        if found is None or not found.state:
            return None
        if found != self._read:
            opened = {}
            for table, version in (("documents", found.documents), ("chunks", found.chunks)):
                opened[table] = self._open(table)
                with self._explained():
                    opened[table].checkout(version)
            self._tables, self._read = opened, found
        self._seen = seen
        return found.state

    def _seen_versions(self) -> frozenset[str]:
        """The files of the row that says what counts: each commit of it has another. None: nobody knows."""
        if not self._folder:
            return frozenset()
        try:
            home = self._folder / f"{self._table_name('about')}.lance" / "_versions"
            return frozenset(os.listdir(home))
        except OSError:
            return frozenset()

    def _published(self) -> _Versions | None:
        """The row that says what counts; None: there is none yet."""
        if not self._has_table("about"):
            return None
        if self._about is None:
            self._about = self._open("about")
        with self._explained():
            self._about.checkout_latest()
            rows = self._about.search().limit(2).to_arrow().to_pylist()
        try:
            (row,) = rows
            return _Versions(row["state"], int(row["documents"]), int(row["chunks"]))
        except (ValueError, KeyError, TypeError):
            raise self._foreign("about") from None

    def _foreign(self, table: str) -> ChunkwiseError:
        return ChunkwiseError(
            f"{self.shown}: the table {self._table_name(table)!r} is not chunkwise's; nothing was touched: choose "
            "another name with ?kb=NAME"
        )

    def parts(
        self, name: PartName, numbers: Sequence[int] | None = None
    ) -> Iterator[tuple[int, bytes]]:
        table = self._tables["documents"]
        with self._explained():
            asked = table.search().select(["number", name])
            if numbers is None:
                asked = asked.limit(max(1, table.count_rows()))
            else:
                asked = asked.where(_among("number", numbers)).limit(max(1, len(numbers)))
            found = asked.to_arrow()
        rows = zip(found["number"].to_pylist(), found[name].to_pylist(), strict=True)
        yield from sorted(rows, key=lambda row: row[0])

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        wanted = np.asarray(chunks, np.int64)
        low, high = int(wanted.min()), int(wanted.max())
        run = f"number >= {low} and number <= {high}"
        condition = run if high - low < 2 * len(wanted) else _among("number", wanted)
        with self._explained():
            found = (
                self._tables["chunks"]
                .search()
                .where(condition)
                .select(["number", "vector"])
                .limit(max(2 * len(wanted), 1))
                .to_arrow()
                .combine_chunks()
            )
        numbers = found["number"].to_numpy()
        order = np.argsort(numbers)
        at = np.minimum(numbers[order].searchsorted(wanted), max(0, len(numbers) - 1))
        if not len(numbers) or (numbers[order][at] != wanted).any():
            raise KeyError(low)
        return _matrix(found["vector"])[order[at]]

    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | None,
        exact: bool | None,
    ) -> Ranking:
        rows = self._tables["chunks"].count_rows()
        if among is None or len(among) >= rows:
            return self._asked(vector, min(depth, rows), None, exact)
        if len(among) <= _LISTED:
            return self._asked(vector, min(depth, len(among)), _among("number", among), True)
        # A long list takes LanceDB longer than to compare all: so more are looked for, until enough of them pass.
        wanted = min(depth, len(among))
        looked = min(rows, 2 * wanted * -(-rows // len(among)) + 100)
        while True:
            found = self._asked(vector, looked, None, exact if looked < rows // 10 else True)
            taken = np.isin(found.numbers, among)
            if taken.sum() >= wanted or looked >= rows:
                return Ranking(found.numbers[taken][:depth], found.scores[taken][:depth])
            looked = min(rows, 8 * looked)

    def _asked(
        self, vector: NDArray[np.float32], depth: int, condition: str | None, exact: bool | None
    ) -> Ranking:
        if depth < 1:
            return NOTHING
        table = self._tables["chunks"]
        with self._explained():
            # Vectors have length 1: the product is the cosine, and one of zeros is as far as any.
            asked = table.search(vector, vector_column_name="vector").distance_type("dot")
            asked = asked.limit(depth).select(["number", "_distance"])
            if condition is not None:
                asked = asked.where(condition, prefilter=True)
            if exact:
                asked = asked.bypass_vector_index()
            else:
                asked = asked.nprobes(_PROBES)
            found = asked.to_arrow()
        scores = 1 - found["_distance"].to_numpy().astype(np.float64)
        return Ranking(found["number"].to_numpy().astype(np.int64), scores.astype(np.float32))

    def is_exact(self) -> bool:
        with self._explained():
            return not self._tables["chunks"].list_indices()

    def size(self) -> int:
        """All files of its tables, with the versions that are still kept; in an object store what counts now."""
        if not self._folder:
            with self._explained():
                return sum(int(each.stats().total_bytes) for each in self._tables.values())
        homes = [self._folder / f"{self._table_name(each)}.lance" for each in _TABLES]
        return sum(map(bytes_in, homes))

    def locked(self, wait: float) -> AbstractContextManager[None]:
        if self._lease is None:
            return folder_module.locked(Path(self._uri), wait)
        self._make_lock()
        return self._lease.held(wait)

    def _make_lock(self) -> None:
        import pyarrow

        if not self._has_table("lock"):
            free = pyarrow.table({"writer": [""], "until": [0.0]})
            with self._explained():
                self._open_database().create_table(self._table_name("lock"), free, exist_ok=True)

    def _take(self, writer: str, until: float, before: str) -> str:
        """Of two that change one row of a table LanceDB lets the second look again at what the first has written."""
        lock = self._open("lock")
        with self._explained():
            held_by = before.replace("'", "''")
            free = f"writer = '{held_by}' or until < {time.time()!r}"
            lock.update(where=free, values={"writer": writer, "until": until})
            lock.checkout_latest()
            (row,) = lock.search().limit(2).to_arrow().to_pylist()
        return str(row["writer"])

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Around each call that changes something: only as long as nobody else may write."""
        if self._lease is not None:
            self._lease.check()
        with self._explained():
            yield

    def begin(self, dimensions: int, *, anew: bool) -> None:
        self._began = published = self._published()
        if published is None:
            for table in ("documents", "chunks"):
                if self._has_table(table):
                    raise self._foreign(table)
            # It comes first: what else is here is ours from now on.
            self._publish(made := _Versions("", 0, 0))
            self._began = made
        self._dimensions = dimensions
        self._tables, self._read = {}, None
        for table, schema in _schemas(dimensions).items():
            if published is None or not published.state:
                self._tables[table] = self._made(table, schema)
                continue
            version = getattr(published, table)
            opened = self._tables[table] = self._open(table)
            with self._written():
                _tag(opened, version)
            if anew:
                self._tables[table] = self._made(table, schema)
                continue
            with self._written():
                if opened.version != version:
                    opened.checkout(version)
                    opened.restore()  # what a writer that stopped has left is no part of the next version

    def _made(self, table: str, schema: Any) -> Any:
        """Empty; where there is one, this is another version of it."""
        name = self._table_name(table)
        with self._written():
            if self._has_table(table):
                return self._open_database().create_table(name, schema=schema, mode="overwrite")
            return self._open_database().create_table(name, schema=schema)

    def add(self, documents: Sequence[StoredDocument]) -> None:
        import pyarrow

        schemas = _schemas(self._dimensions)
        rows = [
            {"number": each.number, **{part: each.parts[part] for part in PARTS}}
            for each in documents
        ]
        chunks = {
            "number": [number for each in documents for number in each.chunks],
            "document": [each.number for each in documents for _ in each.chunks],
            "metadata": [json.dumps(row["metadata"]) for each in documents for row in each.rows],
        }
        for name in (*_TEXTS, *_NUMBERS):
            chunks[name] = [row[name] for each in documents for row in each.rows]
        if self._dimensions:
            own = [each.vectors for each in documents if each.vectors is not None]
            flat = np.concatenate([each.reshape(-1) for each in own]) if own else np.empty(0, "f4")
            values = pyarrow.array(np.ascontiguousarray(flat, np.float32))
            chunks["vector"] = pyarrow.FixedSizeListArray.from_arrays(values, self._dimensions)
        with self._written():
            self._tables["documents"].add(
                pyarrow.Table.from_pylist(rows, schema=schemas["documents"])
            )
            if chunks["number"]:
                self._tables["chunks"].add(pyarrow.table(chunks, schema=schemas["chunks"]))

    def remove(self, numbers: Sequence[int]) -> None:
        for low in range(0, len(numbers), _LISTED):
            some = numbers[low : low + _LISTED]
            with self._written():
                self._tables["documents"].delete(_among("number", some))
                self._tables["chunks"].delete(_among("document", some))

    def publish(self, state: str) -> None:
        before = self._published()
        for table in ("documents", "chunks"):
            with self._written():
                # Small files are joined; LanceDB refuses to remove a version with a tag, however old it is.
                self._tables[table].optimize(cleanup_older_than=_FOREVER)
        chunks = self._tables["chunks"]
        if self._dimensions:
            self._index_vectors(chunks)
        made = _Versions(state, self._tables["documents"].version, chunks.version)
        if self._lease is not None:
            self._lease.renew()
        self._publish(made)
        with self._explained():
            _tag(self._tables["documents"], made.documents)
            _tag(chunks, made.chunks)
        self._clean_up("documents", before.documents if before else 0)
        self._clean_up("chunks", before.chunks if before else 0)
        self._clean_up("about", 0)
        if self._lease is not None:
            self._tables["lock"] = self._open("lock")
            self._clean_up("lock", 0)

    def _clean_up(self, table: str, replaced: int) -> None:
        """Away with old versions, but for the one that was just replaced: it may still be read."""
        with (
            suppress(StoreProblem),
            self._explained(),
        ):  # the update counts; the next one tries again
            opened, age = self._tables[table], _KEPT
            for each in opened.list_versions():
                if each["version"] == replaced:
                    age = max(age, datetime.now() - each["timestamp"] + timedelta(seconds=1))
            opened.optimize(cleanup_older_than=age)

    def _index_vectors(self, chunks: Any) -> None:
        from lancedb.index import IvfFlat

        with self._explained():
            known = any("vector" in each.columns for each in chunks.list_indices())
            if not known and chunks.count_rows() >= MANY:
                chunks.create_index("vector", config=IvfFlat(distance_type="dot"))

    def _publish(self, made: _Versions) -> None:
        """One commit of one table: who reads finds the row that was, or this one."""
        import pyarrow

        row = pyarrow.table({
            "state": [made.state],
            "documents": pyarrow.array([made.documents], pyarrow.int64()),
            "chunks": pyarrow.array([made.chunks], pyarrow.int64()),
        })  # fmt: skip
        with self._written():
            if not self._has_table("about"):
                self._open_database().create_table(self._table_name("about"), row)
                return
            opened = self._tables["about"] = self._open("about")
            if self._lease is None:
                opened.add(row, mode="overwrite")
                return
            began = self._began or made
            # Only where it is the row that this writer began with, whatever it believes of its lease.
            condition = f"documents = {began.documents} and chunks = {began.chunks}"
            opened.update(where=condition, values=made._asdict())
        if self._published() != made:
            raise self._lease.overtaken()

    def close(self) -> None:
        self._database = self._about = None
        self._tables, self._read = {}, None


_TABLES = ("about", "documents", "chunks")
_KEPT = timedelta(hours=1)
"""For how long versions stay: who reads them has this time to end. The one replaced last stays in any case."""
_FOREVER = timedelta(days=36_500)
"""Without an age LanceDB removes what is older than a week."""
_PROBES = 40
"""Lists of vectors that are looked through, of as many as the square root of the number of chunks."""


def _folder(address: StoreAddress) -> Path | None:
    if address.variant and address.variant not in _OBJECT_STORES:
        known = ", ".join(f"lancedb+{each}://bucket/path" for each in _OBJECT_STORES)
        raise InvalidParameter(
            f"the address is {address.shown}; known: lancedb:///path, and in object stores {known}"
        )
    if address.user or not (address.host or (address.path.strip("/") and not address.variant)):
        raise InvalidParameter(
            f"the address is {address.shown}; name a folder: lancedb:///path, or lancedb://path from where you are; or "
            "a bucket: lancedb+s3://bucket/path"
        )
    return None if address.variant else Path(address.host + address.path)


def _told(_: Exception, said: str) -> str:
    if "not found" not in said.lower():
        return said[:400]
    return f"the index changed meanwhile, or files of it are missing; ask again ({said[:200]})"


def _among(column: str, numbers: Sequence[int] | NDArray[np.int64]) -> str:
    """Whole numbers only: nothing of a user's is ever part of a condition."""
    return f"{column} in ({', '.join(str(int(each)) for each in numbers)})"


def _tag(table: Any, version: int) -> None:
    tags = table.tags
    (tags.update if _TAG in tags.list() else tags.create)(_TAG, version)


def _matrix(column: Any) -> NDArray[np.float32]:
    values = column.combine_chunks()
    flat = values.flatten().to_numpy(zero_copy_only=False)
    found: NDArray[np.float32] = flat.reshape(len(values), -1).astype(np.float32, copy=False)
    return found


def _schemas(dimensions: int) -> dict[str, Any]:
    import pyarrow as pa

    chunks = [
        ("number", pa.int64()),
        ("document", pa.int64()),
        *((name, pa.large_string()) for name in _TEXTS),
        *((name, pa.int64()) for name in _NUMBERS),
        ("metadata", pa.large_string()),
    ]
    if dimensions:
        chunks.append(("vector", pa.list_(pa.float32(), dimensions)))
    documents = [("number", pa.int64()), *((part, pa.large_binary()) for part in PARTS)]
    return {"documents": pa.schema(documents), "chunks": pa.schema(chunks)}


class LanceEngine(StoredEngine):
    """`lancedb:///path?kb=name`, `lancedb+s3://bucket/path?kb=name`."""

    def store(self, place: str) -> LanceStore:
        return LanceStore(parse_store_address(place))
