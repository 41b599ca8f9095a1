"""One chunk as a flat record: the same columns in every file format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TypedDict

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.spec import parse
from chunkwise.chunkers import get_strategy, registry
from chunkwise.core import Chunk
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer


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
    parent_start: int | None
    parent_end: int | None
    metadata: str


def _json(metadata: Mapping[str, object]) -> str:
    return json.dumps(dict(metadata), ensure_ascii=False) if metadata else "{}"


COLUMNS = tuple(Row.__annotations__)


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
        limit = get_strategy(label).limit if name in registry.builtin else None
    except ChunkwiseError:
        limit = None
    return limit[0] if limit else DEFAULT_TOKENIZER


def row_of(chunk: Chunk) -> Row:
    """A chunk's record; `section` is the path, `metadata` the document's own, as JSON.

    `spans` has the places it stands for, as JSON: its own; of a summary (`level` above 0) all it summarises.
    """
    document, parent = chunk.document, chunk.parent
    return {
        "id": chunk.id,
        "doc_id": document.id,
        "index": chunk.index,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "context": chunk.context,
        "token_count": chunk.token_count,
        "context_token_count": _context_tokens(chunk.context, chunk.strategy),
        "word_count": chunk.word_count,
        "section": chunk.section_path,
        "page": chunk.page,
        "last_page": chunk.last_page,
        "title": document.title,
        "source": document.source,
        "strategy": chunk.strategy,
        "level": chunk.level,
        "spans": json.dumps(chunk.spans),
        "parent_start": parent.start if parent else None,
        "parent_end": parent.end if parent else None,
        "metadata": _json(document.metadata),
    }
