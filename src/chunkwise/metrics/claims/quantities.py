"""Quantities however they are written: half an hour is 30 minutes, 5 p.m. is 17:00, 120 m² are 120 square metres."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from chunkwise.text.language import MONTH_NUMBERS
from chunkwise.text.terms import stop_words

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
ONE = frozenset("one ein eine einen einem einer eins un une una um uma een".split())
"""Numbers only before a unit: elsewhere they are articles and pronouns."""
SCALES = {
    "hundred": 10**2, "dozen": 12, "thousand": 10**3, "million": 10**6, "millions": 10**6, "billion": 10**9,
    "billions": 10**9, "trillion": 10**12, "hundert": 10**2, "tausend": 10**3, "millionen": 10**6, "mio": 10**6,
    "mn": 10**6, "bn": 10**9, "milliarde": 10**9, "milliarden": 10**9, "mrd": 10**9, "milliard": 10**9,
    "milliards": 10**9, "millones": 10**6,
}  # fmt: skip


@lru_cache(maxsize=64)
def number_words(language: str) -> dict[str, int]:
    """English ones always, because of a short text the language is easily mistaken; so it is German that is taken for
    English."""
    found: dict[str, int] = {}
    for name in ("en", language if language in _NUMBER_WORDS and language != "en" else "de"):
        ones, tens = (part.split() for part in _NUMBER_WORDS[name].split("|"))
        found |= {word: 1 + n for n, word in enumerate(ones)}
        found |= {word: 20 + 10 * n for n, word in enumerate(tens)}
        if name == "de":  # fünfundzwanzig
            found |= {
                f"{one}und{ten}": 1 + n + 20 + 10 * m
                for n, one in enumerate(ones[:9]) for m, ten in enumerate(tens)
            }  # fmt: skip
    small = frozenset(("elf",)) if language == "en" else stop_words(language)
    return {word: value for word, value in found.items() if word not in small} | dict.fromkeys(
        ONE, 1
    )


Measure = str
"""What is measured, in which unit: time in seconds, money in euros."""

# Each line: the measure, then `factor: spellings`, several words joined by _. The plural in -s need not be written.
_UNITS = """
time     1/1000: ms millisecond millisekunde; 1: s sec sek second sekunde sekunden seconde segundo secondo
         60: min minute minuten minuto; 3600: h hr std hour stunde stunden heure hora ora uur
         86400: day tag tage tagen jour día dia giorno dag dagen; 604800: week woche wochen semaine semana settimana
         1209600: fortnight
months   1: month monat monate monaten mois mes meses mese mesi maand maanden; 3: quarter quartal quartale trimestre
         12: yr year jahr jahre jahren an ans année año anno anni jaar; 120: decade jahrzehnt jahrzehnte
         1200: century centuries jahrhundert jahrhunderte siècle siglo
mass     1/1000: mg milligram; 1: g gr gram gramme gramm; 1000: kg kilo kilogram kilogramme kilogramm
         1000000: t tonne tonnen; 45359237/100000: lb pound; 45359237/1600000: oz ounce unze
length   1/1000: mm millimetre millimeter; 1/100: cm centimetre centimeter zentimeter; 1: m metre meter mètre metro
         1000: km kilometre kilometer kilomètre kilómetro; 127/5000: inch inches zoll; 381/1250: ft foot feet fuss
         1143/1250: yd yard; 201168/125: mi mile meile meilen
area     1/10000: cm2 cm_^2 sq_cm square_centimetre square_centimeter quadratzentimeter
         1: m2 m_^2 sqm sq_m qm square_metre square_meter quadratmeter mètre_carré mètres_carrés metro_cuadrado
         1000000: km2 km_^2 sq_km square_kilometre square_kilometer quadratkilometer; 10000: ha hectare hektar
         145161/1562500: ft2 ft_^2 sq_ft sqft square_foot square_feet; 316160658/78125: acre
         404685642240000/156250000: square_mile sq_mi
