"""While the questions that a sweep generated are reviewed: which comes next, and what the answers so far choose."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError
from chunkwise.report.format_values import format_value
from chunkwise.report.report import Note, ValueTable
from chunkwise.report.review_report import review_report
from chunkwise.report.view import View
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import NoParameters
from chunkwise.testsets.reading import read_testset
from chunkwise.tracking.import_runs import read_sweep as read_result
from chunkwise.tuning.choose.review_order import ReviewOrder, ReviewOutlook
from chunkwise.tuning.plan.sweep_file import read_sweep
from chunkwise.tuning.run.sweep_folder import PLAN, QUESTIONS, RESULTS, SweepFolder


@dataclass(frozen=True, slots=True)
class LeaderRow:
    """The choice so far, or one that may replace it."""

    label: str
    expected: str
    chance: float


@dataclass(frozen=True, slots=True)
class OutlookView(View):
    """What the answers so far choose; without leaders, these are no questions of a sweep."""

    objective: str = ""
    progress: str = ""
    leaders: tuple[LeaderRow, ...] = ()
    ending: str = ""
    """Why no more answers are needed; empty: they are."""
    command: str = ""
    """Renews the recommendation."""


def review_outlook(project: Project, _: NoParameters) -> OutlookView:
    outlook = outlook_of(project)
    if outlook is None:
        return OutlookView()
    folder = project.questions_file().parent
    objective = read_sweep(folder / PLAN, as_record=True).objective
    report = review_report(outlook, objective)
    table = next(part for part in report.parts if isinstance(part, ValueTable))
    kinds = [column.kind for column in table.columns]
    rows = tuple(
        LeaderRow(item.configuration.label, format_value(row[2], kinds[2]), item.chance)
        for item, row in zip(outlook.leaders, table.rows, strict=True)
    )
    ending = next((part.text for part in report.parts if isinstance(part, Note)), "")
    command = f"chunkwise tune --resume -o {shlex.quote(str(folder))}"
    return OutlookView(objective, report.title, rows, ending, command)


def outlook_of(project: Project) -> ReviewOutlook | None:
    """None: the questions are not those that a finished sweep generated."""
    path = project.questions_file()
    folder = path.parent
    files = (path, folder / RESULTS, folder / PLAN)
    if path.name != QUESTIONS or not all(item.is_file() for item in files):
        return None
    stamps = tuple(item.stat().st_mtime_ns for item in files)
    result: ReviewOutlook | None = project.made.get(
        ("review outlook", *stamps), lambda: _outlook(project, path)
    )
    return result


def _outlook(project: Project, path: Path) -> ReviewOutlook | None:
    folder = path.parent
    try:
        order = ReviewOrder(
            read_result(folder / RESULTS), read_sweep(folder / PLAN, as_record=True),
            SweepFolder(folder).record.questions,
        )  # fmt: skip
        testset = read_testset(str(path), project.corpus.documents(), lambda problem: None)
    except ChunkwiseError:
        return None  # another sweep is being written, or the file is being edited
    outlook = order.after(testset)
    return outlook if outlook.order or outlook.deciding else None
