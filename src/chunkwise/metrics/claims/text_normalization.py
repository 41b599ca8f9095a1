"""A text as it is read for claims: in its plain form, and its sentences, terms, numbers and names, each found once."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from functools import cached_property
from heapq import nsmallest

import numpy as np
import regex

from chunkwise.core import Document
from chunkwise.metrics.claims.numbers import (
    HAN_NUMBER,
    Number,
    follows_number,
    has_number,
    read_numbers,
)
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import UNKNOWN, language_of_text
from chunkwise.text.terms import NONE, text_terms

# Only what begins with a digit is looked at: everything else in a text is passed over quickly.
_WRITTEN = re.compile(r"[0-9](?<![0-9.,][0-9])[0-9]*(?:[.,'’][0-9]+)+")
_SPACED = re.compile(r"[1-9](?<![\w.,][0-9])(?<![0-9] [0-9])[0-9]{0,2}(?: [0-9]{3})+(?! ?[0-9])")
_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:([,'’])[0-9]{2,3})*?[,'’][0-9]{3}(?:\.[0-9]+)?")
_POINTS = re.compile(r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:\.[0-9]{3})+,[0-9]+)")
_ONE_POINT = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_DECIMALS = re.compile(r"[0-9]+,[0-9]+")
_WITH_UNIT = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)*)([^\W\d_]+[23]?)(?![^\W_])")
_NO_UNITS = frozenset("sGHMST")
"""Behind a number: the 1960s, 5G, 3M."""
_PLAIN_MARKS = re.compile("[,'’]")
_WITH_POINTS = frozenset("da de el es fr id it nl pt ro tr".split())
"""Languages in which a point parts thousands."""


def in_one_spelling(text: str, points: bool | None = None) -> str:
    """The text with 1,000, 1 000, 1'000 and 12,34,567 without their marks, 3,5 as 3.5 and 5kg as 5 kg.

    A comma before exactly three digits parts thousands, any other one decimals; several (3,5,7) are a list. A point
    before exactly three digits parts thousands where there are several or where a decimal comma follows; else `points`
    says it, or, where that is None, the text's language. A space parts thousands where no other number stands beside.
    """

    def spelled(match: re.Match[str]) -> str:
        nonlocal points
        number = match[0]
        if _GROUPS.fullmatch(number):
            return _PLAIN_MARKS.sub("", number)
        if _POINTS.fullmatch(number):
            return number.replace(".", "").replace(",", ".")
        if _ONE_POINT.fullmatch(number):
            if points is None:
                points = points_part_thousands(language_of_text(text))
            return number.replace(".", "") if points else number
        return number.replace(",", ".") if _DECIMALS.fullmatch(number) else number

    def apart(match: re.Match[str]) -> str:
        is_unit = match[2] not in _NO_UNITS and follows_number(match[2].casefold())
        return f"{match[1]} {match[2]}" if is_unit else match[0]

    text = _SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    return _WITH_UNIT.sub(apart, _WRITTEN.sub(spelled, text))


def points_part_thousands(language: str) -> bool:
    """Whether 1.000 is a thousand in a text of this language."""
    return language in _WITH_POINTS


# Written without spaces between words: every character is a word, so that a name is found inside a sentence.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
# A full stop between digits is part of a number; so is a minus that follows no word. C++ and C# are not C.
_TOKEN = regex.compile(
    rf"[{HAN_NUMBER}]+|[{UNSPACED}]\p{{M}}*"
    r"|(?<![^\s(\[])-(?=\d)"
    rf"|(?:[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]|(?<=\d)\.(?=\d))+(?:\+\+|\#(?![\p{{L}}\p{{N}}]))?"
    r"|\^\d+"
    r"|[%‰°\p{Sc}]",
    regex.V1,
)
_RAISED = regex.compile(r"(?<=\d)[⁰¹²³⁴-⁹]+")
_APART = regex.compile(r"(?<=\d)(?=[¼-¾⅐-⅞₀-₉])")
_FRACTION = re.compile("(?:(?<![0-9.,])([0-9]{1,6}) ?)?([¼-¾⅕-⅘⅛-⅞])")
_DECIMAL = {item: f"{unicodedata.numeric(item):g}"[1:] for item in "¼½¾⅕⅖⅗⅘⅛⅜⅝⅞"}
_INVISIBLE = regex.compile("[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")
_FOREIGN_DIGIT = regex.compile(r"(?![0-9])\p{Nd}")
_ARABIC_MARK = regex.compile(r"(?<=\d)[٫٬](?=\d)")
_MINUS = regex.compile(r"[−‐‑]|(?<![^\s(\[])–(?=\d)")


def plain_form(text: str, points: bool | None = None) -> str:
    """Case, compatible characters, white space and punctuation do not count; numbers are in one spelling, for which
    `points` says whether a point parts thousands (None: told by the text). Begins and ends with a space, as every
    word does: what is found in it is found at the bounds of words."""
    if not text.isascii():
        text = _FRACTION.sub(lambda item: (item[1] or "0") + _DECIMAL[item[2]], text)
        text = _APART.sub(" ", _RAISED.sub(r" ^\g<0>", _INVISIBLE.sub("", text)))
        text = unicodedata.normalize("NFKC", _MINUS.sub("-", text))
        text = _ARABIC_MARK.sub(lambda match: "." if match[0] == "٫" else ",", text)
        # Digits of scripts that Python's own tables do not know yet stay as they are.
        text = _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0], match[0])), text)
    words = " ".join(_TOKEN.findall(in_one_spelling(text, points).casefold()))
    return f" {words.replace('- ', '-')} " if words else " "


def readings(text: str) -> tuple[str, ...]:
    """The plain forms of something sought: 1.000 alone does not tell whether it is one or a thousand."""
    return tuple({plain_form(text, points): None for points in (False, True)})


def holds(text: str, part: str) -> bool:
    """Whether a text holds another, both in their plain form; nothing is held by no text."""
    return part != " " and part in text


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
    result = "".join([*parts, plain[last:]])
    return result if any(map(str.isalnum, result)) else text


WINDOW = 3
"""Neighboring sentences that may say something together."""
LIST = 400
"""Characters within which more of them may, where they are as short as the entries of a list."""
_ENTRY = 60


_MOST = 100
"""Windows of a text that are looked at closely."""


class Readable:
    """A text whose forms are made when first asked for."""

    def __init__(self, text: str, language: str | None = None) -> None:
        self.text = text
        self._language = language
        self._terms: dict[str, frozenset[int]] = {}
        self._sentences_with: dict[str, dict[int, list[int]]] = {}
        self._plain_sentences: dict[int, str] = {}

    @cached_property
    def plain(self) -> str:
        """Words and numbers in one spelling."""
        return plain_form(self.text)

    @cached_property
    def readings(self) -> tuple[str, ...]:
        """The same, as it is sought in another text: where its numbers can be read in two ways, both."""
        return readings(self.text)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """In the order of the text."""
        return read_numbers(self.readings[0], self.language)

    @property
    def language(self) -> str:
        """What its terms are read in: a two-letter code, or none."""
        if self._language is None:
            message = language_of_text(self.text)
            self._language = NONE if message == UNKNOWN else message
        return self._language

    def terms(self, language: str) -> frozenset[int]:
        """Its content terms in a language, each once: stems, without the small words."""
        if language not in self._terms:
            self._terms[language] = frozenset(text_terms(self.text, language).hash.tolist())
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
        """The neighboring sentences that have at least so many of the terms, those with most first: for each sentence
        of a window the terms it has. What is said again in the same words is left out."""
        has: defaultdict[int, set[int]] = defaultdict(set)
        index = self._index(language)
        for term in terms:
            for number in index.get(term, ()):
                has[number].add(term)
        result: dict[str, tuple[int, list[int]]] = {}
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
                        result.setdefault(text, (len(shared), [*numbers]))
                last += 1
        best = nsmallest(_MOST, result.values(), key=lambda pair: (-pair[0], len(pair[1])))
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
            result: defaultdict[int, list[int]] = defaultdict(list)
            terms = text_terms(self.text, language)
            starts = np.array(self.sentence_starts, dtype=np.int64)
            numbers = (starts.searchsorted(terms.start, "right") - 1).tolist()
            for term, number in zip(terms.hash.tolist(), numbers, strict=True):
                result[term].append(number)
            self._sentences_with[language] = dict(result)
        return self._sentences_with[language]


def brings_number(question: str, answer: str, language: str) -> bool:
    """Whether an answer has a number that its question has not."""
    asked, answered = (read_numbers(plain_form(text), language) for text in (question, answer))
    return not all(has_number(asked, number) for number in answered)


def sentences(text: str) -> list[Readable]:
    """The sentences of an answer that say something, without citation marks; "Yes." has no content term that could be
    sought."""
    whole = Readable(without_citation_marks(text))
    language = whole.language  # of one sentence alone it is harder to tell
    every = (whole.sentence(number) for number in range(len(whole.sentence_starts)))
    readable = (Readable(sentence.strip(), language) for sentence in every)
    return [item for item in readable if len(item.terms(language))]
