"""What may be wrong with a question, or only worth a look, and what a test set is checked for."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import regex

from chunkwise.base.wording import counted, from_to
from chunkwise.core import Document, Passage, Query, Reference
from chunkwise.testsets.locate import MANY_PLACES, Located, SoughtPassage, locate
from chunkwise.testsets.testset import TestSet, hash_of, shown_quote

ProblemKind = Literal[
    "unreadable",
    "empty_question",
    "duplicate_id",
    "duplicate_question",
    "unknown_document",
    "outside",
    "different_text",
    "not_found",
    "ambiguous",
    "no_references",
    "overlapping",
    "same_text_elsewhere",
    "long_reference",
    "short_reference",
    "similar_question",
    "several_places",
    "misspelled_field",
    "unread_fields",
]

REMARKS: frozenset[ProblemKind] = frozenset(
    (
        "overlapping", "same_text_elsewhere", "long_reference", "short_reference", "similar_question",
        "several_places", "unread_fields",
    )
)  # fmt: skip
"""Worth a look, and not wrong."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with one question, in one line."""

    kind: ProblemKind
    where: str
    query_id: str
    text: str
    """What is wrong, the value, what to do."""
    nearest: Passage | None = None
    """The place that is most like the passage that was not found."""
    repaired: bool = False
    """It could be mended without a doubt, and was."""
    dropped: bool = False
    """The question cannot be used and was left out."""


OnProblem = Callable[[Problem], None]


LONG_REFERENCE = 4000
"""Characters; whatever covers so much is large itself, and finding it says little."""
SHORT_REFERENCE = 3
"""Characters; two of them are met by accident."""
_SCRIPTS_OF_WORDS = 0x2E80
"""From here on one character can be a word."""
_SAYS_THE_SAME = 40
"""Characters from which the same text elsewhere is taken for the same statement."""

_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+")


def check_testset(testset: TestSet, documents: Sequence[Document]) -> tuple[TestSet, list[Problem]]:
    """The set with what could be repaired, and everything worth knowing.

    Repaired is one thing: a text that stands elsewhere, too, gets these places as alternatives.
    """
    texts = {document.id: document.text for document in documents}
    result: dict[str, list[Problem]] = {query.id: [] for query in testset.queries}

    def add(query: Query, kind: ProblemKind, said: str, place: Passage | None = None) -> None:
        where = testset.where.get(query.id, "")
        result[query.id].append(
            Problem(kind, where, query.id, said, place, repaired=place is not None)
        )

    for query in testset.queries:
        for kind, text in (*_unanswerable(query), *_sizes(query, texts), *_overlaps(query, texts)):
            add(query, kind, text)
    for query, kind, text in _twice(testset):
        add(query, kind, text)
    queries = []
    for query, elsewhere in zip(testset.queries, _elsewhere(testset, documents), strict=True):
        references = list(query.references)
        for number, places in elsewhere.items():
            references[number] = _with(references[number], places)
            first = places[0]
            text = (
                f"reference {number + 1}, {shown_quote(_text(query.references[number], texts))}, "
                f"also occurs in {counted(len(places), 'more place')}, the first at "
                f"{from_to(first.start, first.end)} of {first.doc_id!r}; list them as alternatives"
            )
            add(query, "same_text_elsewhere", text, first)
        queries.append(replace(query, references=tuple(references)) if elsewhere else query)
    repaired = TestSet(tuple(queries), testset.name, hash_of(queries), where=testset.where)
    return repaired, [problem for problems in result.values() for problem in problems]


def _unanswerable(query: Query) -> Iterator[tuple[ProblemKind, str]]:
    if not (query.references or query.facts or query.answer or query.labels):
        marked = "marked as unanswerable: " if "unanswerable" in query.types else ""
        yield (
            "no_references",
            f"{marked}no ground truth; add relevant_text, facts or an answer",
        )


