"""Whether a text has the numbers of a claim with what they count: 5 days are neither 5 weeks nor 7 days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from chunkwise.metrics.claims.quantities import (
    ONE,
    Quantity,
    are_same,
    number_at,
    number_words,
    quantities_of,
)
from chunkwise.metrics.claims.text_normalization import HAN_NUMBER, plain_form
from chunkwise.text.terms import stemmer, stop_words

_UNITS = (
    "second minute hour day week month quarter year decade century night s sec min h hr hrs am pm"
    " sekunde stunde tag tagen woche monat quartal jahr jahrzehnt jahrhundert uhr"
    " seconde heure jour semaine mois trimestre an ans année segundo minuto hora día semana mes trimestre año"
    " kg g mg t lb lbs oz gram kilogram ton tonne mm cm m km mile metre meter foot feet inch yard ha"
    " l ml litre liter kb mb gb tb byte w kw kwh v hz ‰ ¢ £ ¥ franc yen cent pound"
    " hundred thousand million billion dozen hundert tausend million milliarde mio mrd"
    " 天 日 年 月 周 星 小 分 秒 元 块 岁 个 人 米 公 克 名 次 倍 点 時 間 週 円 일 년 월 주 시 분 원 개"
)
_SAME = {
    "percent": "%", "prozent": "%", "procent": "%", "pct": "%", "percentage": "%",
    "euro": "€", "euros": "€", "eur": "€", "dollar": "$", "dollars": "$", "usd": "$", "gbp": "£",
    "kilo": "kg", "kilos": "kg", "kilogram": "kg", "kilograms": "kg", "kilogramm": "kg", "hrs": "hour", "hr": "hour",
}  # fmt: skip
_NO_CENTS = re.compile(r"\.0+\Z")
_HAS_DIGIT = re.compile(r"\d")
_REACH = 3
"""Words behind a number of a text among which is what it counts: 5 full working days."""


class Amount(NamedTuple):
    """A number of a sentence."""

    number: str
    at: int
    """Which word it is."""


class Counted(NamedTuple):
    """The words of a sentence in its plain form, as stems, with its numbers."""

    words: tuple[str, ...]
    amounts: tuple[Amount, ...]
    language: str
    numerals: frozenset[int] = frozenset()
    """Which words are numbers, or parts of one, or of a quantity: twenty five, 1.5 million, half an hour, 5 p.m."""
    quantities: tuple[Quantity, ...] = ()

    def beside(self, at: int) -> str:
        """What a number counts: a unit directly behind it or one word on, else the next word; empty: a small word."""
        near = self.words[at + 1 : at + 3]
        for word in near:
            if is_unit(word, self.language):
                return word
            if not word or _HAS_DIGIT.search(word):
                break
        return near[0] if near and not _HAS_DIGIT.search(near[0]) else ""

    def is_measure(self, at: int) -> bool:
        """Whether a number counts units."""
        return is_unit(self.beside(at), self.language)

    @property
    def measures(self) -> list[Amount]:
        """The numbers that count units."""
        return [amount for amount in self.amounts if self.is_measure(amount.at)]

    @property
    def numbers(self) -> list[Quantity | Amount]:
        """The quantities, and the numbers that are part of none."""
        within = {at for each in self.quantities for at in range(each.first, each.end)}
        return [*self.quantities, *(each for each in self.amounts if each.at not in within)]

    def apart_from(self, sought: Quantity) -> Counted:
        """Without the numbers of quantities that are read in another way."""
        read = {
            at
            for each in self.quantities if each.readings != sought.readings
            for at in range(each.first, each.end)
        }  # fmt: skip
        return self._replace(amounts=tuple(each for each in self.amounts if each.at not in read))

    def near(self, at: int, word: str) -> bool:
        """Whether a word stands by a number."""
        return (
            word in self.words[at + 1 : at + 1 + _REACH] or word in self.words[max(0, at - 1) : at]
        )


@lru_cache(maxsize=1 << 10)
def counted(plain: str, language: str) -> Counted:
    """Reads a text in its plain form; small words are empty."""
    small, known = stop_words(language), number_words(language)
    stem = stemmer(language)
    raw = plain.split()
    words = [_SAME.get(word) or stem(word) for word in raw]
    for at, word in enumerate(raw):
        # 5 m and 9 am are measures, though m and am are small words, too.
        if word in small and not (
            at
            and _HAS_DIGIT.search(raw[at - 1])
            and is_unit(words[at], language)
            and language == "en"
        ):
            words[at] = ""
    amounts: list[Amount] = []
    numerals: set[int] = set()
    at = 0
    while at < len(raw):
        word, end = raw[at], at + 1
        number = number_at(raw, at, known) if word in known or _HAS_DIGIT.search(word) else None
        if number is not None:
            end = number.end
        unit = end < len(raw) and is_unit(words[end], language)
        if number is not None and (word not in ONE or unit or not number.is_plain):
            # Digits stay as they are written: 007 is not 7.
            own = (
                _NO_CENTS.sub("", word)
                if number.is_plain and word not in known
                else _written(number.value)
            )
            amounts.append(Amount(own, end - 1))
            numerals.update(range(at, end))
        elif _HAS_DIGIT.search(word):
            amounts.append(Amount(word, at))
            numerals.add(at)
        elif unit and all(each in HAN_NUMBER for each in word):
            amounts.append(Amount(str(_han_value(word)), at))
            numerals.add(at)
        else:
            end = at + 1
        at = end
    found = quantities_of(plain, language)
    for quantity in found:
        numerals.update(range(quantity.first, quantity.end))
    return Counted(tuple(words), tuple(amounts), language, frozenset(numerals), found)


def _written(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.6f}".rstrip("0")


def has_amounts(text: Sequence[Counted], claim: Counted) -> bool:
    """Whether every number of the claim stands in one of these sentences with what it counts, in whatever unit."""
    return all(has_number(text, claim, each) for each in claim.numbers)


def has_number(text: Sequence[Counted], claim: Counted, number: Quantity | Amount) -> bool:
    """Whether one number of the claim does."""
    if isinstance(number, Quantity):
        return has_quantity(text, number) or _has_plainly(text, claim, number)
    return any(_has(sentence, number.number, claim.beside(number.at)) for sentence in text)


def has_quantity(text: Sequence[Counted], sought: Quantity) -> bool:
    """Whether one of these sentences has the same quantity."""
    return any(
        are_same(sought.readings, each.readings)
        for sentence in text
        for each in sentence.quantities
    )


def _has_plainly(text: Sequence[Counted], claim: Counted, sought: Quantity) -> bool:
    """Whether the numbers of a quantity stand there with the same words: 5 days are 5 working days.

    What is read as another quantity there is another one: 20 °F are not 20 °C.
    """
    within = [each for each in claim.amounts if sought.first <= each.at < sought.end]
    if not sought.is_plain or not within:
        return False
    free = [sentence.apart_from(sought) for sentence in text]
    return all(
        any(_has(sentence, each.number, claim.beside(each.at)) for sentence in free)
        for each in within
    )


def _has(text: Counted, number: str, beside: str) -> bool:
    # Open from 9 to 17 is from 9:00 to 17:00.
    forms = number, f"{number}h00"
    places = [amount.at for amount in text.amounts if amount.number in forms]
    if not places or not beside:
        return bool(places)
    if any(text.near(at, beside) for at in places):
        return True
    if is_unit(beside, text.language):
        return False
    # Another word may follow in a paraphrase, unless it is counted by another number, or the number counts units.
    following = [text.words[amount.at + 1 : amount.at + 2] for amount in text.amounts]
    return (beside,) not in following and not all(map(text.is_measure, places))


def is_unit(word: str, language: str) -> bool:
    """Of a stem: whether it is a measure, a currency or a word like million."""
    return word in _units(language)


@lru_cache(maxsize=64)
def _units(language: str) -> frozenset[str]:
    stem = stemmer(language)
    forms = (form for word in _UNITS.split() for form in (word, f"{word}s"))
    return frozenset(map(stem, forms)) | set(_SAME.values()) | {"°"}


def _han_value(word: str) -> int:
    """Of a Chinese numeral: 十五 is 15, 二〇二四 is 2024."""
    digits, tens = (
        "零一二三四五六七八九",
        {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8},
    )
    word = word.translate(str.maketrans("〇两兩萬億", "零二二万亿"))
    if all(each in digits for each in word):
        return int("".join(str(digits.index(each)) for each in word))
    total = section = digit = 0
    for each in word:
        if each in digits:
            digit = digits.index(each)
        elif tens[each] < 10**4:
            section += (digit or 1) * tens[each]
            digit = 0
        else:
            total = (total + section + digit or 1) * tens[each]
            section = digit = 0
    return total + section + digit


def brings_number(question: str, answer: str, language: str) -> bool:
    """Whether the answer has a number, in digits or in words, that the question has not."""
    asked, answered = (
        {amount.number for amount in counted(plain_form(text), language).amounts}
        for text in (question, answer)
    )
    return bool(answered - asked)
