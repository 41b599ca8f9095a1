"""Numbers with their units, however they are written: 1.5 km is 1,500 meters, six months are 6 months."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from chunkwise.text.terms import stop_words

# Ones from 1 on, then tens from 20 on.
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
_ARTICLES = frozenset("one ein eine einen einem einer eins un une una um uma een".split())
"""Numbers only before a unit."""
_SCALES = {
    "dozen": 12, "hundred": 100, "hundert": 100, "thousand": 10**3, "tausend": 10**3, "million": 10**6,
    "millions": 10**6, "millionen": 10**6, "millones": 10**6, "mio": 10**6, "mn": 10**6, "billion": 10**9,
    "billions": 10**9, "bn": 10**9, "milliarde": 10**9, "milliarden": 10**9, "mrd": 10**9, "milliard": 10**9,
    "milliards": 10**9, "trillion": 10**12, "tn": 10**12, "十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4,
    "亿": 10**8, "億": 10**8,
}  # fmt: skip
_LETTERS = {"k": 10**3, "m": 10**6, "b": 10**9}
"""Scales beside a currency: $5m."""
_HAN_DIGITS = dict(zip("零一二三四五六七八九〇两兩", (*range(10), 0, 2, 2), strict=True))
HAN_NUMBER = "".join(_HAN_DIGITS) + "十百千万亿萬億"


# By measure, `factor spellings` of each unit; several words are joined by _, the plural in -s need not be written.
_UNITS = {
    "time": "1/1000 ms millisecond millisekunde, 1 s sec sek second sekunde sekunden seconde segundo secondo,"
    " 60 min minute minuten minuto, 3600 h hr std hour stunde stunden heure hora ora uur,"
    " 86400 day tag tage tagen jour día dia giorno dag dagen, 604800 week woche wochen semaine semana settimana",
    "months": "1 month monat monate monaten mois mes meses mese mesi maand maanden, 3 quarter quartal quartale"
    " trimestre, 12 yr year jahr jahre jahren ans année año anno anni jaar, 120 decade jahrzehnt jahrzehnte,"
    " 1200 century centuries jahrhundert jahrhunderte siècle siglo",
    "am": "1 am a_m", "pm": "1 pm p_m",
    "mass": "1/1000 mg milligram, 1 g gr gram gramme gramm, 1000 kg kilo kilogram kilogramme kilogramm,"
    " 1000000 t tonne tonnen, 45359237/100000 lb, 45359237/1600000 oz ounce unze",
    "length": "1/1000 mm millimetre millimeter, 1/100 cm centimetre centimeter zentimeter, 1 m metre meter mètre metro,"
    " 1000 km kilometre kilometer kilomètre kilómetro, 127/5000 inch inches zoll, 381/1250 ft foot feet fuss,"
    " 1143/1250 yd yard, 201168/125 mi mile meile meilen",
    "area": "1/10000 cm2 square_centimetre square_centimeter quadratzentimeter, 1 m2 m_^2 sqm sq_m qm square_metre"
    " square_meter quadratmeter mètre_carré metro_cuadrado, 1000000 km2 km_^2 sq_km square_kilometre square_kilometer"
    " quadratkilometer, 10000 ha hectare hektar, 145161/1562500 ft2 sq_ft sqft square_foot square_feet,"
    " 316160658/78125 acre, 404685642240000/156250000 square_mile sq_mi",
    "volume": "1/1000 ml millilitre milliliter, 1/100 cl centilitre centiliter, 1 l litre liter litro,"
    " 100 hl hectolitre hektoliter, 1000 m3 m_^3 cubic_metre cubic_meter kubikmeter",
    "speed": "1 km_h kmh kph kilometre_per_hour kilometres_per_hour kilometers_per_hour stundenkilometer,"
    " 201168/125000 mph mile_per_hour miles_per_hour",
    "bytes": "1 byte, 1000 kb kilobyte, 1000000 mb megabyte, 1000000000 gb gigabyte, 1000000000000 tb terabyte",
    "power": "1 w watt, 1000 kw kilowatt, 1000000 mw megawatt",
    "energy": "1 wh, 1000 kwh kilowatt_hour kilowattstunde kilowattstunden, 1000000 mwh",
    "frequency": "1 hz hertz, 1000 khz, 1000000 mhz, 1000000000 ghz",
    "voltage": "1 v volt, 1000 kv kilovolt",
    "share": "1 % percent per_cent prozent procent pct percentage pour_cent por_ciento, 1/10 ‰ permille promille",
    "celsius": "1 ° °_c degree degree_celsius degrees_celsius celsius grad grad_celsius degré degrés_celsius grado",
    "fahrenheit": "1 °_f degree_fahrenheit degrees_fahrenheit fahrenheit",
    "$": "1 $ dollar usd us_dollar", "€": "1 € euro eur", "¥": "1 ¥ yen jpy",
    "£": "1 £ gbp pound pound_sterling pounds_sterling", "chf": "1 chf franc franken swiss_franc schweizer_franken",
    **{unit: f"1 {unit}" for unit in "天日年月周星小分秒元块岁个人米公克名次倍点時間週円일년월주시분원개"},
}  # fmt: skip
MONEY = frozenset("$€£¥") | {"chf"}
_MOST_WORDS = 3
"""Of a unit."""
_LARGEST = 10**18
_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?")
_HAS_DIGIT = re.compile(r"\d")


class Number(NamedTuple):
    """A number of a text, with the unit behind it or the currency beside it."""

    value: Fraction | str
    """As it is written where it is no plain number: q3, 2.1.0, 007."""
    measure: str
    """What its unit measures; empty: it has none."""
    factor: Fraction
    """How large the unit is."""
    first: int
    end: int
    """Which words it is."""


@lru_cache(maxsize=1)
def units() -> Mapping[str, tuple[str, Fraction]]:
    """Every spelling of a unit, with its measure and how many of the measure it is."""
    return {
        form: (measure, Fraction(factor))
        for measure, described in _UNITS.items()
        for factor, *spellings in map(str.split, described.split(","))
        for unit in (spelling.replace("_", " ") for spelling in spellings)
        for form in ((unit, f"{unit}s") if unit[-1].isalpha() else (unit,))
    }


def follows_number(word: str) -> bool:
    """Whether a word is a unit or multiplies a number."""
    return word in units() or word in _SCALES or word in _LETTERS


@lru_cache(maxsize=64)
def _number_words(language: str) -> Mapping[str, int]:
    """Of a language and of English, for which a short text is easily mistaken; so is German for English."""
    values: dict[str, int] = {}
    for name in ("en", language if language in _NUMBER_WORDS and language != "en" else "de"):
        ones, tens = (part.split() for part in _NUMBER_WORDS[name].split("|"))
        values |= {word: n for n, word in enumerate(ones, 1)}
        values |= {word: 10 * n for n, word in enumerate(tens, 2)}
        if name == "de":  # fünfundzwanzig
            values |= {f"{one}und{ten}": values[one] + values[ten] for one in ones[:9] for ten in tens}  # fmt: skip
    small = frozenset(("elf",)) if language == "en" else stop_words(language)
    known = {word: value for word, value in values.items() if word not in small}
    return known | dict.fromkeys(_ARTICLES, 1)


@lru_cache(maxsize=1 << 12)
def read_numbers(plain: str, language: str = "en") -> tuple[Number, ...]:
    """The numbers of a text in its plain form, from the left, none over another."""
    words, known = plain.split(), _number_words(language)
    numbers: list[Number] = []
    at = 0
    while at < len(words):
        is_free = at > (numbers[-1].end if numbers else 0)
        number = _number_at(words, at, known, language, words[at - 1] if is_free else "")
        if number is not None:
            numbers.append(number)
        at = number.end if number is not None else at + 1
    return tuple(numbers)


def _number_at(
    words: Sequence[str], at: int, known: Mapping[str, int], language: str, before: str
) -> Number | None:
    word = words[at]
    needs_unit = word in _ARTICLES or all(sign in HAN_NUMBER for sign in word)
    value: Fraction | str = word
    end = at + 1
    if _DIGITS.fullmatch(word) or word in known or needs_unit:
        value, end = _value(words, at, known)
    elif not _HAS_DIGIT.search(word):
        return None
    currency = units().get(before, ("",))[0]
    if currency in MONEY:
        letter = _LETTERS.get(words[end]) if end < len(words) else None
        value, end = _times(value, letter or 1), end + (letter is not None)
        return Number(value, currency, Fraction(1), at - 1, end)
    if words[end : end + 1] and words[end] in _LETTERS and _unit(words, end + 1, language)[0] in MONEY:  # fmt: skip
        value, end = _times(value, _LETTERS[words[end]]), end + 1
    unit, factor, behind = _unit(words, end, language)
    if needs_unit and not unit and end == at + 1:
        return None
    return Number(value, unit, factor, at, behind)


def _times(value: Fraction | str, factor: Fraction | int) -> Fraction | str:
    return value if isinstance(value, str) else value * factor


def _unit(words: Sequence[str], at: int, language: str) -> tuple[str, Fraction, int]:
    """The longest that begins here, and where it ends; empty: none does."""
    for count in range(min(_MOST_WORDS, len(words) - at), 0, -1):
        name = " ".join(words[at : at + count])
        # One letter may be a word of another language: w, s, v.
        is_word = len(name) == 1 and language != "en" and name in stop_words(language)
        if name in units() and not is_word:
            return *units()[name], at + count
    return "", Fraction(1), at


def _value(words: Sequence[str], at: int, known: Mapping[str, int]) -> tuple[Fraction, int]:
    """Of digits or words with what multiplies them: 1.5 million, two hundred and fifty, 三百二十."""
    word = words[at]
    if all(sign in HAN_NUMBER for sign in word):
        if all(sign in _HAN_DIGITS for sign in word):  # 二〇二四
            return Fraction("".join(str(_HAN_DIGITS[sign]) for sign in word[:15])), at + 1
        return _compose(list(word), 0, _HAN_DIGITS)[0], at + 1
    if not _DIGITS.fullmatch(word):
        return _compose(words, at, known)
    value, end = Fraction(word), at + 1
    while end < len(words) and words[end] in _SCALES and value < _LARGEST:
        value, end = value * _SCALES[words[end]], end + 1
    return value, end


def _compose(words: Sequence[str], at: int, known: Mapping[str, int]) -> tuple[Fraction, int]:
    """Each word is smaller than the one before it, or multiplies it."""
    total = section = group = 0
    room = _LARGEST
    end = at
    while end < len(words) and total < _LARGEST:
        word = words[end]
        step = end + (word == "and" and end > at and room >= 100 and end + 1 < len(words))
        value, scale = known.get(words[step]), _SCALES.get(word)
        if scale is not None and scale < 10**4 and (scale < 10**3 or word == "千"):
            section, group, room = section + (group or 1) * scale, 0, scale
        elif scale is not None:
            total, section, group, room = total + (section + group or 1) * scale, 0, 0, scale
        elif value is not None and value < room and (step == at or words[step] not in _ARTICLES - {"one"}):  # fmt: skip
            group, room, end = group + value, 10 if value >= 20 else 0, step
        else:
            break
        end += 1
    return Fraction(total + section + group), end


def has_number(numbers: Iterable[Number], sought: Number) -> bool:
    """Whether one of the numbers is the same; one without a unit may be, where none has the measure that is sought."""
    same: list[Number] = []
    others: list[Number] = []
    for number in numbers:
        (same if number.measure == sought.measure else others).append(number)
    if same and sought.measure:
        amount = _times(sought.value, sought.factor)
        return any(_times(number.value, number.factor) == amount for number in same)
    comparable = (number for number in (*same, *others) if not (number.measure and sought.measure))
    return any(number.value == sought.value for number in comparable)
