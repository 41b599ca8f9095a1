"""One question with all that a language model is shown of it, and what a metric does that asks one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from chunkwise.core import Hit, Query, Score
from chunkwise.metrics.answers.answer import Answer, CitedTexts
from chunkwise.metrics.claims.hit_texts import joined
from chunkwise.metrics.claims.readable import sentences
from chunkwise.metrics.judges.llm_judge import Support
from chunkwise.metrics.judges.llm_model import JudgeModel, JudgeTask


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """A question, what was found for it and what somebody answered."""

    query: Query
    hits: Sequence[Hit]
    answer: Answer | None
    texts: Mapping[str, str]
    """Of the documents, by id."""
    cited: CitedTexts

    @property
    def passages(self) -> list[str]:
        return [hit.text for hit in self.hits]

    @property
    def context(self) -> list[str]:
        """The hits as one reads them: what touches or overlaps is one text, whatever the ranks; then summaries."""
        own = [hit for hit in self.hits if not hit.level]
        places = sorted((document.id, span) for document, span in joined(own))
        texts = {hit.doc_id: hit.document.text for hit in own}
        found = [texts[id][span.start : span.end] for id, span in places]
        return [*found, *sorted(hit.text for hit in self.hits if hit.level)]

    @property
    def expected(self) -> str:
        """The reference answer; without one, the text of the references. Empty: neither is there."""
        if self.query.answer and self.query.answer.strip():
            return self.query.answer
        places = (each for each in self.query.references if each.doc_id in self.texts)
        return "\n".join(self.texts[each.doc_id][each.start : each.end] for each in places)


class AsksLlm(Protocol):
    """Plans what is to be asked about a question, and makes a score of what was said."""

    @property
    def versions(self) -> tuple[str, ...]:
        """Of the prompts."""

    def tasks(self, given: QuestionEvidence) -> list[JudgeTask]: ...

    def score(self, given: QuestionEvidence) -> Score:
        """From what is known by now; without a verdict, why."""


def claims_of(text: str) -> list[str]:
    """Its sentences that say something; where none has a word to seek ("Yes."), the text as it is."""
    found = list(dict.fromkeys(each.text for each in sentences(text)))
    return found or ([text.strip()] if text.strip() else [])


def share(scores: Sequence[Score]) -> Score:
    """The mean; one verdict that is missing leaves no figure."""
    values = [score.value for score in scores if score.value is not None]
    if len(values) < len(scores):
        return next(score for score in scores if score.value is None)
    return Score(sum(values) / len(values))


class BySupport:
    """Who is asked, and by which wording; what is asked about, the metric says."""

    def __init__(self, model: JudgeModel) -> None:
        self._support = Support(model)

    @property
    def versions(self) -> tuple[str, ...]:
        return (self._support.prompt.version,)
