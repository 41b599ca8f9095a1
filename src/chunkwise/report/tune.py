"""`chunkwise.tune`: from documents and questions to a proven choice, in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.renamed import renamed
from chunkwise.core import Document
from chunkwise.documents import Inputs, LoadOptions, WhenUnreadable, each_input
from chunkwise.evaluation.evaluate import TestQueries
from chunkwise.evaluation.left_out import LeftOut, OnBad
from chunkwise.evaluation.progress import Stages, unwatched
from chunkwise.models.embed.embedder import Embedder
from chunkwise.report.page import fragment
from chunkwise.report.tune_files import files_of, keep_plan, write_tuned
from chunkwise.report.views.tuning import tuning_view
from chunkwise.testsets.reading import hash_of
from chunkwise.testsets.testset import TestSet
from chunkwise.tuning.choose.recommend import chosen_configuration, recommendation_of
from chunkwise.tuning.plan.budget import parse_budget
from chunkwise.tuning.plan.default_sweep import default_retrieval, default_sweep
from chunkwise.tuning.plan.prepare import PreparedSweep, prepare_sweep
from chunkwise.tuning.plan.sweep_file import read_sweep
from chunkwise.tuning.recommendation import Recommendation
from chunkwise.tuning.sweep import Sweep
from chunkwise.tuning.sweep_result import SweepResult
from chunkwise.tuning.tune import OnOutcome, run_and_choose, sweep_record


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was found out, and what to do; a notebook draws it."""

    tuning: SweepResult
    recommendation: Recommendation | None
    """None: without questions nothing can be recommended."""

    def __str__(self) -> str:
        return self.tuning.sentence

    def _repr_html_(self) -> str:
        return fragment(tuning_view(self.tuning))


@renamed(documents="source")
def tune(
    source: Inputs,
    test_queries: TestQueries | None = None,
    *,
    objective: str | None = None,
    k: int | None = None,
    model: str | Embedder | None = None,
    time: str | None = None,
    exact: bool | None = None,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    options: LoadOptions | None = None,
    jobs: int = 1,
    on_unreadable: WhenUnreadable | None = None,
    on_bad: OnBad | None = None,
    on_outcome: OnOutcome | None = None,
    stages: Stages = unwatched,
) -> Tuned:
    """The chunking and the search that work for these documents, chosen on one part of the questions and judged on
    the other.

    `source` are files, folders or `Document`s, or a plan (`sweep.toml`); what is said beside a plan wins. An empty
    `model`: words alone. `time` is what may be spent, such as "10 min". In the folder `output` what is done is kept,
    so that the same call goes on where the last one was stopped, and the report and the recommendation are written.
    """
    plan = _plan(source)
    paths, given = ([], []) if plan else _parted(source)
    file, questions = _questions(test_queries)
    sweep = read_sweep(plan) if plan else default_sweep(paths, None, has_headings=True)
    embedder, name = (
        (None, model) if model is None or isinstance(model, str) else (model, model.identity)
    )
    sweep = changed(
        sweep, test_queries=file, objective=objective, k=k, seed=seed, exact=exact,
        model=name, seconds=time and seconds_of(time),
    )  # fmt: skip
    if questions is not None:
        sweep = replace(sweep, test_queries=None)
    left_out = LeftOut(on_bad, on_unreadable=on_unreadable)
    written = files_of(output) if output is not None else []
    prepared = prepare_sweep(
        sweep, left_out, embedder=embedder, documents=given, questions=questions, options=options,
        leave_out=[*written, *([Path(plan)] if plan else [])],
    )  # fmt: skip
    with TemporaryDirectory() as scratch:
        record = sweep_record(Path(scratch if output is None else output))
        if output is not None and not given and questions is None and embedder is None:
            keep_plan(prepared, Path(output))
        tuning = run_and_choose(
            prepared, record, left_out=left_out, embedder=embedder, jobs=jobs,
            on_outcome=on_outcome, stages=stages,
        )  # fmt: skip
    tuned = Tuned(tuning, recommended(tuning, prepared))
    if output is not None:
        write_tuned(tuning, prepared, Path(output), embedder=embedder)
    return tuned


def recommended(tuning: SweepResult, prepared: PreparedSweep) -> Recommendation | None:
    """The choice as settings."""
    chosen = chosen_configuration(tuning)
    return None if chosen is None else recommendation_of(chosen, prepared.sweep)


def changed(sweep: Sweep, *, model: str | None = None, **given: object) -> Sweep:
    """What is given wins over the plan; where the plan searches as usual, it does so with this model."""
    said = {name: value for name, value in given.items() if value is not None}
    if model is not None:
        said["model"] = model
        if sweep.retrieval in (default_retrieval(sweep.model), default_retrieval("")):
            said["retrieval"] = default_retrieval(model)
    return replace(sweep, **said)  # type: ignore[arg-type]


def seconds_of(time: str) -> float:
    """Of "10 min"; money is no time."""
    seconds = parse_budget(time).seconds
    if seconds is None:
        raise InvalidParameter(
            f"time is {time!r}; a time is needed: '90 s', '10 min', '1 h'. Money is for a plan: budget = \"5 USD\""
        )
    return seconds


def _plan(source: Inputs) -> str:
    """The path of a plan; empty: these are documents."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return path if path.lower().endswith(".toml") else ""
    return ""


def _parted(source: Inputs) -> tuple[list[str], list[Document]]:
    found: tuple[list[str], list[Document]] = [], []
    for one in each_input(source):
        if isinstance(one, Document):
            found[1].append(one)
        else:
            found[0].append(os.fspath(one))
    return found


def _questions(given: TestQueries | None) -> tuple[str | None, TestSet | None]:
    """The file of questions, or those that are there already."""
    if given is None:
        return None, None
    if isinstance(given, str | os.PathLike):
        return os.fspath(given), None
    if isinstance(given, TestSet):
        return None, given
    queries: Sequence[object] = tuple(given)
    return None, TestSet(tuple(queries), "", hash_of(tuple(queries)))  # type: ignore[arg-type]
