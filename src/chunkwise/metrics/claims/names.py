"""The names of a claim, told by their capital letters: what another one did is another statement."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from chunkwise.text.terms.terms import text_terms

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
