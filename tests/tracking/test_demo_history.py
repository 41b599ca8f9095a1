"""The demo's forty weeks: real evaluations, a week apart, one change that hurts and one that does not."""

from pathlib import Path

import pytest

from chunkwise.tracking import demo_history
from chunkwise.tracking.demo_history import CHANGES, METRICS, change_of, keep_demo_history
from chunkwise.tracking.history import History
from cli.in_process import Run, here

__all__ = ["here"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same changes in three weeks."""
    soon = tuple(
        demo_history.SampleChange(week, each.strategy, each.words)
        for week, each in enumerate(CHANGES, 1)
    )
    monkeypatch.setattr(demo_history, "CHANGES", soon)


def test_a_change_is_in_force_until_the_next() -> None:
    assert [change_of(week).week for week in (1, 13, 14, 27, 28, 40)] == [1, 1, 14, 14, 28, 28]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.usefixtures("quick")
def test_one_change_hurts_and_one_does_not(here: Run, tmp_path: Path) -> None:
    done = here("history", "demo", "--weeks", "3", "-o", "made")
    assert done.returncode == 0, done.stderr
    assert "recall@1000t over 3 runs" in done.stdout
    assert "hurts" in done.stdout
    assert "alert 1: recall@1000t fell" in done.stdout
    assert "no longer found: " in done.stdout
    assert "chunkwise watch alerts --history made/history.db" in done.stderr
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())
    assert "<svg" in (tmp_path / "made" / "history.html").read_text()
    history = History(tmp_path / "made" / "history.db")
    runs = history.runs()
    assert [run.when[:10] for run in runs] == ["2026-01-05", "2026-01-12", "2026-01-19"]
    assert [run.settings["strategy"] for run in runs] == [
        each.strategy.replace("(max_tokens=400)", "") for each in CHANGES
    ]  # what is usual is not said
    assert not any(run.origin.user or run.origin.host for run in runs)
    assert [each.run for each in history.baselines()] == [1]
    harmless, harmful = (history.difference(n, n + 1) for n in (1, 2))
    assert harmless.changes.documents is not None
    assert 1 <= len(harmless.changes.documents.changed) <= 2
    assert {alert.first_run for alert in history.alerts()} == {3}
    assert {alert.when for alert in history.alerts()} == {runs[-1].when}
    for metric in METRICS:
        paired = harmless.metrics[metric].paired
        assert paired is not None
        assert paired.low <= 0 <= paired.high
        paired = harmful.metrics[metric].paired
        assert paired is not None
        assert paired.mean < -0.05
    again = here("history", "demo", "--weeks", "1", "-o", "made")
    assert again.returncode == 2
    assert "there already; --force makes it anew" in again.stderr
    assert len(History(tmp_path / "made" / "history.db").runs()) == 3


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.usefixtures("quick")
def test_the_weeks_are_the_same_each_time(tmp_path: Path) -> None:
    one, other = History(tmp_path / "one.db"), History(tmp_path / "other.db")
    for each in (one, other):
        assert len(keep_demo_history(each, 1)) == 1
    assert one.run(1).scores == other.run(1).scores
    assert one.run(1).questions == other.run(1).questions
