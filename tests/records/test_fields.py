"""Fields that are not what they should be are named, with what is needed."""

import pytest

from chunkwise.records.fields import (
    WrongField,
    identifier,
    integer_in,
    items,
    kind,
    label_of,
    listed,
    number_in,
    offset,
    optional_string,
    record_of,
    shown,
    string,
    string_in,
)
from tables import cases

HUGE = 10**4000


@cases("value, expected", [(3, 3), (3.0, 3), ("3", 3), (" 12 ", 12), (0, 0)])
def test_offsets_as_others_write_them(value: object, expected: int) -> None:
    assert offset(value, "start") == expected


@cases(
    "value",
    [None, True, -1, 1.5, float("nan"), float("inf"), "x", "", "٣", "-1", "9" * 5000, [], {}],
)
def test_what_is_no_offset(value: object) -> None:
    with pytest.raises(WrongField, match="expected an integer"):
        offset(value, "start")


def test_a_missing_field_is_told_with_those_that_are_there() -> None:
    record = {"title": "T", "body": None}
    with pytest.raises(WrongField, match="no 'text' or 'body' among 'title', 'body'"):
        string(record, "text", "body")
    assert optional_string(record, "text", "body") is None
    assert string({"text": "a\ud800"}, "text") == "a\ufffd"


@cases("value", [5, 1.5, True, [], {}])
def test_a_field_of_another_kind_is_told_by_its_name(value: object) -> None:
    with pytest.raises(WrongField, match=rf"its 'text' is {kind(value)}, not text"):
        string({"text": value}, "text")
    with pytest.raises(WrongField, match="a record"):
        record_of([value], "the question")


def test_ids_are_texts_or_numbers() -> None:
    assert identifier({"id": 7}, "_id", "id") == "7"
    assert identifier({"id": " "}, "id") is None
    assert identifier({}, "id") is None
    for value in (1.5, True, []):
        with pytest.raises(WrongField, match="not an id"):
            identifier({"id": value}, "id")


def test_labels_are_texts_and_numbers_somebody_may_mean() -> None:
    assert [label_of(each, "answer") for each in ("a", 5, 1.5)] == ["a", "5", "1.5"]
    with pytest.raises(WrongField, match="its answer is a list of 2; expected text"):
        label_of([1, 2], "answer")


def test_lists_are_lists() -> None:
    assert items(None, "tags") == []
    with pytest.raises(WrongField, match="its tags are a text, not a list"):
        items("a", "tags")


def test_numbers_as_tables_write_them() -> None:
    fields = {"a": "12.0", "b": "nan", "c": True, "d": HUGE, "e": "x", "f": 3}
    assert integer_in(fields, "b", "c", "d", "e", "a") == 12
    assert number_in(fields, "b", "c", "d", "e") is None
    assert string_in(fields, "c", "f") == "3"
    assert string_in({"a": ""}, "a") is None


def test_messages_stay_short() -> None:
    assert listed(map(str, range(30))).endswith("'19' and 10 more")
    assert listed([]) == "nothing"
    assert len(shown("x" * 1000)) == 60
    assert shown(HUGE) == "a number with more than 40 digits"
