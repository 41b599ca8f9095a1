"""LanceDB: an index as tables in a folder or an object store, and a table of one row that is the published state."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.atomic_files import bytes_in
from chunkwise.base.errors import InvalidParameter, MissingExtra
from chunkwise.retrieval.databases import PARTS, PartName, Store, StoredDocument, StoredEngine
from chunkwise.retrieval.databases.address import (
    DEFAULT_NAME,
    StoreAddress,
    checked_name,
    parse_store_address,
)
from chunkwise.retrieval.ranking import NOTHING, Ranking

MANY = 50_000
"""Chunks from which on LanceDB has an index of vectors; fewer are all compared."""
_LISTED = 1000
"""Chunks of a filter that are named to LanceDB; of more, enough are looked for until as many pass as are wanted."""
_TEXTS = ("doc_id", "title", "source", "section", "text", "context")
_NUMBERS = ("position", "start", "end", "tokens", "page")
_OBJECT_STORES = ("s3", "gs", "az")


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
    parts = (part.partition("=") for part in connection.split(";"))
    given = {name: value for name, _, value in parts if value}
    account, suffix = given.get("AccountName"), given.get("EndpointSuffix")
    if account and suffix:  # of another cloud than the public one; a whole address goes before it
        protocol = given.get("DefaultEndpointsProtocol", "https")
        given.setdefault("BlobEndpoint", f"{protocol}://{account}.blob.{suffix}")
    known = {_OF_AZURE[name]: value for name, value in given.items() if name in _OF_AZURE}
    endpoint = known.get("azure_storage_endpoint")
    return {**known, **_by_http(endpoint)} if endpoint else known


_KEPT = timedelta(hours=1)
"""For how long versions stay: whoever reads them has this time to end."""
_PROBES = 40
"""Lists of vectors that are looked through, of as many as the square root of the number of chunks."""


class LanceStore(Store):
    """Two tables per set of rows, documents and chunks; a reader has them as they were when it opened them."""

    has_versions = True

    def __init__(self, address: StoreAddress) -> None:
        address.only("kb")
        self.shown = address.shown
        self._folder = _folder(address)
        """None: an object store."""
        self._uri = str(self._folder or f"{address.variant}://{address.host}{address.path}")
        self._name = checked_name(address.options.get("kb", DEFAULT_NAME), address.shown)
        self._database: Any = None
        self._tables: dict[str, Any] = {}
        self._seen: tuple[frozenset[str], str | None] = frozenset(), None
        try:
            import lancedb  # noqa: F401
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtra("a LanceDB index", "lancedb") from None

    def failures(self) -> tuple[type[Exception], ...]:
        return RuntimeError, OSError, ValueError

    def _open_database(self) -> Any:
        if self._database is None:
            import lancedb

            options = None if self._folder else lance_storage_options(self._uri)
            self._database = lancedb.connect(self._uri, storage_options=options)
        return self._database

    def _table_name(self, table: str) -> str:
        return f"{self._name}__{table if table == 'state' else f'{self.rows}_{table}'}"

    def _home(self, table: str) -> Path:
        assert self._folder
        return self._folder / f"{self._table_name(table)}.lance"

    def _table(self, table: str) -> Any:
        if table not in self._tables:
            self._tables[table] = self._open_database().open_table(self._table_name(table))
        return self._tables[table]

    def use(self, rows: str) -> None:
        super().use(rows)
        self._tables = {name: table for name, table in self._tables.items() if name == "state"}

    def read_state(self) -> str | None:
        seen = self._seen_versions()
        if seen and seen == self._seen[0]:
            return self._seen[1]
        if not self._has_state():
            return None
        state = self._table("state")
        state.checkout_latest()
        rows = state.search().limit(2).to_arrow().to_pylist()
        text = str(rows[0].get("text", "")) if rows else ""
        self._seen = seen, text
        return text

    def _seen_versions(self) -> frozenset[str]:
        """The files of the state: each change of it has another. Nothing: nobody knows."""
        try:
            return frozenset(os.listdir(self._home("state") / "_versions") if self._folder else ())
        except OSError:
            return frozenset()

    def _has_state(self) -> bool:
        if self._folder:
            return self._home("state").is_dir()
        try:
            self._open_database().open_table(self._table_name("state"))
        except (ValueError, FileNotFoundError) as error:
            if "not found" in str(error).lower():
                return False
            raise
        return True

    def swap_state(self, old: str | None, new: str) -> None:
        """Of two that change one row of a table, LanceDB lets the second look again at what the first has written."""
        import pyarrow

        row = {"stamp": _stamp(new), "text": new}
        if old is None:
            table = pyarrow.Table.from_pylist([row])
            self._open_database().create_table(self._table_name("state"), table)
        else:
            self._table("state").update(where=f"stamp = '{_stamp(old)}'", values=row)

    def make(self, dimensions: int) -> None:
        for table, schema in _schemas(dimensions).items():
            name = self._table_name(table)
            self._tables[table] = self._open_database().create_table(name, schema=schema)

    def drop(self, rows: str) -> None:
        for table in ("documents", "chunks"):
            name = f"{self._name}__{rows}_{table}"
            self._open_database().drop_table(name, ignore_missing=True)

    def put(self, documents: Sequence[StoredDocument]) -> None:
        import pyarrow

        tables = self._table("documents"), self._table("chunks")
        rows = [
            {"number": document.number, **{part: document.parts.get(part) for part in PARTS}}
            for document in documents
        ]
        chunks = {
            "number": [number for document in documents for number in document.chunks],
            "document": [document.number for document in documents for _ in document.chunks],
            "metadata": [
                json.dumps(row["metadata"]) for document in documents for row in document.rows
            ],
        }
        for name in (*_TEXTS, *_NUMBERS):
            chunks[name] = [row[name] for document in documents for row in document.rows]
        vectors = [document.vectors for document in documents if document.vectors is not None]
        if vectors:
            values = np.ascontiguousarray(np.concatenate(vectors), np.float32)
            flat = pyarrow.array(values.reshape(-1))
            chunks["vector"] = pyarrow.FixedSizeListArray.from_arrays(flat, values.shape[1])
        tables[0].add(pyarrow.Table.from_pylist(rows, schema=tables[0].schema))
        if chunks["number"]:
            tables[1].add(pyarrow.table(chunks, schema=tables[1].schema))

    def delete(self, first: int, last: int) -> None:
        for table, column in (("documents", "number"), ("chunks", "document")):
            opened = self._table(table)
            opened.delete(f"{column} >= {first} and {column} <= {last}")

    def get(self, part: PartName, numbers: Sequence[int]) -> dict[int, bytes]:
        table = self._table("documents")
        asked = table.search().select(["number", part])
        if len(numbers) <= _LISTED:
            asked = asked.where(_among("number", numbers)).limit(max(1, len(numbers)))
        else:
            asked = asked.limit(max(1, table.count_rows()))
        result = asked.to_arrow()
        every = zip(result["number"].to_pylist(), result[part].to_pylist(), strict=True)
        return dict(every)

    def vectors(self, chunks: Sequence[int]) -> NDArray[np.float32]:
        wanted = np.asarray(chunks, np.int64)
        low, high = int(wanted.min()), int(wanted.max())
        run = f"number >= {low} and number <= {high}"
        condition = run if high - low < 2 * len(wanted) else _among("number", wanted)
        result = (
            self._table("chunks")
            .search()
            .where(condition)
            .select(["number", "vector"])
            .limit(max(2 * len(wanted), 1))
            .to_arrow()
            .combine_chunks()
        )
        numbers = result["number"].to_numpy()
        order = np.argsort(numbers)
        at = np.minimum(numbers[order].searchsorted(wanted), max(0, len(numbers) - 1))
        if not len(numbers) or (numbers[order][at] != wanted).any():
            raise KeyError(low)
        return _matrix(result["vector"])[order[at]]

    def nearest(
        self,
        vector: NDArray[np.float32],
        depth: int,
        among: NDArray[np.int64] | None,
        exact: bool | None,
    ) -> Ranking:
        rows = self._table("chunks").count_rows()
        if among is None or len(among) >= rows:
            return self._asked(vector, min(depth, rows), None, exact)
        if len(among) <= _LISTED:
            return self._asked(vector, min(depth, len(among)), _among("number", among), True)
        # A long list takes LanceDB longer than to compare all: so more are looked for, until enough of them pass.
        wanted = min(depth, len(among))
        looked = min(rows, 2 * wanted * -(-rows // len(among)) + 100)
        while True:
            result = self._asked(vector, looked, None, exact if looked < rows // 10 else True)
            taken = np.isin(result.numbers, among)
            if taken.sum() >= wanted or looked >= rows:
                return Ranking(result.numbers[taken][:depth], result.scores[taken][:depth])
            looked = min(rows, 8 * looked)

    def _asked(
        self, vector: NDArray[np.float32], depth: int, condition: str | None, exact: bool | None
    ) -> Ranking:
        if depth < 1:
            return NOTHING
        table = self._table("chunks")
        # Vectors have length 1: the product is the cosine, and one of zeros is as far as any.
        asked = table.search(vector, vector_column_name="vector").distance_type("dot")
        asked = asked.limit(depth).select(["number", "_distance"])
        if condition is not None:
            asked = asked.where(condition, prefilter=True)
        if exact:
            asked = asked.bypass_vector_index()
        else:
            asked = asked.nprobes(_PROBES)
        result = asked.to_arrow()
        scores = 1 - result["_distance"].to_numpy().astype(np.float64)
        return Ranking(result["number"].to_numpy().astype(np.int64), scores.astype(np.float32))

    def is_exact(self) -> bool:
        table = self._table("chunks")
        return not table.list_indices()

    def settle(self) -> None:
        """Small files are joined, and versions that nobody reads any more go."""
        from lancedb.index import IvfFlat

        for name in ("state", "documents", "chunks"):
            table = self._table(name)
            table.optimize(cleanup_older_than=_KEPT)
        known = any("vector" in index.columns for index in table.list_indices())
        if "vector" in table.schema.names and not known and table.count_rows() >= MANY:
            table.create_index("vector", config=IvfFlat(distance_type="dot"))

    def size(self) -> int:
        """All files of its tables, with the versions that are still kept; in an object store what counts now."""
        if self._folder:
            return sum(bytes_in(self._home(item)) for item in ("state", "documents", "chunks"))
        tables = [self._table(item) for item in ("documents", "chunks")]
        return sum(int(table.stats().total_bytes) for table in tables)

    def close(self) -> None:
        self._database, self._tables = None, {}


def _stamp(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _folder(address: StoreAddress) -> Path | None:
    if address.variant and address.variant not in _OBJECT_STORES:
        known = ", ".join(f"lancedb+{store}://bucket/path" for store in _OBJECT_STORES)
        raise InvalidParameter(
            f"the address is {address.shown}; known: lancedb:///path, and in object stores {known}"
        )
    if address.user or not (address.host or (address.path.strip("/") and not address.variant)):
        raise InvalidParameter(
            f"the address is {address.shown}; expected a folder (lancedb:///path, or relative "
            f"lancedb://path) or a bucket (lancedb+s3://bucket/path)"
        )
    return None if address.variant else Path(address.host + address.path)


def _among(column: str, numbers: Sequence[int] | NDArray[np.int64]) -> str:
    """Whole numbers only: nothing of a user's is ever part of a condition."""
    return f"{column} in ({', '.join(str(int(number)) for number in numbers)})"


def _matrix(column: Any) -> NDArray[np.float32]:
    values = column.combine_chunks()
    flat = values.flatten().to_numpy(zero_copy_only=False)
    result: NDArray[np.float32] = flat.reshape(len(values), -1).astype(np.float32, copy=False)
    return result


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
