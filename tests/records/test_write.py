"""What is written is read again, and is whole or not there."""

from pathlib import Path

import pytest

from chunkwise.records.read import csv_rows, read_json, read_json_lines, rows
from chunkwise.records.write import (
    csv_file,
    json_lines_file,
    parquet_file,
    write_csv,
    write_json,
    write_json_lines,
    write_parquet,
)

ROWS = [
    {"id": "1", "text": 'A "quoted", text\nover\r\nlines\r and \u2028'},
    {"id": "2", "text": "half \ud800 a pair é😀 \0"},
]


def test_json_and_lines_come_back(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    write_json(path, {"rows": ROWS})
    assert read_json(str(path)) == {"rows": ROWS}
    write_json_lines(path, ROWS)
    assert [row.value for row in read_json_lines(str(path))] == ROWS
    with json_lines_file(path) as append:
        append(ROWS[:1])
        append(ROWS[1:])
    assert [row.value for row in rows(str(path))] == ROWS


def test_tables_come_back(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    columns = ("id", "text")
    write_csv(path, columns, ROWS[:1])
    text = path.read_bytes().decode()
    assert [row.value for row in csv_rows(text, "f.csv")] == ROWS[:1]
    with csv_file(path, columns) as append:
        append(ROWS[:1])
    text = path.read_bytes().decode()
    assert [row.value for row in csv_rows(text, "f.csv")] == ROWS[:1]


def test_parquet_comes_back_with_a_sign_for_half_a_pair(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "f.parquet"
    schema = pa.schema({"id": pa.string(), "text": pa.string()})
    with parquet_file(path, schema) as append:
        append(ROWS)
    found = [row.value for row in rows(str(path))]
    assert found == [ROWS[0], {"id": "2", "text": "half ? a pair é😀 \0"}]
    write_parquet(path, ROWS[:1], schema)  # type: ignore[arg-type]
    assert [row.value for row in rows(str(path))] == ROWS[:1]


def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text("before")
    with pytest.raises(TypeError, match="set"):
        write_json_lines(path, [ROWS[0], {1, 2}])
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
