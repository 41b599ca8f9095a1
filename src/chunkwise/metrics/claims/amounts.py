"""Numbers with what they count: 5 days are neither 5 weeks nor 7 days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from chunkwise.metrics.claims.plain_form import HAN_NUMBER, plain_form
from chunkwise.text.terms import stemmer, stop_words

_NUMBER_WORDS = {
    "en": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen | twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn | zwanzig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
    " | vingt trente quarante cinquante soixante",
    "es": "un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
    " | veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "it": "un due tre quattro cinque sei sette otto nove dieci undici dodici"
    " | venti trenta quaranta cinquanta sessanta",
    "pt": "um dois três quatro cinco seis sete oito nove dez onze doze | vinte trinta quarenta cinquenta sessenta",
    "nl": "een twee drie vier vijf zes zeven acht negen tien elf twaalf | twintig dertig veertig vijftig zestig",
}  # fmt: skip
_ONE = frozenset("one ein eine einen einem einer eins un une una um uma een".split())
"""Numbers only before a unit: elsewhere they are articles and pronouns."""
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
_SCALES = {
    "hundred": 10**2, "dozen": 12, "thousand": 10**3, "million": 10**6, "millions": 10**6, "billion": 10**9,
    "billions": 10**9, "trillion": 10**12, "hundert": 10**2, "tausend": 10**3, "millionen": 10**6, "mio": 10**6,
    "milliarde": 10**9, "milliarden": 10**9, "mrd": 10**9, "milliard": 10**9, "milliards": 10**9, "millones": 10**6,
}  # fmt: skip
_SIGNS = frozenset("$€£¥")
_DECIMAL = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,6})?")
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
    """Which words are numbers, or parts of one: twenty five, 1.5 million."""

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

    def near(self, at: int, word: str) -> bool:
        """Whether a word stands by a number."""
        return (
            word in self.words[at + 1 : at + 1 + _REACH] or word in self.words[max(0, at - 1) : at]
        )


@lru_cache(maxsize=1 << 10)
def counted(plain: str, language: str) -> Counted:
    """Reads a text in its plain form; small words are empty."""
    small, known = stop_words(language), _number_words(language)
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
    for at, word in enumerate(raw):
        unit = at + 1 < len(raw) and is_unit(words[at + 1], language)
        before = len(amounts)
        if _HAS_DIGIT.search(word):
            amounts.append(Amount(_NO_CENTS.sub("", word), at))
        elif word in known and (word not in _ONE or unit):
            # Twenty five: the tens go before.
            tens = amounts[-1] if amounts and amounts[-1].at == at - 1 else None
            if tens and raw[at - 1] in known and tens.number[-1:] == "0" and known[word] < 10:
                amounts[-1] = Amount(str(int(tens.number) + known[word]), at)
                numerals.add(at)
            else:
                amounts.append(Amount(str(known[word]), at))
        elif unit and all(each in HAN_NUMBER for each in word):
            amounts.append(Amount(str(_han_value(word)), at))
        if len(amounts) > before:
            numerals.add(at)
            numerals |= _scale(amounts, raw)
    return Counted(tuple(words), tuple(amounts), language, frozenset(numerals))


def _scale(amounts: list[Amount], raw: Sequence[str]) -> set[int]:
    """Multiplies the last number by the word behind it, also behind a currency: 1.5 million, 1.5 $ million."""
    number, at = amounts[-1]
    near = at + 1 + (at + 1 < len(raw) and raw[at + 1] in _SIGNS)
    scale = _SCALES.get(raw[near]) if near < len(raw) else None
    if scale is None or not _DECIMAL.fullmatch(number):
        return set()
    whole, _, part = number.partition(".")
    value = int(whole + part) * scale
    if value % 10 ** len(part):
        return set()
    amounts[-1] = Amount(str(value // 10 ** len(part)), at if near > at + 1 else near)
    return {near}


def has_amounts(text: Sequence[Counted], claim: Counted) -> bool:
    """Whether every number of the claim stands in one of these sentences with what it counts."""
    return all(
        any(_has(sentence, amount.number, claim.beside(amount.at)) for sentence in text)
        for amount in claim.amounts
    )


def _has(text: Counted, number: str, beside: str) -> bool:
    places = [amount.at for amount in text.amounts if amount.number == number]
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


@lru_cache(maxsize=64)
def _number_words(language: str) -> dict[str, int]:
    """English ones always, because of a short text the language is easily mistaken."""
    found: dict[str, int] = {}
    for name in ("en", language if language in _NUMBER_WORDS else "de"):
        ones, tens = (part.split() for part in _NUMBER_WORDS[name].split("|"))
        found |= {word: 1 + n for n, word in enumerate(ones)}
        found |= {word: 20 + 10 * n for n, word in enumerate(tens)}
        if name == "de":  # fünfundzwanzig
            found |= {
                f"{one}und{ten}": 1 + n + 20 + 10 * m
                for n, one in enumerate(ones[:9]) for m, ten in enumerate(tens)
            }  # fmt: skip
    small = frozenset() if language == "en" else stop_words(language)
    return {word: value for word, value in found.items() if word not in small} | dict.fromkeys(
        _ONE, 1
    )


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
