"""The files of a sweep: its plan before it runs, then the recommendation, the results and the report."""

from __future__ import annotations

import os
from pathlib import Path

from chunkwise.base.atomic import replacing, says_what_it_writes
from chunkwise.base.errors import ChunkwiseError
from chunkwise.chunkers.chunk import chunk_document
from chunkwise.core import Document
from chunkwise.documents.walk import SWEEP_FILES, SWEEP_RECORD
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.left_out import OnBad
from chunkwise.evaluation.results import QuestionResult, Results
from chunkwise.metrics.cuts.boundary_issues import QUESTION as OF_CUTS
from chunkwise.models.embed.embedder import Embedder
from chunkwise.report.page import write_page
from chunkwise.report.views.side_by_side import (
    ComparedDocument,
    ComparedQuestion,
    RetrievedSpan,
    SideBySide,
    SideResult,
)
from chunkwise.report.views.tuning import tuning_view
from chunkwise.tuning.choose.recommend import chosen_configuration, recommendation_of
from chunkwise.tuning.plan.prepare import PreparedSweep
from chunkwise.tuning.plan.sweep_file import sweep_text
from chunkwise.tuning.recommendation import snippets, write_recommendation
from chunkwise.tuning.run.record import sweep_fingerprint
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import SweepResult, write_sweep_result
from chunkwise.tuning.tune import sweep_record

PLAN, RECOMMENDATION, RESULTS, REPORT = SWEEP_FILES
_QUESTIONS = 200
_DOCUMENTS = 20


def files_of(folder: str | os.PathLike[str]) -> list[Path]:
    """What a sweep writes into a folder, which is no document of it."""
    return [Path(folder).resolve() / name for name in SWEEP_FILES]


def keep_plan(prepared: PreparedSweep, folder: Path) -> None:
    """What `--resume` goes on with; a folder that belongs to another sweep is refused, and stays as it is."""
    material = prepared.material
    expected = sweep_fingerprint(material.documents, material.questions.queries, prepared.sweep)
    sweep_record(folder).matches(expected)
    path = folder / PLAN
    with replacing(path) as temporary, says_what_it_writes(path):
        temporary.write_text(sweep_text(prepared.sweep, folder), encoding="utf-8")


def refuse_another(prepared: PreparedSweep, folder: Path) -> None:
    """The same, and nothing is written."""
    if (folder / SWEEP_RECORD).exists():
        material = prepared.material
        expected = sweep_fingerprint(material.documents, material.questions.queries, prepared.sweep)
        sweep_record(folder).matches(expected)


def write_tuned(
    tuning: SweepResult,
    prepared: PreparedSweep,
    folder: Path,
    *,
    embedder: Embedder | None = None,
    on_bad: OnBad | None = None,
) -> list[str]:
    """The names of the files; an older recommendation goes where there is none now."""
    written = [RESULTS, REPORT]
    chosen, code = chosen_configuration(tuning), None
    write_sweep_result(tuning, folder / RESULTS)
    if chosen is None:
        (folder / RECOMMENDATION).unlink(missing_ok=True)
    else:
        recommended = recommendation_of(chosen, prepared.sweep)
        write_recommendation(recommended, folder / RECOMMENDATION, tuning.sentence)
        named = prepared.sweep.documents or ("documents/",)
        code = snippets(recommended, named, str(folder / RECOMMENDATION))
        written.insert(0, RECOMMENDATION)
    try:
        sides = side_by_side(tuning, prepared, embedder)
    except (
        ChunkwiseError
    ) as error:  # a model that no longer answers: the rest of the report is as good
        if on_bad is not None:
            on_bad(f"the questions one by one are not in the report: {error}")
        sides = None
    write_page(tuning_view(tuning, side_by_side=sides, code=code), folder / REPORT)
    return written


def side_by_side(
    tuning: SweepResult, prepared: PreparedSweep, embedder: Embedder | None = None
) -> SideBySide | None:
    """The choice and the default it is held against, asked once more; None: one of them is missing."""
    sweep, documents = prepared.sweep, prepared.material.documents
    queries = prepared.material.questions.queries
    known = {each.configuration.key: each.configuration for each in tuning.outcomes}
    chosen = known.get(tuning.chosen)
    default = next((known[each.key] for each in tuning.against if each.key in known), None)
    if chosen is None or default is None:
        return None
    ours, theirs = (_evaluated(each, prepared, embedder) for each in (chosen, default))
    others = {question.id: question for question in theirs.questions}
    gold = {query.id: tuple(p for r in query.references for p in r.places) for query in queries}
    order = sorted(ours.questions, key=lambda each: _score(each, sweep.objective))[:_QUESTIONS]
    questions = tuple(
        ComparedQuestion(
            each.id, each.text, gold[each.id], _result(each, sweep.objective),
            _result(others[each.id], sweep.objective),
        )
        for each in order
    )  # fmt: skip
    cut = tuple(
        ComparedDocument(document.id, _cuts(document, chosen), _cuts(document, default))
        for document in documents[:_DOCUMENTS]
    )
    names = [(chosen.label, ours), (default.label, theirs)]
    return SideBySide(
        chosen.label, default.label, questions, {each.id: each.text for each in documents}, cut,
        {name: result.cuts for name, result in names if result.cuts is not None},
    )  # fmt: skip


def _evaluated(
    configuration: Configuration, prepared: PreparedSweep, embedder: Embedder | None
) -> Results:
    sweep, material = prepared.sweep, prepared.material
    settings = recommendation_of(configuration, sweep)
    return evaluate(
        material.documents, material.questions, strategy=settings.strategy, model=embedder or settings.model or None,
        vectors=configuration.vectors, context=configuration.context, retriever=settings.retriever,
        neighbours=settings.neighbours, k=settings.k, budget=settings.budget,
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