volume   1/1000: ml millilitre milliliter; 1/100: cl centilitre centiliter; 1: l litre liter litro
         100: hl hectolitre hektoliter; 1000: m3 m_^3 cubic_metre cubic_meter kubikmeter
speed    1: km_h kmh kph kilometre_per_hour kilometres_per_hour kilometers_per_hour stundenkilometer
         201168/125000: mph mile_per_hour miles_per_hour
bytes    1: byte; 1000: kb kilobyte; 1000000: mb megabyte; 1000000000: gb gigabyte; 1000000000000: tb terabyte
power    1: w watt; 1000: kw kilowatt; 1000000: mw megawatt
energy   1: wh; 1000: kwh kilowatt_hour kilowattstunde kilowattstunden; 1000000: mwh
pitch    1: hz hertz; 1000: khz; 1000000: mhz; 1000000000: ghz
voltage  1: v volt; 1000: kv kilovolt
share    1: % percent per_cent prozent procent pct percentage pour_cent por_ciento; 1/10: ‰ permille promille
angle    1: ° degree grad degré grado
celsius  1: °_c degree_celsius degrees_celsius degree_c degrees_c celsius grad_celsius degrés_celsius ° degree
$        1: $ dollar usd us_dollar; €  1: € euro eur; £  1: £ gbp pound pound_sterling pounds_sterling
¥        1: ¥ yen jpy; chf  1: chf franc franken swiss_franc schweizer_franken
times    1: time mal fois vez veces
"""
_FAHRENHEIT = frozenset(
    ("° f", "degree fahrenheit", "degrees fahrenheit", "fahrenheit", "degrees f", "degree f")
)
_LINE = re.compile(r"(?:^|;\s+)(?P<measure>[a-z$€£¥]+)\s{1,8}(?=\d)", re.MULTILINE)
_FACTOR = re.compile(r"(\d+(?:/\d+)?): ([^:;\n]+)")
MONEY = frozenset(("$", "€", "£", "¥", "chf"))
_CODES = {"usd": "$", "eur": "€", "gbp": "£", "jpy": "¥", "chf": "chf"}
"""Before an amount: USD 150."""
_LONGEST = 3
"""Words of a unit at most."""


@lru_cache(maxsize=1)
def units() -> dict[str, tuple[tuple[Measure, Fraction], ...]]:
    """Every spelling of a unit with what it may be: pounds are weighed and paid."""
    found: dict[str, tuple[tuple[Measure, Fraction], ...]] = {}
    starts = list(_LINE.finditer(_UNITS))
    for match, behind in zip(starts, [*starts[1:], None], strict=True):
        part = _UNITS[match.end() : behind.start() if behind else None]
        for factor, spellings in _FACTOR.findall(part):
            for spelling in spellings.split():
                one = spelling.replace("_", " ")
                for form in (one, f"{one}s") if one[-1].isalpha() else (one,):
                    found[form] = (*found.get(form, ()), (match["measure"], Fraction(factor)))
    return found


class Day(NamedTuple):
    """One day of the calendar."""

    year: int
    month: int
    day: int


Reading = tuple[Measure, Fraction] | Day


class Quantity(NamedTuple):
    """A part of a sentence that measures something, tells a time of the day or names a day."""

    first: int
    end: int
    """Which words it is."""
    readings: frozenset[Reading]
    """What it may mean: 3/5/2021 is two days, 5:30 two times of the day."""
    is_plain: bool
    """Whether its number alone, with the same word beside it, says the same."""


def are_same(one: frozenset[Reading], other: frozenset[Reading]) -> bool:
    """Whether two quantities are one; of two that both may be read in two ways nobody can say it."""
    return bool(one & other) and min(len(one), len(other)) == 1


@lru_cache(maxsize=1 << 12)
def quantities_of(plain: str, language: str = "en") -> tuple[Quantity, ...]:
    """Those of a text in its plain form, from the left, none over another."""
    words, known = plain.split(), number_words(language)
    days = _days(plain)
    found: list[Quantity] = []
    at = 0
    while at < len(words):
        quantity = days.get(at)
        if quantity is None and (_may_begin(words[at]) or words[at] in known):
            quantity = _clock(words, at) or _measured(words, at, known, language)
        if quantity is not None and found and quantity.first < found[-1].end:
            quantity = None
        if quantity is not None:
            found.append(quantity)
        at = quantity.end if quantity else at + 1
    return tuple(found)


_HALVES = frozenset("half halbe halben halber halbes demi medio media mezzo mezza halve".split())
_WITH_HALF = {"anderthalb": 1, "eineinhalb": 1, "zweieinhalb": 2, "dreieinhalb": 3, "viereinhalb": 4}  # fmt: skip
_ARTICLES = frozenset("a an the one of eine einer einen ein une un una".split())
_AND_A_HALF = (("and", "a", "half"), ("und", "eine", "halbe"), ("et", "demie"), ("y", "media"))
_ADVERBS = {"twice": 2, "thrice": 3, "zweimal": 2, "dreimal": 3}
_DIGITS = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?")


def _may_begin(word: str) -> bool:
    return word[0].isdigit() or word[0] == "-" or word in _BEGIN


def _measured(
    words: Sequence[str], at: int, known: dict[str, int], language: str
) -> Quantity | None:
    """A number with its unit behind it, or a currency before it."""
    if words[at] in _ADVERBS:
        return Quantity(at, at + 1, frozenset([("times", Fraction(_ADVERBS[words[at]]))]), False)
    number = _part_of_one(words, at, known) or number_at(words, at, known)
    if number is None:
        return None
    value, end, is_plain = number
    unit = _unit(words, end, language)
    if unit is None:
        code = _CODES.get(words[at - 1]) if at and words[at][0].isdigit() else None
        return Quantity(at - 1, end, frozenset([(code, value)]), is_plain) if code else None
    name, behind = unit
    scale = SCALES.get(words[behind]) if behind < len(words) and name in MONEY else None
    if scale is not None:  # 1.5 $ million, as the plain form has it
        value, behind, is_plain = value * scale, behind + 1, False
    half = _and_a_half(words, behind)
    if half and value == 1 and end == at + 1:  # an hour and a half
        value, behind, is_plain = Fraction(3, 2), half, False
    elif value == 1 and end == at + 1 and words[at] in _ARTICLES - ONE:
        return None  # a year is no amount: so much a year
    return Quantity(at, behind, _values(name, value), is_plain)


def _values(unit: str, value: Fraction) -> frozenset[Reading]:
    if unit in _FAHRENHEIT:
        return frozenset([("celsius", (value - 32) * 5 / 9)])
    return frozenset((measure, value * factor) for measure, factor in units()[unit])


def _unit(words: Sequence[str], at: int, language: str) -> tuple[str, int] | None:
    """The longest that begins here, and where it ends."""
    for count in range(min(_LONGEST, len(words) - at), 0, -1):
        name = " ".join(words[at : at + count])
        if (name in units() or name in _FAHRENHEIT) and not _is_word(name, language):
            return name, at + count
    return None


def _is_word(unit: str, language: str) -> bool:
    """Whether it is another word there: years of the French are an English article, volts a Czech "in"."""
    if unit == "an":
        return language != "fr"
    # English, French and Italian have such words only behind an apostrophe.
    return len(unit) == 1 and language not in ("en", "fr", "it") and unit in stop_words(language)


_LARGEST = 10**18
_MOST_WORDS = 16
_LONGEST_NUMBER = 40
"""Characters. Beyond these nobody counts, and whoever wrote the text may want it to take long."""


class Number(NamedTuple):
    """A number of a sentence."""

    value: Fraction
    end: int
    """The word behind it."""
    is_plain: bool
    """Whether it is one word."""


def number_at(words: Sequence[str], at: int, known: dict[str, int]) -> Number | None:
    """In digits or words, with what multiplies it: 1.5 million, two hundred and fifty, two and a half."""
    word = words[at]
    if len(word) <= _LONGEST_NUMBER and _DIGITS.fullmatch(word):
        value, end = Fraction(word), at + 1
        while end < len(words) and words[end] in SCALES and value < _LARGEST:
            value, end = value * SCALES[words[end]], end + 1
    elif word in _WITH_HALF:
        return Number(_WITH_HALF[word] + Fraction(1, 2), at + 1, False)
    elif word in known or word in _ARTICLES:
        value, end = _in_words(words, at, known)
    else:
        return None
    half = _and_a_half(words, end)
    return Number(value + Fraction(1, 2), half, False) if half else Number(value, end, end == at + 1)  # fmt: skip


def _in_words(words: Sequence[str], at: int, known: dict[str, int]) -> tuple[Fraction, int]:
    """Each word is smaller than the one before it, or multiplies what is there."""
    total, current = 0, known.get(words[at], 1)
    room = _room(current)
    end = at + 1
    while end < min(len(words), at + _MOST_WORDS) and total + current < _LARGEST:
        word = words[end]
        step = end + 1 if word == "and" and room >= 100 and end + 1 < len(words) else end
        value, scale = known.get(words[step]), SCALES.get(word)
        if scale is not None and scale != 12:
            if scale == 100:
                current, room = current * scale, 100
            else:
                total, current, room = total + current * scale, 0, scale
            end += 1
        elif value is not None and words[step] not in ONE - {"one"} and value < room:
            current, room = current + value, _room(value)
            end = step + 1
        else:
            break
    return Fraction(total + current), end


def _room(value: int) -> int:
    """What may be added: to twenty something under ten."""
    return 10 if value >= 20 and value % 10 == 0 else 0


def _part_of_one(words: Sequence[str], at: int, known: dict[str, int]) -> Number | None:
    """Half an hour, a quarter of an hour, three quarters of an hour, eine halbe Stunde."""
    first = at + (words[at] in _ARTICLES and at + 1 < len(words))
    if words[first] in _HALVES:
        value, end = Fraction(1, 2), first + 1
    else:
        count = known.get(words[at], 1)
        first = at + (words[at] in known or words[at] in _ARTICLES)
        if first >= len(words) or words[first] not in ("quarter", "quarters"):
            return None
        if words[first + 1 : first + 2] != ["of"]:
            return None
        value, end = Fraction(count, 4), first + 2
    while end < len(words) and words[end] in _ARTICLES:
        end += 1
    while end < len(words) and words[end] in SCALES and value < _LARGEST:  # half a million
        value, end = value * SCALES[words[end]], end + 1
    return Number(value, end, False)


def _and_a_half(words: Sequence[str], at: int) -> int:
    """Where it ends; 0: it does not stand here."""
    for said in _AND_A_HALF:
        if tuple(words[at : at + len(said)]) == said:
            return at + len(said)
    return 0


_NOON = {"noon": 720, "midday": 720, "mittags": 720, "midnight": 0, "mitternacht": 0}
_BEGIN = frozenset(("quarter", *_HALVES, *_WITH_HALF, *_ADVERBS, *_NOON, *_ARTICLES))
_CLOCK = re.compile(r"([01]?[0-9]|2[0-4])(?:[h.]([0-5][0-9]))?")
_MINUTES = re.compile("[0-5][0-9]")
_HALF_DAY = 12


def _clock(words: Sequence[str], at: int) -> Quantity | None:
    """A time of the day: 17:00 (17h00 in plain form), 5 p.m., 17 Uhr, 5 o'clock, noon."""
    if words[at] in _NOON:
        return _at_clock(at, at + 1, [_NOON[words[at]]])
    found = _CLOCK.fullmatch(words[at])
    if found is None:
        return None
    hour, minutes = int(found[1]) % 24, int(found[2] or 0)
    behind = words[at + 1 : at + 3]
    for end, suffix in (
        (at + 1 + count, "".join(behind[:count])) for count in range(len(behind), 0, -1)
    ):
        if suffix in ("am", "pm") and 1 <= int(found[1]) <= _HALF_DAY:
            return _at_clock(at, end, [(hour % 12 + 12 * (suffix == "pm")) * 60 + minutes])
        if suffix in _NOON and int(found[1]) == _HALF_DAY:
            return _at_clock(at, end, [_NOON[suffix]])
        if suffix in ("uhr", "oclock"):
            if (
                suffix == "uhr"
                and not found[2]
                and _MINUTES.fullmatch("".join(words[end : end + 1]))
            ):
                minutes, end = int(words[end]), end + 1  # 17 Uhr 30
            return _at_clock(at, end, _either(found[1], hour, minutes))
    if "h" in words[at]:
        return _at_clock(at, at + 1, _either(found[1], hour, minutes))
    return None


