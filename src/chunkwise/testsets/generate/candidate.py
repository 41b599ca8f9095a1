"""A question on its way into the test set: where its quotes stand, why it is dropped, and what a run came to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, get_args

from chunkwise.base.wording import thousands
from chunkwise.chunkers.check_pieces import merged_spans
from chunkwise.core import Document, Fact, Passage, Query, Reference, Span
from chunkwise.testsets.generate.plan import QuestionType
from chunkwise.testsets.generate.source_passages import SourcePassage
from chunkwise.testsets.locate import (
    Located,
    Missing,
    SoughtPassage,
    elided_parts,
    locate,
    trimmed,
)
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.terms import text_terms


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """What was written about some passages: nothing of it is believed yet."""

    kind: QuestionType
    passages: tuple[SourcePassage, ...]
    question: str
    answer: str
    facts: tuple[str, ...]
    quotes: tuple[str, ...]

    @classmethod
    def of(
        cls, kind: QuestionType, passages: tuple[SourcePassage, ...], value: Mapping[str, Any]
    ) -> ProposedQuestion:
        """From a model's answer of the form asked for."""
        return cls(
            kind,
            passages,
            on_one_line(value["question"]),
            on_one_line(value["answer"]),
            tuple(dict.fromkeys(filter(None, map(on_one_line, value["facts"])))),
            tuple(quote for quote in dict.fromkeys(value["quotes"]) if quote.strip()),
        )

    @property
    def language(self) -> str:
        """What words are read in: that of the first document."""
        return self.passages[0].language


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft whose quotes stand in the documents."""

    draft: ProposedQuestion
    references: tuple[Reference, ...]
    evidence: tuple[str, ...]
    """The text of each reference."""

    @property
    def question(self) -> str:
        return self.draft.question

    @property
    def answer(self) -> str:
        return self.draft.answer

    @property
    def language(self) -> str:
        return self.draft.language

    @property
    def id(self) -> str:
        """The same in every run."""
        return question_id(self.question, [reference.places[0] for reference in self.references])

    def query(self, facts: Sequence[str], types: Sequence[str]) -> Query:
        return Query(
            self.id,
            self.question,
            self.references,
            self.answer,
            tuple(Fact(fact) for fact in facts),
            tuple(types),
        )


def question_id(question: str, places: Sequence[Passage]) -> str:
    """By what is asked and where the answer stands."""
    portion = repr((question, list(places))).encode("utf-8", "surrogatepass")
    return f"q-{blake2b(portion, digest_size=5).hexdigest()}"


def words_in(text: str, language: str) -> frozenset[int]:
    """The content terms of a text, each once."""
    return frozenset(text_terms(text, language).hash.tolist())


def on_one_line(text: str) -> str:
    """Without line breaks and characters that do more than show."""
    shown = (item if item.isprintable() else " " for item in text)
    return " ".join("".join(shown).split())


_FEW_CHARACTERS = 25
_FEW_WORDS = 4
"""A shorter quote is taken with its sentence: "12 people" stands anywhere."""
_SAYS_THE_SAME = 40
"""Characters from which the same text elsewhere is the same statement."""


def references_of(
    quotes: Sequence[str],
    passages: Sequence[SourcePassage],
    documents: Sequence[Document],
    about: str = "",
) -> tuple[Reference, ...] | None:
    """In the passages that were shown, in their order; None: a quote stands in none of them, or nobody can say where.

    `about` is question and answer: of several places a quote has, the one that speaks of them is meant.
    """
    result: list[_Place] = []
    for quote in quotes:
        places = _quoted(quote, passages, about)
        if not places:
            return None
        result += places
    references = []
    for passage in passages:
        spans = [place.span for place in result if place.passage is passage]
        for span in merged_spans(spans):
            references.append(reference_at(passage.document, span, documents))
    return tuple(references) or None


class _Place(NamedTuple):
    """Where a quote stands."""

    passage: SourcePassage
    span: Span
    """To the bounds of words; of a scrap its sentence."""
    around: Span
    """The sentence, or the sentences, that it is in."""

    def text(self, span: Span) -> str:
        return self.passage.document.text[span.start : span.end]


def _quoted(quote: str, passages: Sequence[SourcePassage], about: str) -> list[_Place]:
    """Of a quote, or of all its parts where something was left out between them."""
    if (whole := _meant(_places(quote, passages), about)) is not None:
        return [whole]
    parts = [_meant(_places(part, passages), about) for part in elided_parts(quote)]
    known = [place for place in parts if place is not None]
    return known if len(known) == len(parts) else []


def _places(quote: str, passages: Sequence[SourcePassage]) -> list[_Place]:
    text = quote.strip()
    if not any(map(str.isalnum, text)):
        return []
    places = []
    for passage in passages:
        shown = Document("passage", passage.text)
        outcome = locate([SoughtPassage(text)], [shown])[0]
        if not isinstance(outcome, Missing):
            places += [_placed(passage, shown, place) for place in outcome.places]
    return places


def _placed(passage: SourcePassage, shown: Document, place: Passage) -> _Place:
    text, start, end = shown.text, place.start, place.end
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    quote = text[start:end]
    bounds = [*Analyzed(shown).sentences.tolist(), len(text)]
    first = max(bound for bound in bounds if bound <= start)
    last = min(bound for bound in bounds if bound >= end)
    around = trimmed(text, first, last)
    is_scrap = len(quote) < _FEW_CHARACTERS or len(quote.split()) < _FEW_WORDS
    span = around if is_scrap else Span(start, end)
    begin = passage.start
    return _Place(
        passage,
        Span(begin + span.start, begin + span.end),
        Span(begin + around.start, begin + around.end),
    )


def _meant(places: Sequence[_Place], about: str) -> _Place | None:
    """The place whose sentence has most words of question and answer; None where several do and say not the same."""
    if len(places) < 2:
        return places[0] if places else None
    language = places[0].passage.language
    wanted = words_in(about, language)
    shared = [len(wanted & words_in(place.text(place.around), language)) for place in places]
    best = [place for place, count in zip(places, shared, strict=True) if count == max(shared)]
    # The same words prove the same, wherever they stand; scraps were widened and may not be the same.
    is_one_text = len({" ".join(place.text(place.span).split()) for place in best}) == 1
    return best[0] if is_one_text else None


def reference_at(document: Document, span: Span, documents: Sequence[Document]) -> Reference:
    """With the places that say the same, word by word."""
    passage = Passage(document.id, span.start, span.end)
    text = document.text[span.start : span.end]
    words = re.findall(r"\w+", text)
    if len(text) < _SAYS_THE_SAME or not words:
        return Reference(*passage)
    # Most documents are ruled out by one word, which takes no reading.
    longest = max(words, key=len)
    others = [item for item in documents if item is document or longest in item.text]
    at = next(number for number, item in enumerate(others) if item is document)
    outcome = locate([SoughtPassage(text, at)], others)[0]
    places = outcome.places if isinstance(outcome, Located) else ()
    return Reference(*passage, tuple(place for place in places if not passage.overlaps(place)))


Reason = Literal[
    "no answer",
    "no question",
    "quote not in the passage",
    "answer given away",
    "needs the passage",
    "answer not supported",
    "near-duplicate",
]

REASONS: tuple[Reason, ...] = get_args(Reason)

MEANING: dict[Reason, str] = {
    "no answer": "the model returned no readable answer",
    "no question": "too short, too long, no question mark, or markup",
    "quote not in the passage": "the evidence isn't in the passage",
    "answer given away": "the question contains the answer, or nearly all words of the quote",
    "needs the passage": "it refers to the text, or doesn't name its topic",
    "answer not supported": "the quotes don't support the answer",
    "near-duplicate": "nearly a duplicate",
}


class QuestionTally:
    """Counts while questions come in."""

    def __init__(self) -> None:
        self.dropped: Counter[Reason] = Counter()
        self.kept: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()
        """Why there is no answer, in the words of the model or the client."""
        self.unasked = 0
        """Of those without an answer, how many the limit of cost did not allow to ask."""
        self.asked_for: Counter[str] = Counter()
        """Questions by the kind that was wanted."""

    @property
    def all_dropped(self) -> Counter[Reason]:
        """Those without an answer among them; what nobody was asked is not dropped."""
        without: Reason = "no answer"
        return self.dropped + Counter({without: self.unanswered.total() - self.unasked})

    @property
    def note(self) -> str:
        return f"{thousands(self.kept.total())} kept, {thousands(self.all_dropped.total())} dropped"


Ending = Literal["enough", "rules", "cost", "passages", "calls", "silence"]
"""Why no more was asked: nothing is missing; rules find no more; the limit of cost, the passages or the calls are used
up; or too many requests in a row went unanswered."""


@dataclass(frozen=True, slots=True)
class GeneratedQuestions:
    """Generated questions, and why others were rejected."""

    queries: tuple[Query, ...]
    wanted: int
    found_before: int
    """Questions already in the file."""
    dropped: Mapping[str, int]
    """Number of dropped questions by reason."""
    unanswered: Mapping[str, int]
    """Number of failed requests by error message."""
    made_by: str
    """The model's identity, or "rules"."""
    ending: Ending = "enough"
    unasked: int = 0
    """Requests not sent because of the cost limit."""
    asked_for: Mapping[QuestionType, int] | None = None
    """Requested questions by type; None without a model."""

    @property
    def is_complete(self) -> bool:
        return len(self.queries) >= self.wanted

    @property
    def missing_kinds(self) -> dict[QuestionType, int]:
        """Types without a question, with the number of attempts."""
        texts = {name for query in self.queries for name in query.types}
        used_up = self.ending == "passages"
        return {
            kind: count
            for kind, count in (self.asked_for or {}).items()
            if kind not in texts and (count or used_up)
        }
