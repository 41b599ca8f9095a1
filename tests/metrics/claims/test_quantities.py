"""A quantity is the same however it is written, and no other one."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Document, Hit, Query
from chunkwise.metrics.answers.completeness import coverage
from chunkwise.metrics.claims.amount_support import counted
from chunkwise.metrics.claims.claim_support import supports
from chunkwise.metrics.claims.quantities import Reading, are_same, quantities_of, units
from chunkwise.metrics.claims.text_normalization import Readable, plain_form
from tables import cases


def read(text: str) -> list[frozenset[Reading]]:
    return [each.readings for each in quantities_of(plain_form(text))]


SAME = [
    ("half an hour", "30 minutes", "0.5 hours", "½ hour", "a half hour", "eine halbe Stunde", "1/2 h", "1800 s"),
    ("an hour and a half", "one and a half hours", "1½ h", "1 1/2 hours", "90 min", "anderthalb Stunden"),
    ("three quarters of an hour", "45 minutes", "0.75 h"),
    ("a quarter of an hour", "quarter of an hour", "15 minutes"),
    ("5 p.m.", "17:00", "5 pm", "5pm", "5:00 PM", "17h00", "17 Uhr", "17.00 Uhr"),
    ("noon", "12 noon", "12 p.m.", "12:00 p.m."), ("9:05 a.m.", "09:05", "9h05 am"),
    ("120 m²", "120 square metres", "120 sq m", "120 m2", "120m²", "120 m^2", "120 Quadratmeter"),
    ("5 km", "5 kilometres", "5,000 m", "five kilometers", "5km"),
    ("20 °C", "20°C", "20 degrees Celsius", "20 Grad Celsius", "68 °F"),
    ("50 km/h", "50 kilometres per hour", "50 kmh"),
    ("$150", "150 dollars", "USD 150", "150 USD", "US$150", "one hundred and fifty dollars"),
    ("$1.5 million", "1,500,000 dollars", "1.5 million dollars", "$1.5m", "$ 1.5 M", "USD 1.5 million", "1.5m USD"),
    ("€2 billion", "EUR 2bn", "2bn euros", "€2,000m", "2 Mrd. Euro"), ("£300k", "300 thousand pounds sterling"),
    ("£5", "5 GBP", "five pounds sterling"),
    ("six months", "6 months", "half a year", "sechs Monate", "two quarters"),
    ("two weeks", "14 days", "a week and a half and 2 weeks"),
    ("2 tonnes", "2,000 kg", "2 t"), ("1 GB", "1000 MB"), ("5 %", "five percent", "5 per cent", "50 ‰"),
    ("5 March 2021", "March 5th, 2021", "2021-03-05"), ("twice", "two times", "2 times"),
]  # fmt: skip


@cases("forms", SAME)
def test_forms_of_one_quantity_are_the_same(forms: tuple[str, ...]) -> None:
    for form in forms[1:]:
        one, other = read(forms[0])[-1], read(f"It was said to be {form} then.")[-1]
        assert are_same(one, other), form


def test_no_form_of_one_quantity_is_another_one() -> None:
    every = [(at, read(form)[-1]) for at, forms in enumerate(SAME) for form in forms]
    assert not any(are_same(one, other) for a, one in every for b, other in every if a != b)


OTHER = [
    ("30 minutes", "30 seconds"), ("30 minutes", "half a day"), ("5 p.m.", "5 a.m."), ("5 p.m.", "5 km"),
    ("120 m", "120 m²"), ("20 °C", "20 °F"), ("$150", "€150"), ("$1.5 million", "$1.5 billion"), ("5 km", "5 miles"),
    ("three months", "90 days"),
    ("$150", "They gave us 150 lamps"), ("1 year", "a fee of $5 a year"), ("two and a half years", "2 years"),
]  # fmt: skip


@cases("one, other", OTHER)
def test_other_quantities_are_not(one: str, other: str) -> None:
    assert not any(are_same(a, b) for a in read(one) for b in read(other))
    claim = Readable(f"The ferry of the northern harbour is bound to {one} in every winter.")
    text = Readable(f"In every winter the ferry of the northern harbour is bound to {other}.")
    assert not supports(text, claim)


@cases(
    "text, language",
    [
        ("a 5G network", "en"), ("3M makes tape", "en"), ("the 1960s", "en"), ("in the 60s", "en"), ("the '60s", "en"),
        ("3 an hour", "en"), ("drei an der Zahl", "de"), ("en 2019 l'entreprise", "fr"), ("nel 2019 l’azienda", "it"),
        ("w 2019 w Warszawie", "pl"), ("roku 2019 v Praze", "cs"), ("2019 s nimi", "cs"),
    ],
)  # fmt: skip
def test_what_is_no_unit_is_not_read_as_one(text: str, language: str) -> None:
    assert not quantities_of(plain_form(text), language)


def test_small_letters_behind_a_number_are_units() -> None:
    assert read("60s") == [{("time", Fraction(60))}] == read("a timeout of 60 s")
    assert read("5g of salt") == [{("mass", Fraction(5))}]
    assert quantities_of(plain_form("pendant 2 ans"), "fr")[0].readings == {
        ("months", Fraction(24))
    }


@given(st.integers(0, 23), st.integers(0, 59))
def test_every_time_of_the_day_is_itself_in_both_writings(hour: int, minute: int) -> None:
    half = f"{(hour - 1) % 12 + 1}:{minute:02} {'p.m.' if hour >= 12 else 'a.m.'}"
    assert are_same(*read(f"{hour:02}:{minute:02} and {half}"))
    assert read(half)[0] == {("clock", Fraction(60 * hour + minute))}


def test_a_time_that_may_be_in_the_morning_or_in_the_evening_is_either() -> None:
    (either,) = read("5:30")
    assert are_same(either, read("17:30")[0])
    assert are_same(either, read("5:30 a.m.")[0])
    assert not are_same(either, read("6:30 a.m.")[0])


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
    assert found == {("length", Fraction(number))}


@given(
    st.lists(
        st.sampled_from(
            [
                *NAMES[1:],
                "and",
                "a",
                "half",
                "quarter",
                "of",
                "hundred",
                "5",
                "1.5",
                "hour",
                "km",
                "pm",
            ]
        )
    )
)
def test_any_words_are_read(words: list[str]) -> None:
    found = quantities_of(plain_form(" ".join(words)))
    assert all(each.first < each.end <= len(words) for each in found)
    assert all(one.end <= other.first for one, other in pairwise(found))


def test_every_unit_has_a_measure() -> None:
    assert all(
        readings and all(factor > 0 for _, factor in readings) for readings in units().values()
    )
    assert {"minutes", "square metres", "dollars", "km h", "degrees celsius"} <= units().keys()


@cases("reference, text, expected", [
    ("Yes", "Dogs may be brought along.", None), ("No.", "No dogs are allowed here.", None),
    ("Ja", "Ja, so ist es.", None),
    ("No, dogs must stay outside the great hall.", "All dogs must stay outside the great hall.", 1.0),
    ("No, dogs must stay outside the great hall.", "The great hall was built in stone.", 0.0),
    ("No later than 17:00", "Send it no later than 5 p.m. on Friday.", 1.0),
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
    counted(plain_form(text), "en")


def test_half_a_million_is_not_a_million() -> None:
    assert not supports(
        Readable("The bridge cost half a million dollars."), Readable("The bridge cost $1,000,000.")
    )
    assert supports(
        Readable("The bridge cost half a million dollars."), Readable("The bridge cost $500,000.")
    )


def test_a_time_at_the_end_of_a_text_has_the_words_it_has() -> None:
    for text in ("5 pm", "5 p.m.", "closes at 5 pm"):
        words = plain_form(text).split()
        assert all(each.end <= len(words) for each in quantities_of(plain_form(text), "en"))
