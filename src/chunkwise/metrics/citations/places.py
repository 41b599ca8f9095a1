"""The text a citation points at."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chunkwise.core import Passage
from chunkwise.metrics.claims.answers import Citation
from chunkwise.metrics.claims.readable import Readable

_WORD = re.compile(r"[^\W_]+")


class CitedTexts:
    """Documents with the places that citations lead to, each found and read once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._quoted: dict[tuple[str, str], list[Passage]] = {}
        self._read: dict[str, Readable] = {}

    def places(self, citation: Citation) -> list[Passage]:
        """Where it points: its offsets, else everywhere its quote stands, else the whole document; none: nowhere."""
        doc_id = citation.doc_id
        text = self._texts.get(doc_id)
        if text is None:
            return []
        start, end = citation.start, citation.end
        if start is not None:
            if end is None:
                end = start + len(citation.quote)
            return [Passage(doc_id, start, end)] if 0 <= start < end <= len(text) else []
        if citation.quote:
            key = doc_id, citation.quote
            if key not in self._quoted:
                found = _occurrences(citation.quote, text)
                self._quoted[key] = [Passage(doc_id, *match.span()) for match in found]
            return self._quoted[key]
        return [Passage(doc_id, 0, len(text))] if text else []

    def text(self, place: Passage) -> str:
        """What stands there."""
        return self._texts[place.doc_id][place.start : place.end]

    def readable(self, citation: Citation) -> list[Readable]:
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
    words = r"[\W_]+".join(_WORD.findall(quote))
    tolerant = rf"(?<![^\W_]){words}(?![^\W_])"
    found = list(re.finditer(tolerant, text, re.IGNORECASE)) if words else []
    return found or list(re.finditer(re.escape(quote), text))
