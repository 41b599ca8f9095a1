"""Places without the words and numbers that are cut at their edges: "5 days" is not said where "15 days" was cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import regex

from chunkwise.core import Document, Hit, Span
from chunkwise.metrics.claims.plain_form import HAN_NUMBER, UNSPACED

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
