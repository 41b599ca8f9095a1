"""Whether a fact is named in a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chunkwise.core import Document, Fact, Hit
from chunkwise.metrics.claims.plain_form import holds, plain_form, readings
from chunkwise.metrics.claims.whole_words import joined, whole_words


def is_named(fact: Fact, text: str) -> bool:
    """In any of its spellings; `text` in its plain form."""
    return _names(_spellings(fact), text)


def share_named(facts: Sequence[Fact], texts: Sequence[str]) -> float:
    """Of the facts, those named in at least one of the texts (in their plain form)."""
    spelled = map(_spellings, facts)
    return sum(any(_names(each, text) for text in texts) for each in spelled) / len(facts)


def _spellings(fact: Fact) -> list[str]:
    return [form for name in (fact.text, *fact.aliases) for form in readings(name)]


def _names(spellings: Iterable[str], text: str) -> bool:
    return any(holds(text, each) for each in spellings)


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
