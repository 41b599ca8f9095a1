"""From quotes to references: where in the documents the evidence stands, to the character."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from chunkwise.chunkers.pieces import merged_spans
from chunkwise.core import Document, Passage, Reference, Span
from chunkwise.testsets.generate.candidate import words_in
from chunkwise.testsets.generate.source_passages import SourcePassage
from chunkwise.testsets.locate.locate import (
    Located,
    Missing,
    SoughtPassage,
    elided_parts,
    locate,
    trimmed,
)
from chunkwise.text.analysis import Analyzed

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
    found: list[_Place] = []
    for quote in quotes:
        places = _quoted(quote, passages, about)
        if not places:
            return None
        found += places
    references = []
    for passage in passages:
        spans = [place.span for place in found if place.passage is passage]
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
    found = []
    for passage in passages:
        shown = Document("passage", passage.text, format=passage.document.format)
        outcome = locate([SoughtPassage(text)], [shown])[0]
        if not isinstance(outcome, Missing):
            found += [_placed(passage, shown, place) for place in outcome.places]
    return found


def _placed(passage: SourcePassage, shown: Document, place: Passage) -> _Place:
    text, start, end = shown.text, place.start, place.end
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    quote = text[start:end]
    bounds = [*Analyzed(shown).sentences.tolist(), len(text)]
    first = max(each for each in bounds if each <= start)
    last = min(each for each in bounds if each >= end)
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
    own = Passage(document.id, span.start, span.end)
    text = document.text[span.start : span.end]
    words = re.findall(r"\w+", text)
    if len(text) < _SAYS_THE_SAME or not words:
        return Reference(*own)
    # Most documents are ruled out by one word, which takes no reading.
    longest = max(words, key=len)
    others = [each for each in documents if each is document or longest in each.text]
    at = next(number for number, each in enumerate(others) if each is document)
    outcome = locate([SoughtPassage(text, at)], others)[0]
    places = outcome.places if isinstance(outcome, Located) else ()
    return Reference(*own, tuple(each for each in places if not _overlap(each, own)))


def _overlap(one: Passage, other: Passage) -> bool:
    return one.doc_id == other.doc_id and one.start < other.end and other.start < one.end
