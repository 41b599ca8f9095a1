"""Arrow and Parquet: rows of a file, as many data sets keep their corpus, or of a table that is in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, time
from typing import Any, NamedTuple, Protocol, TypeGuard

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.records_as_documents import Corpus, CorpusEntry
from chunkwise.documents.loader import LoadOptions, OnUnreadable
from chunkwise.documents.source import Source
from chunkwise.records.read import parquet_rows
from chunkwise.records.write import arrow


class ParquetLoader:
    """Told by its first bytes; rows are read a thousand at a time."""

    suffixes: tuple[str, ...] = (".parquet",)
    stream = True

    def accepts(self, name: str, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        corpus = Corpus(source, options)
        try:
            entries = corpus.checked(_parquet_entries(source), texts=True)
            yield from corpus.documents(entries, on_unreadable)
        except UnreadableDocument:
            raise
        except ChunkwiseError as error:
            why = str(error).removeprefix(f"{source.origin} is ")
            raise UnreadableDocument(source.origin, why) from error


def _parquet_entries(source: Source) -> Iterator[CorpusEntry]:
    empty = True
    with source.open() as handle:
        for row in parquet_rows(source.origin, file=handle):
            empty = False
            yield CorpusEntry(row.where, plain_values(row.value))
    if empty:
        raise UnreadableDocument(source.origin, "no records")


def plain_values(value: Any) -> Any:
    """As JSON has it: dates and times in ISO's form, which sorts as they do."""
    if isinstance(value, dict):
        return {name: plain_values(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain_values(each) for each in value]
    return value.isoformat() if isinstance(value, date | time) else value


_FILE = b"ARROW1"
_STREAM = b"\xff\xff\xff\xff"
_ROWS = 1024
_PANDAS_INDEX = "__index_level_"
"""How pandas names the column of an index that has no name."""

_TO_ARROW = (
    "__arrow_c_stream__",  # pandas, polars, pyarrow, DuckDB, and whatever comes
    "__dataframe__",  # what is older than that
    "iter_batches",  # Ray Data
    "with_format",  # Hugging Face
    "toArrow",  # Spark
)


class ArrowLoader:
    """Told by its first bytes; read a batch at a time."""

    suffixes: tuple[str, ...] = (".arrow", ".feather")
    stream = True

    def accepts(self, name: str, head: bytes) -> bool:
        return head.startswith(_FILE) or (head.startswith(_STREAM) and name.endswith(".arrow"))

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        pa = arrow("reading Arrow")
        with source.open() as handle:
            try:
                opened = pa.ipc.open_stream if source.head(4) == _STREAM else pa.ipc.open_file
                reader = opened(handle)
                batches = (
                    reader
                    if source.head(4) == _STREAM
                    else map(reader.get_batch, range(reader.num_record_batches))
                )
                yield from _documents(map(_valid, batches), source, options, on_unreadable)
            except ChunkwiseError:  # some are a ValueError, too
                raise
            except (OSError, ValueError, pa.ArrowException) as error:
                why = f"damaged or truncated Arrow file: {' '.join(str(error).split())[:200]}"
                raise UnreadableDocument(source.origin, why) from error


def _valid(batch: Any) -> Any:
    """Offsets of a file from outside may lead anywhere in memory."""
    batch.validate(full=True)
    return batch


class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class _DataFrame(Protocol):
    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object: ...


class _RayDataset(Protocol):
    def iter_batches(self) -> Iterable[Any]: ...


class _HuggingFaceDataset(Protocol):
    def with_format(self, type: str | None = None) -> Any: ...


class _SparkFrame(Protocol):
    def toArrow(self) -> Any: ...  # noqa: N802


TableLike = _ArrowStream | _DataFrame | _RayDataset | _HuggingFaceDataset | _SparkFrame
"""What gives its rows as Arrow."""


class TableInput(NamedTuple):
    """A table among the inputs of a verb."""

    name: str
    value: TableLike

    def documents(self, options: LoadOptions, on_unreadable: OnUnreadable) -> Iterator[Document]:
        """A document a row; which columns hold text, id and title is found or named as for records in files."""
        source = Source(self.name, type(self.value).__name__)
        try:
            yield from _documents(_batches(self.value), source, options, on_unreadable)
        except UnreadableDocument as error:
            on_unreadable(error)


def is_table(value: object) -> TypeGuard[TableLike]:
    """Whether this gives its rows as Arrow, or says how it becomes what does."""
    return any(hasattr(value, name) for name in _TO_ARROW) or _is_lazy(value)


def _is_lazy(value: object) -> bool:
    return hasattr(value, "collect") and hasattr(value, "collect_schema")


def _batches(table: Any) -> Iterator[Any]:
    pa = arrow("reading a table")
    if hasattr(table, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(table)
    elif hasattr(table, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        yield from from_dataframe(table).to_batches(_ROWS)
    elif hasattr(table, "iter_batches"):
        for batch in table.iter_batches(batch_format="pyarrow", batch_size=_ROWS):
            yield from batch.to_batches()
    elif hasattr(table, "with_format"):
        for each in table.with_format("arrow").iter(batch_size=_ROWS):
            yield from each.to_batches()
    elif hasattr(table, "toArrow"):
        yield from table.toArrow().to_batches(_ROWS)
    else:
        kind = type(table).__name__
        raise InvalidParameter(f"{kind} is lazy; call collect() on it first")


def _documents(
    batches: Iterable[Any], source: Source, options: LoadOptions, on_unreadable: OnUnreadable
) -> Iterator[Document]:
    corpus = Corpus(source, options)
    entries = corpus.checked(_entries(batches, source), texts=True)
    yield from corpus.documents(entries, on_unreadable)


def _entries(batches: Iterable[Any], source: Source) -> Iterator[CorpusEntry]:
    number = 0
    for batch in batches:
        for at in range(0, batch.num_rows, _ROWS):
            for row in batch.slice(at, _ROWS).to_pylist():
                number += 1
                record = {
                    name: value for name, value in row.items() if not name.startswith(_PANDAS_INDEX)
                }
                yield CorpusEntry(f"row {number}", plain_values(record))
    if not number:
        raise UnreadableDocument(source.origin, "no records")
