"""The contracts of all kinds of parts as functions: what an author calls in a test of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from chunkwise.testkit.chunkers import check_chunker as check_chunker
    from chunkwise.testkit.chunkers import check_chunks as check_chunks
    from chunkwise.testkit.engines import check_engine as check_engine
    from chunkwise.testkit.loaders import check_loader as check_loader
    from chunkwise.testkit.metrics import check_judge as check_judge
    from chunkwise.testkit.metrics import check_metric as check_metric
    from chunkwise.testkit.models import check_embedder as check_embedder
    from chunkwise.testkit.models import check_language_model as check_language_model
    from chunkwise.testkit.models import check_name_finder as check_name_finder
    from chunkwise.testkit.models import check_reranker as check_reranker
    from chunkwise.testkit.retrievers import check_retriever as check_retriever
else:
    # The author of a strategy needs no index and no metric.
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "chunkwise.testkit.chunkers": "check_chunker check_chunks",
            "chunkwise.testkit.engines": "check_engine",
            "chunkwise.testkit.loaders": "check_loader",
            "chunkwise.testkit.metrics": "check_judge check_metric",
            "chunkwise.testkit.models": "check_embedder check_language_model check_name_finder check_reranker",
            "chunkwise.testkit.retrievers": "check_retriever",
        },
    )
