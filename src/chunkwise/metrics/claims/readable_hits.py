"""Hits in the forms in which claims are sought in them: each place read once, the terms of many from their document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from chunkwise.core import Document, Hit
from chunkwise.metrics.claims.readable import Readable
from chunkwise.metrics.claims.whole_words import whole_words
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.terms.terms import Terms, terms_of_words
from chunkwise.text.terms.words import WordSpans, words_of

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
            terms.hash[low:high],
            terms.start[low:high] - start,
            terms.end[low:high] - start,
        )


def _is_between_words(text: str, at: int) -> bool:
    """Whether the words of both sides are the same when the text is cut here."""
    return not 0 < at < len(text) or text[at - 1] in _SPACE or text[at] in _SPACE
