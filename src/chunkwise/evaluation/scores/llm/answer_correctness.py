"""F1 of what an answer says and what the reference answer says, claim by claim."""

from __future__ import annotations

from chunkwise.core import Score
from chunkwise.evaluation.scores.llm.by_support import BySupport
from chunkwise.evaluation.scores.llm.material import Material, claims_of, share
from chunkwise.judges.llm.tasks import Task
from chunkwise.metrics.claims.answer_correctness import f1, why_unscored


class AnswerCorrectnessByLlm(BySupport):
    """`answer_correctness.llm`."""

    def tasks(self, given: Material) -> list[Task]:
        return [
            task
            for claims, text in _both_ways(given)
            for task in self._support.tasks(given.query.text, claims, [text])
        ]

    def score(self, given: Material) -> Score:
        if why := why_unscored(given.query, given.answer):
            return Score(None, why)
        shares = [
            share([self._support.score(given.query.text, claim, [text]) for claim in claims])
            for claims, text in _both_ways(given)
        ]
        if not shares:
            return Score(0.0)  # an empty answer says nothing of what it should
        precision, recall = shares
        if precision.value is None or recall.value is None:
            return precision if precision.value is None else recall
        return Score(f1(precision.value, recall.value))


def _both_ways(given: Material) -> list[tuple[list[str], str]]:
    """The claims of the answer with the reference answer, and the other way round; none where one is missing."""
    answer, reference = given.answer, given.query.answer
    if why_unscored(given.query, answer) or answer is None or reference is None:
        return []
    if not answer.text.strip():
        return []
    return [(claims_of(answer.text), reference), (claims_of(reference), answer.text)]
