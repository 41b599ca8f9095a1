"""What is asked: an index that is there, or documents, which are indexed in memory."""

from __future__ import annotations

from chunkwise.core import Advance
from chunkwise.documents import OnSkip
from chunkwise.retrieval.indexes import Index, index
from chunkwise.retrieval.making.gather import Material
from chunkwise.retrieval.named_index import named_index
from chunkwise.retrieval.retrievers import Retriever
from chunkwise.retrieval.settings import Vectors


def index_of(
    source: Material | Index,
    retriever: str | Retriever | None,
    on_skip: OnSkip | None = None,
    advance: Advance | None = None,
) -> Index:
    """The index that is meant, or a new one in memory; without vectors where words alone are searched."""
    found = named_index(source)
    if found is not None:
        return found
    assert not isinstance(source, Index)
    return index(source, vectors=vectors_for(retriever), on_skip=on_skip, advance=advance)


def vectors_for(retriever: str | Retriever | None) -> Vectors | None:
    """None: as usual."""
    is_words = isinstance(retriever, str) and retriever.partition("(")[0].strip() == "bm25"
    return "none" if is_words else None
