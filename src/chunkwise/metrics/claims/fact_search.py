"""Whether a fact is named in a text."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Fact, Hit
from chunkwise.metrics.claims.plain_form import holds, plain_form


def is_named(fact: Fact, text: str) -> bool:
    """In any of its spellings; `text` in its plain form."""
    return any(holds(text, plain_form(name)) for name in (fact.text, *fact.aliases))


def share_named(facts: Sequence[Fact], texts: Sequence[str]) -> float:
    """Of the facts, those named in at least one of the texts (in their plain form)."""
    return sum(any(is_named(fact, text) for text in texts) for fact in facts) / len(facts)


class PlainHits:
    """The plain form of hits, made once for each place."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], str] = {}

    def __call__(self, hit: Hit) -> str:
        place = hit.doc_id, hit.start, hit.end
        if place not in self._known:
            self._known[place] = plain_form(hit.text)
        return self._known[place]
