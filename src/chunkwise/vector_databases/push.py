"""Pushes chunks, their vectors and metadata into a vector database: of a file, of an index, or as Python has them."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.object_store import local_name
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers.write_chunks import VECTOR, WHOLE_NUMBERS, row_of
from chunkwise.core import Chunk, OnProgress
from chunkwise.models import get_embedder
from chunkwise.models.embed.embedder import Embedder
from chunkwise.records.fields import kind
from chunkwise.records.json import without_half_characters
from chunkwise.records.read import rows
from chunkwise.retrieval.export import chunks_with_vectors
from chunkwise.retrieval.indexes import Index, is_index, open_index
from chunkwise.vector_databases.database import (
    PUSH,
    StoredChunk,
    VectorDatabase,
    kept_fields,
    open_database,
    parse_database,
    telling,
)

OnBadRow = Callable[[str], None]
PushSource = str | os.PathLike[str] | Index | Iterable[Chunk]

_TEXTS = ("text", "page_content", "content", "document")
_ENDINGS = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")
_VECTORS = (VECTOR, "embedding", "embeddings", "values")
_LEFT_OUT = {
    "id", "metadata", "spans", "boxes", "word_count", "context_token_count", "strategy", "chunk_size_config",
    "overlap_config", *_TEXTS, *_VECTORS,
}  # fmt: skip
"""Columns that are parts of a row by themselves, or that nobody filters on."""


@dataclass(frozen=True, slots=True)
class PushResult:
    """Result of a push."""

    place: str
    push: str
    """Id of this push, stored in the field of that name."""
    chunks: int
    documents: int
    dimensions: int
    pruned: bool
    skipped: int = 0
    fields: tuple[str, ...] = field(default=(), repr=False)
    """Fields of the rows in addition to id, vector and text."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Row:
    id: str
    text: str
    index_text: str
    fields: Mapping[str, object]
    vector: Sequence[float] | None


def push(
    source: PushSource,
    to: str,
    *,
    collection: str | None = None,
    embedder: str | Embedder | None = None,
    prune: bool = False,
    on_bad: OnBadRow | None = None,
    advance: OnProgress | None = None,
) -> PushResult:
    """Upload chunks and vectors to a vector database; repeated calls update the same rows.

    Args:
        source: A file of chunks, an index, or a list of chunks.
        to: URL of the database: `chroma:///folder`, `qdrant://host:6333/NAME` …
        collection: Collection, unless it is in the URL.
        embedder: Embedding model for rows without a vector.
        prune: Delete stale rows of these documents.
        on_bad: Callback for skipped rows [default: warn].
        advance: Progress callback.

    Returns:
        Numbers of rows written, kept and deleted.

    Raises:
        ChunkwiseError: The database is unreachable, or has other dimensions.

    Example:
        >>> chunkwise.push("kb", "qdrant://localhost:6333/handbook")
    """
    trust_caller(to, embedder)
    address = parse_database(to, collection)
    bad = 0

    def told(problem: str) -> None:
        nonlocal bad
        bad += 1
        if on_bad is not None:
            on_bad(problem)

    every = _rows(source, told, needs_vectors=embedder is None)
    first = next(every, None)
    if first is None:
        raise ChunkwiseError(f"no chunks in {_shown(source)}; nothing was pushed")
    model = get_embedder(embedder) if embedder is not None else None
    dimensions = (
        model.dimensions
        if model is not None
        else len(first.vector if first.vector is not None else ())
    )
    mark, written = uuid.uuid4().hex[:12], 0
    documents: dict[str, None] = {}
    names: dict[str, None] = {}
    every = chain([first], every)
    with closing(open_database(address)) as database:
        with telling(address):
            database.open(dimensions)
        while batch := [*islice(every, database.most)]:
            made = [*_stored(batch, model, dimensions, mark, database, told)]
            with telling(address):
                for part in _parts(made, database.most_bytes):
                    database.write(part)
            written += len(made)
            for row in made:
                names |= dict.fromkeys(row.fields)
                if "doc_id" in row.fields:
                    documents[str(row.fields["doc_id"])] = None
            if advance is not None:
                size = sum(len(item.text.encode("utf-8", "replace")) for item in batch)
                advance(size, counted(written, "chunk"))
        # What was not pushed this time may be there from the last.
        pruned = prune and not bad
        with telling(address):
            for doc_id in documents if pruned else ():
                database.prune(doc_id, mark)
    return PushResult(
        str(address), mark, written, len(documents), dimensions, pruned, bad, tuple(names)
    )


