"""Chunks as Parquet, one row group after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chunkwise.base.errors import MissingExtra
from chunkwise.core import Chunk
from chunkwise.output.row import COLUMNS, row_of

_ROWS_A_GROUP = 8192
_CHARACTERS_A_GROUP = 16_000_000

# The Arrow schema: texts are strings, offsets and counts 64-bit integers, pages and parents may be missing.
_MAY_BE_MISSING = {"page", "last_page", "parent_start", "parent_end"}
_INTEGERS = _MAY_BE_MISSING | {
    "index", "start", "end", "token_count", "context_token_count", "word_count", "level",
}  # fmt: skip


def schema() -> Any:
    """The Arrow schema of a chunk file."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("writing Parquet", "parquet") from None
    return pa.schema(
        [
            pa.field(
                name,
                pa.int64() if name in _INTEGERS else pa.string(),
                nullable=name in _MAY_BE_MISSING,
            )
            for name in COLUMNS
        ]
    )


@contextmanager
def parquet(path: Path) -> Iterator[Callable[[Iterable[Chunk]], None]]:
    """An open file; rows are kept back until they make a row group worth writing."""
    columns = schema()
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: list[dict[str, object]] = []
    size = 0
    with pq.ParquetWriter(path, columns, compression="zstd") as writer:

        def flush() -> None:
            nonlocal size
            writer.write_table(pa.Table.from_pylist(rows, schema=columns))
            rows.clear()
            size = 0

        def write(chunks: Iterable[Chunk]) -> None:
            nonlocal size
            for chunk in chunks:
                rows.append({name: _encodable(value) for name, value in row_of(chunk).items()})
                size += chunk.end - chunk.start
                if len(rows) >= _ROWS_A_GROUP or size >= _CHARACTERS_A_GROUP:
                    flush()

        yield write
        if rows:
            flush()


def _encodable(value: object) -> object:
    """Half a surrogate pair has no UTF-8 form; it becomes a question mark, which keeps the length."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
