"""Results, comparisons, sweeps, profiles, cuts and histories as a notebook shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chunkwise.answering.cited_answer import CitedAnswer
from chunkwise.evaluation.comparison_result import Comparison
from chunkwise.evaluation.lint import LintResult
from chunkwise.evaluation.results import Results
from chunkwise.profiling.results import Profile
from chunkwise.report.comparison_report import comparison_report
from chunkwise.report.evaluation_report import evaluation_report
from chunkwise.report.page import fragment
from chunkwise.report.report import Report
from chunkwise.report.runs_report import runs_report
from chunkwise.report.to_html import report_fragment
from chunkwise.report.views.answer import answer_view
from chunkwise.report.views.lint import result_view
from chunkwise.report.views.profile import profile_view
from chunkwise.report.views.tuning import tuning_view
from chunkwise.report.views.view import View
from chunkwise.tracking.history import History
from chunkwise.tracking.run_rows import list_runs
from chunkwise.tuning.tune import TuneResult

_RUNS = 20
"""Of a history that are shown, the latest ones."""
_REPORTS: dict[type, Callable[[Any], Report]] = {
    Results: evaluation_report,
    Comparison: comparison_report,
    History: lambda history: runs_report(list_runs(history, last=_RUNS)),
}
_VIEWS: dict[type, Callable[[Any], View]] = {
    CitedAnswer: answer_view,
    Profile: profile_view,
    LintResult: result_view,
    TuneResult: lambda tuned: tuning_view(tuned.sweep),
}


def html_of(value: object) -> str:
    """One element whose texts are escaped and whose style reaches nothing outside of it."""
    if build := _REPORTS.get(type(value)):
        return report_fragment(build(value))
    return fragment(_VIEWS[type(value)](value))
