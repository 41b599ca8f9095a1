"""`chunkwise.tune`, and a sweep from beginning to end: what is not known yet is run, then a choice is made."""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, cast

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.atomic_files import scratch_folder
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.progress import Stages, Stopwatch, unwatched
from chunkwise.base.repr_html import drawn
from chunkwise.base.runner import Jobs
from chunkwise.base.wording import counted
from chunkwise.documents import Inputs, LoadOptions, leaving_out, options_given
from chunkwise.documents.document_hash import documents_data
from chunkwise.evaluation.evaluate import TestQueries
from chunkwise.evaluation.results import Json, versions
from chunkwise.evaluation.scoring import Listeners
from chunkwise.evaluation.sources import Skipped
from chunkwise.models.embed.embedder import Embedder
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import LanguageModel
from chunkwise.options import LiveOptions, TuneOptions
from chunkwise.records.json import json_text
from chunkwise.records.tables import Table
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.testsets.testset import QuestionCounts
from chunkwise.tuning.choose.choose import choose
from chunkwise.tuning.plan.plan import Plan, variations
from chunkwise.tuning.plan.prepare import (
    PreparedSweep,
    SweepInputs,
    SweepSource,
    prepare_sweep,
    sweep_from_source,
    sweep_of_pipeline,
    with_generated_questions,
)
from chunkwise.tuning.plan.sweep_budget import sweep_embedder
from chunkwise.tuning.recommendation_file_and_code import (
    Recommendation,
    recommendation_of,
    snippets,
)
from chunkwise.tuning.run.methods_by_type import (
    kept_scores_by_type,
    methods_by_type,
    methods_to_compare,
)
from chunkwise.tuning.run.race import (
    Race,
    best_planned,
    race_against,
)
from chunkwise.tuning.run.run_pipeline import run_pipeline_plan
from chunkwise.tuning.run.shared_corpus import SharedCorpus
from chunkwise.tuning.run.sweep_folder import SweepFolder, SweepRecord
from chunkwise.tuning.run.sweep_workers import run_plan
from chunkwise.tuning.sweep import Configuration, Sweep
from chunkwise.tuning.sweep_result import Outcome, SweepResult

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
    options: LoadOptions = LoadOptions(),
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
    sweep = replace(source.sweep, reading=options_given(reading))
    drafts = folder.drafts if folder else None
    prepared = prepare_sweep(
        replace(source, sweep=sweep, drafts=drafts), left_out, leaving_out(reading, own_files)
    )
    if folder is not None:
        folder.refuse_another(prepared)
    running = on_prepared(prepared)
    if running is None or dry_run:
        return None
    prepared = with_generated_questions(prepared, drafts, left_out, running.stages)
    with nullcontext(folder) if folder else _scratch_folder() as kept:
        kept.begin(prepared)
        is_plain = source.is_resumable and not prepared.sweep.pipeline
        if folder is not None and is_plain and _can_be_written(prepared.sweep):
            folder.keep_plan(prepared)
        result = run_and_choose(prepared, kept.record, running, left_out)
    completed = CompletedSweep(prepared, result)
    if folder is not None:
        write(completed, folder.path)
    return completed


