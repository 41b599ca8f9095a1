"""Fields of records: those the user names, those that are kept, and files that are no corpus."""

from __future__ import annotations

import csv
import io
import json

import pytest

import chunkwise
from chunkwise.base.errors import UnreadableDocument
from chunkwise.chunkers.write_chunks import COLUMNS, row_of
from chunkwise.core import Document
from chunkwise.documents import LoadOptions
from chunkwise.documents.reading import read
from untimed import lines_run


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_every_json_value_is_kept_in_the_metadata(reader, write) -> None:
    kept = {"tags": ["a", ["b"], {"c": None}], "deep": {"a": {"b": [1, 2.5, True]}}, "none": None}
    odd = {"nan": float("nan"), "inside": [{"x": float("inf")}]}
    document = reader.one(write("c.jsonl", lines({"text": "x", **kept, **odd})))
    assert document.metadata == kept


def test_nested_metadata_stands_beside_the_other_fields(reader, write) -> None:
    record = {"text": "x", "n": 1, "metadata": {"n": 2, "tags": ["a"]}}
    document = reader.one(write("c.jsonl", lines(record)))
    assert document.metadata == {"n": 1, "tags": ["a"], "metadata": {"n": 2}}
    record["metadata"] = {"m": 2}
    assert reader.one(write("c.jsonl", lines(record))).metadata == {"n": 1, "m": 2}


def test_metadata_too_deep_to_write_again_is_left_out(reader, write) -> None:
    path = write("c.jsonl", '{"text":"x","a":' + "[" * 500 + "]" * 500 + "}")
    assert reader.one(path).metadata == {}


@pytest.mark.parametrize("option", ["text_field", "id_field", "title_field"])
@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.csv"])
def test_a_field_the_file_does_not_have_is_one_line(reader, write, name, option) -> None:
    records = [{"key": n, "body": "x"} for n in range(50)]
    made = {
        "c.jsonl": lines(*records),
        "c.json": json.dumps(records),
        "c.csv": "key,body\n" + "1,x\n" * 50,
    }
    path = write(name, made[name])
    assert reader(path, **{option: "gone"}) == []
    what = "column" if name == "c.csv" else "field"
    assert reader.reasons == [f"no {what} 'gone'; its {what}s are 'key', 'body'"]
    assert reader.skipped[0].source == str(path)


def test_a_field_that_only_the_first_record_lacks(reader, write) -> None:
    path = write("c.jsonl", lines({"text": "a"}, {"text": "b", "head": "T"}))
    assert [document.title for document in reader(path, title_field="head")] == ["", "T"]
    assert reader.skipped == []


def test_records_without_the_field_are_named_up_to_twenty(reader, write) -> None:
    path = write("c.jsonl", lines({"t": "a"}, *[{"u": n} for n in range(25)], {"t": "b"}))
    assert [document.text for document in reader(path, text_field="t")] == ["a", "b"]
    assert reader.reasons[:20] == ["no text in its field 't'"] * 20
    assert reader.reasons[20:] == ["... and 5 more records without a text"]
    assert reader.skipped[0].source == f"{path}:2"
    assert reader.skipped[20].source == str(path)


def test_equal_ids_are_named_up_to_twenty(reader, write) -> None:
    path = write("c.jsonl", lines(*({"id": 1, "text": f"x{n}"} for n in range(40)), {"text": "y"}))
    assert [document.text for document in reader(path)] == ["x0", "y"]
    assert reader.reasons[:20] == ["duplicate id '1' (first at line 1)"] * 20
    assert reader.reasons[20:] == ["... and 19 more records with an id that was there before"]
    assert reader.skipped[20].source == str(path)


