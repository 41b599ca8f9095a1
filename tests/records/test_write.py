"""What is written is read again, and is whole or not there."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.records.read import csv_rows, read_json, read_json_lines, rows
from chunkwise.records.write import (
    append_json_lines,
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


def test_rows_of_parquet_are_written_in_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no more than a group is held in memory."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("chunkwise.records.write._ROWS_A_GROUP", 2)
    schema = pa.schema({"id": pa.string()})
    with parquet_file(tmp_path / "f.parquet", schema) as append:
        append([{"id": str(number)} for number in range(5)])
    with pq.ParquetFile(tmp_path / "f.parquet") as file:
        groups = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    assert groups == [2, 2, 1]


def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text("before")
    with pytest.raises(TypeError, match="object"):
        write_json_lines(path, [ROWS[0], object()])
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "- a list's item",
    "'=1",
    "''-1",
    "=",
    "'",
]


@given(st.lists(st.text(min_size=1, max_size=8) | st.sampled_from(FORMULAS), min_size=1))
def test_no_text_of_a_table_is_a_formula_and_all_come_back(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts if text.strip()]
    rows = [{"text": text, "number": -at} for at, text in enumerate(texts)]
    with TemporaryDirectory() as folder:
        for name in ("one.csv", "other.csv"):
            path = Path(folder) / name
            if name == "one.csv":
                write_csv(path, ("text", "number"), rows)
            else:
                with csv_file(path, ("text", "number")) as append:
                    append(rows)
            with path.open(encoding="utf-8", newline="") as file:
                cells = list(csv.DictReader(file))
            assert not [each for each in cells if each["text"][0] in "=+-@\t\r\n"]
            assert [each["number"] for each in cells] == [str(-at) for at in range(len(rows))]
            read = [row.value for row in csv_rows(path.read_bytes().decode(), name)]
            assert [each["text"] for each in read] == texts  # type: ignore[index]


def test_lines_are_added_in_one_piece_behind_one_that_broke_off(tmp_path: Path) -> None:
    file = tmp_path / "new" / "alerts.jsonl"
    append_json_lines(file, [{"a": "ü"}, {"a": "half \ud83d"}])
    append_json_lines(file, [])
    with file.open("ab") as out:
        out.write(b'{"b": ')
    append_json_lines(file, [{"c": 1}])
    first, second, broken, last = file.read_text("utf-8").splitlines()
    assert [json.loads(each) for each in (first, second, last)] == [
        {"a": "ü"},
        {"a": "half \ud83d"},
        {"c": 1},
    ]
    assert broken == '{"b": '


def test_nobody_else_writes_lines_of_json() -> None:
    line = re.compile(r'json\.dumps\((?!.*indent).*\) \+ "\\n"')
    package = Path(chunkwise.__file__).parent
    texts = {path: path.read_text("utf-8") for path in package.rglob("*.py")}
    found = [path.parent.name for path, text in texts.items() if line.search(text)]
    assert found == ["records"]


def test_lines_are_added_to_what_cannot_be_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    append_json_lines(pipe, [{"a": 1}])
    assert os.read(reader, 100) == b'{"a": 1}\n'
    os.close(reader)


_SHORT = """
import resource, signal, sys
from pathlib import Path
from chunkwise.records.write import append_json_lines
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
append_json_lines(Path(sys.argv[1]), [{"a": "x" * 100}])
"""


@pytest.mark.usefixtures("processes")
def test_lines_that_do_not_fit_are_an_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SHORT, str(tmp_path / "lines.jsonl")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "OSError: [Errno 27]" in done.stderr
