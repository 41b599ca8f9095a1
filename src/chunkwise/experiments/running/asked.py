"""Scores by way of hits, as an evaluation makes them: for whatever is more than a ranking of chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chunkwise.evaluation.measuring import Measuring
from chunkwise.evaluation.scores.scoring import Scoring
from chunkwise.evaluation.subjects.asking import Asking, Hits
from chunkwise.evaluation.subjects.index_subject import Searching, index_subject, usual_budget
from chunkwise.evaluation.subjects.subject import Subject
from chunkwise.experiments.running.shared_index import SharedIndex
from chunkwise.experiments.running.workshop import Workshop
from chunkwise.metrics.measures import Wanted
from chunkwise.metrics.spans.span_measures import Scores
from chunkwise.retrieval.indexes import Index

Asked = tuple[dict[str, Scores], list[int]]
"""Scores by label, and the tokens each question's reader reads: k hits, or the objective's budget at most."""


def asked(
    workshop: Workshop,
    index: SharedIndex,
    retriever: str,
    neighbours: int,
    wanted: Sequence[Wanted],
    k: int,
) -> Asked:
    """The figures of an evaluation of this index; the objective is the first of `wanted`."""
    searching = Searching(retriever, neighbours)
    usual = usual_budget(searching, None)
    subject = index_subject(Index(index, workshop.model), searching, usual)
    if not index.settings.strategy:
        subject = replace(subject, chunking=None)  # no hit can be held against chunks
    shown = Asking(subject, workshop.queries, k, usual)
    together = [each for each in wanted if usual is None or not each.tokens]
    scores = _scored(subject, shown, together, k, usual)
    objective, within = wanted[0], shown
    if usual is not None:
        # What fills a budget is found by another search for every budget.
        for each in wanted:
            if each.tokens:
                other = Asking(subject, workshop.queries, k, each.at)
                asking = shown if each.at == usual else other
                scores |= _scored(subject, asking, [each], k, each.at)
                within = asking if each == objective else within
    if not objective.tokens:
        return scores, _tokens(shown.shown)
    return scores, [min(each, objective.at) for each in _tokens(within.filling(objective.at))]


def _tokens(hits: Hits) -> list[int]:
    return [sum(hit.token_count for hit in own) for own in hits]


def _scored(
    subject: Subject, asking: Asking, wanted: Sequence[Wanted], k: int, budget: int | None
) -> dict[str, Scores]:
    measuring = Measuring(tuple(each.label for each in wanted), k, budget)
    columns = Scoring(subject, asking.queries, asking, measuring, {}, {}).columns()
    return {name: np.asarray(column.values) for name, column in columns.items()}
