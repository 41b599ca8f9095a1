"""Hits as texts that claims and facts are looked for in, without the words that are cut at their edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import regex

from chunkwise.core import Document, Fact, Hit, Span
from chunkwise.metrics.claims.quantities import are_same, quantities_of
from chunkwise.metrics.claims.text_normalization import (
    HAN_NUMBER,
    UNSPACED,
    Readable,
    holds,
    plain_form,
    readings,
)
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.terms import Terms, WordSpans, terms_of_words, words_of

_AROUND = 40
"""Characters looked at on both sides of an edge: a longer run is no word."""
_WHOLE = regex.compile(
    rf"[{HAN_NUMBER}]+"
    rf"|(?:(?<![^\s(\[])[-−–])?\d+(?:[.,'’٫٬]\d+|[ \u00a0\u2009\u202f]\d{{3}}(?!\d))*"
    rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]*"
    rf"|[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]+(?:\+\+|\#)?",
    regex.V1,
)


def whole_words(text: str, start: int, end: int) -> Span:
    """The place from its first whole word to its last; empty where it has none."""
    first = _cut_word(text, start)
    last = _cut_word(text, end)
    start = first.end if first else start
    return Span(start, max(start, last.start if last else end))


def joined(hits: Iterable[Hit]) -> list[tuple[Document, Span]]:
    """The hits of each document, those that touch or overlap as one; white space between them does not part them."""
    of_document: dict[str, list[Hit]] = {}
    for hit in hits:
        of_document.setdefault(hit.doc_id, []).append(hit)
    return [(own[0].document, span) for own in of_document.values() for span in _joined_spans(own)]


def _joined_spans(hits: Sequence[Hit]) -> list[Span]:
    """Of one document, in its order."""
    text = hits[0].document.text
    spans: list[Span] = []
    for start, end in sorted((hit.start, hit.end) for hit in hits):
        if spans and (start <= spans[-1].end or not text[spans[-1].end : start].strip()):
            spans[-1] = Span(spans[-1].start, max(end, spans[-1].end))
        else:
            spans.append(Span(start, end))
    return spans


def _cut_word(text: str, at: int) -> Span | None:
    """The word or number a place is inside of."""
    if not 0 < at < len(text):
        return None
    before, behind = text[at - 1], text[at]
    digit = before.isdigit() or behind.isdigit()
    if not digit and (before.isspace() or behind.isspace()):
        return None
    low = max(0, at - _AROUND)
    for match in _WHOLE.finditer(text, low, at + _AROUND):
        if match.end() > at:
            return Span(*match.span()) if match.start() < at else None
    return None


_SPACE = frozenset(" \t\n\r")
"""No word goes over one, whatever its script."""


class ReadableHits:
    """Knows all hits beforehand: a document most of which was found is read as a whole."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        places = {(hit.doc_id, hit.start, hit.end) for hit in hits if not hit.level}
        self._found = Counter[str]()
        for doc_id, start, end in places:
            self._found[doc_id] += end - start
        self._known: dict[tuple[str, int, int, str], Readable] = {}
        self._words: dict[str, WordSpans] = {}
        self._terms: dict[tuple[str, str], Terms] = {}

    def __call__(self, hit: Hit) -> Readable:
        place = hit.doc_id, hit.start, hit.end, hit.summary
        if place not in self._known:
            self._known[place] = self._read(hit)
        return self._known[place]

    def _read(self, hit: Hit) -> Readable:
        document = hit.document
        if hit.level:
            return Readable(hit.text)
        start, end = whole_words(document.text, hit.start, hit.end)
        text = document.text[start:end]
        many = self._found[document.id] * 2 > len(document.text)
        if many and all(_is_between_words(document.text, edge) for edge in (start, end)):
            return Readable(
                text, None, lambda language: self._within(document, start, end, language)
            )
        return Readable(text)

    def _within(self, document: Document, start: int, end: int, language: str) -> Terms:
        """The terms of a part of a document, from those of the whole."""
        key = document.id, language
        if key not in self._terms:
            if document.id not in self._words:
                self._words[document.id] = words_of(CharacterArrays(document.text))
            self._terms[key] = terms_of_words(self._words[document.id], language)
        terms = self._terms[key]
        low, high = int(terms.start.searchsorted(start)), int(terms.end.searchsorted(end, "right"))
        return Terms(
            language,
            terms.vocabulary,
            terms.code[low:high],
            terms.start[low:high] - start,
            terms.end[low:high] - start,
        )


def _is_between_words(text: str, at: int) -> bool:
    """Whether the words of both sides are the same when the text is cut here."""
    return not 0 < at < len(text) or text[at - 1] in _SPACE or text[at] in _SPACE


def is_named(fact: Fact, text: str) -> bool:
    """In any of its spellings; `text` in its plain form."""
    return _names(_spellings(fact), text)


def share_named(facts: Sequence[Fact], texts: Sequence[str]) -> float:
    """Of the facts, those named in at least one of the texts (in their plain form)."""
    spelled = map(_spellings, facts)
    return sum(any(_names(each, text) for text in texts) for each in spelled) / len(facts)


def _spellings(fact: Fact) -> list[str]:
    return [form for name in (fact.text, *fact.aliases) for form in readings(name)]


def _names(spellings: Sequence[str], text: str) -> bool:
    if any(holds(text, each) for each in spellings):
        return True
    # A fact that is a quantity and nothing else may be written in another unit.
    sought = [
        own
        for each in spellings
        for own in quantities_of(each)
        if own.end - own.first == len(each.split())
    ]
    return bool(sought) and any(
        are_same(one.readings, other.readings) for one in sought for other in quantities_of(text)
    )


class PlainHits:
    """The plain form of a question's hits, made once for each place."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], str] = {}

    def __call__(self, hits: Iterable[Hit]) -> list[str]:
        """Hits that touch or overlap are one text; words cut at an edge are none. Of a summary, what it says."""
        own = list(hits)
        places = joined(hit for hit in own if not hit.level)
        said = [plain_form(hit.text) for hit in own if hit.level]
        return [self._plain(document, *span) for document, span in places] + said

    def _plain(self, document: Document, start: int, end: int) -> str:
        place = document.id, start, end
        if place not in self._known:
            start, end = whole_words(document.text, start, end)
            self._known[place] = plain_form(document.text[start:end])
        return self._known[place]
