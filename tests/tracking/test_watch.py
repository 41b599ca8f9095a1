"""Runs held against their reference: alerts that say what fell, since when and why, and stay quiet when they should."""

import random
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.report.runs_report import metric_history_report
from chunkwise.report.to_terminal import terminal_text
from chunkwise.tracking.alerts import Alert, WatchedFigure, WatchedRun, _passages, merged
from chunkwise.tracking.database import HistoryProblem
from chunkwise.tracking.explain_difference import with_option
from chunkwise.tracking.history import History
from chunkwise.tracking.run import KeptFigure, KeptHit, KeptRun, RunOrigin
from chunkwise.tracking.run_rows import metric_history
from chunkwise.tracking.watch import WatchOutcome, watch_run
from retrieval.postgres_server import new_url
from tracking.made_runs import kept_run
from untimed import HANG

GOOD = {f"q{n}": 0.9 for n in range(40)}
BAD = {id: 0.2 if n % 2 else 0.9 for n, id in enumerate(GOOD)}


@pytest.fixture(params=["sqlite", "postgres"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> History:
    return History(new_url() if request.param == "postgres" else tmp_path / "runs.db")


@pytest.fixture
def local(tmp_path: Path) -> History:
    return History(tmp_path / "runs.db")


def watched(history: History, run: KeptRun, **more: object) -> WatchOutcome:
    return watch_run(history, history.run(history.add(run).number), **more)  # type: ignore[arg-type]


def test_a_fall_is_told_at_every_run_until_it_is_known_and_again_when_it_is_worse(
    history: History,
) -> None:
    first = watched(history, kept_run(GOOD))
    assert (first.watched.reference, first.alerts, first.reference.is_baseline) == (1, (), False)
    assert watched(history, kept_run(GOOD)).alerts == ()
    changed = kept_run(BAD, settings={"strategy": "tokens", "k": 5})
    (alert,) = watched(history, changed, command="again").alerts
    assert (alert.number, alert.metric, alert.kind, alert.since) == (1, "recall@5", "fall", 3)
    assert alert.figure.difference == pytest.approx(-0.35)
    assert alert.figure.low < -0.35 < alert.figure.high < 0
    assert alert.cause == "strategy structure → tokens in run 3"
    assert alert.check == "again -s structure"
    assert [each.after for each in alert.lost] == [0.2] * 5
    assert [(each.name, each.questions) for each in alert.types] == [("list", 40)]
    (again,) = watched(history, changed).alerts
    assert (again.number, again.first_run, again.last_run, again.since) == (1, 3, 4, 3)
    assert [each.state for each in history.acknowledge(1)] == ["acknowledged"]
    quiet = watched(history, changed)
    assert (quiet.alerts, [each.number for each in quiet.quiet]) == ((), [1])
    worse = dict.fromkeys(GOOD, 0.0)
    (louder,) = watched(history, kept_run(worse, settings={"strategy": "tokens", "k": 5})).alerts
    assert (louder.number, louder.state, louder.last_run) == (1, "open", 6)
    assert [each.number for each in history.alerts()] == [1]
    assert watched(history, kept_run(GOOD)).alerts == ()
    assert history.alerts() == []
    assert [each.state for each in history.alerts(over=True)] == ["closed"]
    with pytest.raises(InvalidParameter, match=r"alert 1 is closed.*recall@5.*run 7"):
        history.acknowledge(1)
    with pytest.raises(UnknownName, match="no alert 7"):
        history.acknowledge(7)
    (fresh,) = watched(history, kept_run(BAD)).alerts
    assert fresh.number == 2


def test_another_baseline_ends_alerts_against_the_old_one(history: History) -> None:
    watched(history, kept_run(GOOD))
    assert watched(history, kept_run(BAD)).alerts
    history.set_baseline(2)
    found = watched(history, kept_run(BAD))
    assert found.alerts == ()
    assert found.watched.reference == 2
    assert found.reference.is_baseline
    assert history.alerts() == []


def test_a_fall_within_the_tolerance_is_no_alert(local: History) -> None:
    watched(local, kept_run(GOOD))
    assert watched(local, kept_run(BAD), tolerance=0.4).alerts == ()
    assert watched(local, kept_run(BAD), tolerance=0.3).alerts


def test_a_metric_that_should_be_low_alerts_when_it_rises(local: History) -> None:
    low, high = dict.fromkeys(GOOD, 0.1), {id: 1 - score for id, score in BAD.items()}
    watched(local, kept_run(low, metric="failure@5"))
    (alert,) = watched(local, kept_run(high, metric="failure@5")).alerts
    assert alert.figure.is_lower_better
    assert alert.figure.fall > 0
    assert alert.lost[0].after > alert.lost[0].before
    assert watched(local, kept_run(low, metric="failure@5")).alerts == ()


def test_other_questions_are_compared_unpaired(local: History) -> None:
    watched(local, kept_run(GOOD))
    others = {f"n{n}": 0.2 if n % 2 else 0.3 for n in range(40)}
    found = watched(local, kept_run(others, questions_hash="r"))
    assert not found.paired
    assert found.common == 0
    (alert,) = found.alerts
    assert (alert.figure.p, alert.figure.pairs, alert.lost) == (None, 0, ())
    same = {f"m{n}": 0.9 for n in range(40)}
    assert watched(local, kept_run(same, questions_hash="s")).alerts == ()


def test_a_question_whose_words_changed_is_another_question(local: History) -> None:
    watched(local, kept_run(GOOD))
    run = kept_run(GOOD)
    other = tuple(
        replace(each, text="Else?", fingerprint="x") if n < 10 else each
        for n, each in enumerate(run.questions)
    )
    found = watched(local, replace(run, questions=other))
    assert found.paired
    assert found.common == 30
    assert found.watched.figures["recall@5"].pairs == 30


def test_an_alert_names_the_run_it_began_with_and_what_changed_then(local: History) -> None:
    """Three noisy weeks, a change that hurts, and other documents a week later, which do not."""
    for _ in range(3):
        watched(local, kept_run(GOOD))
    moved = {"a.md": "1", "b.md": "new"}
    hurt = kept_run(BAD, documents={**moved, "a.md": "other"}, documents_hash="e")
    first = watched(local, hurt, tolerance=0.9)
    assert first.alerts == ()
    (alert,) = watched(local, kept_run(BAD, documents=moved, documents_hash="f")).alerts
    assert alert.since == 4
    assert alert.cause == "changed documents in run 4 (~2)"
    assert alert.check == f"chunkwise runs diff 3 4 --history {local.place}"


def test_the_first_run_that_is_watched_against_a_baseline_is_told_what_changed(
    local: History,
) -> None:
    local.add(kept_run(GOOD))
    local.set_baseline(1)
    (alert,) = watched(local, kept_run(BAD, settings={"strategy": "tokens", "k": 5})).alerts
    assert (alert.since, alert.reference) == (2, 1)
    assert alert.cause == "strategy structure → tokens in run 2"
    assert alert.check == "chunkwise evaluate '…' -s structure"


@pytest.mark.usefixtures("large_inputs")
def test_slow_decay_is_found_by_the_chart(local: History) -> None:
    rng = random.Random(0)
    base = {f"q{n}": 0.4 + 0.5 * rng.random() for n in range(150)}

    def week(by: float) -> WatchOutcome:
        noisy = {id: min(1.0, max(0.0, score - by + rng.gauss(0, 0.08))) for id, score in base.items()}  # fmt: skip
        return watched(local, kept_run(noisy), tolerance=None)

    kinds = []
    for number in range(40):
        found = week(max(0.0, (number - 12) * 0.002))
        kinds += [alert.kind for alert in found.alerts]
        if number == 5:
            assert found.charts["recall@5"].is_learning
            assert found.charts["recall@5"].learnt == 5
    assert kinds
    assert kinds[0] == "decay"
    view = metric_history(local, "recall@5")
    assert [point.limit_low is None for point in view.points[:9]] == [True] * 8 + [False]
    raised = [point.row.number for point in view.points if point.alerts]
    assert raised
    assert raised[0] > 13


def test_runs_of_another_branch_teach_the_chart_nothing(local: History) -> None:
    watched(local, kept_run(GOOD, origin=RunOrigin(git_branch="main")))
    for _ in range(4):
        watched(local, kept_run(BAD, origin=RunOrigin(git_branch="try")))
    found = watched(local, kept_run(GOOD, origin=RunOrigin(git_branch="main")))
    assert found.charts["recall@5"].values == (0.0, 0.0)


def test_runs_that_nobody_watched_teach_the_chart_nothing(local: History) -> None:
    watched(local, kept_run(GOOD))
    local.add(kept_run(BAD))
    assert watched(local, kept_run(GOOD)).charts["recall@5"].runs == (1, 3)


def test_a_named_baseline_is_a_watch_of_its_own(local: History) -> None:
    watched(local, kept_run(GOOD))
    other = watched(local, kept_run(BAD), name="release")
    assert (other.watched.name, other.watched.reference, other.alerts) == ("release", 2, ())
    assert watched(local, kept_run(BAD), name="release").alerts == ()
    assert watched(local, kept_run(GOOD)).watched.reference == 1


def test_which_metrics_are_watched(local: History) -> None:
    run = kept_run(GOOD)
    more = {f"m{n}": run.scores["recall@5"] for n in range(12)}
    figures = {**run.figures, **{name: KeptFigure(0.9, 0.8, 1.0, 40, 40) for name in more}}
    run = replace(run, scores={**run.scores, **more}, figures=figures)
    watched(local, run)
    assert list(watched(local, run).watched.figures) == ["recall@5", *(f"m{n}" for n in range(7))]
    assert list(watched(local, run, metrics=["m11"]).watched.figures) == ["m11"]
    with pytest.raises(InvalidParameter, match="'recal@5' has no score"):
        watched(local, run, metrics=["recal@5"])


def test_metrics_with_the_same_scores_raise_one_alert(local: History) -> None:
    for scores in (GOOD, BAD, GOOD):
        run = kept_run(scores)
        twice = {**run.scores, "hit@5": run.scores["recall@5"]}
        figures = {**run.figures, "hit@5": run.figures["recall@5"]}
        outcome = watched(local, replace(run, scores=twice, figures=figures))
        assert [alert.metric for alert in outcome.alerts] == ["recall@5"] * (scores is BAD)
    assert local.alerts() == []


def test_a_share_of_chunks_is_watched_like_scores_of_questions(local: History) -> None:
    run = kept_run(GOOD, settings={"strategy": "structure"})
    cut = {share: replace(run, figures={**run.figures, "boundary_issues": KeptFigure(share, None, None, 100, 100)})
           for share in (0.2, 0.22, 1.0)}  # fmt: skip
    watched(local, cut[0.2])
    assert watched(local, cut[0.22]).alerts == ()
    (alert,) = watched(local, replace(cut[1.0], settings={"strategy": "words"})).alerts
    assert (alert.metric, alert.figure.is_lower_better) == ("boundary_issues", True)
    assert alert.cause == "strategy structure → words in run 3"
    (named,) = watched(local, cut[1.0], metrics=["boundary_issues"]).watched.figures
    assert named == "boundary_issues"


def test_what_later_runs_are_held_against_is_not_pruned(local: History) -> None:
    watched(local, kept_run(GOOD))
    for _ in range(2):
        assert watched(local, kept_run(BAD)).alerts
    assert [run.number for run in local.prune(numbers=[1, 2])] == [2]
    assert watched(local, kept_run(BAD)).watched.reference == 1
    local.set_baseline(3)
    assert [run.number for run in local.prune(numbers=[1, 3])] == [1]


def test_a_run_without_common_metrics_or_scores_is_kept_quietly(local: History) -> None:
    watched(local, kept_run(GOOD))
    assert watched(local, kept_run(BAD, metric="other")).watched.figures == {}
    assert watched(local, kept_run(dict.fromkeys(GOOD, None))).watched.figures == {}


def test_pruned_runs_leave_the_chart(history: History) -> None:
    for _ in range(3):
        watched(history, kept_run(GOOD))
    history.prune(numbers=[2])
    assert watched(history, kept_run(GOOD)).charts["recall@5"].runs == (1, 3, 4)
    assert [each.run for each in history.watched()] == [1, 3, 4]


def test_a_row_that_somebody_changed_is_told(local: History) -> None:
    watched(local, kept_run(GOOD))
    watched(local, kept_run(BAD))
    for table, what in (("alerts", "an alert"), ("watched_runs", "a watched run")):
        with local._database.writing() as statements:
            statements.execute(f"update {table} set found = '{{\"run\":'")
        with pytest.raises(HistoryProblem, match=f"{what} in the history .* is damaged"):
            local.alerts() if table == "alerts" else local.watched()


def test_only_one_watch_is_at_work_at_a_time(history: History) -> None:
    inside, waiting, done = threading.Event(), threading.Event(), threading.Event()
    order = []

    def second() -> None:
        inside.wait(HANG)
        with History(history._path).watching(waiting.set):
            order.append("second")
        done.set()

    thread = threading.Thread(target=second)
    thread.start()
    with history.watching():
        inside.set()
        assert waiting.wait(HANG)
        history.add(kept_run(GOOD))  # others keep runs meanwhile
        order.append("first")
    assert done.wait(HANG)
    thread.join(HANG)
    assert order == ["first", "second"]


def test_where_nothing_can_be_locked_nobody_waits(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with History(tmp_path / "file" / "runs.db").watching():
        pass


def alert(fall: float, **more: object) -> Alert:
    figure = WatchedFigure(0.8, 0.8 - fall, -fall, -fall - 0.02, -fall + 0.02, 0.001, 40, 0.05)
    made = Alert("m", "default", "fall", figure, 1, 5, 5, 5, "2026-01-05T08:00:00Z")
    return replace(made, **more)  # type: ignore[arg-type]


def test_an_alert_stands_while_the_fall_is_shown_and_ends_with_it() -> None:
    known = [alert(0.1, number=3)]
    for fall, is_over in ((0.03, False), (0.01, True)):
        run = WatchedRun(6, "default", 1, figures={"m": alert(fall).figure})
        written, told = merged(known, [], run)
        assert [each.state for each in written] == ["closed" if is_over else "open"]
        assert bool(told) != is_over
    not_measured = WatchedRun(6, "default", 1)
    assert merged(known, [], not_measured) == ([], [])


def test_the_command_that_checks_a_cause_names_a_setting_once() -> None:
    again = "chunkwise evaluate 'my docs' -s 'tokens(max_tokens=9)' --budget 1000"
    assert with_option(again, ("-s", "--strategy"), "structure(max_tokens=400)") == (
        "chunkwise evaluate 'my docs' --budget 1000 -s 'structure(max_tokens=400)'"
    )
    assert (
        with_option("chunkwise evaluate docs", ("-k", "--top-k"), "3")
        == "chunkwise evaluate docs -k 3"
    )


def on_branch(run: KeptRun, branch: str) -> KeptRun:
    return replace(run, origin=replace(run.origin, git_branch=branch))


def test_a_branch_has_alerts_of_its_own(history: History) -> None:
    watched(history, on_branch(kept_run(GOOD), "main"))
    (other,) = watched(history, on_branch(kept_run(BAD), "idea")).alerts
    assert (other.number, other.branch) == (1, "idea")
    assert watched(history, on_branch(kept_run(GOOD), "main")).alerts == ()
    assert [(each.number, each.state) for each in history.alerts()] == [(1, "open")]
    history.acknowledge(1)
    (own,) = watched(history, on_branch(kept_run(BAD), "main")).alerts
    assert (own.number, own.branch, own.state) == (2, "main", "open")
    quiet = watched(history, on_branch(kept_run(BAD), "idea"))
    assert (quiet.alerts, [each.number for each in quiet.quiet]) == ((), [1])


def test_limits_stay_in_the_chart_when_a_later_run_was_not_watched(local: History) -> None:
    noise = random.Random(3)
    for _ in range(12):
        watched(local, kept_run({id: one + noise.uniform(-0.02, 0.02) for id, one in GOOD.items()}))
    before = [point.limit_low for point in metric_history(local, "recall@5").points]
    assert before[-1] is not None
    local.add(kept_run(GOOD))
    after = [point.limit_low for point in metric_history(local, "recall@5").points]
    assert after == [*before, None]


def test_a_metric_without_a_figure_now_is_no_part_of_the_limits(local: History) -> None:
    """Limits as they are drawn later are those by which the run was judged."""
    noise = random.Random(5)
    for _ in range(11):
        scores = {id: one + noise.uniform(-0.02, 0.02) for id, one in GOOD.items()}
        run = kept_run(scores)
        silent = dict.fromkeys(("f1@5", "ndcg@5", "mrr@5"), (None,) * len(scores))
        outcome = watched(local, replace(run, scores={**run.scores, **silent}))
    chart = outcome.charts["recall@5"].points[-1]
    shown = metric_history(local, "recall@5").points
    level = shown[0].figure.mean
    assert chart is not None
    assert level is not None
    assert shown[-1].limit_low == pytest.approx(level + chart.low)


def test_a_judge_that_only_one_run_asked_is_no_change(local: History) -> None:
    local.add(kept_run(GOOD, settings={"k": 5, "judge_model": "minilm"}))
    local.add(kept_run(GOOD, settings={"k": 5, "judge_model": ""}))
    local.add(kept_run(GOOD, settings={"k": 5, "judge_model": "bge"}))
    assert local.changes(1, 2).settings == ()
    assert [each.name for each in local.changes(1, 3).settings] == ["judge_model"]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=5),
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=5),
)
def test_a_passage_is_lost_where_less_than_half_of_it_is_found(
    then: list[tuple[int, int]], now: list[tuple[int, int]]
) -> None:
    old, new = ([KeptHit("a", at, at + size) for at, size in each] for each in (then, now))
    gained, lost = _passages(old, new)
    seen = {place for hit in new for place in range(hit.start, hit.end)}
    known = {place for hit in old for place in range(hit.start, hit.end)}
    for hits, others, found in ((old, seen, lost), (new, known, gained)):
        apart = [
            (hit.start, hit.end)
            for hit in hits
            if 2 * len({*range(hit.start, hit.end)} & others) < hit.end - hit.start
        ]
        assert [(each.start, each.end) for each in found] == apart
    assert _passages([KeptHit("a", 0, 9)], [KeptHit("b", 0, 9)])[1][0].doc_id == "a"


