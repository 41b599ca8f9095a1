"""A text as it is read for claims: in its plain form, and its sentences, terms, numbers and names, each found once."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from heapq import nsmallest
from typing import TypeVar

import numpy as np
import regex

from chunkwise.core import Document
from chunkwise.metrics.claims.quantities import quantities_of
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import UNKNOWN, language_of_text
from chunkwise.text.terms import NONE, Terms, text_terms

# Only what begins with a digit is looked at: everything else in a text is passed over quickly.
_WRITTEN = re.compile(r"[0-9](?<![0-9.,][0-9])[0-9]*(?:[.,'’][0-9]+)+")
_SPACED = re.compile(r"[1-9](?<![\w.,][0-9])(?<![0-9] [0-9])[0-9]{0,2}(?: [0-9]{3})+(?! ?[0-9])")
_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?:([,'’])[0-9]{3})(?:\1[0-9]{3})*(?:\.[0-9]+)?")
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_POINTS = re.compile(r"[1-9][0-9]{0,2}(?:(?:\.[0-9]{3}){2,}|(?:\.[0-9]{3})+,[0-9]+)")
_ONE_POINT = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_DECIMALS = re.compile(r"[0-9]+,[0-9]+")
_MONEY_BEFORE = re.compile(r"(?:[$£¥€]|eur|chf) ?\Z", re.IGNORECASE)
_MONEY_BEHIND = re.compile(r"\s?(?:[$£¥€]|eur|chf)", re.IGNORECASE)
_DECADE = "|".join(
    f"(?<={before}0)"
    for before in (
        "1[0-9][0-9]", "20[0-9]", "['’][1-9]", "[Ii]n the [1-9]", "of the [1-9]", "[Ss]ince the [1-9]",
        "[Dd]uring the [1-9]", "[Ee]arly [1-9]", "[Ll]ate [1-9]", "[Mm]id[ -][1-9]",
    )
)  # fmt: skip
# No unit: 5th, 5G and 3M, the 1960s, in the 60s.
_UNIT = re.compile(
    r"[0-9](?<![\w.][0-9])[0-9]*(?:\.[0-9]+)*(?!(?:st|nd|rd|th|[GHMST])\b)"
    rf"(?!(?:{_DECADE})s\b)(?=[^\W\d_]+(?![^\W_]))"
)
# What an apostrophe has shortened to one letter is no unit: "en 2019 l'entreprise" are no litres.
_ELIDED = re.compile(r"(?<=[0-9] )[lmst]['’](?=[^\W\d_]{2})", re.IGNORECASE)
_MILLIONS = re.compile(
    r"((?:[$£¥€]|\b(?:usd|eur|gbp|jpy|chf)) ?[0-9](?:[0-9.,]*[0-9])?) ?(k|mn?|bn?|tn)\b(?!['’])"
    r"|(?<![\w.,])([0-9](?:[0-9.,]*[0-9])?) ?(k|mn?|bn?|tn)(?= ?(?:[$£¥€]|(?:usd|eur|gbp|jpy|chf)\b))",
    re.IGNORECASE,
)
_SCALE = {"k": "thousand", "m": "million", "b": "billion", "t": "trillion"}
# Three numbers side by side are no date; points keep together those that were written as one.
_SHORT_DATE = re.compile(
    r"(?<![\w./-])([0-9]{1,2})([/-])([0-9]{1,2})\2([0-9]{2})(?![\w/-]|\.[0-9])"
)
_AREA = re.compile(r"(?<=[0-9])(?=[cdk]?m[23]\b)")
_CLOCK = re.compile(r"(?<![\w.:])([01]?[0-9]|2[0-4]):([0-5][0-9])(?![\w:]|\.[0-9])")
_HALVES = re.compile(
    r"(?<![0-9/.,])(?:([0-9]{1,6}) )?(1/2|[13]/4|[1-4]/5|[1357]/8)(?![0-9/]|[.,][0-9])"
)
_PLAIN_MARKS = re.compile("[,'’]")
_WITH_POINTS = frozenset("da de el es fr id it nl pt ro tr".split())
"""Languages in which a point parts thousands."""


def in_one_spelling(text: str, points: bool | None = None) -> str:
    """The text with 1,000, 1 000, 1'000 and 12,34,567 without their marks, 3,5 and 3 1/2 as 3.5, 5kg as 5 kg,
    17:30 as 17h30, $5m as $5 million, 3/5/21 as 3.5.21.

    A comma before exactly three digits parts thousands, any other one decimals; several (3,5,7) are a list. A point
    before exactly three digits parts thousands where there are several, where a decimal comma follows, or in money,
    which has two decimals; else `points` says it, or, where that is None, the text's language. A space parts
    thousands where no other number stands beside them.
    """

    def spelled(match: re.Match[str]) -> str:
        nonlocal points
        number = match[0]
        if _GROUPS.fullmatch(number) or _INDIAN.fullmatch(number):
            return _PLAIN_MARKS.sub("", number)
        if _POINTS.fullmatch(number):
            return number.replace(".", "").replace(",", ".")
        if _ONE_POINT.fullmatch(number):
            if not _is_money(text, *match.span()):
                if points is None:
                    points = points_part_thousands(language_of_text(text))
                if not points:
                    return number
            return number.replace(".", "")
        return number.replace(",", ".") if _DECIMALS.fullmatch(number) else number

    text = _SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    text = _ELIDED.sub("", _SHORT_DATE.sub(r"\1.\3.\4", _MILLIONS.sub(_in_full, text)))
    if "/" in text:
        text = _HALVES.sub(_decimals, text)
    if ":" in text:
        text = _CLOCK.sub(r"\1h\2", text)
    return _AREA.sub(" ", _UNIT.sub(r"\g<0> ", _WRITTEN.sub(spelled, text)))


def _in_full(match: re.Match[str]) -> str:
    return f"{match[1] or match[3]} {_SCALE[(match[2] or match[4])[0].lower()]}"


def _decimals(match: re.Match[str]) -> str:
    part = int(match[2][0]) / int(match[2][2])
    return f"{int(match[1] or 0) + part:g}"


def points_part_thousands(language: str) -> bool:
    """Whether 1.000 is a thousand in a text of this language."""
    return language in _WITH_POINTS


def _is_money(text: str, start: int, end: int) -> bool:
    before = _MONEY_BEFORE.search(text[max(0, start - 4) : start])
    return bool(before or _MONEY_BEHIND.match(text, end))


# Only words that are written both ways: "vitamin E-rich" is no word "erich". A digit beside one is a word of its own.
_E_WORD = re.compile(
    r"(?<![^\W\d_])e-(?=(?:mail|book|commerce|learning|reader|banking|government|signature|ticket|sport|bike|scooter"
    r"|invoice|cigarette|waste|paper|health|voting)(?:s|ed|ing)?(?![^\W\d_]))"
)
# Between letters alone: elsewhere it is a sign of code or of a list of numbers.
_AND = re.compile(r"(?<=[^\W\d_])\s*&\s*(?=[^\W\d_])")


def words_in_one_spelling(folded: str) -> str:
    """Of a text whose case is folded."""
    if "e-" in folded:
        folded = _E_WORD.sub("e", folded)
    return _AND.sub(" and ", folded) if "&" in folded else folded


# Written without spaces between words: every character is a word, so that a name is found inside a sentence.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
HAN_NUMBER = "零〇一二三四五六七八九十百千万亿两兩萬億"
# A full stop between digits is part of a number; so is a minus that follows no word. C++ and C# are not C.
_TOKEN = regex.compile(
    rf"[{HAN_NUMBER}]+|[{UNSPACED}]\p{{M}}*"
    r"|(?<![^\s(\[])-(?=\d)"
    rf"|(?:[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]|(?<=\d)\.(?=\d))+(?:\+\+|\#(?![\p{{L}}\p{{N}}]))?"
    r"|\^\d+"
    r"|[%‰°\p{Sc}]",
    regex.V1,
)
# The same for texts of Latin letters and the usual punctuation, several times faster.
_LATIN = re.compile("[\0-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf]*")
_LATIN_TOKEN = re.compile(
    r"[^\W_]+(?:(?<=[0-9])\.(?=[0-9])[^\W_]+)*(?:\+\+|#(?![^\W_]))?"
    r"|[%‰°$¢-¥\u20a0-\u20bf]"
    r"|(?<![^ \t-\r\x85(\[])-(?=[0-9])"
    r"|\^[0-9]+"
)
_DIGITS = re.compile(r"(?<= )\S*\d\S*")
_RAISED = regex.compile(r"(?<=\d)[⁰¹²³⁴-⁹]+")
_APART = regex.compile(r"(?<=\d)(?=[¼-¾⅐-⅞₀-₉])")
_FRACTION = re.compile("(?:(?<![0-9.,])([0-9]{1,6}) ?)?([¼-¾⅕-⅘⅛-⅞])")
_DECIMAL = {each: f"{unicodedata.numeric(each):g}"[1:] for each in "¼½¾⅕⅖⅗⅘⅛⅜⅝⅞"}
_INVISIBLE = regex.compile("[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")
_FOREIGN_DIGIT = regex.compile(r"(?![0-9])\p{Nd}")
_ARABIC_MARK = regex.compile(r"(?<=\d)[٫٬](?=\d)")
_MINUS = regex.compile(r"[−‐‑]|(?<![^\s(\[])–(?=\d)")
# A price is found whether its sign stands before or behind it.
_SIGN_FIRST = re.compile(r"(?<![0-9] )([$¢-¥\u20a0-\u20bf]) (-?[0-9][0-9.]*)(?= )")


def plain_form(text: str, points: bool | None = None) -> str:
    """Case, compatible characters, white space and punctuation do not count; numbers are in one spelling, for which
    `points` says whether a point parts thousands (None: told by the text). Begins and ends with a space, as every
    word does: what is found in it is found at the bounds of words."""
    if not text.isascii():
        text = _FRACTION.sub(lambda each: (each[1] or "0") + _DECIMAL[each[2]], text)
        text = _APART.sub(" ", _RAISED.sub(r" ^\g<0>", _INVISIBLE.sub("", text)))
        text = unicodedata.normalize("NFKC", _MINUS.sub("-", text))
        text = _ARABIC_MARK.sub(lambda match: "." if match[0] == "٫" else ",", text)
        # Digits of scripts that Python's own tables do not know yet stay as they are.
        text = _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0], match[0])), text)
    text = words_in_one_spelling(in_one_spelling(text, points).casefold())
    token = _LATIN_TOKEN if _LATIN.fullmatch(text) else _TOKEN
    words = " ".join(token.findall(text))
    return _SIGN_FIRST.sub(r"\2 \1", f" {words.replace('- ', '-')} ") if words else " "


def readings(text: str) -> tuple[str, ...]:
    """The plain forms of something sought: 1.000 alone does not tell whether it is one or a thousand."""
    return tuple({plain_form(text, points): None for points in (False, True)})


def holds(text: str, part: str) -> bool:
    """Whether a text holds another, both in their plain form; nothing is held by no text."""
    return part != " " and part in text


def numbers_of(text: str) -> frozenset[str]:
    """The words with a digit of a text in its plain form."""
    return frozenset(_DIGITS.findall(text))


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
