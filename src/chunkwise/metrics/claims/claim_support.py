"""Whether a text says what a sentence says, by their words: no model is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from chunkwise.core import Document
from chunkwise.metrics.claims.plain_form import has_numbers, holds, numbers_of, plain_form
from chunkwise.metrics.claims.quick_look import letters_of, longest_word, number_ends
from chunkwise.text.analysis import Analyzed
from chunkwise.text.language import UNKNOWN, language_of_text
from chunkwise.text.terms import NONE, text_terms

THRESHOLD = 0.7
"""Share of a sentence's content terms that a text must have to hold it."""
FEW = 3
"""A sentence of fewer content terms, or of numbers alone, is sought word by word: a date, a name, a figure."""


class Readable:
    """A text in the forms in which claims are sought in it, each made when first asked for."""

    def __init__(
        self,
        text: str,
        language: str | None = None,
        read_terms: Callable[[str], frozenset[int]] | None = None,
    ) -> None:
        """`read_terms` gives the content terms in a language, where they can be had for less than by reading."""
        self.text = text
        self._language = language
        self._read_terms = read_terms or self._own_terms
        self._terms: dict[str, frozenset[int]] = {}

    @cached_property
    def plain(self) -> str:
        """Words and numbers in one spelling."""
        return plain_form(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number that stands in it."""
        return numbers_of(self.plain)

    @cached_property
    def letters(self) -> str | None:
        """Its letters as they are written, but for case; None: plain form may change them."""
        return letters_of(self.text)

    @cached_property
    def longest_word(self) -> str:
        """A word that must stand in every text that holds this one."""
        return longest_word(self.plain)

    @cached_property
    def number_ends(self) -> tuple[str, ...]:
        """Digits that must stand in every text that has its numbers."""
        return number_ends(self.numbers)

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
            self._terms[language] = self._read_terms(language)
        return self._terms[language]

    def _own_terms(self, language: str) -> frozenset[int]:
        return frozenset(text_terms(self.text, language).hash.tolist())


def supports(text: Readable, claim: Readable, threshold: float = THRESHOLD) -> bool:
    """Whether the claim stands in the text word by word; or, where it is not short (FEW), the text has all its
    numbers and at least the threshold's share of its content terms."""
    letters = text.letters
    may_hold = letters is None or claim.longest_word in letters
    if may_hold and holds(text.plain, claim.plain):
        return True
    terms = claim.terms(claim.language)
    if len(terms) < FEW:
        return False
    if letters is not None and not all(end in letters for end in claim.number_ends):
        return False
    if claim.numbers and not has_numbers(text.plain, claim.numbers):
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
