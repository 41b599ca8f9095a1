"""Results, comparisons, sweeps, profiles, cuts and histories as a notebook shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chunkwise.answering.cited_answer import CitedAnswer
from chunkwise.evaluation.comparison_result import Comparison
from chunkwise.evaluation.lint import LintResult
from chunkwise.evaluation.results import Results
from chunkwise.profiling.results import Profile
from chunkwise.report.answer_report import answer_report
from chunkwise.report.comparison_report import comparison_report
from chunkwise.report.evaluation_report import evaluation_report
from chunkwise.report.lint_report import lint_result_report
from chunkwise.report.profile_report import profile_report
from chunkwise.report.report import Report
from chunkwise.report.runs_report import runs_report
from chunkwise.report.to_html import report_fragment
from chunkwise.report.tuning_report import tuning_report
from chunkwise.tracking.history import History
from chunkwise.tracking.run_rows import list_runs
from chunkwise.tuning.tune import TuneResult

_RUNS = 20
"""Of a history that are shown, the latest ones."""
_REPORTS: dict[type, Callable[[Any], Report]] = {
    CitedAnswer: answer_report,
    Results: evaluation_report,
    Comparison: comparison_report,
    LintResult: lint_result_report,
    Profile: profile_report,
    TuneResult: lambda tuned: tuning_report(tuned.sweep),
    History: lambda history: runs_report(list_runs(history, last=_RUNS)),
}


def html_of(value: object) -> str:
    """One element whose texts are escaped and whose style reaches nothing outside of it."""
    return report_fragment(_REPORTS[type(value)](value))
