"""Rows of files of every format, in every encoding, however hostile: a bad row is told and never hides the others."""

import io
import json
import sys
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.records.read import (
    BrokenList,
    Row,
    Shape,
    csv_rows,
    is_read_once,
    read_json,
    read_json_lines,
    read_text,
    rows,
)
from tables import cases

GOOD = {"a": 1}
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]
FORMS = {
    "list": "[%s, %s]",
    "list over lines": "[\n%s,\n%s\n]\n",
    "lines": "%s\n%s\n",
    "object": '{"rows": [%s, %s], "version": 1}',
    "object over lines": '{\n"rows": [\n%s,\n%s\n]\n}\n',
}


def write(path: Path, data: bytes | str) -> str:
    path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    return str(path)


def read(path: Path, data: bytes | str) -> list[Row]:
    return list(rows(write(path, data), Shape(("rows",))))


@cases("form", FORMS)
@cases("encoding", ENCODINGS)
def test_every_form_in_every_encoding(tmp_path: Path, form: str, encoding: str) -> None:
    text = FORMS[form] % ('{"a": "é😀"}', '{"a": 2}')
    found = read(tmp_path / "f.json", text.encode(encoding))
    assert [row.value for row in found] == [{"a": "é😀"}, {"a": 2}]
    assert [row.number for row in found] == [1, 2]
    assert all(row.where.startswith(("line ", "entry ")) for row in found)
    assert not any(row.problem for row in found)


@cases("form", FORMS)
@cases(
    "row, value",
    [
        ('{"n": 1e999}', {"n": float("inf")}),
        ('{"n": 1, "n": 2}', {"n": 2}),
        ('{"t": "\\ud800"}', {"t": "\ud800"}),
        ('{"t": "\\u0000"}', {"t": "\0"}),
        ('{"t": "\u2028"}', {"t": "\u2028"}),
    ],
)
def test_what_json_may_hold_is_read(tmp_path: Path, form: str, row: str, value: object) -> None:
    found = read(tmp_path / "f.json", FORMS[form] % (row, json.dumps(GOOD)))
    assert [each.value for each in found] == [value, GOOD]


def test_bytes_of_another_encoding_spoil_their_own_line(tmp_path: Path) -> None:
    for text in ('{"a": "f\udcfcr"}\n{"a": 1}', '{"a": 1}\n{"a": "f\udcfcr"}'):
        found = read(tmp_path / "f.json", text)
        bad = [each for each in found if each.problem]
        assert [each.value for each in found if not each.problem] == [GOOD]
        assert len(bad) == 1
        assert "save the file as UTF-8" in bad[0].problem
    with pytest.raises(ChunkwiseError, match="not valid UTF-8"):
        read(tmp_path / "f.json", '[{"a": "f\udcfcr"}, {"a": 1}]')


BROKEN = {
    "unclosed parenthesis: put keys and values with parentheses in double quotes": '{"a": ',
    "a raw control character": '{"a": "\0"}',
    "too deep": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "extra data": '{"a": 1} x',
    "half": '{"a": 1',
}


@cases("name", BROKEN)
def test_a_broken_line_is_told_and_the_others_are_read(tmp_path: Path, name: str) -> None:
    text = f'{{"a": 1}}\n\n{BROKEN[name]}\n{{"a": 1}}\n'
    for found in (
        read(tmp_path / "f.jsonl", text),
        list(read_json_lines(str(tmp_path / "f.jsonl"))),
    ):
        assert [each.value for each in found] == [GOOD, None, GOOD]
        assert [each.where for each in found] == ["line 1", "line 3", "line 4"]
        assert found[1].problem.startswith("not valid JSON: ")


@cases("name", BROKEN)
def test_a_broken_list_hands_out_what_was_read_and_says_where_it_breaks(
    tmp_path: Path, name: str
) -> None:
    file = write(tmp_path / "f.json", f'[{{"a": 1}},\n{BROKEN[name]}')
    found: list[Row] = []
    with pytest.raises(BrokenList, match=r"invalid JSON list: .*entry [23]\)") as told:
        found.extend(rows(file))
    assert found[0].value == GOOD
    assert ("line 2" in str(told.value)) != (name == "too deep")


def test_an_object_without_rows_is_a_row_or_an_error(tmp_path: Path) -> None:
    file = write(tmp_path / "f.json", '{"other": [1], "version": 2}')
    assert [row.value for row in rows(file, Shape(("rows",)))] == [{"other": [1], "version": 2}]
    shape = Shape(("queries", "tests"), alone=("query",), what="questions")
    with pytest.raises(
        ChunkwiseError,
        match="no list of questions among 'other', 'version'; expected queries, tests",
    ):
        list(rows(file, shape))
    by_id = write(tmp_path / "g.json", '{"Queries": {"q1": "Who?"}}')
    (row,) = rows(by_id, Shape(("queries",), by_id=True))
    assert (row.key, row.value) == ("q1", "Who?")


