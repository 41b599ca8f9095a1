"""Where a quote stands in the passages a model was given: exactly, else but for signs, case and Markdown's marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chunkwise.answering.passages import GivenPassage
from chunkwise.core import Document, Span
from chunkwise.metrics.claims.whole_words import whole_words
from chunkwise.testsets.finding.elision import elided_parts
from chunkwise.testsets.finding.locate import Missing, Wanted, locate


class Found(NamedTuple):
    """A place in the document of a passage."""

    passage: GivenPassage
    """The one it begins in."""
    span: Span


class Quotes:
    """Looks for quotes in the same passages."""

    def __init__(self, passages: Sequence[GivenPassage]) -> None:
        self._passages = passages
        self._texts = [Document(str(each.number), each.text) for each in passages]
        self._joined = _joined(passages)

    def find(self, quote: str, number: int) -> Found | None:
        """In the passage of this number, else in another, else over the border of two; None: nowhere.

        Where something was left out of a quote, its place goes from the first part to the last.
        """
        if not any(map(str.isalnum, quote)):  # signs alone are no words of anybody
            return None
        return self._whole(quote, number) or self._elided(elided_parts(quote), number)

    def _whole(self, quote: str, number: int) -> Found | None:
        at = next((n for n, each in enumerate(self._passages) if each.number == number), None)
        for passages, named in ((self._passages, at), (self._joined, None)):
            texts = self._texts if passages is self._passages else _texts(passages)
            for chosen, start, end in _places(quote, named, texts):
                start, end = start + passages[chosen].start, end + passages[chosen].start
                if _has_whole_word(passages[chosen], start, end):
                    return Found(self._beginning(passages[chosen], start), Span(start, end))
        return None

    def _elided(self, parts: Sequence[str], number: int) -> Found | None:
        """All parts in one passage, one behind the other."""
        for passage in sorted(self._passages, key=lambda each: each.number != number):
            found: list[Span] = []
            at = passage.start
            for part in parts:
                rest = Document("rest", passage.document.text[at : passage.end])
                places = (Span(at + low, at + high) for _, low, high in _places(part, None, [rest]))
                span = next((each for each in places if _has_whole_word(passage, *each)), None)
                if span is None:
                    break
                found.append(span)
                at = span.end
            else:
                if found:
                    return Found(passage, Span(found[0].start, found[-1].end))
        return None

    def _beginning(self, within: GivenPassage, start: int) -> GivenPassage:
        """The passage that was given and has this place."""
        if within in self._passages:
            return within
        return next(
            each
            for each in self._passages
            if each.doc_id == within.doc_id and each.start <= start < each.end
        )


def _texts(passages: Sequence[GivenPassage]) -> list[Document]:
    return [Document(str(number), each.text) for number, each in enumerate(passages)]


def _places(quote: str, named: int | None, texts: Sequence[Document]) -> list[tuple[int, int, int]]:
    """Number of the text, start and end; those in the text that was named, where there are any."""
    if not texts:
        return []
    outcome = locate([Wanted(quote, named)], texts)[0]
    places = outcome.elsewhere if isinstance(outcome, Missing) else outcome.places
    ids = [text.id for text in texts]
    return [(ids.index(place.doc_id), place.start, place.end) for place in places]


def _has_whole_word(passage: GivenPassage, start: int, end: int) -> bool:
    """A quote that stands only inside a word stands nowhere."""
    whole = whole_words(passage.document.text, start, end)
    return bool(passage.document.text[whole.start : whole.end].strip())


def _joined(passages: Sequence[GivenPassage]) -> list[GivenPassage]:
    """Those that touch or overlap in their document, as one; white space between them does not part them."""
    found: list[GivenPassage] = []
    for each in sorted(passages, key=lambda each: (each.doc_id, each.start, each.end)):
        last = found[-1] if found else None
        between = last and last.doc_id == each.doc_id and each.document.text[last.end : each.start]
        if last is not None and (between == "" or (between and not between.strip())):
            found[-1] = GivenPassage(0, last.id, last.document, last.start, max(last.end, each.end))
        else:
            found.append(each)
    return [each for each in found if not each.number]
