"""Whether a text says what a sentence says, by their words: no model is asked."""

from __future__ import annotations

from chunkwise.core import Document
from chunkwise.metrics.claims.plain_form import holds, numbers_of, plain_form
from chunkwise.text.analysis import Analyzed
from chunkwise.text.language import UNKNOWN, language_of_text
from chunkwise.text.terms import NONE, text_terms

THRESHOLD = 0.7
"""Share of a sentence's content terms that a text must have to hold it."""
FEW = 3
"""A sentence of fewer content terms, or of numbers alone, is sought word by word: a date, a name, a figure."""


class Readable:
    """A text in the forms in which claims are sought in it, each made when first asked for."""

    def __init__(self, text: str, language: str | None = None) -> None:
        self.text = text
        self.plain = plain_form(text)
        self.numbers = numbers_of(self.plain)
        self._language = language
        self._terms: dict[str, frozenset[int]] = {}

    @property
    def language(self) -> str:
        """What its terms are read in: a two-letter code, or none."""
        if self._language is None:
            told = language_of_text(self.text)
            self._language = NONE if told == UNKNOWN else told
        return self._language

    def terms(self, language: str) -> frozenset[int]:
        """Its content terms in a language, each once: stems, without the small words."""
        if language not in self._terms:
            self._terms[language] = frozenset(text_terms(self.text, language).hash.tolist())
        return self._terms[language]


def supports(text: Readable, claim: Readable, threshold: float = THRESHOLD) -> bool:
    """Whether the claim stands in the text word by word; or, where it is not short (FEW), the text has all its
    numbers and at least the threshold's share of its content terms."""
    if holds(text.plain, claim.plain):
        return True
    terms = claim.terms(claim.language)
    if len(terms) < FEW or not claim.numbers <= text.numbers:
        return False
    if claim.numbers.issuperset(
        claim.plain.split()
    ):  # a date: its parts in another order are another date
        return False
    # Both are read in the claim's language: a table in the text may have none that can be told.
    shared = len(terms & text.terms(claim.language))
    return shared >= threshold * len(terms) - 1e-9


def sentences(text: str) -> list[Readable]:
    """The sentences of an answer that say something; "Yes." has no content term that could be sought."""
    starts = Analyzed(Document("answer", text)).sentences.tolist()
    told = language_of_text(text)
    language = NONE if told == UNKNOWN else told  # of one sentence alone it is harder to tell
    every = (text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True))
    readable = (Readable(sentence.strip(), language) for sentence in every)
    return [each for each in readable if len(each.terms(language))]
