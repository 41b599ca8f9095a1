"""Quotes become places: exact offsets, only in what was shown, with the places that say the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise import Document
from chunkwise.testsets.generate.candidate import references_of
from chunkwise.testsets.generate.source_passages import find_source_passages
from how_many import examples
from tables import cases
from testsets.generate.rule_model import DOCUMENTS, LEAVE, ground, passage_with

GROUND = ground()
CARRY = passage_with("carry up to six", GROUND)
NOTE = passage_with("fifth day", GROUND)


def located(*quotes: str) -> list[str] | None:
    found = references_of(quotes, (CARRY,), DOCUMENTS)
    return None if found is None else [LEAVE[each.start : each.end] for each in found]


def test_exactly() -> None:
    quote = "You may carry up to six unused days into the next leave year"
    assert located(quote) == [quote]


@cases(
    "quote",
    [
        "Days that are carried over   lapse on\n31 March",
        "days that are carried over lapse on 31 march",
        "\u201cDays that are carried over lapse on 31\u00a0March\u201d".strip("\u201c\u201d"),
    ],
)
def test_but_for_signs_and_case(quote: str) -> None:
    assert located(quote) == ["Days that are carried over lapse on 31 March"]


def test_a_scrap_is_taken_with_its_sentence() -> None:
    assert located("31 March") == [
        "Days that are carried over lapse on 31 March, whatever the reason was for which they were not taken before."
    ]


def test_parts_with_something_left_out_between_them() -> None:
    assert located(
        "You may carry up to six unused days … the rota clerk keeps the list of them"
    ) == [
        "You may carry up to six unused days",
        "the rota clerk keeps the list of them",
    ]


@cases(
    "quote",
    [
        "You may carry up to nine unused days into the next leave year",
        "From the fifth day a note from the island nurse or a doctor is needed",  # in another passage
        "<b>You may carry up to six unused days</b>",
        "You may carry up to six unused days … and sell the others",
        "",
        "… – !",
        "\x00\ud800",
    ],
)
def test_what_was_not_shown_is_not_found(quote: str) -> None:
    assert references_of([quote], (CARRY,), DOCUMENTS) is None


def test_one_invented_quote_spoils_the_others() -> None:
    assert (
        located("Days that are carried over lapse on 31 March", "The clerk is paid for it.") is None
    )


def test_overlapping_quotes_are_one_reference() -> None:
    assert located(
        "You may carry up to six unused days", "up to six unused days into the next leave year"
    ) == ["You may carry up to six unused days into the next leave year"]


def test_the_same_text_elsewhere_is_an_alternative() -> None:
    copy = Document(
        "copy.txt", "Rules in short. You may carry up to six unused days into the next leave year."
    )
    found = references_of(
        ["You may carry up to six unused days into the next leave year"],
        (CARRY,),
        [*DOCUMENTS, copy],
    )
    assert found is not None
    assert [each.doc_id for each in found] == ["leave.md"]
    (other,) = found[0].alternatives
    assert copy.text[other.start : other.end].split()[-3:] == ["next", "leave", "year"]
    assert other.doc_id == "copy.txt"


def test_quotes_of_two_passages() -> None:
    found = references_of(
        ["up to six unused days into the next", "the island nurse or a doctor"],
        (CARRY, NOTE),
        DOCUMENTS,
    )
    assert found is not None
    assert [LEAVE[each.start : each.end] for each in found] == [
        "up to six unused days into the next",
        "the island nurse or a doctor",
    ]


@settings(max_examples=examples(25))
@given(st.data())
def test_any_stretch_of_a_passage_is_found_where_it_stands(data: st.DataObject) -> None:
    words = CARRY.text.split()
    first = data.draw(st.integers(0, len(words) - 5))
    last = data.draw(st.integers(first + 5, len(words)))
    quote = " ".join(words[first:last])
    found = references_of([quote], (CARRY,), DOCUMENTS)
    assert found is not None
    text = LEAVE[found[0].start : found[0].end]
    assert quote in " ".join(text.split())
    assert CARRY.start <= found[0].start < found[0].end <= CARRY.end


TWICE = Document(
    "boxes.md",
    "# Boxes on the causeway\n\nThe Low Box at post 15 holds 12 people and has a lamp that is "
    "lit at dusk. The High Box at post 40 is larger, and its **two benches** are for [12 "
    "people](boxes.md#high) with bicycles. Nobody sleeps in either of them.\n",
    format="markdown",
)


def scrap(quote: str, about: str) -> str | None:
    (passage,) = find_source_passages([TWICE]).passages
    found = references_of([quote], (passage,), [TWICE], about)
    return None if found is None else TWICE.text[found[0].start : found[0].end]


def test_of_two_places_of_a_scrap_the_one_that_is_asked_about() -> None:
    low = scrap("12 people", "How many fit into the Low Box? The Low Box holds 12 people.")
    assert low is not None
    assert low.startswith("The Low Box")
    high = scrap("12 people", "How many with bicycles fit the High Box? It is for 12 people.")
    assert high is not None
    assert high.startswith("The High Box")


def test_a_scrap_that_could_be_either_is_nowhere() -> None:
    assert scrap("12 people", "How many people are there? 12 people.") is None


def test_a_quote_without_the_marks_of_the_document() -> None:
    assert scrap("its two benches are for 12 people with bicycles", "") == (
        "its **two benches** are for [12 people](boxes.md#high) with bicycles"
    )


@settings(max_examples=examples(20))
@given(st.text(max_size=60))
def test_hostile_quotes_never_break_it(quote: str) -> None:
    found = references_of([quote], (CARRY,), DOCUMENTS)
    for each in found or ():
        assert CARRY.start <= each.start < each.end <= CARRY.end


def test_empty_documents_have_no_passages() -> None:
    assert not find_source_passages([Document("a", ""), Document("b", "   \n")]).passages
