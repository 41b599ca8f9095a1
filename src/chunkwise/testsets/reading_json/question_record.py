"""One record of a file as a question, under the names people give its fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from chunkwise.core import Label, Passage, Query, Reference
from chunkwise.documents.fields import listed
from chunkwise.testsets.reading_json.record_values import (
    QUOTED,
    RELEVANT,
    Record,
    Wrong,
    as_list,
    fact_of,
    id_of,
    known_place,
    place_of,
    relevance_of,
    shown,
    text_of,
    whole_characters,
)
from chunkwise.testsets.testset import Draft, LabelledQuote, Quote, Spot, Unreadable

ID = ("query_id", "id", "_id", "qid", "question_id")
TEXT = ("query", "question", "user_input", "text")
_REFERENCES = ("references", "reference_spans", "relevant_spans", "spans", "evidence", "snippets")
_QUOTES = (
    "relevant_text", "relevant_texts", "relevant_passage", "relevant_passages", "relevant",
    "passage", "passages", "quote", "quotes", "reference_text", "reference_texts",
)  # fmt: skip
_CONTEXTS = ("reference_contexts", "reference_context", "context")
"""Passages, too, as other tools call them; only texts are taken, and only where none of ours is there."""
_ANSWER = (
    "expected_answer", "reference_answer", "ground_truth", "gold_answer", "gt_answer", "answer",
    "answers", "ground_truths",
)  # fmt: skip
_FACTS = ("facts", "expected", "expected_facts", "expected_entities", "entities", "key_facts")
TYPES = ("types", "type", "tags", "tag", "question_type", "query_type", "category", "categories")
_LABELS = ("labels", "ratings", "judgements", "judgments")

OWN_FIELDS = frozenset((*_REFERENCES, *_QUOTES, *_FACTS, *_LABELS)) - {"snippets"}
"""A record with one of these is ours, whatever else it has; LegalBench-RAG has snippets."""


def draft_of(
    value: object, number: int, where: str, *, question_alone: bool = False
) -> Draft | Unreadable:
    """The question of an entry; `number` is its id where it has none.

    `question_alone` looks at nothing but its text and id, so that nothing else can be wrong.
    """
    try:
        if isinstance(value, str):
            return Draft(where, Query(str(number), whole_characters(value)))
        if not isinstance(value, dict):
            raise Wrong("neither a question nor a record with one")
        record = _Question(value)
        question = record.question(number)
        return Draft(where, question) if question_alone else record.draft(question, where)
    except Wrong as error:
        return Unreadable(where, str(error))


class _Question(Record):
    """A record that holds a question."""

    def question(self, number: int) -> Query:
        text = self.get(TEXT)
        if not isinstance(text, str):
            raise Wrong(
                f"no text of a question among {listed(self.values)}; name it {', '.join(TEXT)}"
            )
        return Query(id_of(self.get(ID), number), text_of(text, "question"))

    def draft(self, question: Query, where: str) -> Draft:
        references, texts, quotes, spots = self._references()
        labels, label_texts, labelled, label_spots = self._labels()
        query = replace(
            question,
            references=tuple(reference for reference, _ in references),
            answer=self._answer(),
            facts=tuple(fact_of(each) for each in as_list(self.get(_FACTS))),
            types=self._types(),
            labels=labels,
            split=text_of(self.get(("split",)) or "", "split"),
        )
        self.get(("generated",)), self.get(("review",))  # who made it, and what a person said of it
        alternative_texts = tuple(said for _, said in references)
        return Draft(
            where, query, tuple(quotes),
            tuple(texts) if any(texts) else (),
            alternative_texts if any(map(any, alternative_texts)) else (),
            labelled,
            label_texts if any(label_texts) else (),
            spots,
            label_spots,
            unread=self.unread(),
        )  # fmt: skip

    def _references(
        self,
    ) -> tuple[list[tuple[Reference, tuple[str, ...]]], list[str], list[Quote], tuple[Spot, ...]]:
        """References with what is said of their alternatives, what is said of them, quotes, where they stand."""
        found: list[tuple[Reference, tuple[str, ...]]] = []
        texts: list[str] = []
        quotes = []
        spots, quote_spots = [], []
        default = self.document()
        listed_ones = as_list(self._given_references())
        for number, value in enumerate(listed_ones, 1):
            spot = Spot(number, f"reference {number}")
            place, text = place_of(value, spot.name, default)
            if place is None:
                quotes.append(text)
                quote_spots.append(spot)
                continue
            spots.append(spot)
            more = list(self._alternatives(value, number, place.doc_id))
            passages = tuple(passage for passage, _ in more)
            found.append((Reference(*place, passages), tuple(said.text for _, said in more)))
            texts.append(text.text)
        for number, value in enumerate(self._quotes(), 1):
            spot = Spot(len(listed_ones) + number, f"passage {number}")
            place, text = place_of(value, spot.name, default)
            if place is not None:
                found.append((Reference(*place), ()))
                texts.append(text.text)
                spots.append(spot)
            else:
                quotes.append(text)
                quote_spots.append(spot)
        self._add_elsewhere(found, default)
        return found, texts, quotes, _unusual((*spots, *quote_spots), len(spots))

    def _given_references(self) -> object:
        given = self.get(_REFERENCES)
        if given is None and isinstance(self.values.get("reference"), dict | list):
            return self.get(("reference",))
        return given

    def _quotes(self) -> list[object]:
        given = self.get(_QUOTES)
        if given is not None:
            return as_list(given)
        # Beside an answer, contexts are what a system was given; a context alone is a passage.
        for name in (*_CONTEXTS, *(() if "answer" in self.values else ("contexts",))):
            values = as_list(self.values.get(name))
            if values and all(isinstance(each, str) for each in values):
                return as_list(self.get((name,)))
        return []

    def _alternatives(
        self, value: object, number: int, default: str
    ) -> Iterator[tuple[Passage, Quote]]:
        given = Record(value).get(("alternatives",)) if isinstance(value, dict) else None
        for at, each in enumerate(as_list(given), 1):
            yield known_place(each, f"reference {number}, alternative {at}", default)

    def _add_elsewhere(self, found: list[tuple[Reference, tuple[str, ...]]], default: str) -> None:
        """Answers of other people, and the same text elsewhere, beside the reference they belong to."""
        more: list[tuple[int, object, str]] = []
        if len(found) == 1:  # of several it is not said which one they stand for
            others = as_list(self.get(("alt_references",)))
            more += [(0, each, f"alt_references {at}") for at, each in enumerate(others, 1)]
        for at, each in enumerate(as_list(self.get(("same_text_elsewhere",))), 1):
            of = Record(each).get(("of",)) if isinstance(each, dict) else None
            if isinstance(of, bool) or not isinstance(of, int) or not 0 <= of < len(found):
                raise Wrong(
                    f"same_text_elsewhere {at}: `of` is {shown(of)}; the position of a reference, from 0"
                )
            more.append((of, each, f"same_text_elsewhere {at}"))
        for of, each, what in more:
            reference, said = found[of]
            place, quote = known_place(each, what, default)
            if place not in reference.places:
                alternatives = (*reference.alternatives, place)
                reference = Reference(
                    reference.doc_id, reference.start, reference.end, alternatives
                )
                found[of] = reference, (*said, quote.text)

    def _labels(
        self,
    ) -> tuple[tuple[Label, ...], tuple[str, ...], tuple[LabelledQuote, ...], tuple[Spot, ...]]:
        """Labels with a place, what is said to stand there, those to be found by their text, where all stand."""
        labels, texts, quotes = [], [], []
        spots, quote_spots = [], []
        default = self.document()
        for number, value in enumerate(as_list(self.get(_LABELS)), 1):
            what = f"label {number}"
            if not isinstance(value, dict):
                raise Wrong(f"{what} is {shown(value)}; a record with doc_id, start, end, relevant")
            relevant = relevance_of(Record(value).get(RELEVANT), what)
            place, quote = place_of(value, what, default)
            if place is None:
                quotes.append(LabelledQuote(quote, relevant))
                quote_spots.append(Spot(number, what))
            else:
                labels.append(Label(*place, relevant))
                texts.append(quote.text)
                spots.append(Spot(number, what))
        mixed = (*spots, *quote_spots) if spots and quotes else ()
        return tuple(labels), tuple(texts), tuple(quotes), mixed

    def _answer(self) -> str | None:
        value = self.get(_ANSWER)
        if value is None and "user_input" in self.values:
            value = self.get(("reference",))  # as Ragas calls it
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, dict):
            value = Record(value).get(QUOTED)
        return None if value is None or value == "" else text_of(value, "answer")

    def _types(self) -> tuple[str, ...]:
        types = [text_of(each, "type") for each in as_list(self.get(TYPES))]
        impossible = self.get(("is_impossible", "unanswerable")) is True
        if impossible or self.get(("answerable", "is_answerable")) is False:
            types.append("unanswerable")
        return tuple(dict.fromkeys(each for each in types if each))


def _unusual(spots: tuple[Spot, ...], places: int) -> tuple[Spot, ...]:
    """The spots, unless they are what would be said of so many references with quotes behind them."""
    usual = (
        *(f"reference {number + 1}" for number in range(places)),
        *(f"passage {number + 1}" for number in range(len(spots) - places)),
    )
    in_order = all(one.position < other.position for one, other in pairwise(spots))
    return () if in_order and tuple(each.name for each in spots) == usual else spots
