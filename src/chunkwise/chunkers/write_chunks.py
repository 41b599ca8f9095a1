"""Chunks and hits as rows: the same columns in every format of a file, which is whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.spec import parse
from chunkwise.chunkers import get_strategy, strategies
from chunkwise.core import Chunk, Hit, Query
from chunkwise.records.write import (
    Append,
    arrow,
    csv_file,
    json_line,
    json_lines_file,
    parquet_file,
)
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

VectorRows = Iterable[NDArray[np.float32]]


class SegmentPlace(NamedTuple):
    """Where a segment of a longer text begins in it: positions and numbers of its chunks are counted from there."""

    characters: int = 0
    chunks: int = 0


_AT_THE_BEGINNING = SegmentPlace()


class WriteChunks(Protocol):
    """Appends chunks to an open file, with one vector each where it has a column for them."""

    def __call__(
        self,
        chunks: Iterable[Chunk],
        vectors: VectorRows | None = None,
        place: SegmentPlace = _AT_THE_BEGINNING,
    ) -> None: ...


VECTOR = "vector"
"""The last column, in files that have it: a list of 32-bit numbers."""

# The Arrow schema: texts are strings, offsets and counts 64-bit integers, pages and parents may be missing.
_MAY_BE_MISSING = {
    "page", "last_page", "parent_start", "parent_end", "chunk_size_config", "overlap_config",
}  # fmt: skip
WHOLE_NUMBERS = _MAY_BE_MISSING | {
    "index", "start", "end", "token_count", "context_token_count", "word_count", "level",
}  # fmt: skip


COLUMNS = (
    "id", "doc_id", "index", "start", "end", "text", "context", "token_count", "context_token_count", "word_count",
    "section", "page", "last_page", "title", "source", "strategy", "chunk_size_config", "overlap_config", "level",
    "spans", "boxes", "parent_start", "parent_end", "metadata",
)  # fmt: skip
"""In order. Offsets are half-open, in Unicode code points of the document's text."""


@lru_cache(maxsize=1024)
def _context_tokens(context: str, strategy: str) -> int:
    """Remembered: a table's header and a section path stand beside many chunks."""
    return get_tokenizer(_tokenizer(strategy)).count(context) if context else 0


@lru_cache(maxsize=64)
def _tokenizer(label: str) -> TokenizerLike:
    """What a strategy counts by; the usual one where its label alone does not make it again."""
    try:
        name, _ = parse(label)
        # Somebody else's code is not run for the sake of a label: it may come from a file.
        limit = get_strategy(label).limit if name in strategies.builtin else None
    except ChunkwiseError:
        limit = None
    return limit[0] if limit else DEFAULT_TOKENIZER


def row_of(chunk: Chunk, place: SegmentPlace = _AT_THE_BEGINNING) -> dict[str, Any]:
    """A chunk's record for files of plain cells: `spans`, `boxes` and `metadata` are JSON."""
    row = _json_row(chunk, place)
    for name in ("spans", "boxes", "metadata"):
        row[name] = json.dumps(row[name], ensure_ascii=False)
    return row


def _json_row(chunk: Chunk, place: SegmentPlace = _AT_THE_BEGINNING) -> dict[str, Any]:
    """The same, in which lists and objects stand as they are: JSON holds them."""
    row = chunk.to_dict()
    if row["context_token_count"] is None:
        row["context_token_count"] = _context_tokens(chunk.context, chunk.strategy)
    begin, before = place
    if begin:
        row["index"] += before
        row["id"] = f"{row['doc_id']}::{row['index']}"
        row["spans"] = [[begin + start, begin + end] for start, end in row["spans"]]
        for name in ("start", "end", "parent_start", "parent_end"):
            if row[name] is not None:
                row[name] += begin
    return row


def chunk_lines(chunks: Iterable[Chunk], place: SegmentPlace = _AT_THE_BEGINNING) -> Iterator[str]:
    """The line of JSON of each chunk."""
    return (json_line(_json_row(chunk, place)) for chunk in chunks)


def hit_row(query: Query, hit: Hit) -> dict[str, Any]:
    """A hit's record: its question, then what `Hit.to_dict` has."""
    return {"query_id": query.id, "query": query.text, **hit.to_dict()}


@contextmanager
def chunk_file(path: Path, *, with_vectors: bool = False) -> Iterator[WriteChunks]:
    """A file to append chunks to; its name's ending says the format."""
    opener = opener_for(path, with_vectors=with_vectors)
    make_row = _json_row if path.suffix.lower() == ".jsonl" else row_of
    with replacing(path) as temporary, opener(temporary) as append:

        def write(
            chunks: Iterable[Chunk],
            vectors: VectorRows | None = None,
            place: SegmentPlace = _AT_THE_BEGINNING,
        ) -> None:
            rows = (make_row(chunk, place) for chunk in chunks)
            if vectors is not None:
                pairs = zip(rows, vectors, strict=True)
                rows = (
                    {**row, VECTOR: _plain(vector, path.suffix.lower())} for row, vector in pairs
                )
            with says_what_it_writes(path):
                append(rows)

        yield write


def _plain(vector: NDArray[np.float32], suffix: str) -> object:
    """Arrow takes an array as it is; a cell of a table holds a text."""
    if suffix == ".parquet":
        return vector
    return json.dumps(vector.tolist()) if suffix == ".csv" else vector.tolist()


def opener_for(
    path: Path, *, with_vectors: bool = False
) -> Callable[[Path], AbstractContextManager[Append]]:
    """How files of this name's ending are written; another ending is refused with the known ones."""
    columns = (*COLUMNS, VECTOR) if with_vectors else COLUMNS
    openers: dict[str, Callable[[Path], AbstractContextManager[Append]]] = {
        ".jsonl": json_lines_file,
        ".parquet": lambda temporary: parquet_file(temporary, schema(with_vectors=with_vectors)),
        ".csv": lambda temporary: csv_file(temporary, columns),
    }
    result = openers.get(path.suffix.lower())
    if result is None:
        raise InvalidParameter(
            f"output is {str(path)!r}; its name must end in {', '.join(openers)} for a file; a "
            "name without an ending is a dataset folder"
        )
    return result


def schema(*, with_vectors: bool = False) -> Any:
    """The Arrow schema of a chunk file."""
    pa = arrow()
    vector = [pa.field(VECTOR, pa.list_(pa.float32()), nullable=False)] if with_vectors else []
    return pa.schema(
        [
            pa.field(
                name,
                pa.int64() if name in WHOLE_NUMBERS else pa.string(),
                nullable=name in _MAY_BE_MISSING,
            )
            for name in COLUMNS
        ]
        + vector
    )
