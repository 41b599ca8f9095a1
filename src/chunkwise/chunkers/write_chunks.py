"""Chunks and hits as rows: the same columns in every format of a file, which is whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.atomic_files import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.spec import parse, size_and_overlap
from chunkwise.chunkers import get_strategy, strategies
from chunkwise.core import Chunk, Document, Hit, Query
from chunkwise.core.chunk import KnownSection, Outline
from chunkwise.core.document import SECTION_SEPARATOR, plain_value
from chunkwise.records.write import (
    Append,
    arrow,
    csv_file,
    json_line,
    json_lines_file,
    json_string,
    json_value,
    lines_file,
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


class ChunkRow(TypedDict):
    """The columns, in order. Offsets are half-open, in Unicode code points of the document's text."""

    id: str
    doc_id: str
    index: int
    start: int
    end: int
    text: str
    context: str
    token_count: int
    context_token_count: int
    word_count: int
    section: str
    page: int | None
    last_page: int | None
    title: str
    source: str
    strategy: str
    chunk_size_config: int | None
    overlap_config: int | None
    level: int
    spans: str
    boxes: str
    parent_start: int | None
    parent_end: int | None
    metadata: str


def _json(metadata: Mapping[str, object]) -> str:
    return json.dumps(plain_value(metadata), ensure_ascii=False) if metadata else "{}"


COLUMNS = tuple(ChunkRow.__annotations__)


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


def row_of(chunk: Chunk, place: SegmentPlace = _AT_THE_BEGINNING) -> ChunkRow:
    """A chunk's record; `section` is the path, `metadata` the document's own, as JSON.

    `spans` has the places it stands for, as JSON: its own; of a summary (`level` above 0) all it summarizes.
    `boxes` has the rectangles they stand in, as JSON: page from 1, x0, y0, x1, y1 in PDF points.
    """
    row = _json_row(chunk, place)
    row["spans"] = json.dumps(row["spans"])
    row["boxes"] = json.dumps(row["boxes"])
    row["metadata"] = _json(chunk.document.metadata)
    return cast(ChunkRow, row)


def _json_row(chunk: Chunk, place: SegmentPlace = _AT_THE_BEGINNING) -> dict[str, object]:
    """The same, in which lists and objects stand as they are: JSON holds them."""
    document, parent, text = chunk.document, chunk.parent, chunk.text
    begin, index = place.characters, place.chunks + chunk.index
    return {
        "id": f"{document.id}::{index}",
        "doc_id": document.id,
        "index": index,
        "start": begin + chunk.start,
        "end": begin + chunk.end,
        "text": text,
        "context": chunk.context,
        "token_count": chunk.token_count,
        "context_token_count": _context_tokens(chunk.context, chunk.strategy)
        if chunk.context_token_count < 0
        else chunk.context_token_count,
        "word_count": len(text.split()),
        "section": chunk.section_path,
        "page": chunk.page,
        "last_page": chunk.last_page,
        "title": document.title,
        "source": document.source,
        "strategy": chunk.strategy,
        "chunk_size_config": chunk.chunk_size_config,
        "overlap_config": chunk.overlap_config,
        "level": chunk.level,
        "spans": [(begin + start, begin + end) for start, end in chunk.spans],
        "boxes": chunk.boxes,
        "parent_start": begin + parent.start if parent else None,
        "parent_end": begin + parent.end if parent else None,
        "metadata": plain_value(document.metadata),
    }


_NO_SECTIONS = KnownSection(())