def _either(written: str, hour: int, minutes: int) -> list[int]:
    """In the morning or in the evening; 05:30 and 17:30 can be read in one way alone."""
    late = {(hour + 12) % 24} if 1 <= hour <= _HALF_DAY and written[0] != "0" else set()
    return [each * 60 + minutes for each in {hour, *late}]


def _at_clock(first: int, end: int, minutes: Sequence[int]) -> Quantity:
    return Quantity(first, end, frozenset(("clock", Fraction(each)) for each in minutes), len(minutes) > 1)  # fmt: skip


_NAME = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_SMALL = r"(?:(?:of|de|the|do) )?"
_FORMS = (
    (re.compile(rf" (?P<month>{_NAME}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<year>\d{{4}})(?= )"), ""),
    (re.compile(rf" (?P<day>\d{{1,2}})(?:st|nd|rd|th|er)? {_SMALL}(?P<month>{_NAME}) {_SMALL}(?P<year>\d{{4}})(?= )"),
     ""),
    (re.compile(r" (\d{4})[ .](\d{1,2})[ .](\d{1,2})(?= )"), "ymd"),
    (re.compile(r" (\d{1,2})[ .](\d{1,2})[ .](\d{4})(?= )"), "mdy dmy"),
    (re.compile(r"(?<! v)(?<! version)(?<! release)(?<! section)(?<! chapter) (\d{1,2})\.(\d{1,2})\.(\d{2})(?= )"),
     "mdy dmy"),
)  # fmt: skip
_CENTURY = 100
_PIVOT = 50
"""Of two digits those below it are years of this century."""


