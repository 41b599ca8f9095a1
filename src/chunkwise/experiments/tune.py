"""A sweep from beginning to end: what is not known yet is run, and a choice is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from chunkwise.documents.walk import SWEEP_RECORD
from chunkwise.evaluation.left_out import LeftOut
from chunkwise.evaluation.provenance import documents_hash, versions
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.stages import Stages, unwatched
from chunkwise.evaluation.stopwatch import Stopwatch
from chunkwise.experiments.choosing.choose import choose
from chunkwise.experiments.material import Material
from chunkwise.experiments.outcome import NOT_RUN, Outcome
from chunkwise.experiments.planning.plan import Plan
from chunkwise.experiments.prepare import Prepared
from chunkwise.experiments.running.finalists import finalists
from chunkwise.experiments.running.record import Record
from chunkwise.experiments.running.run import run
from chunkwise.experiments.swept_model import swept_model
from chunkwise.experiments.tuning import Tuning
from chunkwise.models.embedder import Embedder

OnOutcome = Callable[[Outcome], None]


def record_of(folder: str | Path) -> Record:
    """What a folder knows already."""
    return Record(Path(folder) / SWEEP_RECORD)


def run_and_choose(
    prepared: Prepared,
    record: Record,
    *,
    left_out: LeftOut | None = None,
    embedder: Embedder | None = None,
    jobs: int = 1,
    on_outcome: OnOutcome | None = None,
    stages: Stages = unwatched,
) -> Tuning:
    """Runs what the record does not know yet, and chooses; the same call goes on where the last one was stopped."""
    sweep, plan, material = prepared.sweep, prepared.plan, prepared.material
    documents, queries = material.documents, material.questions.queries
    watch, began = Stopwatch(), time.monotonic()
    model = swept_model(sweep, embedder)

    def outcomes_of(some: Plan) -> list[Outcome]:
        # The time is that of the whole: what the sweep took, the finalists have not.
        left = sweep.seconds and max(0.0, sweep.seconds - (time.monotonic() - began))
        found = run(
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
