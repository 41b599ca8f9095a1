"""JSON of any kind is read in bounded time, and what cannot be is told in words."""

import pytest

from chunkwise.records.json import (
    json_problem,
    parse_json,
    without_half_characters,
)
from tables import cases


@cases(
    "text, told",
    [
        ("{", "expecting property name enclosed in double quotes at line 1 column 2"),
        ('[1,\n"a', "unterminated string starting at line 2 column 1"),
        ("1 2", "extra data at line 1 column 3"),
        ("", "expecting value at line 1 column 1"),
        ("\ufeff1", "expecting value at line 1 column 1"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as raised:
        parse_json(text)
    assert json_problem(raised.value) == told


def test_halves_of_pairs_become_one_sign_each() -> None:
    assert without_half_characters("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert without_half_characters("é😀") == "é😀"
    assert without_half_characters("\ud83d\ude00\ud83d") == "😀\ufffd"
