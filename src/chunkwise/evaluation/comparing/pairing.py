"""The questions that two runs have in common, and their scores as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.evaluation.metric_names import GROUPS
from chunkwise.evaluation.results import QuestionResult, Results
from chunkwise.stats.table import ScoreMatrix


@dataclass(frozen=True, slots=True)
class Pairing:
    """Questions with the same id and text in all runs, by id: in what order a file has them changes no figure."""

    runs: tuple[tuple[QuestionResult, ...], ...]
    """The same questions of each run."""
    other_text: tuple[str, ...]
    """Ids in all runs whose texts differ."""

    def scores(self, run: int, metrics: Sequence[str]) -> ScoreMatrix:
        """Questions × metrics; NaN: unscored."""
        # NumPy makes NaN of None.
        rows = [[own.scores.get(name) for name in metrics] for own in self.runs[run]]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(metrics))

    def of_types(self) -> dict[str, list[int]]:
        """Positions of the questions of every type, by name."""
        found: dict[str, list[int]] = {}
        for at, question in enumerate(self.runs[0]):
            for type in dict.fromkeys(question.types):
                found.setdefault(type, []).append(at)
        return dict(sorted(found.items()))


def pair(runs: Sequence[Results], names: Sequence[str]) -> Pairing:
    """What all runs have; `names` are for errors."""
    known = [_by_id(run, name) for run, name in zip(runs, names, strict=True)]
    rows = [
        [own[question.id] for own in known]
        for question in sorted(runs[0].questions, key=attrgetter("id"))
        if all(question.id in own for own in known)
    ]
    same = [row for row in rows if len({question.text for question in row}) == 1]
    others = tuple(row[0].id for row in rows if len({question.text for question in row}) > 1)
    columns = tuple(zip(*same, strict=True)) if same else ((),) * len(runs)
    return Pairing(columns, others)


def common_metrics(runs: Sequence[Results]) -> list[str]:
    """Metrics with a score a question that all runs have, in the order of the first."""
    first, *others = (_metrics(run) for run in runs)
    return [metric for metric in first if all(metric in other for other in others)]


def check_common(
    runs: Sequence[Results], names: Sequence[str], pairing: Pairing, metrics: Sequence[str]
) -> None:
    """An error where there is nothing to compare two runs by."""
    a, b = (
        f"{name} ({counted} questions)"
        for name, counted in zip(names, (f"{len(run.questions):,}" for run in runs), strict=True)
    )
    if not pairing.runs[0]:
        others = len(pairing.other_text)
        why = f"; ids that are in both have other texts ({others:,})" if others else ""
        raise ChunkwiseError(
            f"no question is in both {a} and {b}{why}; runs are compared question by question: "
            "evaluate both with the same --test-queries"
        )
    if not metrics:
        told = "; ".join(
            f"{name} has {', '.join(_metrics(run)) or 'none'}"
            for run, name in zip(runs, names, strict=True)
        )
        raise ChunkwiseError(
            f"no metric is in both ({told}); evaluate both with the same --metrics, -k and --budget"
        )


def chosen_metrics(there: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Those that are wanted, in their order; `recall` stands for every recall@…, a group for its members."""
    found: dict[str, None] = {}
    for name in wanted:
        names = {name, *(there if name == "all" else GROUPS.get(name, ()))}
        fitting = [m for m in there if m in names or m.partition("@")[0] in names]
        if not fitting:
            raise InvalidParameter(f"no metric {name!r} is in both; there are: {', '.join(there)}")
        found.update(dict.fromkeys(fitting))
    return list(found)


def _by_id(run: Results, name: str) -> Mapping[str, QuestionResult]:
    found: dict[str, QuestionResult] = {}
    for question in run.questions:
        if question.id in found:
            raise ChunkwiseError(
                f"{name} has two questions with the id {question.id!r}; an id names one question"
            )
        found[question.id] = question
    return found


def _metrics(run: Results) -> dict[str, None]:
    return dict.fromkeys(name for question in run.questions for name in question.scores)
