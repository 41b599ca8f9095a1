"""The lists of abbreviations as hashes: what `word_hash` reads beside a full stop is looked up in them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.text import abbreviations
from chunkwise.text.word_hash import hash_words

ENDING = 3
"""Characters by which most words before a full stop are told from every abbreviation."""
MARKS = np.uint64(1 << 16)
_BEFORE = (
    abbreviations.NEVER_LAST, abbreviations.BEFORE_NUMBER, abbreviations.RARELY_LAST, abbreviations.OFTEN_LAST,
    abbreviations.OF_THE_CLOCK, abbreviations.BEHIND_TITLE, abbreviations.CAPITAL_SHORT, abbreviations.CITING,
    abbreviations.LETTER_NAMES, abbreviations.BEFORE_ORDINAL,
)  # fmt: skip
_BEHIND = (
    abbreviations.OPENERS_OF_SENTENCES, abbreviations.MONTHS, abbreviations.TITLES, abbreviations.CITED,
    abbreviations.LETTER_NAMES, abbreviations.ROMAN_NUMBERS,
)  # fmt: skip

Hashes = NDArray[np.uint64]


class Before(NamedTuple):
    """Of words before a full stop, read backwards."""

    never: Hashes
    numbered: Hashes
    rarely: Hashes
    often: Hashes
    clock: Hashes
    learned: Hashes
    short: Hashes
    citing: Hashes
    letters: Hashes
    articles: Hashes


class Behind(NamedTuple):
    """Of words that follow one."""

    openers: Hashes
    months: Hashes
    titles: Hashes
    cited: Hashes
    letters: Hashes
    roman: Hashes


@lru_cache(maxsize=1)
def before_stops() -> Before:
    return Before(*(hash_words(words, backwards=True) for words in _BEFORE))


@lru_cache(maxsize=1)
def behind_stops() -> Behind:
    return Behind(*(hash_words(words, backwards=False) for words in _BEHIND))


@lru_cache(maxsize=4)
def ending_of(word: str) -> np.uint64:
    """The hash of one word read backwards."""
    return hash_words([word], backwards=True)[0]


@lru_cache(maxsize=1)
def by_what_follows() -> Hashes:
    """Words of which what follows says whether they end a sentence."""
    lists = before_stops()
    return np.unique(np.concatenate((lists.citing, lists.letters)))


@lru_cache(maxsize=1)
def perhaps_last() -> Hashes:
    """Words that end a sentence or do not."""
    lists = before_stops()
    known = (lists.numbered, lists.rarely, lists.often, lists.learned, lists.short)
    return np.unique(np.concatenate((*known, by_what_follows())))


@lru_cache(maxsize=1)
def endings() -> NDArray[np.bool_]:
    """Marks where the hashes of how listed words end come to lie."""
    words = {word[-ENDING:] for word in frozenset().union(*_BEFORE[:-1])}
    marks = np.zeros(MARKS, dtype=np.bool_)
    marks[hash_words(words, backwards=True) % MARKS] = True
    return marks
