"""A sweep from beginning to end: read, plan, run, choose, write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chunkwise.core import Document
from chunkwise.documents import LoadOptions, read
from chunkwise.errors import ChunkwiseError
from chunkwise.evaluation.left_out import LeftOut
from chunkwise.evaluation.provenance import documents_hash, versions
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.stages import Stages, unwatched
from chunkwise.evaluation.stopwatch import Stopwatch
from chunkwise.experiments.choosing.choose import choose
from chunkwise.experiments.finalists import finalists
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.plan import Plan
from chunkwise.experiments.record import Record
from chunkwise.experiments.run import run
from chunkwise.experiments.splits import split
from chunkwise.experiments.sweep import Sweep
from chunkwise.experiments.tuning import Tuning
from chunkwise.testsets.reading import read_testset
from chunkwise.testsets.testset import TestSet

OnOutcome = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Material:
    """What a sweep is about, read once."""

    documents: Sequence[Document]
    questions: TestSet
    splits: tuple[str, ...]
    """validation or test, of each question."""

    @property
    def characters(self) -> int:
        return sum(len(document.text) for document in self.documents)


def read_material(
    sweep: Sweep,
    left_out: LeftOut,
    *,
    options: LoadOptions | None = None,
    leave_out: Collection[Path] = (),
) -> Material:
    """Documents, questions, and which of these choose."""
    file = [Path(sweep.test_queries).resolve()] if sweep.test_queries else []
    found = read(
        list(sweep.documents), options or LoadOptions(), left_out.document, [*leave_out, *file]
    )
    documents = list(found)
    if not documents:
        raise ChunkwiseError("there is no document to tune for; name files or folders")
    questions = TestSet(())
    if sweep.test_queries:
        questions = read_testset(
            sweep.test_queries, documents, lambda problem: left_out.question(problem, documents)
        )
    return Material(documents, questions, split(questions.queries, sweep.test_share, sweep.seed))


def tune(
    sweep: Sweep,
    plan: Plan,
    material: Material,
    folder: Path,
    *,
    left_out: LeftOut | None = None,
    jobs: int = 1,
    on_outcome: OnOutcome | None = None,
    stages: Stages = unwatched,
) -> Tuning:
    """Runs what the folder does not know yet, and chooses; the same call goes on where the last one was stopped."""
    watch, record = Stopwatch(), Record(folder)
    documents, queries = material.documents, material.questions.queries

    def outcomes_of(some: Plan) -> list[Outcome]:
        return run(
            some, documents, queries, sweep, record, stages=stages, on_outcome=on_outcome,
            jobs=jobs, deadline=sweep.seconds,
        )  # fmt: skip

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
