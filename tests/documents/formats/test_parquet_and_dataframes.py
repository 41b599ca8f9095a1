"""Tables: a document a row, however the table is held; columns are found or named as for records in files."""

from __future__ import annotations

import datetime
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import chunkwise
from chunkwise.base.errors import InvalidParameter, UnreadableDocument
from chunkwise.core import Document, Query
from chunkwise.documents import LoadOptions
from tables import cases

ROWS = {
    "doc_id": ["a", "b", "c"],
    "body": ["Thirty days of leave.", "The house opens at ten.", "Third."],
    "title": ["Leave", None, "Three"],
    "year": [2023, 2024, None],
    "day": [datetime.date(2024, 1, 2), None, None],
    "tags": [["x", "y"], [], None],
}
TABLE = pa.table(ROWS)


class OnlyDataFrame:
    """As a library older than Arrow's own interface hands out its rows."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self._table.__dataframe__(nan_as_null, allow_copy)


class OnlyToArrow:
    """As Spark does."""

    def toArrow(self) -> pa.Table:  # noqa: N802
        return TABLE


class OnlyBatches:
    """As Ray Data does."""

    def iter_batches(self, *, batch_format: str, batch_size: int) -> Any:
        assert batch_format == "pyarrow"
        return iter([TABLE.slice(0, 2), TABLE.slice(2)])


class OnlyFormats:
    """As Hugging Face does."""

    def with_format(self, kind: str) -> OnlyFormats:
        assert kind == "arrow"
        return self

    def iter(self, batch_size: int) -> Any:
        return iter([TABLE])


def _read(source: Any, **options: Any) -> list[Document]:
    return list(chunkwise.read(source, LoadOptions(**options, on_unreadable=pytest.fail)))


def test_rows_are_the_documents_that_the_same_parquet_file_holds(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "table.parquet")
    from_file = _read(tmp_path / "table.parquet")
    given = _read(TABLE)
    named = [(each.id, each.text, each.title, dict(each.metadata)) for each in given]
    assert named == [(each.id, each.text, each.title, dict(each.metadata)) for each in from_file]
    assert given[0].metadata == {"year": 2023, "day": "2024-01-02", "tags": ["x", "y"]}


@cases(
    "table",
    [TABLE, TABLE.to_batches()[0], TABLE.to_reader(), OnlyToArrow(), OnlyBatches(), OnlyFormats()],
)
def test_the_same_rows_come_out_of_every_kind_of_table(table: Any) -> None:
    assert [(each.id, each.text, each.title) for each in _read(table)] == [
        ("a", "Thirty days of leave.", "Leave"),
        ("b", "The house opens at ten.", ""),
        ("c", "Third.", "Three"),
    ]


def test_a_table_of_the_older_interface() -> None:
    flat = TABLE.select(["doc_id", "body"])
    assert [each.id for each in _read(OnlyDataFrame(flat))] == ["a", "b", "c"]


def test_columns_are_named_and_the_rest_is_metadata() -> None:
    table = pa.table({"n": ["x"], "said": ["The text."], "text": ["Not this."]})
    (found,) = _read(table, text_field="said", id_field="n")
    assert (found.id, found.text, found.metadata) == ("x", "The text.", {"text": "Not this."})
    with pytest.raises(UnreadableDocument, match="no field 'other'"):
        list(chunkwise.read(table, LoadOptions(text_field="other")))


def test_rows_without_an_id_are_numbered_and_two_tables_do_not_share_them() -> None:
    table = pa.table({"text": ["One.", "Two."]})
    ids = [each.id for each in _read([table, Document("d", "A document."), table])]
    assert ids == ["table#1", "table#2", "d", "table~2#1", "table~2#2"]


def test_a_bad_row_is_told_and_the_rest_goes_on() -> None:
    problems: list[str] = []
    table = pa.table({"id": ["a", "b", "a"], "text": ["One.", None, "Again."]})
    found = chunkwise.read(
        table, options=LoadOptions(on_unreadable=lambda each: problems.append(str(each)))
    )
    assert [each.id for each in found] == ["a"]
    assert problems == [
        "Table row 2: its 'text' is nothing, not text",
        "Table row 3: duplicate id 'a' (first at row 1)",
    ]


@cases(
    "table, told",
    [
        (pa.table({"text": pa.array([], pa.string())}), "no records"),
        (pa.table({"number": [1, 2]}), "no text field among 'number'"),
    ],
)
def test_a_table_without_texts_is_told(table: pa.Table, told: str) -> None:
    with pytest.raises(UnreadableDocument, match=told):
        list(chunkwise.read(table))


def test_chunks_and_an_index_of_a_table() -> None:
    assert [each.document.id for each in chunkwise.chunk(TABLE)] == ["a", "b", "c"]
    made = chunkwise.index(TABLE, vectors="none")
    assert made.search("opens", k=1)[0].document.id == "b"
    changed = TABLE.set_column(1, "body", [["Forty days.", ROWS["body"][1], ROWS["body"][2]]])
    assert made.update(changed).changed == 1


def test_verbs_that_read_by_name_say_how_to_make_documents_of_a_table() -> None:
    with pytest.raises(InvalidParameter, match=r"list\(chunkwise.read\(table\)\)"):
        chunkwise.evaluate(TABLE, [Query("1", "leave?")], retriever="bm25")


def test_a_plan_of_a_table_is_told_to_be_collected() -> None:
    class LazyFrame:
        def collect(self) -> None: ...
        def collect_schema(self) -> None: ...

    with pytest.raises(InvalidParameter, match=r"call collect\(\) on it first"):
        list(chunkwise.read(LazyFrame()))  # type: ignore[call-overload,arg-type,unused-ignore]


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_arrow_files_are_read_and_damaged_ones_told(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rows.arrow"
    new = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    with path.open("wb") as out, new(out, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)
    assert [each.id for each in _read(path)] == ["a", "b", "c"]
    path.write_bytes(path.read_bytes()[:-400])
    problems: list[UnreadableDocument] = []
    list(chunkwise.read(path, options=LoadOptions(on_unreadable=problems.append)))
    assert [each.reason.partition(":")[0] for each in problems] == [
        "damaged or truncated Arrow file"
    ]


def test_a_data_set_of_hugging_face_on_disk_is_a_folder_of_documents(tmp_path: Path) -> None:
    with (
        (tmp_path / "data-00000-of-00001.arrow").open("wb") as out,
        pa.ipc.new_stream(out, TABLE.schema) as writer,
    ):
        writer.write_table(TABLE)
    (tmp_path / "dataset_info.json").write_text("{}")
    (tmp_path / "state.json").write_text("{}")
    assert [each.id for each in _read(tmp_path)] == ["a", "b", "c"]


@cases("kind", ["stream", "file"])
@cases("forged", [(0, 6, 4000), (0, -4000, 12), (-64, 6, 12)])
def test_a_file_with_forged_offsets_reads_nothing_beyond_its_own_bytes(
    tmp_path: Path, kind: str, forged: tuple[int, ...]
) -> None:
    path = tmp_path / "rows.arrow"
    new = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    table = pa.table({"text": ["First.", "Other."]})
    with path.open("wb") as out, new(out, table.schema) as writer:
        writer.write_table(table)
    data, offsets = path.read_bytes(), struct.pack("<3i", 0, 6, 12)
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, struct.pack("<3i", *forged)))
    problems: list[UnreadableDocument] = []
    assert list(chunkwise.read(path, options=LoadOptions(on_unreadable=problems.append))) == []
    assert [each.reason.partition(":")[0] for each in problems] == [
        "damaged or truncated Arrow file"
    ]
