"""What a run costs: how many chunks of which size, what they take to store and to read; and what each is called."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.evaluation.results import Json

if TYPE_CHECKING:
    from chunkwise.retrieval.indexes import Index


class CostKind(NamedTuple):
    """What stands beside the number, and what kind of number it is."""

    label: str
    kind: Literal["count", "bytes", "number"] = "count"


COSTS = {
    "chunks": CostKind("chunks"),
    "mean_tokens": CostKind("tokens per chunk, mean"),
    "median_tokens": CostKind("tokens per chunk, median"),
    "p95_tokens": CostKind("tokens per chunk, 95th percentile"),
    "max_tokens": CostKind("tokens in the longest chunk"),
    "document_tokens": CostKind("tokens in the documents"),
    "indexed_tokens": CostKind("tokens indexed"),
    "storage": CostKind("tokens indexed per token of the documents", "number"),
    "tokens_embedded": CostKind("tokens embedded"),
    "index_bytes": CostKind("on disk", "bytes"),
    "context_tokens": CostKind("context tokens per question"),
}
"""All that `cost` of a run may hold, by its name there; others may add numbers of their own."""


def cost_label(name: str) -> str:
    """Of one that others added: its name."""
    return COSTS[name].label if name in COSTS else name.replace("_", " ")


def chunk_cost(
    tokens: NDArray[np.integer], document_tokens: int, *, beside: int = 0
) -> dict[str, int | float | None]:
    """`tokens` of each chunk, of the documents once, and of what is indexed `beside` the chunks.

    A percentile is the smallest size that so many chunks do not exceed; None: there are no chunks, or no text.
    """
    indexed = int(tokens.sum(dtype=np.int64)) + beside
    some = len(tokens) > 0
    return {
        "chunks": len(tokens),
        "mean_tokens": float(tokens.mean()) if some else None,
        "median_tokens": float(np.median(tokens)) if some else None,
        "p95_tokens": int(np.percentile(tokens, 95, method="inverted_cdf")) if some else None,
        "max_tokens": int(tokens.max()) if some else None,
        "document_tokens": document_tokens,
        "indexed_tokens": indexed,
        "storage": indexed / document_tokens if document_tokens else None,
    }


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


def cost_of(index: Index | None, context_tokens: Sequence[int]) -> dict[str, Json]:
    """Beside quality, always: of the index where there is one, and of what is read for a question."""
    if index is not None:
        return index_cost(index, context_tokens)
    mean = sum(context_tokens) / len(context_tokens) if context_tokens else None
    return {"context_tokens": mean}


def cost_amount(cost: Mapping[str, object], name: str) -> float:
    """One cost; what is not known counts as dearest."""
    value = cost.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return math.inf


def running_cost(cost: Mapping[str, object], budget: int | None = None) -> float:
    """Storage × context tokens: what is kept, and what every question makes a reader read.

    `budget`: the tokens that the objective allows each question; all read as much then, however many hits that are.
    """
    storage = cost_amount(cost, "storage")
    context = cost_amount(cost, "context_tokens") if budget is None else float(budget)
    return math.inf if math.inf in (storage, context) else storage * context