def test_what_an_alert_began_with_stays_its_cause(local: History) -> None:
    watched(local, kept_run(GOOD))
    tokens = {"strategy": "tokens", "k": 5}
    (first,) = watched(local, kept_run(BAD, settings=tokens)).alerts
    lower = {id: score / 2 for id, score in BAD.items()}
    (later,) = watched(local, kept_run(lower, settings={**tokens, "k": 4})).alerts
    assert (later.since, later.cause, later.check) == (first.since, first.cause, first.check)


def test_a_baseline_that_is_set_ends_alerts_against_another(history: History) -> None:
    watched(history, on_branch(kept_run(GOOD), "main"))
    watched(history, on_branch(kept_run(BAD), "idea"))
    history.set_baseline(2, "idea")
    assert history.alerts() == []
    (alert,) = watched(history, on_branch(kept_run(BAD), "main")).alerts
    history.set_baseline(1)
    assert [each.number for each in history.alerts()] == [alert.number]  # the same reference
    history.set_baseline(3)
    assert history.alerts() == []


def test_all_alerts_are_acknowledged_or_none(local: History) -> None:
    watched(local, kept_run(GOOD))
    watched(local, kept_run(BAD))
    with pytest.raises(UnknownName, match="no alert 99"):
        local.acknowledge(1, 99)
    assert [each.state for each in local.alerts()] == ["open"]


def test_a_page_says_which_alert_stands_and_against_what(local: History) -> None:
    for scores in (GOOD, BAD, BAD):
        watched(local, kept_run(scores))
    view = metric_history(local, "recall@5")
    shown = terminal_text(metric_history_report(view))
    assert "! Alert 1, open: since run 2, against run 1." in shown
    assert (view.baseline_run, view.baseline) == (1, pytest.approx(0.9))