def test_what_is_no_json_at_all(tmp_path: Path) -> None:
    with pytest.raises(
        ChunkwiseError, match="has no rows: it is neither a JSON list nor JSON lines"
    ):
        read(tmp_path / "f.json", "once upon a time")
    file = write(tmp_path / "f.txt", "[Draft] who?\n\nwhen?\n")
    assert [row.value for row in rows(file, Shape(plain=True))] == ["[Draft] who?", "when?"]
    assert read(tmp_path / "f.json", " \n") == []
    with pytest.raises(ChunkwiseError, match="looks like UTF-16-LE without a byte order mark"):
        read(tmp_path / "f.json", '[{"a": 1}]'.encode("utf-16-le"))


def test_whole_values(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    assert read_json(write(path, '\ufeff{"a": [1]}')) == {"a": [1]}
    with pytest.raises(
        ChunkwiseError, match=r"f\.json, line 2, column 6: not valid JSON: .*fix it"
    ):
        read_json(write(path, '{\n"a": x}'))
    with pytest.raises(ChunkwiseError, match="nested too deeply"):
        read_json(write(path, "[" * 100_000))
    with pytest.raises(
        ChunkwiseError, match=r"line 2: not UTF-8 \(byte 8 of the file\); nothing was read; save"
    ):
        read_json(write(path, b'{"a":\n "\xe9"}'))
    with pytest.raises(ChunkwiseError, match="not UTF-16"):
        read_text(write(path, b"\xff\xfe\x00"))


@cases("name", ["gone.json", "gone.csv", "gone.jsonl", "gone.parquet", "a\0b"])
@cases("reading", [rows, read_text, read_json, read_json_lines])
def test_a_file_that_is_not_there(tmp_path: Path, reading: object, name: str) -> None:
    assert callable(reading)
    for place in (str(tmp_path / name), str(tmp_path)):
        with pytest.raises(ChunkwiseError, match="read"):
            list(reading(place))


def test_tables(tmp_path: Path) -> None:
    text = (
        '\ufeffid,text,text\n1,"Two\nlines",x\n\n ,,\n2,Short\n3,Too,many,cells\n4,"open\n5,rest\n'
    )
    found = read(tmp_path / "f.csv", text)
    assert [row.value for row in found] == [
        {"id": "1", "text": "Two\nlines", "text~2": "x"},
        {"id": "2", "text": "Short"},
        None,
        None,
    ]
    assert [row.where for row in found] == ["line 2", "line 6", "line 7", "line 8"]
    assert found[2].problem.startswith("4 fields, but the header has 3")
    assert found[3].problem.startswith(
        "unclosed quote, so the rest of the file is one field; close it, or double it inside quotes"
    )
    assert [row.value for row in read(tmp_path / "f.tsv", "a\tb\n1,5\t2\n")] == [
        {"a": "1,5", "b": "2"}
    ]
    assert [row.value for row in read(tmp_path / "f.csv", "a;b\n1;2\n")] == [{"a": "1", "b": "2"}]
    assert [row.value for row in read(tmp_path / "f.csv", "a,b\nx\0y,2\n")] == [
        {"a": "x\0y", "b": "2"}
    ]
    assert read(tmp_path / "f.csv", "") == []
    with pytest.raises(ChunkwiseError, match=r"f\.csv, line 2: not UTF-8"):
        read(tmp_path / "f.csv", b"a,b\n\xe9,1\n")


def test_many_columns_of_one_name_take_linear_work() -> None:
    text = ",".join(["a"] * 20_000) + "\n" + ",".join(["1"] * 20_000) + "\n"
    (row,) = csv_rows(text, "f.csv")
    assert isinstance(row.value, dict)
    assert len(row.value) == 20_000
    assert "a~20000" in row.value


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [["x"], None]}), path)
    assert [(row.where, row.value) for row in rows(str(path))] == [
        ("row 1", {"a": 1, "b": ["x"]}),
        ("row 2", {"a": 2, "b": None}),
    ]
    for data in (b"PAR1", b"PAR1 and no more PAR1", b""):
        with pytest.raises(ChunkwiseError, match="not a readable Parquet file"):
            read(path, data)


def test_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[5, ")))
    with pytest.raises(BrokenList, match=r"^standard input: invalid JSON list"):
        list(rows("-"))
    assert is_read_once("-")
    assert not is_read_once(__file__)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ChunkwiseError, match="standard input is closed"):
        list(rows("-"))
