"""Of an answer's citations, those whose place supports what they are cited for."""

from __future__ import annotations

from chunkwise.core import Score
from chunkwise.evaluation.scores.llm.by_support import BySupport
from chunkwise.evaluation.scores.llm.material import Material, claims_of, share
from chunkwise.judges.llm.tasks import Task
from chunkwise.metrics.citations.each_answer import NO_CITATIONS
from chunkwise.metrics.claims.answers import NO_ANSWER, Answer, Citation


class CitationAccuracyByLlm(BySupport):
    """`citation_accuracy.llm`: a citation of no claim in particular is for any sentence of the answer."""

    def tasks(self, given: Material) -> list[Task]:
        # Claims that cite the same place are asked about together.
        claims: dict[str, dict[str, None]] = {}
        for citation in given.answer.citations if given.answer else ():
            for text in _places(given, citation):
                own = _claims(given.answer, citation)
                claims.setdefault(text, {}).update(dict.fromkeys(own))
        return [
            task
            for text, own in claims.items()
            for task in self._support.tasks(given.query.text, list(own), [text])
        ]

    def score(self, given: Material) -> Score:
        if given.answer is None or not given.answer.citations:
            return Score(None, NO_ANSWER if given.answer is None else NO_CITATIONS)
        return share([self._one(given, each) for each in given.answer.citations])

    def _one(self, given: Material, citation: Citation) -> Score:
        """One that leads nowhere supports nothing; nobody needs to be asked."""
        scores = [
            self._support.score(given.query.text, claim, [text])
            for text in _places(given, citation)
            for claim in _claims(given.answer, citation)
        ]
        if any(score.value == 1 for score in scores):
            return Score(1.0)
        return next((score for score in scores if score.value is None), Score(0.0))


def _places(given: Material, citation: Citation) -> list[str]:
    return list(dict.fromkeys(given.cited.text(place) for place in given.cited.places(citation)))


def _claims(answer: Answer | None, citation: Citation) -> list[str]:
    if citation.claim.strip():
        return [citation.claim.strip()]
    return claims_of(answer.text) if answer else []