def _reading(sweep: Sweep, given: LoadOptions) -> LoadOptions:
    """As the plan says; what is said beside it wins."""
    said = options_given(given)
    kept: dict[str, Any] = {n: value for n, value in sweep.reading.items() if n not in said}
    return replace(given, **kept)


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
    running: RunOptions,
    left_out: Skipped,
) -> SweepResult:
    """Runs what the record does not know yet, and chooses; the same call goes on where the last one was stopped."""
    sweep, plan, inputs = prepared.sweep, prepared.plan, prepared.inputs
    documents, queries = inputs.documents, inputs.questions.queries
    client, stages = prepared.client, running.stages
    watch = Stopwatch()
    if client is not None:
        client.stop_after(prepared.ends - time.monotonic())
    model = sweep_embedder(sweep, prepared.embedder)
    best: list[Configuration] = []

    def left() -> float:
        """Seconds: the time is that of the whole, and what one stage took the others have not."""
        return max(0.0, prepared.ends - time.monotonic())

    def outcomes_of(
        some: Plan, race: Race | None = None, named: Embedder | LazyEmbedder | str | None = None
    ) -> list[Outcome]:
        return run_plan(
            some, documents, queries, sweep, record, embedder=named or model, stages=stages,
            on_outcome=running.on_outcome, jobs=running.jobs, deadline=left(), race=race, client=client,
        )  # fmt: skip

    if sweep.pipeline:
        with watch("sweep"), left_out.rows_of(sweep.pipeline) as bad:
            outcomes = run_pipeline_plan(
                plan, documents, queries, sweep, record, on_bad=bad, stages=stages,
                on_outcome=running.on_outcome, deadline=left(),
            )  # fmt: skip
    else:
        with watch("sweep"):
            outcomes = outcomes_of(plan)
        with watch("variations"):
            best = best_planned(outcomes, inputs.splits, sweep.objective)
            for name, every in variations(best, sweep).items():
                known = {outcome.configuration.key for outcome in outcomes}
                some = tuple(
                    configuration for configuration in every if configuration.key not in known
                )
                race = race_against(outcomes, inputs.splits, sweep.objective)
                other = replace(sweep, embedder=name)
                named = None if name == sweep.embedder else sweep_embedder(other) or name
                outcomes += outcomes_of(Plan(some), race, named)
    with watch("choose"):
        tuning = choose(
            outcomes, queries, inputs.splits, sweep, plan, documents, inputs.questions.origins
        )
    methods = kept_scores_by_type(tuning, queries)
    first = next((configuration for configuration in best if configuration.strategy), None)
    if client is not None and sweep.llm and first is not None and left():
        with watch("methods"):
            named = model or sweep.embedder
            lazy = named if isinstance(named, LazyEmbedder) else LazyEmbedder(named)
            corpus = SharedCorpus(
                documents,
                queries,
                lazy if named else None,
                tokenizer=sweep.tokenizer,
                client=client,
            )
            compared = methods_to_compare(first, outcomes, tuning.against)
            methods += tuple(methods_by_type(corpus, compared, client, sweep.k, stages))
    return replace(
        tuning,
        caveats=_caveats(tuning, inputs),
        versions=versions(),
        data=_data(inputs, left_out),
        timing=watch.seconds,
        methods=methods,
    )


def _caveats(tuning: SweepResult, inputs: SweepInputs) -> tuple[str, ...]:
    notes = QuestionCounts.of(inputs.questions.about(inputs.questions.queries)).note, inputs.note
    return (*filter(None, notes), *tuning.caveats)


def _data(inputs: SweepInputs, left_out: Skipped) -> dict[str, Json]:
    questions = inputs.questions
    return {
        "documents": {**documents_data(inputs.documents)},
        "questions": {**questions.about(questions.queries)},
        **left_out.to_json(),
    }


def _chosen(result: SweepResult) -> Configuration | None:
    """None: without questions nothing is chosen."""
    found = (outcome.configuration for outcome in result.outcomes)
    return next(
        (configuration for configuration in found if configuration.key == result.chosen), None
    )


