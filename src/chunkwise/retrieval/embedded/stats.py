"""How large an index of arrays is."""

from __future__ import annotations

from collections import Counter

import numpy as np

from chunkwise.retrieval.embedded.index import EmbeddedIndex
from chunkwise.retrieval.embedded.layout import Array
from chunkwise.retrieval.stats import Stats
from chunkwise.text.tokenizers import get_tokenizer


def stats_of(index: EmbeddedIndex) -> Stats:
    """Counted in the tokens the index was made with."""
    arrays, settings = index.arrays, index.settings
    contexts = Counter(index.contexts())
    count = get_tokenizer(settings.tokenizer).count
    beside = sum(count(text) * times for text, times in contexts.items() if text)
    return Stats(
        documents=index.document_count,
        chunks=index.chunk_count,
        atoms=len(arrays["atom.start"]),
        tokens=_sum(arrays["atom.tokens"]),
        indexed_tokens=_sum(arrays["chunk.tokens"]) + beside,
        context_tokens=beside,
        vectors=sum(
            len(arrays[name]) for name in ("chunk.vector", "atom.vector") if name in arrays
        ),
        dimensions=settings.dimensions,
        bytes=sum(each.nbytes for each in arrays.values()),
    )


def _sum(values: Array) -> int:
    return int(values.sum(dtype=np.int64))
