"""Whether a text supports a claim: the same terms, numbers, names and negations in neighbouring sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import groupby
from math import ceil
from typing import NamedTuple

from chunkwise.metrics.claims.amounts import counted, has_amounts, has_quantity
from chunkwise.metrics.claims.negations import denied
from chunkwise.metrics.claims.plain_form import holds, plain_form
from chunkwise.metrics.claims.quantities import quantities_of
from chunkwise.metrics.claims.readable import Readable
from chunkwise.metrics.claims.short_claims import is_amount, is_date, says_shortly
from chunkwise.text.terms import text_terms

_NOUNS_HAVE_CAPITALS = frozenset(("de",))
"""Languages in which a capital letter inside a sentence does not tell a name."""


class Name(NamedTuple):
    """A capitalised content word."""

    word: str
    terms: frozenset[int]
    first: bool
    """It opens the sentence: every word has a capital there."""


@lru_cache(maxsize=1 << 8)
def names_of(text: str, language: str) -> tuple[Name, ...]:
    """The capitalised words of a sentence; none of one that is written in capitals."""
    if text.isupper():
        return ()
    terms = text_terms(text, language)
    places = zip(terms.start.tolist(), terms.end.tolist(), terms.hash.tolist(), strict=True)
    found = []
    for (start, end), same in groupby(places, lambda place: place[:2]):
        word = text[start:end]
        first = not any(map(str.isalnum, text[:start]))
        if word[0].isupper() and (first or language not in _NOUNS_HAVE_CAPITALS):
            found.append(Name(word, frozenset(term for _, _, term in same), first))
    return tuple(found)


def is_missing(
    name: Name, window: str, terms: AbstractSet[int], claim: str, text: str, language: str
) -> bool:
    """Whether a window of a text, of these terms, does not have a name of the claim.

    A word that opens the claim is a name when the window has another one in its place, and neither is written with a
    small letter anywhere: Anna for Peter, but not Staff for Employees where the text goes on about employees. Where
    nouns have capitals the two must stand before the same word.
    """
    if name.terms & terms:
        return False
    if not name.first:
        return True
    if _is_small(name.word, text) or _is_small(name.word, claim):
        return False
    said = text_terms(claim, language).hash.tolist()
    others = [each for each in names_of(window, language) if not each.terms.intersection(said)]
    if language in _NOUNS_HAVE_CAPITALS:
        behind = _behind(name.word, claim)
        others = [each for each in others if behind and _behind(each.word, window) == behind]
    return any(not _is_small(each.word, text) for each in others)


def _behind(word: str, text: str) -> str:
    found = re.search(rf"(?<!\w){re.escape(word)}\s+(\w+)", text)
    return found[1] if found else ""


def _is_small(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text) is not None


THRESHOLD = 0.7
"""Share of a sentence's content terms that a text must have to hold it."""
FEW = 3
"""A sentence of fewer content terms, or of numbers alone, is sought word by word: a date, a name, a figure."""
_CLAUSE = re.compile(r"[,;:](?=\s)|[()|—，；：]|\s[-–]\s")
_CLOCK = re.compile(r"\b([0-9]+)h([0-9]+)\b")
"""As the plain form has times of the day, whose terms are two numbers."""
_REACH = 40
_BEFORE = 2
"""Words before a claim that stands word by word among which a negation turns it round."""


def supports(text: Readable, claim: Readable, threshold: float = THRESHOLD) -> bool:
    """Whether the claim stands in the text word by word, with no negation before it that it does not have itself.

    A short claim (FEW) is also held by one sentence with all its words and amounts (`short_claims`). One that is not
    short is also held by one to three neighbouring sentences (WINDOW), or by the entries of a short list (LIST), that

    - have at least the threshold's share of its content terms: stems, without the small words;
    - deny something if and only if it denies something, and nothing that it affirms; only the clauses that have one
      of its words are looked at;
    - have all its numbers, as digits or as words, each with the unit or currency it stands with in the claim, or the
      same quantity in another unit (`quantities`); the sentence that has most of its terms has one of them, or no
      number with a unit at all;
    - have all its names: words with a capital letter inside a sentence, or at its start where the text has another
      name instead.

    It is a comparison of words: who did what to whom, and what a pronoun stands for, it does not know.
    """
    letters = text.letters
    may_hold = letters is None or claim.longest_word in letters
    if may_hold and any(_stands(text.plain, form, claim.language) for form in claim.readings):
        return True
    terms = claim.terms(claim.language)
    if len(terms) < FEW or is_date(claim) or is_amount(claim):
        return says_shortly(text, claim)
    if letters is not None and not all(end in letters for end in claim.number_ends):
        return False
    # A date: its parts in another order are another date.
    if claim.numbers.issuperset(claim.readings[0].split()):
        return False
    # What is measured may be written in other words: then the other terms are enough to find where.
    measured = _measured(claim)
    sought = [terms, terms - measured] if measured and measured < terms else [terms]
    return any(_is_said(text, each, threshold, claim) for each in sought)