def _sizes(query: Query, texts: Mapping[str, str]) -> Iterator[tuple[ProblemKind, str]]:
    for number, reference in enumerate(query.references, 1):
        text = _text(reference, texts)
        size = len(text)
        if size > LONG_REFERENCE:
            yield (
                "long_reference",
                f"reference {number} has {counted(size, 'character')}; shorten it to the part "
                "that answers",
            )
        elif size < SHORT_REFERENCE and all(ord(item) < _SCRIPTS_OF_WORDS for item in text):
            yield (
                "short_reference",
                f"reference {number} is {shown_quote(text)}; add surrounding words",
            )


def _overlaps(query: Query, texts: Mapping[str, str]) -> Iterator[tuple[ProblemKind, str]]:
    order = sorted(
        (reference.doc_id, reference.start, reference.end, number)
        for number, reference in enumerate(query.references, 1)
    )
    furthest, last = ("", 0), 0
    for doc_id, start, end, number in order:
        if furthest[0] == doc_id and start < furthest[1]:
            shared = shown_quote(texts.get(doc_id, "")[start : min(end, furthest[1])])
            yield (
                "overlapping",
                f"references {last} and {number} share {shared}; merge or separate them",
            )
        if (doc_id, end) > furthest:
            furthest, last = (doc_id, end), number


def _twice(testset: TestSet) -> Iterator[tuple[Query, ProblemKind, str]]:
    """Questions with the same words: in the same order, and in any."""
    same: dict[tuple[str, ...], Query] = {}
    alike: dict[tuple[str, ...], Query] = {}

    def at(query: Query) -> str:
        return testset.where.get(query.id, f"question {query.id!r}")

    for query in testset.queries:
        folded = unicodedata.normalize("NFKC", query.text).casefold()
        words = tuple(_WORDS.findall(folded)) or (folded,)
        sorted_words = tuple(sorted(words))
        if words in same:
            first = same[words]
            message = "the same" if first.references == query.references else "other"
            yield (
                query,
                "duplicate_question",
                f"duplicate of {at(first)}, with {message} references; keep one",
            )
        elif sorted_words in alike:
            first = alike[sorted_words]
            yield (
                query,
                "similar_question",
                f"same words as the question at {at(first)}; keep one if they mean the same",
            )
        same.setdefault(words, query)
        alike.setdefault(sorted_words, query)


def _elsewhere(
    testset: TestSet, documents: Sequence[Document]
) -> Iterator[dict[int, tuple[Passage, ...]]]:
    """Of each question: places of its references' texts that it does not list, by reference."""
    texts = {document.id: document.text for document in documents}
    numbers = {document.id: number for number, document in enumerate(documents)}
    wanted: list[SoughtPassage] = []
    slots: list[list[tuple[int, int]]] = []
    for query in testset.queries:
        slots.append([])
        for number, reference in enumerate(query.references):
            text = _text(reference, texts)
            if len(text) >= _SAYS_THE_SAME:
                slots[-1].append((number, len(wanted)))
                wanted.append(SoughtPassage(text, numbers[reference.doc_id]))
    outcomes = locate(wanted, documents) if wanted else []
    for query, chosen in zip(testset.queries, slots, strict=True):
        result: dict[int, tuple[Passage, ...]] = {}
        for number, want in chosen:
            outcome = outcomes[want]
            # All its references are known, so that none of them is offered for another.
            known = [place for reference in query.references for place in reference.places]
            if isinstance(outcome, Located) and len(outcome.places) <= MANY_PLACES:
                places = tuple(
                    place for place in outcome.places if not any(map(place.overlaps, known))
                )
                if places:
                    result[number] = places
        yield result


def _text(reference: Reference, texts: Mapping[str, str]) -> str:
    return texts.get(reference.doc_id, "")[reference.start : reference.end]


def _with(reference: Reference, places: tuple[Passage, ...]) -> Reference:
    return replace(reference, alternatives=(*reference.alternatives, *places))
