"""A number with its unit is the same however it is written, and no other one."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Document, Hit, Query
from chunkwise.metrics.answers.completeness import coverage
from chunkwise.metrics.claims.claim_support import supports
from chunkwise.metrics.claims.numbers import Number, has_number, read_numbers, units
from chunkwise.metrics.claims.text_normalization import Readable, plain_form
from tables import cases


def read(text: str, language: str = "en") -> tuple[Number, ...]:
    return read_numbers(plain_form(text), language)


SAME = [
    ("½ hour", "30 minutes", "0.5 hours", "1800 s"), ("45 minutes", "0.75 h"), ("5 pm", "5 p.m.", "5pm"),
    ("120 m²", "120 square metres", "120 sq m", "120 m2", "120m²", "120 m^2", "120 Quadratmeter"),
    ("5 km", "5 kilometres", "5,000 m", "five kilometers", "5km"), ("2 tonnes", "2,000 kg", "2 t"),
    ("20 °C", "20°C", "20 degrees Celsius", "20 Grad Celsius"), ("50 km/h", "50 kilometres per hour", "50 kmh"),
    ("$150", "150 dollars", "USD 150", "150 USD", "US$150", "one hundred and fifty dollars"),
    ("$1.5 million", "1,500,000 dollars", "1.5 million dollars", "$1.5m", "$ 1.5 M", "USD 1.5 million", "1.5m USD"),
    ("€2 billion", "EUR 2bn", "2bn euros", "€2,000m", "2 Mrd. Euro"), ("£300k", "300 thousand pounds sterling"),
    ("£5", "5 GBP", "five pounds sterling"), ("six months", "6 months", "half of 2 quarters", "sechs Monate"),
    ("two weeks", "14 days"), ("1 GB", "1000 MB"), ("5 %", "five percent", "5 per cent", "50 ‰"),
]  # fmt: skip


@cases("forms", SAME)
def test_forms_of_one_number_are_the_same(forms: tuple[str, ...]) -> None:
    for form in forms[1:]:
        assert has_number(read(form), read(forms[0])[-1]), form
        assert has_number(read(f"It was said to be {form} then."), read(forms[0])[-1]), form


def test_no_form_of_one_number_is_another_one() -> None:
    every = [(at, read(form)[-1]) for at, forms in enumerate(SAME) for form in forms]
    assert not any(has_number([one], other) for a, one in every for b, other in every if a != b)


OTHER = [
    ("30 minutes", "30 seconds"), ("5 p.m.", "5 a.m."), ("5 p.m.", "5 km"), ("120 m", "120 m²"), ("20 °C", "20 °F"),
    ("$150", "€150"), ("$1.5 million", "$1.5 billion"), ("5 km", "5 miles"), ("three months", "90 days"),
    ("1 year", "a fee of $5 a year"), ("007 lamps", "7 lamps"), ("v2.1", "v1.2"),
]  # fmt: skip


@cases("one, other", OTHER)
def test_other_numbers_are_not(one: str, other: str) -> None:
    assert not any(has_number(read(one), number) for number in read(other))
    claim = Readable(f"The ferry of the northern harbour is bound to {one} in every winter.")
    text = Readable(f"In every winter the ferry of the northern harbour is bound to {other}.")
    assert not supports(text, claim)


def test_a_unit_counts_only_where_both_have_one() -> None:
    assert has_number(read("5 full working days"), read("5 days")[0])
    assert has_number(read("5 days"), read("5")[0])


@cases(
    "text, language",
    [
        ("a 5G network", "en"), ("3M makes tape", "en"), ("the 1960s", "en"), ("in the 60s", "en"),
        ("w 2019 w Warszawie", "pl"), ("roku 2019 v Praze", "cs"), ("2019 s nimi", "cs"),
    ],
)  # fmt: skip
def test_what_is_no_unit_is_not_read_as_one(text: str, language: str) -> None:
    assert not read(text, language)[0].measure


NUMBERS = {
    ("twenty five", "en"): 25, ("fünfundzwanzig", "de"): 25, ("once", "es"): 11, ("two dozen", "en"): 24,
    ("十五天", "zh"): 15, ("二〇二四年", "zh"): 2024, ("三百二十天", "zh"): 320, ("两万五千天", "zh"): 25_000,
}  # fmt: skip


def test_numbers_are_read_in_words() -> None:
    for (text, language), value in NUMBERS.items():
        assert [number.value for number in read(text, language)] == [value], text


def test_articles_are_numbers_only_before_a_unit() -> None:
    assert not read("one of the days")
    assert read("one day")[0].value == 1
    assert not read("一般", "zh")


NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(number: int) -> str:
    if number >= 1000:
        rest = f" {in_words(number % 1000)}" if number % 1000 else ""
        return f"{in_words(number // 1000)} thousand{rest}"
    if number >= 100:
        rest = f" and {in_words(number % 100)}" if number % 100 else ""
        return f"{NAMES[number // 100]} hundred{rest}"
    if number >= 20:
        return TENS[number // 10 - 2] + (f"-{NAMES[number % 10]}" if number % 10 else "")
    return NAMES[number]


@given(st.integers(1, 99_999))
def test_a_number_in_words_is_the_number(number: int) -> None:
    (found,) = read(f"They walked {in_words(number)} metres.")
    assert (found.value, found.measure) == (number, "length")


@given(
    st.lists(st.sampled_from([*NAMES[1:], *"and a $ hundred k 5 1.5 hour km pm q3 百 天".split()]))
)
def test_any_words_are_read(words: list[str]) -> None:
    found = read(" ".join(words))
    assert all(each.first < each.end <= len(words) for each in found)
    assert all(one.end <= other.first for one, other in pairwise(found))


def test_every_unit_has_a_measure() -> None:
    assert all(measure and factor > 0 for measure, factor in units().values())
    assert {"minutes", "square metres", "dollars", "km h", "degrees celsius"} <= units().keys()
    assert units()["kb"] == ("bytes", Fraction(1000))


@cases("reference, text, expected", [
    ("Yes", "Dogs may be brought along.", None), ("No.", "No dogs are allowed here.", None),
    ("Ja", "Ja, so ist es.", None),
    ("No, dogs must stay outside the great hall.", "All dogs must stay outside the great hall.", 1.0),
    ("No, dogs must stay outside the great hall.", "The great hall was built in stone.", 0.0),
])  # fmt: skip
def test_yes_and_no_are_not_looked_for_in_documents(
    reference: str, text: str, expected: float | None
) -> None:
    document = Document("d.txt", text)
    hits = [[Hit(document, 0, len(text), 1.0, 1, 1)]]
    (score,) = coverage([Query("q", "?", answer=reference)], hits)
    assert score.value == expected
    assert ("yes or no" in score.reason) == (expected is None)


@cases(
    "text",
    ["one hundred " * 3000, "5 million " * 900, "9" * 5000 + " dollars", "one million " * 60 + "and a half hours"],
)  # fmt: skip
def test_numbers_that_nobody_counts_end_somewhere(text: str) -> None:
    read(text)
