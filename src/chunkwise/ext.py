"""Names for authors of plug-ins: strategies, loaders, retrievers, metrics, judges and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from chunkwise.base.errors import UnreadableDocument as UnreadableDocument
    from chunkwise.chunkers import describe_strategies as describe_strategies
    from chunkwise.chunkers import get_strategy as get_strategy
    from chunkwise.chunkers.chunk import chunk_document as chunk_document
    from chunkwise.core import Block as Block
    from chunkwise.core import Fact as Fact
    from chunkwise.core import Label as Label
    from chunkwise.core import Link as Link
    from chunkwise.core import Passage as Passage
    from chunkwise.core import Piece as Piece
    from chunkwise.core import Score as Score
    from chunkwise.evaluation.gate import Gate as Gate
    from chunkwise.evaluation.lint import LintResult as LintResult
    from chunkwise.metrics.evidence import Evidence as Evidence
    from chunkwise.metrics.metric import Metric as Metric
    from chunkwise.metrics.metric import Targets as Targets
    from chunkwise.profiling import Profile as Profile
    from chunkwise.report import report as report
    from chunkwise.report.write_report import write_report as write_report
    from chunkwise.retrieval.filters import Filter as Filter
    from chunkwise.text.analyzed import Analyzed as Analyzed
    from chunkwise.tracking.history import History as History
else:
    # A plug-in that needs one of them does not import evaluation for the others.
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "chunkwise.base.errors": "UnreadableDocument",
            "chunkwise.chunkers": "describe_strategies get_strategy",
            "chunkwise.chunkers.chunk": "chunk_document",
            "chunkwise.core": "Block Fact Label Link Passage Piece Score",
            "chunkwise.evaluation.gate": "Gate",
            "chunkwise.evaluation.lint": "LintResult",
            "chunkwise.metrics.evidence": "Evidence",
            "chunkwise.metrics.metric": "Metric Targets",
            "chunkwise.profiling": "Profile",
            "chunkwise.report": "report",
            "chunkwise.report.write_report": "write_report",
            "chunkwise.retrieval.filters": "Filter",
            "chunkwise.text.analyzed": "Analyzed",
            "chunkwise.tracking.history": "History",
        },
    )
