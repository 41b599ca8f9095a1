"""A text as it is read for claims: its sentences, terms, numbers and names, each found once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from heapq import nsmallest
from typing import TypeVar

import numpy as np

from chunkwise.core import Document
from chunkwise.metrics.claims.plain_form import (
    numbers_of,
    plain_form,
    points_part_thousands,
    readings,
    words_in_one_spelling,
)
from chunkwise.metrics.claims.quantities import quantities_of
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import UNKNOWN, language_of_text
from chunkwise.text.terms import NONE, Terms, text_terms

_NUMBER = r"\^?[1-9][0-9]{0,2}\??"
_PAGE = r"(?:pp?\.|pages?|S\.|Seiten?|fol\.)\s?[0-9]"
_LABEL = r"(?:sources?|quellen?|cit(?:ation|e)?|ref(?:erence)?|doc(?:ument)?|passage|chunk|context)"
_FILE = r"[^\[\]()\n]{0,120}?\w\.[A-Za-z][A-Za-z0-9]{1,4}(?:[,;:#@ ][^\[\]()\n]{0,80})?"
_CLAUSE_ENDS = r"(?=[ \t]{0,3}(?:[.,;:!?…。，；：！？\n]|\Z))"
"""Behind a mark that might be words of the sentence: amid one it is taken for words."""
_MARK = rf"""(?:
    \[(?:0|{_NUMBER}(?:\s?[,;–-]\s?{_NUMBER}){{0,30}}|unsupported)\]
        (?:\((?:https?://|\#)[^()\s]{{0,500}}\))?
  | \[\[{_NUMBER}\]\](?:\([^()\s]{{0,500}}\))?
  | \[\^[\w-]{{1,30}}\]
  | 【[0-9]{{1,3}}(?:[:†][^【】\n]{{0,120}})?】
  | \[{_LABEL}[\s:]{{1,3}}[^\[\]\n]{{1,120}}\]
  | \[{_FILE}\](?!\(){_CLAUSE_ENDS}
  | \[{_PAGE}[^\[\]\n]{{0,20}}\]
  | \({_LABEL}(?::\s?|\s(?=[0-9]))[^()\n]{{1,120}}\)
  | \({_FILE},\s?{_PAGE}[^()\n]{{0,20}}\)
  | (?<![0-9]\ )(?<![0-9])(?<=[\s\w.!?"'”’\)])\([1-9][0-9]?(?:,\s?[1-9][0-9]?){{0,9}}\){_CLAUSE_ENDS}
)"""
# A bracket behind one letter or another bracket is an index of code: f[1], m[1][2]. Most code goes on behind it.
_MARKS = re.compile(
    rf"(?<![\[\]_`])(?<!\b[^\W_])(?:(?<=^)|(?<=\W)|(?<=[^\W_][^\W_])){_MARK}(?:[ \t]{{0,3}}[,;]?[ \t]{{0,3}}{_MARK})*"
    r"(?![`\[]|[ \t]?=|\.[^\W\d_])",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_DEFINITION = re.compile(r"^[ \t]{0,3}\[\^?[\w-]{1,30}\]:[^\n]*", re.MULTILINE)
"""A line below the text that says what a mark stands for."""
_OPENINGS = ("[", "(", "【")


def without_citation_marks(text: str) -> str:
    """The text as it reads without them, and without the blanks before them; one that has nothing else stays as it is.

    A year in brackets, an index of code and the number of an item are no marks: [1990], f[1], (1) First.
    """
    if not any(opening in text for opening in _OPENINGS):
        return text
    parts: list[str] = []
    last = 0
    plain = _DEFINITION.sub("", text)
    for mark in _MARKS.finditer(plain):
        parts.append(plain[last : mark.start()].rstrip(" \t"))
        last = mark.end()
        # Two words that only the mark kept apart.
        if plain[last : last + 1].isalnum() and plain[last].isascii():
            parts.append(" ")
    found = "".join([*parts, plain[last:]])
    return found if any(map(str.isalnum, found)) else text


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


T = TypeVar("T")

WINDOW = 3
"""Neighbouring sentences that may say something together."""
LIST = 400
"""Characters within which more of them may, where they are as short as the entries of a list."""
_ENTRY = 60


_MOST = 100
"""Windows of a text that are looked at closely."""


class Readable:
    """A text whose forms are made when first asked for."""

    def __init__(
        self,
        text: str,
        language: str | None = None,
        read_terms: Callable[[str], Terms] | None = None,
    ) -> None:
        """`read_terms` gives the content terms in a language, where they can be had for less than by reading."""
        self.text = text
        self._language = language
        self._read_terms = read_terms or self._own_terms
        self._terms: dict[str, frozenset[int]] = {}
        self._sentences_with: dict[str, dict[int, list[int]]] = {}
        self._plain_sentences: dict[int, str] = {}
        self._made: dict[str, object] = {}

    def once(self, key: str, make: Callable[[], T]) -> T:
        """What is made of this text alone, made when first asked for; `key` is the asker's own."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]  # type: ignore[return-value]

    @cached_property
    def plain(self) -> str:
        """Words and numbers in one spelling."""
        return plain_form(self.text)

    @cached_property
    def readings(self) -> tuple[str, ...]:
        """The same, as it is sought in another text: where its numbers can be read in two ways, both."""
        return readings(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every word with a digit."""
        return numbers_of(self.readings[0])

    @cached_property
    def letters(self) -> str | None:
        """Its letters as they are written, but for case; None: plain form may change them."""
        return letters_of(self.text)

    @cached_property
    def longest_word(self) -> str:
        """A word that must stand in every text that holds this one."""
        return longest_word(self.readings[0])

    @cached_property
    def number_ends(self) -> tuple[str, ...]:
        """Digits that must stand in every text that has its numbers; 1,500 m may be 1.5 km there."""
        words = self.readings[0].split()
        measured = {
            word
            for each in quantities_of(self.readings[0])
            for word in words[each.first : each.end]
        }
        return number_ends(self.numbers - measured)

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
            self._terms[language] = frozenset(self._read_terms(language).hash.tolist())
        return self._terms[language]

    @cached_property
    def sentence_starts(self) -> list[int]:
        starts: list[int] = Analyzed(Document("text", self.text)).sentences.tolist()
        return starts

    def sentence(self, number: int) -> str:
        """As it is written."""
        return self.text[self.sentence_starts[number] : self._end(number)]

    def plain_sentence(self, number: int) -> str:
        """In its plain form."""
        if number not in self._plain_sentences:
            points = points_part_thousands(self.language)
            self._plain_sentences[number] = plain_form(self.sentence(number), points)
        return self._plain_sentences[number]

    def windows(
        self, terms: Collection[int], least: int, language: str
    ) -> list[dict[int, set[int]]]:
        """The neighbouring sentences that have at least so many of the terms, those with most first: for each sentence
        of a window the terms it has. What is said again in the same words is left out."""
        has: defaultdict[int, set[int]] = defaultdict(set)
        index = self._index(language)
        for term in terms:
            for number in index.get(term, ()):
                has[number].add(term)
        found: dict[str, tuple[int, list[int]]] = {}
        for first in sorted(has):
            shared: set[int] = set()
            numbers: list[int] = []
            last = first
            while last < len(self.sentence_starts) and self._are_near(first, last):
                # A window whose last sentence adds no term is a smaller one.
                if last in has and not has[last] <= shared:
                    shared |= has[last]
                    numbers.append(last)
                    if len(shared) >= least:
                        text = self.text[self.sentence_starts[first] : self._end(last)]
                        found.setdefault(text, (len(shared), [*numbers]))
                last += 1
        best = nsmallest(_MOST, found.values(), key=lambda each: (-each[0], len(each[1])))
        return [{number: has[number] for number in numbers} for _, numbers in best]

    def _are_near(self, first: int, last: int) -> bool:
        count, size = last - first + 1, self._end(last) - self.sentence_starts[first]
        return count <= WINDOW or size <= min(LIST, count * _ENTRY)

    def _end(self, sentence: int) -> int:
        starts = self.sentence_starts
        return starts[sentence + 1] if sentence + 1 < len(starts) else len(self.text)

    def _index(self, language: str) -> dict[int, list[int]]:
        """The sentences every term stands in."""
        if language not in self._sentences_with:
            found: defaultdict[int, list[int]] = defaultdict(list)
            terms = self._read_terms(language)
            starts = np.array(self.sentence_starts, dtype=np.int64)
            numbers = (starts.searchsorted(terms.start, "right") - 1).tolist()
            for term, number in zip(terms.hash.tolist(), numbers, strict=True):
                found[term].append(number)
            self._sentences_with[language] = dict(found)
        return self._sentences_with[language]

    def _own_terms(self, language: str) -> Terms:
        return text_terms(self.text, language)


def sentences(text: str) -> list[Readable]:
    """The sentences of an answer that say something, without citation marks; "Yes." has no content term that could be
    sought."""
    whole = Readable(without_citation_marks(text))
    language = whole.language  # of one sentence alone it is harder to tell
    every = (whole.sentence(number) for number in range(len(whole.sentence_starts)))
    readable = (Readable(sentence.strip(), language) for sentence in every)
    return [each for each in readable if len(each.terms(language))]
