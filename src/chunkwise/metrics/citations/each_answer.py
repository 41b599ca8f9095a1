"""Scores of answers with citations: what is missing is a reason, not a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chunkwise.core import Query, Score
from chunkwise.metrics.claims.answers import NO_ANSWER, REFUSED, Answer

NO_CITATIONS = "no citations"


def each_answer(
    queries: Sequence[Query],
    answers: Mapping[str, Answer],
    score: Callable[[Query, Answer], Score],
    *,
    uncited: bool = False,
) -> list[Score]:
    """The score of every question's answer; `uncited`: also of answers that cite nothing."""

    def one(query: Query) -> Score:
        answer = answers.get(query.id)
        if answer is None:
            return Score(None, NO_ANSWER)
        if answer.is_refusal:
            return Score(None, REFUSED)
        if not answer.citations and not uncited:
            return Score(None, NO_CITATIONS)
        return score(query, answer)

    return [one(query) for query in queries]
