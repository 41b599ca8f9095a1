"""What a name is: its key, its hash, where it stands; and the names that a question may mean."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.text.language import MONTHS
from chunkwise.text.terms import folded

MENTION, HEADING, TITLE, STATED = 0, 1, 2, 3
"""What a place is: a name in passing, what a section is about, what the whole document is about, what a statement
that a language model found is about. A heading without a length is a short form of the title: it is about the whole
document where no other document of the index has it (`is_short_title`)."""

MOST_WORDS = 12
_LONGEST_NAME = 64 * MOST_WORDS
"""Characters: what a question has in one word may be as long as somebody likes."""
MONTH_NUMBERS = {
    name: number for item in ("en", "de") for number, name in enumerate(MONTHS[item], 1)
}
_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_DATE = regex.compile(
    r"(?<![\p{L}\p{N}])(?:(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})|(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})"
    rf"|(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)? (?P<m>{_MONTH}) (?P<y>\d{{4}})"
    rf"|(?P<m>{_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}}))(?![\p{{L}}\p{{N}}])"
    r"|(?<!\d)(?P<y>\d{4}) ?年 ?(?P<m>\d{1,2}) ?月 ?(?P<d>\d{1,2}) ?日",
    regex.IGNORECASE,
)
_HAN_RUN = regex.compile(r"[\p{Script=Han}·・]{2,}+")
_MARKS = regex.compile(r"[^\p{L}\p{M}\p{N}\s]+")
_POSSESSIVE = regex.compile(r"['’]s?(?![\p{L}\p{N}])")
_ARTICLES = frozenset("the a an".split())


def is_short_title(kind: NDArray[np.integer], length: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which places are what a title is without its brackets: Mercury of "Mercury (planet)"."""
    result: NDArray[np.bool_] = (kind == HEADING) & (length == 0)
    return result


class Mentions(NamedTuple):
    """Places of names in one document, by start; one place may stand for several names (a surname for the full one)."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    """Equal to the start for a title that the text itself does not have."""
    name: NDArray[np.uint64]
    """A hash of the name's key: the same in every document."""
    kind: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.start)


def name_key(text: str) -> str:
    """What tells names apart: small letters, no articles in front, no marks, no possessive; of a day its date."""
    if text[:1].isdigit() or text[-1:].isdigit():
        day = _DATE.fullmatch(text)
        if day and (date := _day(day)):
            return date
    texts = _key_words(_POSSESSIVE.sub("", folded(text)))
    return " ".join(_without_articles(texts)[: MOST_WORDS * 2])


def _key_words(folded_text: str) -> tuple[str, ...]:
    return tuple(_MARKS.sub(" ", folded_text).split())


def _without_articles(said: tuple[str, ...]) -> tuple[str, ...]:
    at = 0
    while at < len(said) - 1 and said[at] in _ARTICLES:
        at += 1
    return said[at:]


HASH_BYTES = 6
"""Of a million names no two are likely to share a hash, and an index is a sixth smaller than with eight."""


def name_hash(key: str) -> int:
    """The same on every machine and in every run."""
    data = key.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=HASH_BYTES).digest(), "little")


class NameSpan(NamedTuple):
    """Where a text may say a name."""

    start: int
    end: int
    name: int
    words: int


_QUESTION_WORDS = 64
"""Of a question, those that are looked through for names."""
_QUESTION_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")


def _han_stretches(text: str) -> Iterator[tuple[int, int]]:
    """Places where a question in Chinese or Japanese may say a name: there is no blank before and behind it."""
    left = 64
    for run in _HAN_RUN.finditer(text):
        for low in range(run.start(), min(run.end(), run.start() + left)):
            for high in range(low + 2, min(low + MOST_WORDS, run.end()) + 1):
                yield low, high
        left = max(0, left - len(run[0]))


def name_spans(text: str) -> list[NameSpan]:
    """The stretches of words that a question may name something by."""
    matches = list(itertools.islice(_QUESTION_WORD.finditer(text), _QUESTION_WORDS))
    # Each word once: a stretch has the key of its words, but for a day and for the s of a possessive.
    parts = [_key_words(folded(match[0])) for match in matches]
    owned = [
        ()
        if match[0] in ("s", "S") and text[match.start() - 1 : match.start()] in ("'", "’")
        else own
        for match, own in zip(matches, parts, strict=True)
    ]
    spans = []
    for low, first in enumerate(matches):
        words: tuple[str, ...] = ()
        for high, last in enumerate(matches[low : low + MOST_WORDS], low):
            start, end = first.start(), last.end()
            if end - start > _LONGEST_NAME:
                break
            words += parts[low] if high == low else owned[high]
            if text[start].isdigit() or text[end - 1].isdigit():
                key = name_key(text[start:end])
            else:
                key = " ".join(_without_articles(words)[: MOST_WORDS * 2])
            if key:
                spans.append(NameSpan(start, end, name_hash(key), key.count(" ") + 1))
    for low, high, key in itertools.islice(dates_in(text), MOST_WORDS):
        spans.append(NameSpan(low, high, name_hash(key), 3))
    for low, high in _han_stretches(text):
        spans.append(NameSpan(low, high, name_hash(name_key(text[low:high])), 1))
    return spans


def dates_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Days, however they are written, by one key: that of 2021-05-03."""
    for match in _DATE.finditer(text):
        if date := _day(match):
            yield *match.span(), date


def _day(match: regex.Match[str]) -> str:
    """Its key; empty: there is no such day."""
    said = match["m"].casefold()  # Auguſt, as old prints have it
    month = MONTH_NUMBERS.get(said) or (int(said) if said.isdecimal() else 0)
    day = int(match["d"])
    is_one = 1 <= month <= 12 and 1 <= day <= 31
    return f"{int(match['y'])} {month:02} {day:02}" if is_one else ""
