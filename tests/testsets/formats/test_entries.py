"""Files in encodings of all kinds, and values that are not what they should be."""

from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.testsets.formats.entries import (
    BadEntry,
    clean,
    csv_entries,
    json_lines,
    json_of,
    offset,
    text_of,
)
from chunkwise.testsets.formats.json_keys import JsonKeys
from chunkwise.testsets.testset import Unreadable


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_obeyed_and_taken_away(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "f"
    path.write_bytes('{"a": "é😀"}\n{"a": 2}\n'.encode(encoding))
    assert text_of(path).startswith('{"a": "é😀"}')
    assert [entry.value for entry in json_lines(path)] == [{"a": "é😀"}, {"a": 2}]


def test_another_encoding_is_named_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b'{"a":\n "\xe9"}')
    with pytest.raises(
        ChunkwiseError, match=r"line 2: not UTF-8 \(byte 8 of the file\); nothing was read; save"
    ):
        json_of(path)
    first, second = (entry.value for entry in json_lines(path))
    assert isinstance(first, Unreadable)
    assert isinstance(second, Unreadable)
    assert "not UTF-8" in second.reason
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ChunkwiseError, match="not UTF-16"):
        text_of(path)


@pytest.mark.parametrize("read", [text_of, lambda path: list(json_lines(path))])
def test_a_file_that_is_not_there(tmp_path: Path, read: object) -> None:
    assert callable(read)
    with pytest.raises(ChunkwiseError, match=r"cannot read .*gone: No such file"):
        read(tmp_path / "gone")


def test_an_empty_table_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("")
    assert list(csv_entries(path)) == []


def test_a_quote_that_never_ends_is_told(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text('a,b\n1,2\n"3,4\n5,6\n')
    good, bad = csv_entries(path)
    assert good.value == {"a": "1", "b": "2"}
    assert isinstance(bad.value, Unreadable)
    assert "is a quote missing?" in bad.value.reason
    assert bad.where.endswith("line 3")


@pytest.mark.parametrize(("value", "expected"), [(3, 3), (3.0, 3), ("3", 3), (" 12 ", 12), (0, 0)])
def test_offsets_as_others_write_them(value: object, expected: int) -> None:
    assert offset(value, "start") == expected


@pytest.mark.parametrize(
    "value",
    [None, True, -1, 1.5, float("nan"), float("inf"), "x", "", "٣", "-1", "9" * 5000, [], {}],
)
def test_what_is_no_offset(value: object) -> None:
    with pytest.raises(BadEntry, match="a whole number from 0 on"):
        offset(value, "start")


def test_keys_are_those_of_json_alone() -> None:
    keys = JsonKeys(b'\xef\xbb\xbf {"a" : "b\\": 1", "c\\"": [{"d":1}], "cut": "of')
    assert keys.at() == {"a", 'c\\"', "cut"}
    assert keys.at('c\\"') == {"d"}
    assert JsonKeys(b'"a": 1').at() == JsonKeys(b"").at() == set()


def test_keys_are_told_by_the_records_they_stand_in() -> None:
    keys = JsonKeys(
        b'[{"a": {"b": [1, {"c": 2}, "d"]}, "e": 3}, [{"f": {}}]] {"g": {"h": 1}, "i": 4}'
    )
    assert keys.at() == {"a", "e", "f", "g", "i"}
    assert keys.at("a") == {"b"}
    assert keys.at("a", "b") == {"c"}
    assert keys.at("g") == {"h"}
    assert keys.at("b") == keys.at("f") == set()


def test_keys_are_looked_for_in_one_walk() -> None:
    """Walking again from every quote would take hours."""
    for unit in (b'"\\', b'"', b"\\", b'\\"', b'"" ', b'"a\n', b'{"a":', b"["):
        for at in (0, 1):
            assert "x" not in JsonKeys(b"{" + b'"' * at + unit * 250_000).at()


def test_halves_of_pairs_become_one_sign_each() -> None:
    assert clean("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert clean("é😀") == "é😀"
