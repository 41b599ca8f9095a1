"""Of the claims of an answer, those that the retrieved context supports."""

from __future__ import annotations

from chunkwise.core import Score
from chunkwise.evaluation.scores.llm.by_support import BySupport
from chunkwise.evaluation.scores.llm.material import Material, claims_of, share
from chunkwise.judges.llm.tasks import Task
from chunkwise.metrics.citations.claims import NO_CLAIMS
from chunkwise.metrics.claims.answers import NO_ANSWER, REFUSED


class FaithfulnessByLlm(BySupport):
    """`faithfulness.llm`."""

    def tasks(self, given: Material) -> list[Task]:
        if given.answer is None or given.answer.is_refusal:
            return []
        claims = claims_of(given.answer.text)
        return self._support.tasks(given.query.text, claims, given.context) if claims else []

    def score(self, given: Material) -> Score:
        if given.answer is None:
            return Score(None, NO_ANSWER)
        if given.answer.is_refusal:
            return Score(None, REFUSED)
        claims = claims_of(given.answer.text)
        if not claims:
            return Score(None, NO_CLAIMS)
        question, context = given.query.text, given.context
        return share([self._support.score(question, claim, context) for claim in claims])
