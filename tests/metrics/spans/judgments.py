"""Rankings and judgments in the forms of two evaluators: ours, and `ir_measures`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from chunkwise.metrics.spans import retrieval_metrics
from chunkwise.metrics.spans.ranking import JudgedRanking

MEASURES = {
    "P": retrieval_metrics.p,
    "R": retrieval_metrics.chunk_recall,
    "AP": retrieval_metrics.average_precision,
    "nDCG": retrieval_metrics.ndcg,
    "RR": retrieval_metrics.mrr,
}
"""Ours by their names there."""


class Judged(NamedTuple):
    """One question: whether each hit is relevant, best first, and how many relevant ones were not retrieved."""

    relevant: list[bool]
    elsewhere: int


def ours(questions: list[Judged], k: int) -> dict[str, list[float]]:
    first = np.cumsum([0, *(len(each.relevant) for each in questions)])
    relevant = np.array([yes for each in questions for yes in each.relevant], dtype=np.bool_)
    total = np.array([sum(each.relevant) + each.elsewhere for each in questions], dtype=np.int64)
    own = JudgedRanking(first, relevant, total)
    return {name: measure(own, k).tolist() for name, measure in MEASURES.items()}


def theirs(provider: Any, measure: Any, questions: list[Judged], depth: int) -> list[float]:
    """What a provider of `ir_measures` says of the first `depth` hits; rankings have no ties."""
    from ir_measures import Qrel, ScoredDoc

    qrels, run = [], []
    for q, (relevant, elsewhere) in enumerate(questions):
        # One irrelevant judgment: a question nothing is relevant to is still a question.
        judged = {"never": 0} | {f"elsewhere{n}": 1 for n in range(elsewhere)}
        judged |= {f"hit{n}": int(yes) for n, yes in enumerate(relevant)}
        qrels += [Qrel(f"q{q}", name, grade) for name, grade in judged.items()]
        run += [ScoredDoc(f"q{q}", f"hit{n}", -float(n)) for n in range(min(depth, len(relevant)))]
    told = {each.query_id: each.value for each in provider.iter_calc([measure], qrels, run)}
    return [float(told[f"q{q}"]) for q in range(len(questions))]
