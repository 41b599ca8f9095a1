"""How large an index is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what an index holds."""

    documents: int
    chunks: int
    atoms: int
    """Sentences, list items, rows, lines of code."""
    tokens: int
    """Of the documents, each once."""
    indexed_tokens: int
    """Of the chunks with what overlaps, and of what is indexed beside them."""
    context_tokens: int
    """Of these, what is indexed beside the chunks."""
    vectors: int
    """Of chunks and of atoms."""
    dimensions: int
    bytes: int
    """Of all arrays: on disk, or in memory for an index that lives there; of all tables on a server."""
