"""Hits as texts that claims and facts are looked for in, without the words that are cut at their edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import regex

from chunkwise.core import Document, Fact, Hit, Span
from chunkwise.metrics.claims.numbers import HAN_NUMBER, has_number, read_numbers
from chunkwise.metrics.claims.text_normalization import (
    UNSPACED,
    Readable,
    holds,
    plain_form,
    readings,
)

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
    return [
        (group[0].document, span) for group in of_document.values() for span in _joined_spans(group)
    ]


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


class ReadableHits:
    """Hits as readable texts, each place read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int, str], Readable] = {}

    def __call__(self, hit: Hit) -> Readable:
        place = hit.doc_id, hit.start, hit.end, hit.summary
        if place not in self._known:
            text = hit.document.text
            self._known[place] = Readable(
                hit.text if hit.level else text[slice(*whole_words(text, hit.start, hit.end))]
            )
        return self._known[place]


def is_named(fact: Fact, text: str) -> bool:
    """In any of its spellings; `text` in its plain form."""
    return _names(_spellings(fact), text)


def share_named(facts: Sequence[Fact], texts: Sequence[str]) -> float:
    """Of the facts, those named in at least one of the texts (in their plain form)."""
    spelled = map(_spellings, facts)
    return sum(any(_names(group, text) for text in texts) for group in spelled) / len(facts)


def _spellings(fact: Fact) -> list[str]:
    return [form for name in (fact.text, *fact.aliases) for form in readings(name)]


def _names(spellings: Sequence[str], text: str) -> bool:
    if any(holds(text, form) for form in spellings):
        return True
    # A fact that is an amount and nothing else may be written in another unit.
    sought = [
        number
        for form in spellings
        for number in read_numbers(form)
        if number.measure and number.end - number.first == len(form.split())
    ]
    return bool(sought) and any(
        number.measure and has_number([number], one)
        for one in sought
        for number in read_numbers(text)
    )


class PlainHits:
    """The plain form of a question's hits, made once for each place."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], str] = {}

    def __call__(self, hits: Iterable[Hit]) -> list[str]:
        """Hits that touch or overlap are one text; words cut at an edge are none. Of a summary, what it says."""
        own = list(hits)
        places = joined(hit for hit in own if not hit.level)
        texts = [plain_form(hit.text) for hit in own if hit.level]
        return [self._plain(document, *span) for document, span in places] + texts

    def _plain(self, document: Document, start: int, end: int) -> str:
        place = document.id, start, end
        if place not in self._known:
            start, end = whole_words(document.text, start, end)
            self._known[place] = plain_form(document.text[start:end])
        return self._known[place]
