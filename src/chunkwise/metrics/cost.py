"""What a chunking costs: how many chunks, how large, how much text is indexed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