def test_lines_that_are_no_records_are_named_up_to_twenty(reader, write) -> None:
    path = write("c.jsonl", lines({"text": "a"}) + "{broken\n" * 30 + lines({"text": "b"}))
    assert [document.text for document in reader(path)] == ["a", "b"]
    assert len(reader.reasons) == 21
    assert reader.reasons[20] == "... and 10 more records that cannot be read"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "c.jsonl",
            b"\xff\xfa\n\x80{\n\n" * 20,
            "none of its 40 records can be used; the first, line 1: not valid UTF-8 at byte 0; "
            "name its encoding, such as --encoding cp1252 (LoadOptions(encoding='cp1252') in Python)",
        ),
        (
            "c.jsonl",
            b"{broken}\n" * 30 + b'{"text": ""}\n',
            "none of its 31 records can be used; the first, line 1: not valid JSON: expecting "
            "property name enclosed in double quotes at column 2",
        ),
        (
            "c.json",
            b'[{"text": " "}, {"text": ""}, {"text": ""}, {"text": ""}]',
            "none of its 4 records can be used; the first, record 1: its 'text' is empty",
        ),
    ],
)
def test_a_file_of_bad_records_alone_is_one_line(reader, write, name, content, told) -> None:
    path = write(name, content)
    assert reader(path) == []
    assert reader.reasons == [told]
    assert reader.skipped[0].source == str(path)


@pytest.mark.parametrize("line", ["x", "{", '{"a', "1", '{"a":}'])
def test_a_bad_line_is_told_with_little_work(tmp_path, line) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(f"{line}\n" * 2000)
    found: list[UnreadableDocument] = []

    def load() -> None:
        assert not list(read([str(path)], LoadOptions(), found.append))

    load()  # what is imported late
    found.clear()
    assert lines_run(load) < 2000 * (60 if line.endswith("}") else 20)
    assert "none of its 2,000 records can be used" in found[0].reason


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.csv"])
def test_records_with_an_empty_text_are_named(reader, write, name) -> None:
    records = [{"key": "a", "text": "fine"}, *({"key": f"k{n}", "text": " "} for n in range(30))]
    made = {
        "c.jsonl": lines(*records),
        "c.json": json.dumps(records),
        "c.csv": "key,text\n" + "".join(f"{each['key']},{each['text']}\n" for each in records),
    }
    assert [document.text for document in reader(write(name, made[name]))] == ["fine"]
    assert reader.reasons[:20] == ["its 'text' is empty"] * 20
    assert reader.reasons[20:] == ["... and 10 more records without a text"]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (["a"], "a list"),
        (3, "a number"),
        (2.5, "a number"),
        (True, "true or false"),
        ({"a": 1}, "an object"),
    ],
)
@pytest.mark.parametrize("chosen", [None, "text"])
def test_what_a_text_is_instead(reader, write, value, kind, chosen) -> None:
    path = write("c.jsonl", lines({"text": value}, {"text": "fine"}))
    assert [document.text for document in reader(path, text_field=chosen)] == ["fine"]
    assert reader.reasons == [f"its 'text' is {kind}, not a text"]
    path = write("c.json", json.dumps([{"text": value}]))
    assert reader(path, text_field="text") == []
    assert reader.reasons == [f"its 'text' is {kind}, not a text"]


def test_another_usual_name_holds_the_text(reader, write) -> None:
    path = write("c.jsonl", lines({"text": None, "body": "b"}, {"text": "t", "body": "b"}))
    assert [document.text for document in reader(path)] == ["b", "t"]


def chunk_rows() -> list[dict[str, object]]:
    chunks = chunkwise.chunk_document(Document("d", "Some text. More text."))
    return [dict(row_of(chunk)) for chunk in chunks]


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.csv"])
def test_our_own_chunk_files_are_no_corpus(reader, write, name) -> None:
    rows = chunk_rows()
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    made = {"c.jsonl": lines(*rows * 3), "c.json": json.dumps(rows), "c.csv": table.getvalue()}
    assert reader(write(name, made[name])) == []
    assert reader.reasons == ["a chunk file written by chunkwise, not a corpus"]


def test_a_mark_before_a_table_belongs_to_its_header(reader, write) -> None:
    document = reader.one(write("t.tsv", "\ufeffa\tb\n1\t2\n"))
    assert document.blocks[0][:3] == ("header", 0, 4)
    chunks = chunkwise.chunk_document(document)
    assert all(chunk.text.strip("\ufeff") for chunk in chunks)


def test_no_two_records_alike(reader, write) -> None:
    path = write("c.jsonl", lines(*({"text": "x", f"f{n}": n} for n in range(1000))))
    assert [document.metadata for document in reader(path)][-1] == {"f999": 999}