def _is_said(text: Readable, terms: frozenset[int], threshold: float, claim: Readable) -> bool:
    # Both are read in the claim's language: a table in the text may have none that can be told.
    least = ceil(threshold * len(terms) - 1e-9)
    if len(terms & text.terms(claim.language)) < least:
        return False
    windows = text.windows(terms, least, claim.language)
    return any(_says(text, window, claim) for window in windows)


def _measured(claim: Readable) -> frozenset[int]:
    """The terms of its quantities."""
    language = claim.language

    def made() -> frozenset[int]:
        words = claim.readings[0].split()
        found = quantities_of(claim.readings[0], language)
        said = " ".join(word for each in found for word in words[each.first : each.end])
        said = _CLOCK.sub(r"\1 \2", said)
        return frozenset(text_terms(said, language).hash.tolist())

    return claim.once("measured", made)


def _stands(text: str, claim: str, language: str) -> bool:
    """Word by word, both in their plain form."""
    if not holds(text, claim):
        return False
    if denied(claim, language):
        return True
    at = text.find(claim)
    while at >= 0:
        before = text[max(0, at - _REACH) : at].split()[-_BEFORE:]
        if not denied(f" {' '.join(before)} ", language):
            return True
        at = text.find(claim, at + 1)
    return False


def _says(text: Readable, window: Mapping[int, set[int]], claim: Readable) -> bool:
    """Whether sentences that have enough terms say what the claim says; see `supports`."""
    core = max(window, key=lambda number: len(window[number]))
    language = claim.language
    return (
        _denies_the_same(text, window, core, claim)
        and any(_has_amounts(text, window, core, form, language) for form in claim.readings)
        and _has_names(text, window, claim)
    )


def _denies_the_same(
    text: Readable, window: Mapping[int, set[int]], core: int, claim: Readable
) -> bool:
    language = claim.language
    own = denied(claim.readings[0], language)
    said = set(counted(claim.readings[0], language).words) - {""}
    theirs = {number: _denied_of(text.sentence(number), said, language) for number in window}
    if not own:
        return not any(theirs.values())
    # Not allowed and punished; allowed and not punished.
    affirmed = said.difference(*own)
    return bool(theirs[core]) and not any(affirmed.intersection(each[:1]) for each in theirs[core])


def _denied_of(sentence: str, said: set[str], language: str) -> list[list[str]]:
    """What the sentence denies in clauses that have a word of the claim."""
    found = []
    for clause in _CLAUSE.split(sentence):
        plain = plain_form(clause)
        if (stems := denied(plain, language)) and said.intersection(counted(plain, language).words):
            found += stems
    return found


def _has_amounts(
    text: Readable, window: Mapping[int, set[int]], core: int, claim: str, language: str
) -> bool:
    sought = counted(claim, language)
    if not sought.amounts and not sought.quantities:
        return True
    parts = {
        number: counted(text.plain_sentence(number), language)
        for number in range(min(window), max(window) + 1)
    }
    numbers = {amount.number for amount in sought.amounts}
    own = parts[core]
    if (
        own.measures
        and not any(amount.number in numbers for amount in own.amounts)
        and not any(has_quantity([own], each) for each in sought.quantities)
    ):
        return False
    return has_amounts(list(parts.values()), sought)


def _has_names(text: Readable, window: Mapping[int, set[int]], claim: Readable) -> bool:
    language = claim.language
    shared = set().union(*window.values())
    written = "\n".join(map(text.sentence, window))
    return not any(
        is_missing(name, written, shared, claim.text, text.text, language)
        for name in names_of(claim.text, language)
        if not name.terms <= _measured(claim)
    )
