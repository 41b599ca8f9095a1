"""What a metric of answers looks at: a question, its hits, the answer and what it cites; whom it asks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chunkwise.core import Document, Hit, Passage, Query, Score, Span
from chunkwise.metrics.claims.hit_texts import joined
from chunkwise.metrics.claims.text_normalization import Readable, sentences
from chunkwise.metrics.evidence import Answer, AnswerCitation
from chunkwise.metrics.judges.llm_answer_judgments import Judgment
from chunkwise.metrics.judges.llm_judge import JudgeModel, JudgeTask
from chunkwise.metrics.metric import Metric
from chunkwise.text.find_passages import occurrences

NO_ANSWER = "no answer"
REFUSED = "the answer is that the documents don't contain it"


_WORD = re.compile(r"[^\W_]+")


class CitedTexts:
    """Documents with the places that citations lead to, each found and read once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._quoted: dict[tuple[str, str], list[Passage]] = {}
        self._read: dict[str, Readable] = {}
        self._sentences: dict[str, list[int]] = {}

    def places(self, citation: AnswerCitation) -> list[Passage]:
        """Where it points: its offsets, or the sentence at a start alone; else everywhere its quote stands; else the
        whole document; none: nowhere."""
        doc_id = citation.doc_id
        text = self._texts.get(doc_id)
        if text is None:
            return []
        start, end = citation.start, citation.end
        if start is not None:
            if end is None and citation.quote:
                end = start + len(citation.quote)
            elif end is None and 0 <= start < len(text):
                start, end = self._sentence_at(doc_id, start)
            end = start if end is None else end
            return [Passage(doc_id, start, end)] if 0 <= start < end <= len(text) else []
        if citation.quote:
            key = doc_id, citation.quote
            if key not in self._quoted:
                spans = quoted_at(citation.quote, text)
                self._quoted[key] = [Passage(doc_id, *span) for span in spans]
            return self._quoted[key]
        return [Passage(doc_id, 0, len(text))] if text else []

    def _sentence_at(self, doc_id: str, at: int) -> Span:
        if doc_id not in self._sentences:
            self._sentences[doc_id] = Readable(self._texts[doc_id]).sentence_starts
        starts = self._sentences[doc_id]
        number = bisect_right(starts, at) - 1
        end = starts[number + 1] if number + 1 < len(starts) else len(self._texts[doc_id])
        return Span(starts[number] if number >= 0 else 0, end)

    def text(self, place: Passage) -> str:
        """What stands there."""
        return self._texts[place.doc_id][place.start : place.end]

    def readable(self, citation: AnswerCitation) -> list[Readable]:
        """What stands where it points, each text once."""
        return [
            self._reading(text) for text in {self.text(place) for place in self.places(citation)}
        ]

    def _reading(self, text: str) -> Readable:
        if text not in self._read:
            self._read[text] = Readable(text)
        return self._read[text]


def _occurrences(quote: str, text: str) -> list[re.Match[str]]:
    """Case, white space and punctuation do not count; a quote that begins or ends inside a word is sought by letter."""
    words = _WORD.findall(quote)
    tolerant = r"(?<![^\W_])" + r"[\W_]+".join(words) + r"(?![^\W_])"
    # Nearly every text lacks a word of the quote, which is soon seen.
    may_stand = words and max(words, key=len).casefold() in text.casefold()
    matches = list(re.finditer(tolerant, text, re.IGNORECASE)) if may_stand else []
    return matches or list(re.finditer(re.escape(quote), text))


def stands_in(quote: str, text: str) -> bool:
    """Whether a quote is found in a text; Markdown's links are not looked through."""
    return bool(_occurrences(quote, text))


def quoted_at(quote: str, text: str) -> list[Span]:
    """Where a quote stands in a text; where it does not, where it does but for Markdown's marks."""
    spans = [Span(*match.span()) for match in _occurrences(quote, text)]
    if spans or not any(map(str.isalnum, quote)):
        return spans
    return [
        Span(start, end)
        for occurrence in occurrences([quote], [Document("text", text)], "marks")
        for start, end in zip(occurrence.start.tolist(), occurrence.end.tolist(), strict=True)
    ]


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
        if uncited:
            return score(query, answer)
        if why := answer.why_uncited:
            return Score(None, why)
        return score(query, answer.scored)

    return [one(query) for query in queries]


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
        hits = [hit for hit in self.hits if not hit.level]
        places = sorted((document.id, span) for document, span in joined(hits))
        texts = {hit.doc_id: hit.document.text for hit in hits}
        result = [texts[id][span.start : span.end] for id, span in places]
        return [*result, *sorted(hit.text for hit in self.hits if hit.level)]

    @property
    def expected(self) -> str:
        """The reference answer; without one, the text of the references. Empty: neither is there."""
        if self.query.answer and self.query.answer.strip():
            return self.query.answer
        places = (
            reference for reference in self.query.references if reference.doc_id in self.texts
        )
        return "\n".join(self.texts[place.doc_id][place.start : place.end] for place in places)


def claims_of(text: str) -> list[str]:
    """Its sentences that say something; where none has a word to seek ("Yes."), the text as it is."""
    result = list(dict.fromkeys(sentence.text for sentence in sentences(text)))
    return result or ([text.strip()] if text.strip() else [])


def share(scores: Sequence[Score]) -> Score:
    """The mean; one verdict that is missing leaves no figure."""
    values = [score.value for score in scores if score.value is not None]
    if len(values) < len(scores):
        return next(score for score in scores if score.value is None)
    return Score(sum(values) / len(values))


Asked = Sequence[tuple[Sequence[str], Sequence[str]]]
"""Claims with the texts they are compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmMetric(Metric):
    """A metric for which a language model is asked: what, is planned for all questions before anything is sent."""

    judgment: Callable[[JudgeModel], Judgment]
    ask: Callable[[QuestionEvidence], Asked | str]
    """What a question needs judged; a text says why it has no score."""
    combine: Callable[[Sequence[Score]], Score] = share
    """The score of the question from those of each of its claims and texts."""
    asks: str = "llm"

    def plan_tasks(self, judgment: Judgment, given: QuestionEvidence) -> list[JudgeTask]:
        """Plan the requests for a question."""
        asked = self.ask(given)
        return [
            task
            for claims, texts in (() if isinstance(asked, str) else asked)
            for task in judgment.tasks(given.query.text, claims, texts)
        ]

    def score_question(self, judgment: Judgment, given: QuestionEvidence) -> Score:
        """Score a question from the verdicts so far."""
        asked = self.ask(given)
        if isinstance(asked, str):
            return Score(None, asked)
        return self.combine(
            [
                share([judgment.score(given.query.text, claim, texts) for claim in claims])
                for claims, texts in asked
            ]
        )
