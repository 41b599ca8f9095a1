"""A sweep from beginning to end: what is not known yet is run, the finalists once more, and a choice is made."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from chunkwise.base.atomic import scratch_folder
from chunkwise.base.progress import Stages, Stopwatch, unwatched
from chunkwise.base.workers import Jobs
from chunkwise.documents import LoadOptions, leaving_out, options_given
from chunkwise.evaluation.results import Json, documents_hash, versions
from chunkwise.evaluation.sources import Skipped
from chunkwise.models.embed.embedder import Embedder
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.tuning.choose.choose import choose
from chunkwise.tuning.plan.plan import Plan, variations
from chunkwise.tuning.plan.prepare import PreparedSweep, SweepInputs, SweepSource, prepare_sweep
from chunkwise.tuning.plan.sweep_budget import sweep_embedder
from chunkwise.tuning.recommendation import Recommendation, recommendation_of
from chunkwise.tuning.run.race import Race, best_chunkings, best_of_several, finalists, race_against
from chunkwise.tuning.run.run_pipeline import run_pipeline_plan
from chunkwise.tuning.run.sweep_folder import SweepFolder, SweepRecord
from chunkwise.tuning.run.sweep_workers import run_plan
from chunkwise.tuning.sweep import Configuration, Sweep
from chunkwise.tuning.sweep_result import NOT_RUN, Outcome, SweepResult

OnOutcome = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a prepared sweep is run, and who watches it."""

    jobs: Jobs = 1
    on_outcome: OnOutcome | None = None
    stages: Stages = unwatched


class CompletedSweep(NamedTuple):
    """A sweep that was run, and what it was run on."""

    prepared: PreparedSweep
    result: SweepResult
    embedder: Embedder | None = None
    """None: that of the sweep, by its name."""

    @property
    def recommendation(self) -> Recommendation | None:
        """The choice as settings; None: without queries nothing is chosen."""
        chosen = _chosen(self.result)
        return None if chosen is None else recommendation_of(chosen, self.prepared.sweep)


OnPrepared = Callable[[PreparedSweep], RunOptions | None]
"""Gets the work before it is done and says how to do it; None: not at all. An exception refuses it."""
Write = Callable[[CompletedSweep, Path], object]
"""Writes the files of a sweep into its folder."""


def run_sweep(
    source: SweepSource,
    output: str | os.PathLike[str] | None,
    on_prepared: OnPrepared,
    write: Write,
    *,
    left_out: Skipped,
    options: LoadOptions | None = None,
    dry_run: bool = False,
) -> CompletedSweep | None:
    """Reads, plans, runs, chooses and writes; None: it was not to be run.

    Without an `output` nothing is kept. The same call continues what is in that folder. A `dry_run` writes nothing.
    """
    folder = None if output is None else SweepFolder(output)
    if folder is not None and not dry_run:
        folder.check_writable()
    own_files = [
        *(folder.files if folder else []),
        *([source.plan.resolve()] if source.plan else []),
    ]
    reading = _reading(source.sweep, options)
    prepared = prepare_sweep(
        replace(source.sweep, reading=options_given(reading)), left_out, embedder=source.embedder,
        documents=source.documents, questions=source.queries, options=leaving_out(reading, own_files),
    )  # fmt: skip
    if folder is not None:
        folder.refuse_another(prepared)
    running = on_prepared(prepared)
    if running is None or dry_run:
        return None
    with nullcontext(folder) if folder else _scratch_folder() as kept:
        is_plain = source.is_resumable and not prepared.sweep.pipeline
        if folder is not None and is_plain and _can_be_written(prepared.sweep):
            folder.keep_plan(prepared)
        result = run_and_choose(
            prepared, kept.record, left_out=left_out, embedder=source.embedder, jobs=running.jobs,
            on_outcome=running.on_outcome, stages=running.stages,
        )  # fmt: skip
    completed = CompletedSweep(prepared, result, source.embedder)
    if folder is not None:
        write(completed, folder.path)
    return completed


