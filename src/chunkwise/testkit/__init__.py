"""The contracts of all kinds of parts as functions: what an author calls in a test of their own."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chunkwise.testkit.chunkers import check_chunker, check_chunks
    from chunkwise.testkit.engines import check_engine
    from chunkwise.testkit.loaders import check_loader
    from chunkwise.testkit.metrics import check_judge, check_metric
    from chunkwise.testkit.models import (
        check_embedder,
        check_language_model,
        check_name_finder,
        check_reranker,
    )
    from chunkwise.testkit.retrievers import check_retriever

# Imported when first used: who writes a strategy needs no index and no metric.
_HOMES = {
    "check_chunker": "chunkers",
    "check_chunks": "chunkers",
    "check_embedder": "models",
    "check_engine": "engines",
    "check_judge": "metrics",
    "check_language_model": "models",
    "check_loader": "loaders",
    "check_metric": "metrics",
    "check_name_finder": "models",
    "check_reranker": "models",
    "check_retriever": "retrievers",
}

__all__ = [
    "check_chunker",
    "check_chunks",
    "check_embedder",
    "check_engine",
    "check_judge",
    "check_language_model",
    "check_loader",
    "check_metric",
    "check_name_finder",
    "check_reranker",
    "check_retriever",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chunkwise.testkit' has no attribute {name!r}")
    return getattr(importlib.import_module(f"chunkwise.testkit.{_HOMES[name]}"), name)
