"""What one writes without a tool for it: split, index the words, ask, score; everything anew for every chunking."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks import vocabulary
from chunkwise.core import Document, Query

CHUNKINGS = {
    "LangChain recursive, 100 tokens": (100, 20, "tokens"),
    "LangChain recursive, 300 tokens": (300, 60, "tokens"),
    "LangChain recursive, 1,000 tokens": (1000, 200, "tokens"),
    "LangChain recursive, 1,000 characters": (1000, 200, "characters"),
}
"""About a tenth of a grid of 34, from its smallest size to its largest."""
_DEEPEST = 40
"""Hits that are asked for: enough for 2,000 tokens of most chunkings."""
_BUDGETS = (250, 500, 1000, 2000)


class Chunk(NamedTuple):
    document: str
    start: int
    end: int
    text: str
    tokens: int


def seconds_each(documents: Sequence[Document], queries: Sequence[Query]) -> dict[str, float]:
    """Processor seconds of every chunking: cut, index, ask all, score recall of the first 5 and within four budgets."""
    # Made outside the time: libraries, and the vocabulary.
    encoding = vocabulary.encoding("o200k_base")
    _ranked(_chunks(documents[:1], _splitter(1000, 0, "characters", encoding), encoding), ["warm"])
    found = {}
    for name, (size, overlap, unit) in CHUNKINGS.items():
        began = time.process_time()
        chunks = _chunks(documents, _splitter(size, overlap, unit, encoding), encoding)
        ranked = _ranked(chunks, [query.text for query in queries])
        for query, hits in zip(queries, ranked, strict=True):
            _recall(query, hits[:5])
            for budget in _BUDGETS:
                _recall(query, _within(hits, budget))
        found[name] = time.process_time() - began
    return found


def _splitter(size: int, overlap: int, unit: str, encoding: Any) -> Any:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    length = len if unit == "characters" else lambda text: len(encoding.encode(text))
    return RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, length_function=length, add_start_index=True
    )


def _chunks(documents: Sequence[Document], splitter: Any, encoding: Any) -> list[Chunk]:
    found = []
    for document in documents:
        for piece in splitter.create_documents([document.text]):
            text, start = piece.page_content, piece.metadata["start_index"]
            tokens = len(encoding.encode(text))
            found.append(Chunk(document.id, start, start + len(text), text, tokens))
    return found


def _ranked(chunks: Sequence[Chunk], questions: Sequence[str]) -> list[list[Chunk]]:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    texts = [chunk.text for chunk in chunks]
    index.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    asked = bm25s.tokenize(list(questions), stopwords="en", stemmer=stemmer, show_progress=False)
    numbers, _ = index.retrieve(asked, k=min(_DEEPEST, len(chunks)), show_progress=False)
    return [[chunks[number] for number in row] for row in numbers.tolist()]


def _within(hits: Sequence[Chunk], budget: int) -> list[Chunk]:
    kept: list[Chunk] = []
    for hit in hits:
        if budget <= 0:
            break
        share = min(1.0, budget / max(hit.tokens, 1))
        kept.append(hit._replace(end=hit.start + int(share * (hit.end - hit.start))))
        budget -= hit.tokens
    return kept


def _recall(query: Query, hits: Sequence[Chunk]) -> float:
    """Share of the characters of the references that the hits cover."""
    total = covered = 0
    for reference in query.references:
        wanted = set(range(reference.start, reference.end))
        total += len(wanted)
        for hit in hits:
            if hit.document == reference.doc_id:
                wanted -= set(range(max(hit.start, reference.start), min(hit.end, reference.end)))
        covered += reference.end - reference.start - len(wanted)
    return covered / total if total else 0.0
