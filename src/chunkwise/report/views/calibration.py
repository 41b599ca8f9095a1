"""What is shown of a calibration: what judges were compared with, and the figures of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chunkwise.base.wording import counted, thousands
from chunkwise.evaluation.calibrate import CalibrationRun, KnownPairs
from chunkwise.report.views.view import View


@dataclass(frozen=True, slots=True)
class CalibrationView(View):
    """Judges beside each other."""

    against: str
    """labels or spans: what is taken for the truth."""
    question_set: str
    questions: int
    passages: int
    relevant: int
    strategy: str
    """What cut the passages that are presumed to be irrelevant."""
    disagreed: int
    """Places that were left out because people disagree about them."""
    judges: tuple[CalibrationRun, ...]

    @property
    def irrelevant(self) -> int:
        return self.passages - self.relevant

    @property
    def held_against(self) -> str:
        """What is taken for the truth, in one line."""
        what = "people's labels" if self.against == "labels" else "gold spans"
        return (
            f"Compared with {what}: {counted(self.relevant, 'relevant passage')} and {thousands(self.irrelevant)} "
            f"irrelevant, of {counted(self.questions, 'question')}"
        )


def calibration_view(measured: Sequence[CalibrationRun], pairs: KnownPairs) -> CalibrationView:
    return CalibrationView(
        pairs.against,
        pairs.question_set,
        len(pairs.queries),
        len(pairs),
        sum(map(sum, pairs.is_relevant)),
        pairs.strategy,
        pairs.disagreed,
        tuple(measured),
    )


def warning_of(measured: CalibrationRun) -> str:
    """What must be said beside every figure of this judge; empty: nothing."""
    known, weak = measured.calibration, measured.of_the_judge.weakness
    warnings = []
    if measured.error and known.confusion.scored:
        had = f"{thousands(known.confusion.scored)} of {counted(known.verdicts, 'verdict')}"
        warnings.append(
            f"not everything could be asked, the figures are of {had}: {measured.error}"
        )
    elif measured.error:
        warnings.append(f"this judge could not be asked, nothing is known of it: {measured.error}")
    if weak:
        warnings.append(
            f"this judge is too weak for these questions ({weak}): its figures say little"
        )
    return "; ".join(warnings)


def calibration_json(view: CalibrationView) -> dict[str, Any]:
    """What `--json` prints: what was compared with what, then a row a judge, with every passage it got wrong."""
    judges = []
    for each in view.judges:
        known = each.calibration
        row: dict[str, Any] = asdict(known)
        for name in ("accuracy", "kappa", "missed", "false_alarms", "confusion"):
            row[name] = row[name] and row[name]._asdict()
        row |= {
            "verdicts": known.verdicts, "kept": each.kept, "warning": warning_of(each),
            "error": each.error,
            "best_threshold": each.threshold and each.threshold._asdict(),
            "disagreements": [asdict(one) for one in each.disagreements],
        }  # fmt: skip
        judges.append(row)
    return {
        "against": view.against, "question_set": view.question_set, "questions": view.questions,
        "passages": view.passages, "relevant": view.relevant, "irrelevant": view.irrelevant,
        "irrelevant_is_presumed": view.against == "spans", "cut_by": view.strategy,
        "left_out_for_disagreement": view.disagreed, "judges": judges,
    }  # fmt: skip
