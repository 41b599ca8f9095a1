"""Results, chunks, hits and runs as tables of pandas and Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from chunkwise.base.errors import MissingExtra
from chunkwise.records.json import json_text
from chunkwise.records.write import arrow, encodable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class AsDict(Protocol):
    """A chunk, a hit or another value with named fields."""

    def to_dict(self) -> dict[str, Any]: ...


class Table:
    """A result with rows, such as the questions of an evaluation."""

    __slots__ = ()

    def rows(self) -> Iterable[Mapping[str, object]]:
        """List the rows: plain values by column."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return to_pandas(self)

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        return to_arrow(self)


def to_pandas(values: Table | Iterable[AsDict]) -> pd.DataFrame:
    """Convert chunks, hits, results or runs to a pandas DataFrame.

    Args:
        values: Chunks, hits or other values with `to_dict`, one per row; or a result.

    Returns:
        A table with one column per field; nested objects are JSON.

    Raises:
        MissingExtra: pandas is not installed.

    Example:
        chunkwise.to_pandas(index.search("who approves leave?"))[["score", "doc_id", "text"]]
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("to_pandas", "pandas") from None
    return pd.DataFrame(_columns(values))


def to_arrow(values: Table | Iterable[AsDict]) -> pa.Table:
    """Convert chunks, hits, results or runs to an Arrow table.

    Args:
        values: Chunks, hits or other values with `to_dict`, one per row; or a result.

    Returns:
        A table with one column per field; nested objects are JSON.

    Raises:
        MissingExtra: pyarrow is not installed.

    Example:
        chunkwise.to_arrow(chunkwise.chunk("handbook/")).group_by("doc_id").aggregate([("token_count", "sum")])
    """
    return arrow("to_arrow").table(_columns(values))


def _columns(values: Table | Iterable[AsDict]) -> dict[str, list[object]]:
    rows = [
        *(values.rows() if isinstance(values, Table) else (value.to_dict() for value in values))
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_cell(row.get(name)) for row in rows] for name in names}


def _cell(value: object) -> object:
    return json_text(value) if isinstance(value, Mapping) else encodable(value)
