"""Find the chunking that works for your documents, and prove it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chunkwise.answering.ask import ask
    from chunkwise.answering.cited_answer import CitedAnswer
    from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
    from chunkwise.base.ray_workers import RayCluster
    from chunkwise.base.version import __version__ as __version__
    from chunkwise.chunkers import describe_all as strategies
    from chunkwise.chunkers import get_strategy
    from chunkwise.chunkers.chunk import chunk, chunk_document, chunk_text
    from chunkwise.core import (
        Block,
        Chunk,
        Document,
        Fact,
        Hit,
        Label,
        Link,
        Passage,
        Piece,
        Query,
        Reference,
        Score,
        Span,
    )
    from chunkwise.documents import LoadOptions, read
    from chunkwise.evaluation.compare import compare
    from chunkwise.evaluation.comparison_result import Comparison
    from chunkwise.evaluation.evaluate import evaluate
    from chunkwise.evaluation.gate import Gate, gate
    from chunkwise.evaluation.lint import LintResult, lint
    from chunkwise.evaluation.live_answers import LiveOptions
    from chunkwise.evaluation.results import Results, read_results, write_results
    from chunkwise.evaluation.scoring_options import Listeners, ScoringRules
    from chunkwise.metrics.evidence import Evidence
    from chunkwise.metrics.metric import Metric, Targets
    from chunkwise.profiling import Profile, profile
    from chunkwise.retrieval.filters import Filter
    from chunkwise.retrieval.indexes import Index, index, open_index
    from chunkwise.testsets.generate.generate import generate_questions
    from chunkwise.text.analyzed import Analyzed
    from chunkwise.tracking.history import History, history
    from chunkwise.tuning.tune import TuneResult, tune
    from chunkwise.vector_databases.push import push

# Imported when first used: `import chunkwise` itself costs next to nothing.
_HOMES = {
    "__version__": "chunkwise.base.version",
    "Analyzed": "chunkwise.text.analyzed",
    "CitedAnswer": "chunkwise.answering.cited_answer",
    "Block": "chunkwise.core",
    "Chunk": "chunkwise.core",
    "ChunkwiseError": "chunkwise.base.errors",
    "Comparison": "chunkwise.evaluation.comparison_result",
    "Document": "chunkwise.core",
    "Evidence": "chunkwise.metrics.evidence",
    "Fact": "chunkwise.core",
    "Filter": "chunkwise.retrieval.filters",
    "Gate": "chunkwise.evaluation.gate",
    "History": "chunkwise.tracking.history",
    "Hit": "chunkwise.core",
    "Index": "chunkwise.retrieval.indexes",
    "Label": "chunkwise.core",
    "Link": "chunkwise.core",
    "LintResult": "chunkwise.evaluation.lint",
    "Listeners": "chunkwise.evaluation.scoring_options",
    "LiveOptions": "chunkwise.evaluation.live_answers",
    "LoadOptions": "chunkwise.documents",
    "Metric": "chunkwise.metrics.metric",
    "Passage": "chunkwise.core",
    "Piece": "chunkwise.core",
    "Profile": "chunkwise.profiling",
    "Query": "chunkwise.core",
    "RayCluster": "chunkwise.base.ray_workers",
    "Reference": "chunkwise.core",
    "Results": "chunkwise.evaluation.results",
    "Score": "chunkwise.core",
    "ScoringRules": "chunkwise.evaluation.scoring_options",
    "Span": "chunkwise.core",
    "Targets": "chunkwise.metrics.metric",
    "TuneResult": "chunkwise.tuning.tune",
    "UnreadableDocument": "chunkwise.base.errors",
    "ask": "chunkwise.answering.ask",
    "chunk": "chunkwise.chunkers.chunk",
    "chunk_document": "chunkwise.chunkers.chunk",
    "chunk_text": "chunkwise.chunkers.chunk",
    "compare": "chunkwise.evaluation.compare",
    "evaluate": "chunkwise.evaluation.evaluate",
    "gate": "chunkwise.evaluation.gate",
    "generate_questions": "chunkwise.testsets.generate.generate",
    "get_strategy": "chunkwise.chunkers",
    "history": "chunkwise.tracking.history",
    "index": "chunkwise.retrieval.indexes",
    "lint": "chunkwise.evaluation.lint",
    "open_index": "chunkwise.retrieval.indexes",
    "profile": "chunkwise.profiling",
    "push": "chunkwise.vector_databases.push",
    "read": "chunkwise.documents",
    "read_results": "chunkwise.evaluation.results",
    "strategies": "chunkwise.chunkers:describe_all",
    "tune": "chunkwise.tuning.tune",
    "write_results": "chunkwise.evaluation.results",
}

__all__ = [
    "Analyzed",
    "Block",
    "Chunk",
    "ChunkwiseError",
    "CitedAnswer",
    "Comparison",
    "Document",
    "Evidence",
    "Fact",
    "Filter",
    "Gate",
    "History",
    "Hit",
    "Index",
    "Label",
    "Link",
    "LintResult",
    "Listeners",
    "LiveOptions",
    "LoadOptions",
    "Metric",
    "Passage",
    "Piece",
    "Profile",
    "Query",
    "RayCluster",
    "Reference",
    "Results",
    "Score",
    "ScoringRules",
    "Span",
    "Targets",
    "TuneResult",
    "UnreadableDocument",
    "ask",
    "chunk",
    "chunk_document",
    "chunk_text",
    "compare",
    "evaluate",
    "gate",
    "generate_questions",
    "get_strategy",
    "history",
    "index",
    "lint",
    "open_index",
    "profile",
    "push",
    "read",
    "read_results",
    "strategies",
    "tune",
    "write_results",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chunkwise' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(importlib.import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