def chunk_lines(chunks: Iterable[Chunk], place: SegmentPlace = _AT_THE_BEGINNING) -> Iterator[str]:
    """The line of JSON of each chunk: what chunks of one document share is spelled once."""
    before, numbered = place
    document: Document | None = None
    strategy = ""
    path: tuple[str, ...] | None = None
    outline: Outline | None = None
    low = high = 0  # the segment that has this path
    begin = behind_id = known = behind_count = end_of_line = ""
    for chunk in chunks:
        if chunk.document is not document or chunk.strategy is not strategy:
            document, strategy, path, high = chunk.document, chunk.strategy, None, 0
            doc_id = json_value(document.id)
            begin = f'{{"id": {doc_id[:-1]}::'
            behind_id = f'", "doc_id": {doc_id}, "index": '
            named = (document.title, document.source, strategy, *size_and_overlap(strategy))
            title, source, label, size, overlap = map(json_value, named)
            known = (
                f'"page": null, "last_page": null, "title": {title}, "source": {source}, '
                f'"strategy": {label}, "chunk_size_config": {size}, "overlap_config": {overlap}, '
                '"level": 0, "spans": [['
            )
            metadata = json_value(plain_value(document.metadata))
            end_of_line = f']], "boxes": [], "parent_start": null, "parent_end": null, "metadata": {metadata}}}\n'
            text, is_plain = document.text, not document.pages and document.boxes is None
        has_context = chunk.context or chunk.context_token_count > 0
        if not is_plain or has_context or chunk.level or chunk.summarized or chunk.parent:
            yield json_line(_json_row(chunk, place))
            continue
        first, behind = chunk.start, chunk.end
        if not low <= first < behind <= high or chunk.outline is not outline:
            outline = chunk.outline
            low, high, found = (outline or _NO_SECTIONS).stretch(first, behind)
            if found is not path:
                path = found
                behind_count = f', "section": {json_value(SECTION_SEPARATOR.join(found))}, {known}'
        said = text[first:behind]
        # Each number is spelled once, too.
        index = f"{numbered + chunk.index}"
        start, end = f"{before + first}", f"{before + behind}"
        yield (
            f'{begin}{index}{behind_id}{index}, "start": {start}, "end": {end}, '
            f'"text": {json_string(said)}, "context": "", "token_count": {chunk.token_count}, '
            f'"context_token_count": 0, "word_count": {len(said.split())}{behind_count}{start}, {end}{end_of_line}'
        )


class HitRow(TypedDict):
    """The fields, in order. Offsets are half-open, in Unicode code points of the document's text."""

    query_id: str
    query: str
    rank: int
    score: float
    doc_id: str
    start: int
    end: int
    token_count: int
    title: str
    source: str
    section: str
    page: int | None
    last_page: int | None
    text: str
    opening: str
    closing: str
    hidden: list[list[int]]
    level: int
    spans: list[list[int]]
    elsewhere: list[dict[str, object]]
    boxes: list[list[float]]
    chunk_id: str | None
    matched_id: str | None
    matched: list[int] | None
    parent: list[int] | None
    metadata: dict[str, object]


def hit_row(query: Query, hit: Hit) -> HitRow:
    """A hit's record: its question, then what `Hit.to_dict` has; `section` is the path.

    `opening` and `closing` are what a reader needs around `text` where it is a part of a block: a fence, the header of
    a table; `hidden` are the places inside it that are shown to nobody: comments.
    `spans` has the places it stands for: its own; of a summary (`level` above 0, its `text` is the summary) all it
    summarizes. `chunk_id` is that of the chunk it is, `matched_id` and `matched` are id and place of the one that was
    found, `parent` is what is handed out for it: None where there is none. `metadata` is that of its document.
    """
    row: HitRow = {"query_id": query.id, "query": query.text, **hit.to_dict()}  # type: ignore[typeddict-item]
    return row


@contextmanager
def chunk_file(path: Path, *, with_vectors: bool = False) -> Iterator[WriteChunks]:
    """A file to append chunks to; its name's ending says the format."""
    opener = opener_for(path, with_vectors=with_vectors)
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        with replacing(path) as temporary, lines_file(temporary) as append_lines:

            def write_lines(
                chunks: Iterable[Chunk],
                vectors: VectorRows | None = None,
                place: SegmentPlace = _AT_THE_BEGINNING,
            ) -> None:
                with says_what_it_writes(path):
                    if vectors is not None:
                        pairs = zip(chunks, vectors, strict=True)
                        append_lines(
                            json_line({**_json_row(chunk, place), VECTOR: vector.tolist()})
                            for chunk, vector in pairs
                        )
                    else:
                        append_lines(chunk_lines(chunks, place))

            yield write_lines
        return
    with replacing(path) as temporary, opener(temporary) as append:

        def write(
            chunks: Iterable[Chunk],
            vectors: VectorRows | None = None,
            place: SegmentPlace = _AT_THE_BEGINNING,
        ) -> None:
            with says_what_it_writes(path):
                if vectors is None:
                    append(row_of(chunk, place) for chunk in chunks)
                    return
                pairs = zip(chunks, vectors, strict=True)
                append(
                    {**row_of(chunk, place), VECTOR: _plain(vector, suffix)}
                    for chunk, vector in pairs
                )

        yield write


def _plain(vector: NDArray[np.float32], suffix: str) -> object:
    """Arrow takes an array as it is; a cell of a table holds a text."""
    return json.dumps(vector.tolist()) if suffix == ".csv" else vector


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
    found = openers.get(path.suffix.lower())
    if found is None:
        raise InvalidParameter(
            f"output is {str(path)!r}; its name must end in {', '.join(openers)} for one file, or be a "
            "folder's for a data set of chunks"
        )
    return found


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