_A_NUMBER = 22
"""Characters that a number of a vector takes at most, in JSON."""


def _parts(chunks: Sequence[StoredChunk], most: int) -> Iterator[list[StoredChunk]]:
    """As many together as a database takes at once."""
    part: list[StoredChunk] = []
    room = most
    for chunk in chunks:
        size = _A_NUMBER * len(chunk.vector) + _size(chunk)
        if part and size > room:
            yield part
            part, room = [], most
        part.append(chunk)
        room -= size
    if part:
        yield part


def _size(chunk: StoredChunk) -> int:
    """Bytes of text and fields, as JSON has them."""
    held = {**chunk.fields, "text": chunk.text}
    return len(json.dumps(held, ensure_ascii=False).encode("utf-8", "replace"))


def _stored(
    batch: Sequence[_Row], model: Embedder | None, dimensions: int, mark: str, database: VectorDatabase, told: OnBadRow
) -> Iterator[StoredChunk]:  # fmt: skip
    """Those that have a vector like all others, and that the database can take."""
    vectors: Sequence[Any]
    if model is None:
        vectors = [item.vector for item in batch]
    else:
        vectors = [*model.embed([item.index_text for item in batch])]
    for row, vector in zip(batch, vectors, strict=True):
        if problem := _wrong(vector, dimensions):
            told(f"{row.id}: {problem}")
            continue
        fields = kept_fields({**row.fields, "chunk_id": row.id, PUSH: mark})
        text = without_half_characters(row.text)
        made = StoredChunk(row.id, [float(each) for each in vector], text, fields)
        if problem := _too_large(made, database):
            told(f"{row.id[:80]}: {problem}")
            continue
        yield made


def _too_large(chunk: StoredChunk, database: VectorDatabase) -> str:
    if (size := len(chunk.id.encode("utf-8", "replace"))) > database.longest_id:
        return (
            f"its id has {counted(size, 'byte')}; the maximum is {thousands(database.longest_id)}"
        )
    if (size := _size(chunk)) > database.largest_row:
        most = thousands(database.largest_row)
        return f"text and metadata have {counted(size, 'byte')}; the maximum is {most}; use smaller chunks"
    return ""


def _wrong(vector: Any, dimensions: int) -> str:
    """Why it is no vector like the others; empty: it is one."""
    if vector is None:
        return "it has no vector"
    made: NDArray[np.float64] = np.asarray(vector, dtype=np.float64)
    if made.shape != (dimensions,):
        return (
            f"its vector has {counted(made.size, 'number')}, the first one {thousands(dimensions)}"
        )
    if not np.isfinite(made).all():
        return "its vector contains NaN"
    if not made.any():
        return "its vector is all zeros"
    return ""


def _rows(source: PushSource, told: OnBadRow, *, needs_vectors: bool) -> Iterator[_Row]:
    if isinstance(source, Index):
        return _of_index(source, needs_vectors)
    if isinstance(source, str | os.PathLike):
        name = local_name(os.fspath(source))
        return (
            _of_index(open_index(name), needs_vectors)
            if is_index(name)
            else _of_files(name, told, needs_vectors)
        )
    return _of_chunks(source, needs_vectors)


_NO_VECTORS = "has no vectors; choose an embedding model (embedder='minilm', --embedder minilm)"


def _of_index(index: Index, needs_vectors: bool) -> Iterator[_Row]:
    if needs_vectors and index.settings.vectors == "none":
        raise InvalidParameter(f"the index {_NO_VECTORS}, or push one that has them")
    for chunks, vectors in chunks_with_vectors(index.source, with_vectors=needs_vectors):
        for number, chunk in enumerate(chunks):
            yield _of_chunk(chunk, None if vectors is None else vectors[number])


def _of_chunks(chunks: Iterable[Chunk], needs_vectors: bool) -> Iterator[_Row]:
    if needs_vectors:
        raise InvalidParameter(f"a chunk {_NO_VECTORS}, or push an index")
    for chunk in chunks:
        if not isinstance(chunk, Chunk):
            raise InvalidParameter(
                f"a source is {type(chunk).__name__}; expected a file, an index or chunks"
            )
        yield _of_chunk(chunk, None)


def _of_chunk(chunk: Chunk, vector: Any) -> _Row:
    row = dict(row_of(chunk))
    return _Row(
        chunk.id, chunk.text, chunk.index_text, _fields(row, chunk.document.metadata), vector
    )


