"""The choice and the default it is held against, asked once more: what the report shows of questions and cuts."""

from __future__ import annotations

from chunkwise.chunkers.chunk import chunk_document
from chunkwise.core import Document
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.results import QuestionResult, Results
from chunkwise.models.embed.embedder import Embedder
from chunkwise.report.tuning.explorer import (
    Answered,
    CutDocument,
    ExploredQuestion,
    Explorer,
    Retrieved,
)
from chunkwise.tuning.choose.recommend import recommendation_of
from chunkwise.tuning.plan.prepare import PreparedSweep
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import SweepResult

_QUESTIONS = 200
_DOCUMENTS = 20


def explorer(
    tuning: SweepResult, prepared: PreparedSweep, embedder: Embedder | None = None
) -> Explorer | None:
    """None: nothing was chosen, or there is no default to hold it against."""
    sweep, documents = prepared.sweep, prepared.material.documents
    queries = prepared.material.questions.queries
    known = {each.configuration.key: each.configuration for each in tuning.outcomes}
    chosen = known.get(tuning.chosen)
    default = next((known[each.key] for each in tuning.against if each.key in known), None)
    if chosen is None or default is None:
        return None
    ours, theirs = (_asked(each, prepared, embedder) for each in (chosen, default))
    others = {question.id: question for question in theirs.questions}
    gold = {query.id: tuple(p for r in query.references for p in r.places) for query in queries}
    order = sorted(ours.questions, key=lambda each: _score(each, sweep.objective))[:_QUESTIONS]
    questions = tuple(
        ExploredQuestion(
            each.id, each.text, gold[each.id], _answered(each, sweep.objective),
            _answered(others[each.id], sweep.objective),
        )
        for each in order
    )  # fmt: skip
    cut = tuple(
        CutDocument(document.id, _cuts(document, chosen), _cuts(document, default))
        for document in documents[:_DOCUMENTS]
    )
    names = [(chosen.label, ours), (default.label, theirs)]
    return Explorer(
        chosen.label, default.label, questions, {each.id: each.text for each in documents}, cut,
        {name: result.cuts for name, result in names if result.cuts is not None},
    )  # fmt: skip


def _asked(
    configuration: Configuration, prepared: PreparedSweep, embedder: Embedder | None
) -> Results:
    sweep, material = prepared.sweep, prepared.material
    asked = recommendation_of(configuration, sweep)
    return evaluate(
        material.documents, material.questions, strategy=asked.strategy, model=embedder or asked.model or None,
        vectors=configuration.vectors, context=configuration.context, retriever=asked.retriever,
        neighbours=asked.neighbours, k=asked.k, budget=asked.budget,
        metrics=[sweep.objective, "boundary_issues"],
    )  # fmt: skip


def _score(question: QuestionResult, objective: str) -> tuple[bool, float]:
    score = question.scores.get(objective)
    return score is None, score or 0.0


def _answered(question: QuestionResult, objective: str) -> Answered:
    hits = tuple(
        Retrieved(hit.doc_id, hit.start, hit.end, hit.rank, hit.summary) for hit in question.hits
    )
    return Answered(question.scores.get(objective), hits, question.missed)


def _cuts(document: Document, configuration: Configuration) -> tuple[tuple[int, int], ...]:
    if not configuration.strategy:
        return ()
    return tuple(
        (each.start, each.end) for each in chunk_document(document, configuration.strategy)
    )
