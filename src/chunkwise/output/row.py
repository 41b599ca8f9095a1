"""One chunk as a flat record: the same columns in every file format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TypedDict

from chunkwise.core import Chunk
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer


class Row(TypedDict):
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
    level: int
    spans: str
    metadata: str


def _json(metadata: Mapping[str, object]) -> str:
    return json.dumps(dict(metadata), ensure_ascii=False) if metadata else "{}"


COLUMNS = tuple(Row.__annotations__)


@lru_cache(maxsize=1024)
def _context_tokens(context: str) -> int:
    """Remembered: a table's header and a section path stand beside many chunks."""
    return get_tokenizer(DEFAULT).count(context) if context else 0


def row_of(chunk: Chunk) -> Row:
    """A chunk's record; `section` is the path, `metadata` the document's own, as JSON.

    `spans` has the places it stands for, as JSON: its own; of a summary (`level` above 0) all it summarises.
    """
    document = chunk.document
    return {
        "id": chunk.id,
        "doc_id": document.id,
        "index": chunk.index,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "context": chunk.context,
        "token_count": chunk.token_count,
        "context_token_count": _context_tokens(chunk.context),
        "word_count": chunk.word_count,
        "section": chunk.section_path,
        "page": chunk.page,
        "last_page": chunk.last_page,
        "title": document.title,
        "source": document.source,
        "strategy": chunk.strategy,
        "level": chunk.level,
        "spans": json.dumps(chunk.spans),
        "metadata": _json(document.metadata),
    }
