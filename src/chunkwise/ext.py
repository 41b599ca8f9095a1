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
    from chunkwise.report.report import Axis as Axis
    from chunkwise.report.report import Badge as Badge
    from chunkwise.report.report import Chart as Chart
    from chunkwise.report.report import Code as Code
    from chunkwise.report.report import Column as Column
    from chunkwise.report.report import Estimate as Estimate
    from chunkwise.report.report import Excerpt as Excerpt
    from chunkwise.report.report import Headline as Headline
    from chunkwise.report.report import KeyFigure as KeyFigure
    from chunkwise.report.report import KeyFigures as KeyFigures
    from chunkwise.report.report import Next as Next
    from chunkwise.report.report import Note as Note
    from chunkwise.report.report import Point as Point
    from chunkwise.report.report import Report as Report
    from chunkwise.report.report import Section as Section
    from chunkwise.report.report import Series as Series
    from chunkwise.report.report import TextRun as TextRun
    from chunkwise.report.report import ValueTable as ValueTable
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
            "chunkwise.report.report": "Axis Badge Chart Code Column Estimate Excerpt Headline KeyFigure "
            "KeyFigures Next Note Point Report Section Series TextRun ValueTable",
            "chunkwise.report.write_report": "write_report",
            "chunkwise.retrieval.filters": "Filter",
            "chunkwise.text.analyzed": "Analyzed",
            "chunkwise.tracking.history": "History",
        },
    )
