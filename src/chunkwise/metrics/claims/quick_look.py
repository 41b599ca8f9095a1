"""Whether a text can hold a claim at all: a look at its letters spares most texts the plain form."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chunkwise.metrics.claims.word_spelling import words_in_one_spelling

# Letters that have one spelling, and signs that are no part of a word in any: the plain form leaves them as they are,
# but for case and the marks inside numbers.
_STEADY = re.compile(
    r"[\0-\x7f\xa1-\xa7\xa9\xab\xac\xae\xb0\xb1\xb6\xb7\xbb\xbf-\xff"
    r"\u2012-\u2015\u2018-\u2022\u2026\u2190-\u22ff\u2500-\u25ff]*"
)
_GROUP = 3
"""Digits that stand together in every number: 12,345 ends in 345."""


def letters_of(text: str) -> str | None:
    """The text with case folded, in which words of the plain form stand as they are; None: it has to be read."""
    return words_in_one_spelling(text.casefold()) if _STEADY.fullmatch(text) else None


def longest_word(plain: str) -> str:
    """Of Latin letters, of a text in its plain form; empty: it has none."""
    words = (word for word in plain.split() if word.isascii() and word.isalpha())
    return max(words, key=len, default="")


def number_ends(numbers: Iterable[str]) -> tuple[str, ...]:
    """What must stand in the letters of a text that has these numbers; a small one may be written as a word."""
    digits = (number for number in numbers if number.isascii() and number.isdigit())
    return tuple(number[-_GROUP:] for number in digits if len(number) >= _GROUP)
