"""Reports of a history: the latest run first, one metric as a chart, and what a difference came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise.report.report import Chart, Estimate, Headline, Report, ValueTable, all_parts
from chunkwise.report.runs_report import (
    metric_history_report,
    run_difference_report,
    run_report,
    runs_report,
)
from chunkwise.report.to_terminal import terminal_text
from chunkwise.report.watch_report import WatchedRunReport
from chunkwise.tracking.history import History
from chunkwise.tracking.run_rows import list_runs, metric_history
from chunkwise.tracking.watch import watch_run
from tracking.made_runs import kept_run

GOOD = {f"q{n}": 0.9 for n in range(40)}
BAD = {id: 0.2 if n % 2 else 0.9 for n, id in enumerate(GOOD)}


@pytest.fixture
def history(tmp_path: Path) -> History:
    found = History(tmp_path / "runs.db")
    for k in (5, 5, 9):
        found.add(kept_run({"q1": k / 10, "q2": 0.5}, settings={"k": k, "strategy": "structure"}))
    found.set_baseline(1)
    return found


def headline(report: Report) -> str:
    return next(part.text for part in report.parts if isinstance(part, Headline))


def table(report: Report) -> ValueTable:
    return next(part for part in all_parts(report.parts) if isinstance(part, ValueTable))


def test_a_list_has_the_latest_run_first_and_what_is_new_in_it(history: History) -> None:
    report = runs_report(list_runs(history))
    assert headline(report) == "Run 3: recall@5 70% (10–90), +20.0 pts since the previous run."
    rows = table(report).rows
    assert [row[0] for row in rows] == [3, 2, 1]
    assert rows[0][4] == Estimate(0.7, 0.1, 0.9)
    assert [row[5] for row in rows] == [
        "k 9, was 5",
        "structure · bm25",
        "★ default · structure · bm25",
    ]
    assert "1 of 3 runs; -n 3 shows all." in terminal_text(runs_report(list_runs(history, last=1)))


def test_a_metric_is_drawn_over_its_runs_beside_the_baseline(history: History) -> None:
    report = metric_history_report(metric_history(history, "recall@5"))
    assert "+20.0 pts against the baseline (run 1)." in headline(report)
    (chart,) = (part for part in report.parts if isinstance(part, Chart))
    values, baseline = chart.series
    assert [(point.x, point.y.value) for point in values.points] == [
        ("1", 0.5),
        ("2", 0.5),
        ("3", 0.7),
    ]
    assert {point.y.value for point in baseline.points} == {0.5}
    one = metric_history_report(metric_history(history, "recall@5", last=1))
    assert not [part for part in one.parts if isinstance(part, Chart)]


def test_a_run_and_a_difference_fit_one_screen(history: History) -> None:
    shown = terminal_text(run_report(history, 3), 80)
    assert "since run 2: k 5 → 9" in shown
    assert "recall@5 70% (10–90)." in shown
    apart = terminal_text(run_difference_report(history, 1, 3), 80)
    assert "recall@5: +20.0 pts by k 5 → 9." in apart
    assert "What of q1?" in apart
    for text in (shown, apart):
        assert len(text.splitlines()) <= 25


def test_a_watch_says_what_fell_and_why_on_one_screen(tmp_path: Path) -> None:
    history = History(tmp_path / "runs.db")
    reports = []
    for scores in (GOOD, GOOD, BAD):
        run = history.run(history.add(kept_run(scores)).number)
        outcome = watch_run(history, run, command="chunkwise evaluate docs -Q q.json")
        reports.append(WatchedRunReport(outcome).report())
    first, same, fell = reports
    assert headline(first) == "First run: later runs are compared with it."
    assert headline(same) == "No metric is significantly worse than in run 1."
    assert headline(fell) == "recall@5 fell: −35.0 pts in run 3 against run 1."
    row = table(fell).rows[0]
    assert row[1:3] == (pytest.approx(0.9), pytest.approx(0.55))
    shown = terminal_text(fell, 80).splitlines()
    assert len(shown) <= 25
    assert "Alert 1" in shown
    assert any(line.startswith("Next  chunkwise evaluate") for line in shown)