@dataclass(frozen=True, slots=True, repr=False)
class TuneResult(Table):
    """A recommendation, and the scores of every configuration."""

    sweep: SweepResult
    """All configurations with scores, and the choice with its uncertainty."""
    recommendation: Recommendation | None
    """None without questions."""

    def code(self, use: str = "Python") -> str:
        """Code that uses the recommendation: "Python", "LangChain", "LlamaIndex" or "Command line"."""
        if self.recommendation is None or self.recommendation.is_pipeline:
            raise InvalidParameter("no code: the recommendation is your own pipeline")
        plan = cast(Mapping[str, Any], self.sweep.plan["sweep"])
        result = snippets(
            self.recommendation, plan["documents"] or ("documents/",), reading=plan["reading"]
        )
        if use not in result:
            raise InvalidParameter(f"use is {use!r}; allowed: {', '.join(result)}")
        return result[use]

    def rows(self) -> Iterator[dict[str, object]]:
        """List the configurations with the mean of their scores, their cost and why one failed."""
        for outcome in self.sweep.outcomes:
            scored = {
                name: [score for score in scores if score is not None]
                for name, scores in outcome.scores.items()
            }
            means = {name: fmean(scores) if scores else None for name, scores in scored.items()}
            yield {
                "configuration": outcome.configuration.label, **means, **outcome.cost, "error": outcome.error
            }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `sweep` as in the file `results.json` of a sweep."""
        recommended = self.recommendation
        return {
            "grade": self.sweep.grade,
            "sentence": self.sweep.sentence,
            "recommendation": recommended and recommended.changed(),
            "sweep": json.loads(json_text(self.sweep)),
        }

    def __str__(self) -> str:
        return self.sweep.sentence

    def __repr__(self) -> str:
        tried = (
            f"{counted(len(self.sweep.outcomes), 'configuration')}, "
            f"{counted(len(self.sweep.questions), 'question')}"
        )
        chosen = self.recommendation
        message = (
            "no recommendation" if chosen is None else f"{chosen.strategy} · {chosen.retriever}"
        )
        return f"<TuneResult {message}: {tried}>"

    def _repr_html_(self) -> str:
        return drawn(self)


_WRITTEN_BY = "chunkwise.report.sweep_files"


def _write_files(completed: CompletedSweep, folder: Path) -> object:
    """`report` is imported when a sweep is to be written, as it is when a notebook draws a value."""
    return importlib.import_module(_WRITTEN_BY).write_sweep_files(completed, folder)


def tune(
    source: Inputs,
    queries: TestQueries | None = None,
    *,
    objective: str | None = None,
    k: int | None = None,
    embedder: str | Embedder | None = None,
    embedders: Sequence[str] | None = None,
    rerankers: Sequence[str] | None = None,
    llm: str | LanguageModel | LlmClient | None = None,
    time: str | float | None = None,
    seed: int | None = None,
    pipeline: str | None = None,
    output: str | os.PathLike[str] | None = None,
    sweep: TuneOptions = TuneOptions(),
    live: LiveOptions = LiveOptions(),
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
    listeners: Listeners = Listeners(),
) -> TuneResult:
    """Recommend chunking and retrieval for documents.

    The choice is evaluated on held-out questions: the test split if there is one, else by nested cross-validation.

    Args:
        source: Files, folders, `Document`s, or a plan (`sweep.toml`); arguments override the plan.
        queries: Test questions: a file of any supported format, `Query` values or records [default: generated].
        objective: Metric to maximize, such as recall@1000t or ndcg@5.
        k: Hits per question.
        embedder: Embedding model: a name or an object; "none" for BM25 only.
        embedders: Embedding models to try on the best configurations.
        rerankers: Rerankers to try on the best configurations.
        llm: Language model for questions, chunk contexts and answers.
        time: Time limit: "10 min", or seconds.
        seed: Random seed of folds and confidence intervals.
        pipeline: Factory of your own pipeline, `./mine.py:build`, which declares the parameters to try.
        output: Folder for progress, report and recommendation; the same call resumes there.
        sweep: All other sweep options.
        live: How to call your own pipeline.
        options: How to read documents.
        jobs: Number of processes, or a `RayCluster`.
        listeners: Callbacks for progress and skipped input.

    Returns:
        All configurations with scores, and the recommendation.

    Raises:
        InvalidOption: An option is invalid or doesn't apply.
        ChunkwiseError: Nothing to tune, or an unreadable file.

    Example:
        >>> chunkwise.tune("docs/", "questions.json", time="10 min").recommendation
    """
    trust_caller(objective, embedder, embedders, rerankers, llm, sweep, options, pipeline)
    named = {
        "objective": objective, "k": k, "embedder": embedder, "embedders": embedders,
        "rerankers": rerankers, "llm": llm, "time": time, "seed": seed,
    }  # fmt: skip
    given = sweep.changed() | {name: value for name, value in named.items() if value is not None}
    if pipeline is None:
        prepared = sweep_from_source(source, queries, **given)
    else:
        prepared = sweep_of_pipeline(pipeline, source, queries, live.timeout, **given)

    def prepared_to_run(prepared: PreparedSweep) -> RunOptions:
        if listeners.on_documents is not None:
            listeners.on_documents(prepared.inputs.documents)
        return RunOptions(jobs, listeners.on_outcome, listeners.stages)

    completed = run_sweep(
        prepared, output, prepared_to_run, _write_files, left_out=Skipped(
            listeners.on_bad, listeners.on_note, options.on_unreadable
        ),
        options=options,
    )  # fmt: skip
    assert completed is not None  # only a dry run has no result
    return TuneResult(completed.result, completed.recommendation)
