"""Snapshots of every verb: the substance of its results as rows, by the Python interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from normalize import Layout, brief

import chunkwise
from chunkwise import Chunk, Document
from hash_embedder import HashEmbedder
from rule_summariser import FirstSentences

FOLDERS = {
    "files": Path(__file__).parent / "files",
    "corpus": Path(chunkwise.__file__).parent / "corpus",
}
Row = Iterable[Any]


class Snapshot(NamedTuple):
    layout: Layout
    rows: Callable[[], Iterator[Row]]
    weights: str = ""
    """Name of the model it needs."""


SNAPSHOTS: dict[str, Snapshot] = {}


@cache
def documents(group: str) -> list[Document]:
    return list(chunkwise.read(FOLDERS[group]))


STRATEGIES = (
    "characters(max_chars=300, overlap=40)",
    "characters(max_chars=1000)",
    "words(max_words=60, overlap=10)",
    "words(preset=small)",
    "tokens(max_tokens=64, overlap=16)",
    "tokens(max_tokens=200, tokenizer=cl100k_base)",
    "sentences(max_tokens=60, overlap=15)",
    "sentences(max_tokens=150, overlap_sentences=1)",
    "sentences(max_tokens=80, overlap_words=10, tokenizer=words)",
    "paragraphs(max_tokens=60)",
    "paragraphs(max_tokens=150, merge=true, min_tokens=20)",
    "recursive(max_tokens=80, overlap=10)",
    "recursive(max_tokens=600, tokenizer=characters)",
    "sections(max_tokens=60)",
    "sections(max_tokens=200, overlap=0, tokenizer=cl100k_base)",
    "structure(max_tokens=60)",
    "structure(max_tokens=200, overlap=20)",
    "structure(max_tokens=400)",
    "code(max_tokens=60)",
    "code(max_tokens=400)",
    "parent_child(max_tokens=40)",
    "parent_child(max_tokens=60, parent=section)",
)


def chunkers() -> dict[str, Any]:
    """Every strategy by name; those by meaning use vectors and summaries made by rules."""
    from chunkwise.chunkers.cluster import ClusterChunker
    from chunkwise.chunkers.raptor import RaptorChunker
    from chunkwise.chunkers.semantic import SemanticChunker

    return {name: name for name in STRATEGIES} | {
        "semantic(max_tokens=120)": SemanticChunker(max_tokens=120, model=HashEmbedder()),
        "cluster(max_tokens=120)": ClusterChunker(max_tokens=120, model=HashEmbedder()),
        "raptor(max_tokens=80)": RaptorChunker(
            max_tokens=80, llm=FirstSentences(), model=HashEmbedder()
        ),
    }


def chunk_row(chunk: Chunk) -> list[Any]:
    summary = [chunk.level, brief(chunk.summary), *chunk.spans] if chunk.level else []
    return [
        chunk.start, chunk.end, chunk.token_count, brief(chunk.context), brief(chunk.section_path),
        chunk.parent, summary,
    ]  # fmt: skip


CHUNK = ("start", "end", "tokens", "context", "section", "parent", "summary")


def chunk(group: str) -> Iterator[Row]:
    for name, strategy in chunkers().items():
        for document in documents(group):
            for each in chunkwise.chunk_document(document, strategy):
                yield name, document.id, *chunk_row(each)


for _group in FOLDERS:
    SNAPSHOTS[f"chunk-{_group}"] = Snapshot(
        Layout(("strategy", "document"), CHUNK), partial(chunk, _group)
    )
