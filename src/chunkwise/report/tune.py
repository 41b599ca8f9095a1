"""`chunkwise.tune`: from documents and questions to a proven choice, in one call."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkwise.base.deprecation import grouped, renamed, warn_renamed
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.parameters import takes
from chunkwise.base.wording import counted
from chunkwise.base.workers import Jobs
from chunkwise.chunkers.chunk import chunk_document
from chunkwise.core import Document
from chunkwise.documents import Inputs, LoadOptions, WhenUnreadable
from chunkwise.evaluation.evaluate import TestQueries, evaluate
from chunkwise.evaluation.live_answers import LiveOptions
from chunkwise.evaluation.options import Listeners
from chunkwise.evaluation.results import QuestionResult, Results
from chunkwise.evaluation.sources import Skipped, in_reading_order
from chunkwise.metrics.cuts.boundary_issues import QUESTION as OF_CUTS
from chunkwise.models.embed.embedder import Embedder
from chunkwise.records.json import json_text
from chunkwise.records.read import OnBadRow
from chunkwise.report.page import fragment, write_page
from chunkwise.report.views.side_by_side import (
    ComparedDocument,
    ComparedQuestion,
    RetrievedSpan,
    SideBySide,
    SideResult,
)
from chunkwise.report.views.tuning import tuning_view
from chunkwise.retrieval.indexes import index
from chunkwise.retrieval.retrievers import graph_for
from chunkwise.tuning.plan.prepare import PreparedSweep, sweep_from_source, sweep_of_pipeline
from chunkwise.tuning.recommendation import (
    Recommendation,
    recommendation_of,
    snippets,
    write_recommendation,
)
from chunkwise.tuning.run.sweep_folder import RECOMMENDATION, REPORT, RESULTS
from chunkwise.tuning.run_sweep import CompletedSweep, OnOutcome, RunOptions, run_sweep
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import SweepResult, write_sweep_result


@dataclass(frozen=True, slots=True, repr=False)
class TuneResult:
    """What was found out, and what to do; a notebook draws it."""

    sweep: SweepResult
    """Every configuration with its figures, the choice, and how sure it is."""
    recommendation: Recommendation | None
    """None: without questions nothing can be recommended."""

    @property
    def tuning(self) -> SweepResult:
        """The old name of `sweep`."""
        warn_renamed("TuneResult.tuning", "sweep")
        return self.sweep

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `sweep` as in the file `results.json` of a sweep."""
        recommended = self.recommendation
        return {
            "sentence": self.sweep.sentence,
            "recommendation": recommended and recommended.settings(),
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
        told = "no recommendation" if chosen is None else f"{chosen.strategy} · {chosen.retriever}"
        return f"<TuneResult {told}: {tried}>"

    def _repr_html_(self) -> str:
        return fragment(tuning_view(self.sweep))


_QUESTIONS = 200
_DOCUMENTS = 20


def write_tuned(
    completed: CompletedSweep,
    folder: Path,
    *,
    on_bad: OnBadRow | None = None,
    page: Path | None = None,
) -> list[str]:
    """The names of the files; an older recommendation goes where there is none now. `page` is the report once more."""
    written = [RESULTS, REPORT]
    tuning, sweep = completed.result, completed.prepared.sweep
    recommendation, code = completed.recommendation, None
    write_sweep_result(tuning, folder / RESULTS)
    if recommendation is None:
        (folder / RECOMMENDATION).unlink(missing_ok=True)
    else:
        write_recommendation(recommendation, folder / RECOMMENDATION, tuning.sentence)
        documents = sweep.documents or ("documents/",)
        code = (
            None
            if recommendation.is_pipeline
            else snippets(
                recommendation, documents, str(folder / RECOMMENDATION), reading=sweep.reading
            )
        )
        written.insert(0, RECOMMENDATION)
    try:
        sides = side_by_side(completed)
    except (
        ChunkwiseError
    ) as error:  # a model that no longer answers: the rest of the report is as good
        if on_bad is not None:
            on_bad(f"the questions one by one are not in the report: {error}")
        sides = None
    view = tuning_view(tuning, side_by_side=sides, code=code)
    write_page(view, folder / REPORT)
    if page is not None:
        write_page(view, page)
    return written


def side_by_side(completed: CompletedSweep) -> SideBySide | None:
    """The choice and the default it is compared with, evaluated once more; None: one of them is missing."""
    tuning, material = completed.result, completed.prepared.inputs
    objective, documents = completed.prepared.sweep.objective, material.documents
    known = {outcome.configuration.key: outcome.configuration for outcome in tuning.outcomes}
    chosen = known.get(tuning.chosen)
    default = next((known[other.key] for other in tuning.against if other.key in known), None)
    if chosen is None or default is None or completed.prepared.sweep.pipeline:
        return None  # a pipeline of the user's own is not asked again to be drawn
    ours, theirs = (_evaluated(side, completed) for side in (chosen, default))
    others = {question.id: question for question in theirs.questions}
    gold = {
        query.id: tuple(place for reference in query.references for place in reference.places)
        for query in material.questions.queries
    }
    order = sorted(ours.questions, key=lambda question: _score(question, objective))[:_QUESTIONS]
    questions = tuple(
        ComparedQuestion(
            question.id, question.text, gold[question.id], _result(question, objective),
            _result(others[question.id], objective),
        )
        for question in order
    )  # fmt: skip
    cut = tuple(
        ComparedDocument(document.id, _cuts(document, chosen), _cuts(document, default))
        for document in documents[:_DOCUMENTS]
    )
    names = [(chosen.label, ours), (default.label, theirs)]
    return SideBySide(
        chosen.label, default.label, questions, {document.id: document.text for document in documents}, cut,
        {name: result.cuts for name, result in names if result.cuts is not None},
    )  # fmt: skip


def _evaluated(configuration: Configuration, completed: CompletedSweep) -> Results:
    sweep, material = completed.prepared.sweep, completed.prepared.inputs
    settings = recommendation_of(configuration, sweep)
    # As the recommendation has it made: with names, and with token vectors, where it was measured by them.
    made = index(
        in_reading_order(material.documents), settings.strategy,
        embedder=(None if configuration.embedder else completed.embedder) or settings.embedder or None,
        vectors=configuration.vectors, context=configuration.context, tokenizer=settings.tokenizer,
        maxsim=settings.maxsim or None, graph=graph_for(settings.retriever),
    )  # fmt: skip
    return evaluate(
        made, material.questions, retriever=settings.retriever, neighbours=settings.neighbours,
        k=settings.k if settings.budget is None else None,
        budget=settings.budget, tokenizer=settings.tokenizer, reranker=settings.reranker or None,
        metrics=[sweep.objective, OF_CUTS.name],
    )  # fmt: skip


def _score(question: QuestionResult, objective: str) -> tuple[bool, float]:
    score = question.scores.get(objective)
    return score is None, score or 0.0


def _result(question: QuestionResult, objective: str) -> SideResult:
    hits = tuple(
        RetrievedSpan(hit.doc_id, hit.start, hit.end, hit.rank, hit.summary)
        for hit in question.hits
    )
    return SideResult(question.scores.get(objective), hits, question.missed)


def _cuts(document: Document, configuration: Configuration) -> tuple[tuple[int, int], ...]:
    if not configuration.strategy:
        return ()
    return tuple(
        (each.start, each.end) for each in chunk_document(document, configuration.strategy)
    )


@takes(options=LoadOptions, listeners=Listeners, live=LiveOptions)
@renamed(documents="source", test_queries="queries", model="embedder")
@grouped(listeners=(Listeners, ("stages",)))
def tune(
    source: Inputs,
    queries: TestQueries | None = None,
    *,
    objective: str | None = None,
    k: int | None = None,
    embedder: str | Embedder | None = None,
    embedders: Sequence[str] | None = None,
    rerankers: Sequence[str] | None = None,
    maxsim: str | None = None,
    tokenizer: str | None = None,
    time: str | float | None = None,
    exact: bool | None = None,
    prior: bool | None = None,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    options: LoadOptions | None = None,
    jobs: Jobs = 1,
    on_unreadable: WhenUnreadable = "warn",
    on_bad: OnBadRow | None = None,
    on_outcome: OnOutcome | None = None,
    listeners: Listeners = Listeners(),
    pipeline: str | None = None,
    live: LiveOptions = LiveOptions(),
) -> TuneResult:
    """The chunking and the search that work for these documents, chosen on the questions and judged on those of them
    that had no part in it: the test questions where the file names some, else by nested cross-validation.

    `source` are files, folders or `Document`s, or a plan (`sweep.toml`); what is said beside a plan wins. The
    `embedder` "none": words alone; other `embedders`, `rerankers` and the token vectors of `maxsim` are tried on the
    best. `tokenizer` counts budgets (recall@1000t): a name, a model's name or the path of a tokenizer.json. `time` is
    what may be spent, such as "10 min", or a number of seconds. `prior=False`: what parameters did on public question
    sets does not count. In the folder `output` what is done is kept, so that the same call goes on where the last one
    was stopped, and the report and the recommendation are written. `pipeline` is what builds one of your own,
    `./mine.py:build`: the parameters it declares are tried instead of chunkings and retrievers (docs/pipelines.md).
    """
    if pipeline is not None:
        for name, given in (
            ("embedder", embedder),
            ("embedders", embedders),
            ("rerankers", rerankers),
            ("maxsim", maxsim),
        ):
            if given:
                raise InvalidParameter(
                    f"{name} is {given!r}, and a pipeline of your own is tuned, which knows its models; leave it out"
                )
        sweep = sweep_of_pipeline(
            pipeline, source, queries, objective=objective, k=k, seed=seed, time=time, tokenizer=tokenizer,
            timeout=live.timeout,
        )  # fmt: skip
    else:
        sweep = sweep_from_source(
        source, queries, embedder=embedder, embedders=embedders, rerankers=rerankers, maxsim=maxsim,
        objective=objective, k=k, seed=seed, exact=exact,
        time=time, tokenizer=tokenizer, prior=prior,
    )  # fmt: skip

    def prepared_to_run(prepared: PreparedSweep) -> RunOptions:
        if listeners.on_documents is not None:
            listeners.on_documents(prepared.inputs.documents)
        return RunOptions(jobs, on_outcome, listeners.stages)

    completed = run_sweep(
        sweep, output, prepared_to_run, write_tuned,
        left_out=Skipped(on_bad, listeners.on_mended, on_unreadable, listeners.on_remark),
        options=options,
    )  # fmt: skip
    assert completed is not None  # only a dry run has no result
    return TuneResult(completed.result, completed.recommendation)
