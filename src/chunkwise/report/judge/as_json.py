"""A calibration for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from chunkwise.evaluation.calibrating import Measured
from chunkwise.evaluation.calibration_pairs import Pairs
from chunkwise.report.judge.terminal import warning_of


def calibration_json(measured: Sequence[Measured], pairs: Pairs) -> dict[str, Any]:
    """What was held against what, then a row a judge, with every passage it got wrong."""
    relevant = sum(map(sum, pairs.is_relevant))
    judges = []
    for each in measured:
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
        "against": pairs.against, "question_set": pairs.question_set, "questions": len(pairs.queries),
        "passages": len(pairs), "relevant": relevant, "irrelevant": len(pairs) - relevant,
        "irrelevant_is_presumed": pairs.against == "spans", "cut_by": pairs.strategy,
        "left_out_for_disagreement": pairs.disagreed, "judges": judges,
    }  # fmt: skip