def _reading(sweep: Sweep, given: LoadOptions | None) -> LoadOptions:
    """As the plan says; what is said beside it wins."""
    said = options_given(given)
    kept: dict[str, Any] = {n: value for n, value in sweep.reading.items() if n not in said}
    return replace(given or LoadOptions(), **kept)


def _can_be_written(sweep: Sweep) -> bool:
    """Whether a plan can say how documents are read: an object that reads files has no name."""
    return None not in sweep.reading.values()


@contextmanager
def _scratch_folder() -> Iterator[SweepFolder]:
    with scratch_folder() as path:
        yield SweepFolder(path)


def run_and_choose(
    prepared: PreparedSweep,
    record: SweepRecord,
    *,
    left_out: Skipped | None = None,
    embedder: Embedder | None = None,
    jobs: Jobs = 1,
    on_outcome: OnOutcome | None = None,
    stages: Stages = unwatched,
) -> SweepResult:
    """Runs what the record does not know yet, and chooses; the same call goes on where the last one was stopped."""
    sweep, plan, inputs = prepared.sweep, prepared.plan, prepared.inputs
    documents, queries = inputs.documents, inputs.questions.queries
    watch, began = Stopwatch(), time.monotonic()
    if sweep.pipeline:
        with watch("sweep"), (left_out or Skipped(None)).rows_of(sweep.pipeline) as bad:
            outcomes = run_pipeline_plan(
                plan, documents, queries, sweep, record, on_bad=bad, stages=stages,
                on_outcome=on_outcome, deadline=sweep.seconds,
            )  # fmt: skip
        with watch("choose"):
            tuning = choose(outcomes, queries, inputs.splits, sweep, plan, documents)
        return replace(
            tuning, versions=versions(), data=_data(inputs, left_out), timing=watch.seconds
        )
    model = sweep_embedder(sweep, embedder)

    def outcomes_of(
        some: Plan, race: Race | None = None, named: Embedder | LazyEmbedder | str | None = None
    ) -> list[Outcome]:
        # The time is that of the whole: what the sweep took, the finalists have not.
        left = sweep.seconds and max(0.0, sweep.seconds - (time.monotonic() - began))
        found = run_plan(
            some, documents, queries, sweep, record, embedder=named or model, stages=stages,
            on_outcome=on_outcome, jobs=jobs, deadline=left, race=race,
        )  # fmt: skip
        return [replace(each, error=_TIME_UP) if each.waits else each for each in found]

    with watch("sweep"):
        outcomes = outcomes_of(plan)
    with watch("finalists"):
        most = 0 if sweep.exact else sweep.finalists
        again = finalists(outcomes, inputs.splits, sweep.objective, most) if most else ()
        if again:
            outcomes += outcomes_of(Plan(tuple(again)))
    with watch("variations"):
        best = best_chunkings(outcomes, inputs.splits, sweep.objective, sweep.finalists)
        if sweep.finalists:
            best += best_of_several(outcomes, inputs.splits, sweep.objective)
        for name, some in variations(best, sweep).items():
            race = race_against(outcomes, inputs.splits, sweep.objective)
            other = replace(sweep, embedder=name)
            named = None if name == sweep.embedder else sweep_embedder(other) or name
            outcomes += outcomes_of(Plan(some), race, named)
    with watch("choose"):
        tuning = choose(outcomes, queries, inputs.splits, sweep, plan, documents)
    return replace(
        tuning,
        versions=versions(),
        data=_data(inputs, left_out),
        timing=watch.seconds,
    )


_TIME_UP = f"{NOT_RUN}: the time was up before its turn came; the same command goes on with it"


def _data(inputs: SweepInputs, left_out: Skipped | None) -> dict[str, Json]:
    questions = inputs.questions
    return {
        "documents": {
            "count": len(inputs.documents),
            "characters": inputs.characters,
            "hash": documents_hash(inputs.documents),
        },
        "questions": {"file": questions.name, "count": len(questions), "hash": questions.hash},
        **(left_out.to_json() if left_out else {}),
    }


def _chosen(result: SweepResult) -> Configuration | None:
    """None: without questions nothing is chosen."""
    found = (each.configuration for each in result.outcomes)
    return next((each for each in found if each.key == result.chosen), None)