def _of_files(name: str, told: OnBadRow, needs_vectors: bool) -> Iterator[_Row]:
    """Of a file, or of all parts of a data set."""
    is_first = True
    seen: set[str] = set()
    for file in _files(name):
        for row in rows(file):
            if row.problem or not isinstance(row.value, Mapping):
                told(
                    f"{file}, {row.where}: "
                    f"{row.problem or f'expected a record, got {kind(row.value)}'}"
                )
                continue
            made = _of_record(row.value)
            if isinstance(made, str):
                told(f"{file}, {row.where}: {made}")
                continue
            if needs_vectors and made.vector is None and is_first:
                raise InvalidParameter(f"{file} {_NO_VECTORS}, or push an index that has them")
            if made.id in seen:
                told(f"{file}, {row.where}: duplicate id {made.id!r}; ids must be unique")
                continue
            seen.add(made.id)
            is_first = False
            yield made


def _files(name: str) -> list[str]:
    """Itself, or what is in a folder of parts; files that begin with _ or . say something about them."""
    if not Path(name).is_dir():
        if Path(name).suffix.lower() not in (*_ENDINGS, ""):
            raise InvalidParameter(
                f"{name} isn't a chunk file; expected .parquet, .jsonl, .json or .csv written "
                f"by `chunkwise chunk -o`, a folder of these, or an index"
            )
        return [name]
    files = sorted(
        str(path)
        for path in Path(name).iterdir()
        if path.suffix.lower() in _ENDINGS and path.name[0] not in "_." and path.is_file()
    )
    if not files:
        raise InvalidParameter(
            f"{name} has no chunk files and isn't an index; give the output of `chunkwise "
            f"chunk -o` or `chunkwise index --into`"
        )
    return files


def _of_record(record: Mapping[str, Any]) -> _Row | str:
    """A row of a file of ours or of another tool; a text says why it is none."""
    text = next((record[name] for name in _TEXTS if isinstance(record.get(name), str)), None)
    if not text or not text.strip():
        return f"it has no text; expected a field {', '.join(_TEXTS)}"
    metadata = record.get("metadata")
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            return "its metadata is not JSON"
    if metadata is not None and not isinstance(metadata, Mapping):
        return f"its metadata is {kind(metadata)}; expected an object"
    vector = next((record[name] for name in _VECTORS if record.get(name) is not None), None)
    if isinstance(vector, str):  # a cell of CSV
        try:
            vector = json.loads(vector)
        except ValueError:
            return "its vector is not a list of numbers"
    if vector is not None and not _is_numbers(vector):
        return "its vector is not a list of numbers"
    fields = _fields(record, metadata or {})
    doc = record.get("doc_id")
    if doc is not None:
        fields["doc_id"] = doc = str(doc)
    id = next(
        (record[name] for name in ("id", "chunk_id") if record.get(name) not in (None, "")), None
    )
    at = record.get("index", record.get("start"))
    if id is None and doc is not None and at is not None:
        id = f"{doc}::{at}"
    context = record.get("context")
    return _Row(
        # The same text of a document is the same row, whoever pushes it.
        str(id) if id is not None else uuid.uuid5(uuid.NAMESPACE_OID, f"{doc or ''}\n{text}").hex,
        text, f"{context}\n{text}" if isinstance(context, str) and context else text, fields, vector,
    )  # fmt: skip


def _is_numbers(vector: object) -> bool:
    return (
        isinstance(vector, Sequence)
        and len(vector) > 0
        and all(isinstance(item, int | float) and not isinstance(item, bool) for item in vector)
    )


def _fields(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, object]:
    """Columns of the chunk, then the document's metadata; a name that both have is the chunk's."""
    own = {name: _whole(name, value) for name, value in row.items() if name not in _LEFT_OUT}
    taken = {*own, PUSH, "chunk_id", "text", "id"}
    others = {
        f"metadata_{name}" if name in taken else name: value for name, value in metadata.items()
    }
    return {**own, **others}


def _whole(name: str, value: object) -> object:
    """A number that a cell of CSV has as text."""
    is_text = (
        isinstance(value, str) and name in WHOLE_NUMBERS and value.isdecimal() and len(value) < 16
    )
    return int(value) if is_text else value  # type: ignore[call-overload]


def _shown(source: object) -> str:
    return os.fspath(source) if isinstance(source, str | os.PathLike) else "the input"


def summary(result: PushResult) -> str:
    """In one sentence."""
    of = f" of {counted(result.documents, 'document')}" if result.documents else ""
    pruned = ", stale ones deleted" if result.pruned else ""
    return (
        f"{counted(result.chunks, 'chunk')}{of} ({counted(result.dimensions, 'dimension')}) "
        f"pushed to {result.place}{pruned}"
    )
