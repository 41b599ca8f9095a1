"""A calibration in a terminal: warnings in words, costs as people read them, text that cannot move the cursor."""

import io
from dataclasses import replace

from rich.console import Console

from chunkwise.core import Document, Hit, Query, Score
from chunkwise.evaluation.calibrate import CalibrationRun, Disagreement, KnownPairs
from chunkwise.evaluation.judge_calibrations import (
    Calibration,
    Cost,
    Threshold,
    Verdict,
    calibration,
)
from chunkwise.report.terminal.calibration import render_calibration, verdict_cost_words
from chunkwise.report.views.calibration import calibration_view, warning_of
from tables import cases

HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold]loud[/bold]\nnext\u202eline"
PAIRS = KnownPairs(
    (Query("q", "Who?"),), ((Hit(Document("d", "text"), 0, 4, 1.0, 1, 1),),), ((True,),), "spans", "", 2, "s"
)  # fmt: skip


def figures(right: int, wrong: int) -> Calibration:
    verdicts = [
        Verdict(str(at), at % 2 == 0, Score(float((at % 2 == 0) == (at < right))))
        for at in range(right + wrong)
    ]
    return calibration(verdicts, judge="rule:1", name="rule", against="spans")


def shown(*measured: CalibrationRun, width: int = 100) -> str:
    out = io.StringIO()
    render_calibration(
        calibration_view(measured, PAIRS), Console(file=out, width=width, force_terminal=False)
    )
    return " ".join(out.getvalue().split())


def test_text_of_documents_questions_and_reasons_is_shown_never_obeyed() -> None:
    wrong = Disagreement(HOSTILE, HOSTILE, 0, 9, HOSTILE, True)
    known = replace(figures(8, 2), unscored={HOSTILE: 3}, judge=HOSTILE, name=HOSTILE)
    out = io.StringIO()
    view = calibration_view([CalibrationRun(known, (wrong,))], PAIRS)
    render_calibration(view, Console(file=out, width=100))
    for bad in ("\x1b", "\x07", "\u202e", "owned"):
        assert bad not in out.getvalue()
    assert "[bold]loud[/bold] next" in out.getvalue()


@cases("width", [20, 40, 80, 200])
def test_it_is_drawn_at_any_width(width: int) -> None:
    wrong = Disagreement("Who? " * 30, "d", 0, 9, "text " * 200, False, 0.5)
    measured = CalibrationRun(figures(8, 2), (wrong,), Threshold(0.5, 0.9, 0.8), 3)
    assert "Where it is wrong" in shown(measured, replace(measured, threshold=None), width=width)


def test_a_weak_judge_is_called_weak_and_an_unsure_one_unsure() -> None:
    weak, unsure, sure = figures(10, 10), figures(8, 4), figures(200, 20)
    assert "too weak for these questions (κ is 0.00, under 0.2)" in shown(CalibrationRun(weak, ()))
    assert warning_of(CalibrationRun(unsure, ())) == warning_of(CalibrationRun(sure, ())) == ""
    assert "more verdicts (-n) make it more certain" in shown(CalibrationRun(unsure, ()))
    assert "more certain" not in shown(CalibrationRun(sure, ()))


def test_a_threshold_is_recommended_only_where_it_holds_elsewhere() -> None:
    known = figures(30, 10)
    assert known.kappa is not None
    better = Threshold(0.43, known.kappa.mean + 0.2, known.kappa.mean + 0.1)
    assert "take it with --similarity-threshold 0.43" in shown(CalibrationRun(known, (), better))
    by_chance = better._replace(kappa_elsewhere=known.kappa.mean - 0.1)
    assert "no reason to change it" in shown(CalibrationRun(known, (), by_chance))


def test_presumed_and_disputed_passages_are_said_to_be_so() -> None:
    said = shown(CalibrationRun(figures(8, 2), ()))
    assert "presumably irrelevant, nobody has looked" in said
    assert "2 places left out: people disagree" in said


@cases(
    "cost, words",
    [
        (Cost(500, 123_456, 2_000, 0.1234, 3.26), "500 calls, 123k tokens read, 2,000 written, $0.12, 3 min"),
        (Cost(1, 10, 1, None, 600), "1 call, 10 tokens read, 1 written, price not known, 10 h"),
        (Cost(1, 10, 1, 0.00234), "1 call, 10 tokens read, 1 written, $0.0023"),
        (Cost(minutes=0.01), "no money, 1 s"),
    ],
)  # fmt: skip
def test_costs_in_words(cost: Cost, words: str) -> None:
    assert verdict_cost_words(cost) == words


def test_nothing_but_unscored_has_no_table_and_a_warning() -> None:
    found = calibration(
        [Verdict("q", True, Score(None, "no answer"))], judge="r", name="r", against="spans"
    )
    said = shown(CalibrationRun(found, ()))
    assert "unscored: 1 of 1 (100%)" in said
    assert "too weak" in said
    assert "called relevant" not in said
