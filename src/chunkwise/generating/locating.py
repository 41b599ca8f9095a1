"""From quotes to references: where in the documents the evidence stands, to the character."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chunkwise.core import Document, Passage, Reference, Span
from chunkwise.generating.ground import SourcePassage
from chunkwise.testsets.finding.locate import Located, Wanted, locate
from chunkwise.text.analysis import Analyzed

_ELISION = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\.{3,}|…)\s*")
_FEW_CHARACTERS = 25
_FEW_WORDS = 4
"""A shorter quote is taken with its sentence: "12 people" stands anywhere."""
_SAYS_THE_SAME = 40
"""Characters from which the same text elsewhere is the same statement."""


def references_of(
    quotes: Sequence[str], passages: Sequence[SourcePassage], documents: Sequence[Document]
) -> tuple[Reference, ...] | None:
    """In the passages that were shown, in their order; None: a quote stands in none of them."""
    found: list[tuple[SourcePassage, Span]] = []
    for quote in quotes:
        places = _places(quote, passages)
        if not places:
            return None
        found += places
    references = []
    for passage in passages:
        spans = [span for each, span in found if each is passage]
        for span in _joined(spans):
            references.append(reference_at(passage.document, span, documents))
    return tuple(references) or None


def _places(quote: str, passages: Sequence[SourcePassage]) -> list[tuple[SourcePassage, Span]]:
    """Of a quote, or of all its parts where something was left out between them."""
    if (whole := _place(quote, passages)) is not None:
        return [whole]
    parts = [part for part in _ELISION.split(quote) if part]
    places = [_place(part, passages) for part in parts] if len(parts) > 1 else [None]
    known = [place for place in places if place is not None]
    return known if len(known) == len(places) else []


def _place(quote: str, passages: Sequence[SourcePassage]) -> tuple[SourcePassage, Span] | None:
    text = quote.strip()
    if not any(map(str.isalnum, text)):
        return None
    for passage in passages:
        shown = Document("passage", passage.text, format=passage.document.format)
        outcome = locate([Wanted(text)], [shown])[0]
        if isinstance(outcome, Located):
            place = outcome.places[0]
            span = _enough(shown, Span(place.start, place.end))
            return passage, Span(passage.start + span.start, passage.start + span.end)
    return None


def _enough(shown: Document, span: Span) -> Span:
    """To the bounds of words; a scrap to those of its sentence."""
    text, (start, end) = shown.text, span
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    quote = text[start:end]
    if len(quote) >= _FEW_CHARACTERS and len(quote.split()) >= _FEW_WORDS:
        return Span(start, end)
    bounds = [*Analyzed(shown).sentences.tolist(), len(text)]
    start = max(each for each in bounds if each <= start)
    end = min(each for each in bounds if each >= end)
    part = text[start:end]
    return Span(start + len(part) - len(part.lstrip()), start + len(part.rstrip()))


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Overlapping ones as one."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start < found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


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
    outcome = locate([Wanted(text, at)], others)[0]
    places = outcome.places if isinstance(outcome, Located) else ()
    return Reference(*own, tuple(each for each in places if not _overlap(each, own)))


def _overlap(one: Passage, other: Passage) -> bool:
    return one.doc_id == other.doc_id and one.start < other.end and other.start < one.end
