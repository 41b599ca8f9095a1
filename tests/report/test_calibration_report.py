"""The report of a calibration: the better judge, its figures, and warnings in words."""

from dataclasses import replace

from chunkwise.core import Document, Hit, Query, Score
from chunkwise.evaluation.calibrate import CalibrationRun, Disagreement, KnownPairs
from chunkwise.evaluation.judge_calibrations import Calibration, Cost, Verdict, calibration
from chunkwise.report.calibration_report import (
    calibration_report,
    verdict_cost_words,
    warning_of,
)
from chunkwise.report.to_terminal import terminal_text

PAIRS = KnownPairs(
    (Query("q", "Who?"),), ((Hit(Document("d", "text"), 0, 4, 1.0, 1, 1),),), ((True,),), "spans", "", 2, "s"
)  # fmt: skip


def figures(right: int, wrong: int) -> Calibration:
    verdicts = [
        Verdict(str(at), at % 2 == 0, Score(float((at % 2 == 0) == (at < right))))
        for at in range(right + wrong)
    ]
    return calibration(verdicts, judge="rule:1", name="rule", against="spans")


def test_the_better_judge_leads_and_its_errors_are_quoted() -> None:
    wrong = Disagreement("Who keeps it?", "d", 0, 9, "the keeper", True, 0.5)
    good = CalibrationRun(figures(40, 2), (wrong,))
    weak = CalibrationRun(replace(figures(11, 10), name="coin"), ())
    shown = terminal_text(calibration_report([weak, good], PAIRS), 80)
    assert "rule agrees best: Cohen’s κ 0.9" in shown
    assert shown.index("\nrule ") < shown.index("\ncoin ")
    assert "coin: this judge is too weak for these questions" in shown
    assert "Where rule is wrong, 1 of 1" in shown
    assert "relevant, called irrelevant · cosine 0.5 · d 0–9" in shown
    assert "skipped: labelers disagree" in shown


def test_what_could_not_be_asked_is_said() -> None:
    broken = replace(CalibrationRun(figures(8, 2), ()), error="no key")
    assert warning_of(broken).startswith("incomplete, scores are from")
    assert verdict_cost_words(Cost(500, 60_000, 2_000, 0.0, 0.5)).startswith("500 calls, ")
