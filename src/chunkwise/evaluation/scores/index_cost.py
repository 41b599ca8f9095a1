"""What an index costs, beside what it is worth."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.evaluation.results import Json
from chunkwise.metrics.cost import chunk_cost
from chunkwise.retrieval.indexes import Index


def index_cost(index: Index, context_tokens: Sequence[int] = ()) -> dict[str, Json]:
    """Sizes in tokens of the index's tokenizer; `context_tokens` is what each question's hits have."""
    stats = index.stats()
    tokens = index.source.chunk_table().tokens
    beside = stats.indexed_tokens - int(tokens.sum())
    # Late vectors read every document once, whatever the chunks; own ones read each chunk with its context.
    passes = {
        "late": stats.tokens,
        "own": stats.indexed_tokens,
        "both": stats.tokens + stats.indexed_tokens,
        "none": 0,
    }
    return {
        **chunk_cost(tokens, stats.tokens, beside=beside),
        "tokens_embedded": passes[index.settings.vectors],
        "index_bytes": stats.bytes,
        "context_tokens": sum(context_tokens) / len(context_tokens) if context_tokens else None,
    }
