"""A sweep from beginning to end: what is not known yet is run, the finalists once more, and a choice is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from chunkwise.documents.walk import SWEEP_RECORD
from chunkwise.evaluation.left_out import LeftOut
from chunkwise.evaluation.progress import Stages, Stopwatch, unwatched
from chunkwise.evaluation.results import Json, documents_hash, versions
from chunkwise.metrics.registry import lower_is_better
from chunkwise.models.embed.embedder import Embedder
from chunkwise.tuning.choose.choose import choose
from chunkwise.tuning.material import Material
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.plan.prepare import PreparedSweep
from chunkwise.tuning.run.record import SweepRecord
from chunkwise.tuning.run.run import run_plan
from chunkwise.tuning.run.sweep_embedder import sweep_embedder
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import NOT_RUN, Outcome, SweepResult


def finalists(
    outcomes: Sequence[Outcome], splits: Sequence[str], objective: str, most: int = 5
) -> list[Configuration]:
    """The best `most` on the validation questions, and the common defaults, each with every chunk embedded by itself.

    Several sizes at once have no chunks to embed: they are not among them.
    """
    late = [each for each in outcomes if _is_late(each)]
    means = [_mean(each, splits, objective) for each in late]
    scored = [at for at, mean in enumerate(means) if mean is not None]
    sign = 1 if lower_is_better(objective) else -1
    best = sorted(scored, key=lambda at: (sign * (means[at] or 0.0), at))[:most]
    chosen = [late[at].configuration for at in best]
    if chosen:
        chosen += [
            each.configuration
            for each in late
            if each.configuration.baseline and each.configuration not in chosen
        ]
    return [replace(each, vectors="own") for each in chosen]


def _is_late(outcome: Outcome) -> bool:
    configuration = outcome.configuration
    return bool(configuration.strategy) and configuration.vectors == "late" and not outcome.error


def _mean(outcome: Outcome, splits: Sequence[str], objective: str) -> float | None:
    scores = zip(outcome.scores.get(objective, ()), splits, strict=False)
    chosen = [score for score, split in scores if split == "validation" and score is not None]
    return sum(chosen) / len(chosen) if chosen else None


OnOutcome = Callable[[Outcome], None]


def sweep_record(folder: str | Path) -> SweepRecord:
    """What a folder knows already."""
    return SweepRecord(Path(folder) / SWEEP_RECORD)


def run_and_choose(
    prepared: PreparedSweep,
    record: SweepRecord,
    *,
    left_out: LeftOut | None = None,
    embedder: Embedder | None = None,
    jobs: int = 1,
    on_outcome: OnOutcome | None = None,
    stages: Stages = unwatched,
) -> SweepResult:
    """Runs what the record does not know yet, and chooses; the same call goes on where the last one was stopped."""
    sweep, plan, material = prepared.sweep, prepared.plan, prepared.material
    documents, queries = material.documents, material.questions.queries
    watch, began = Stopwatch(), time.monotonic()
    model = sweep_embedder(sweep, embedder)

    def outcomes_of(some: Plan) -> list[Outcome]:
        # The time is that of the whole: what the sweep took, the finalists have not.
        left = sweep.seconds and max(0.0, sweep.seconds - (time.monotonic() - began))
        found = run_plan(
            some, documents, queries, sweep, record, embedder=model, stages=stages,
            on_outcome=on_outcome, jobs=jobs, deadline=left,
        )  # fmt: skip
        return [replace(each, error=_TIME_UP) if each.waits else each for each in found]

    with watch("sweep"):
        outcomes = outcomes_of(plan)
    with watch("finalists"):
        most = 0 if sweep.exact else sweep.finalists
        again = finalists(outcomes, material.splits, sweep.objective, most) if most else ()
        if again:
            outcomes += outcomes_of(Plan(tuple(again)))
    with watch("choose"):
        tuning = choose(outcomes, queries, material.splits, sweep, plan, documents)
    return replace(
        tuning,
        versions=versions(),
        data=_data(material, left_out),
        timing=watch.seconds,
    )


_TIME_UP = f"{NOT_RUN}: the time was up before its turn came; the same command goes on with it"


def _data(material: Material, left_out: LeftOut | None) -> dict[str, Json]:
    questions = material.questions
    return {
        "documents": {
            "count": len(material.documents),
            "characters": material.characters,
            "hash": documents_hash(material.documents),
        },
        "questions": {"file": questions.name, "count": len(questions), "hash": questions.hash},
        **(left_out.told() if left_out else {}),
    }