def _days(plain: str) -> dict[int, Quantity]:
    """The dates of a text in its plain form, by the word they begin with."""
    found: dict[int, Quantity] = {}
    for pattern, orders in _FORMS:
        first = seen = 0
        for match in pattern.finditer(plain):
            if not orders:
                days = [_day(match["year"], str(MONTH_NUMBERS[match["month"]]), match["day"])]
            else:
                parts = (dict(zip(order, match.groups(), strict=True)) for order in orders.split())
                days = [_day(each["y"], each["m"], each["d"]) for each in parts]
            readings = frozenset(day for day in days if 1 <= day.month <= 12 and 1 <= day.day <= 31)
            first, seen = first + plain.count(" ", seen, match.start()), match.start()
            if readings:
                end = first + match[0].count(" ")
                found.setdefault(first, Quantity(first, end, readings, True))
    return found


def _day(year: str, month: str, day: str) -> Day:
    number = int(year)
    if number < _CENTURY and len(year) == 2:
        number += 2000 if number < _PIVOT else 1900
    return Day(number, int(month), int(day))


def is_day(plain: str) -> bool:
    """Whether a text in its plain form is a date and nothing else."""
    found = (pattern.match(plain) for pattern, _ in _FORMS)
    return any(match is not None and match.end() == len(plain) - 1 for match in found)
