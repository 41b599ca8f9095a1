"""CSV, JSON and JSON Lines as documents: corpora as they are found in the wild, their fields, files that are none."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.chunkers.write_chunks import COLUMNS, row_of
from chunkwise.core import Document
from chunkwise.documents.formats.csv import looks_like_csv
from chunkwise.records.read import csv_records as read_records
from tables import cases
from untimed import is_linear


def test_jsonl_keeps_ids_titles_and_other_fields(reader, write) -> None:
    lines = [
        {
            "doc_id": "x/1",
            "title": "One",
            "text": "First.",
            "source": "s",
            "n": 3,
            "deep": {"a": 1},
        },
        {"doc_id": 7, "text": "Second."},
        {"text": "Third."},
    ]
    path = write("c.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    first, second, third = reader(path)
    assert (first.id, first.title, first.text, first.format) == ("x/1", "One", "First.", "text")
    assert first.metadata == {"source": "s", "n": 3, "deep": {"a": 1}}
    assert (second.id, third.id) == ("7", "c.jsonl#3")
    assert first.source == str(path)


def test_bad_lines_are_named_and_the_rest_goes_on(reader, write) -> None:
    good, bad = b'{"id":1,"text":"a"}\n', b'{"id":2,\n\xff\n[1]\n{"id":3}\n'
    more = b'{"id":1,"text":"b"}\n{"id":4,"text":"c"}\n'
    path = write("c.jsonl", good + bad + more + b"[" * 100_000)
    assert [document.id for document in reader(path)] == ["1", "4"]
    assert [problem.source for problem in reader.skipped] == [
        f"{path}:{n}" for n in (2, 3, 4, 5, 6, 8)
    ]
    assert reader.reasons[3] == "no text field among 'id'; set it with --text-field"
    assert reader.reasons[4] == "duplicate id '1' (first at line 1)"
    assert "nested too deeply" in reader.reasons[5]


def test_jsonl_without_texts_is_one_line_not_one_a_record(reader, write) -> None:
    assert reader(write("q.jsonl", '{"query":"a"}\n' * 50)) == []
    assert reader.reasons == ["no text field among 'query'; set it with --text-field"]


def test_fields_are_named_by_the_user(reader, write) -> None:
    path = write("c.jsonl", '{"query":"a","k":"x","text":"no"}')
    document = reader.one(path, text_field="query", id_field="k")
    assert (document.id, document.text) == ("x", "a")


def test_a_line_over_the_limit_is_skipped_and_the_next_is_read(reader, write) -> None:
    path = write("c.jsonl", '{"id":1,"text":"' + "x" * 500 + '"}\n{"id":2,"text":"b"}\n')
    assert [document.id for document in reader(path, max_bytes=100)] == ["2"]
    assert reader.reasons == ["longer than 100 bytes"]


def test_utf16_jsonl(reader, write) -> None:
    path = write("c.jsonl", '\ufeff{"text":"é"}\n'.encode("utf-16-le"))
    assert reader.one(path).text == "é"


@cases(
    "record, expected",
    [
        ({"source": "docs/a.md"}, ("markdown", "")),
        ({"path": "src/a.py"}, ("code", "python")),
        ({"url": "https://site.rs"}, ("text", "")),
        ({"url": "https://x.org/a.md?raw=1#top"}, ("markdown", "")),
        ({"source": "a.txt", "text": "# A\n\n## B\n\nx"}, ("text", "")),
        ({"text": "# A\n\n## B\n\nx"}, ("markdown", "")),
    ],
)
def test_the_format_of_a_record(reader, write, record, expected) -> None:
    document = reader.one(write("c.jsonl", json.dumps({"text": "x", **record})))
    assert (document.format, document.language) == expected


def test_half_a_surrogate_pair_becomes_a_replacement_character(reader, write) -> None:
    document = reader.one(write("c.jsonl", r'{"text":"a\ud83d b \ud83d\ude00"}'))
    assert document.text == "a\ufffd b 😀"


@cases(
    "value, expected",
    [
        ([{"id": "a", "text": "x"}, {"id": "b", "body": "y"}], {"a": "x", "b": "y"}),
        ({"meta": 1, "docs": [{"_id": "a", "contents": "x"}]}, {"a": "x"}),
        ({"a": "some words", "b": "more words"}, {"a": "some words", "b": "more words"}),
        ({"a": {"text": "x"}}, {"a": "x"}),
        (["one text", "two"], {"c.json#1": "one text", "c.json#2": "two"}),
        ({"id": "a", "text": "x"}, {"a": "x"}),
    ],
)
def test_shapes_of_json_corpora(reader, write, value, expected) -> None:
    documents = reader(write("c.json", json.dumps(value)))
    assert {document.id: document.text for document in documents} == expected


@cases("text", ['{"a": {"b": [1]}}', "[[]]", '{"name":"x","version":"1"}', "3"])
def test_json_that_is_no_corpus_is_plain_text(reader, write, text) -> None:
    document = reader.one(write("c.json", text))
    assert (document.text, document.format, document.id) == (text, "text", "c.json")


def test_broken_json_says_where(reader, write) -> None:
    assert reader(write("c.json", '[{"text": "a"},\n {"te')) == []
    assert "at line 2 column" in reader.reasons[0]
    assert reader(write("c.jsonl", '{"text":"x"}\n{"a\tb": 1}\n{"a": "b\n'))
    assert reader.reasons == [
        "not valid JSON: invalid control character at column 4",
        "not valid JSON: invalid control character at column 9",
    ]


def test_jsonl_named_json_and_a_note_in_brackets(reader, write) -> None:
    assert len(reader(write("c.json", '{"text":"a"}\n{"text":"b"}\n'))) == 2
    assert reader.one(write("note", "[1] see below")).format == "text"


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), max_size=8)


@given(st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=8), st.booleans())
def test_records_are_found_where_the_writer_put_them(rows, crlf) -> None:
    spans, out = [], io.StringIO(newline="")
    end = "\r\n" if crlf else "\n"
    writer = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL)
    for row in rows:
        start = out.tell()
        writer.writerow(row)
        spans.append((start, out.tell() - len(end)))
    found = list(read_records(out.getvalue(), ","))
    assert [(start, stop) for start, stop, _, _ in found] == spans
    assert [record[3] for record in found] == rows


@given(st.text("ab,\r\n'\0 ;", max_size=40))
def test_records_without_quotes_are_those_of_the_library(text) -> None:
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    found = list(read_records(text, ","))
    assert [cells for _, _, _, cells in found] == expected
    assert [text[start:end].split(",") for start, end, _, _ in found] == expected


def test_a_table_is_kept_verbatim(reader, write) -> None:
    text = '\ufeffname,note\r\nann,"two\r\nlines"\r\n\r\nbob,5" pipe\r\n'
    document = reader.one(write("t.csv", text))
    assert (document.text, document.format) == (text, "table")
    assert [(b.kind, text[b.start : b.end], b.group) for b in document.blocks] == [
        ("header", "\ufeffname,note", 1),
        ("row", 'ann,"two\r\nlines"', 1),
        ("row", 'bob,5" pipe', 1),
    ]


def test_a_text_column_makes_a_document_a_row(reader, write) -> None:
    path = write("c.csv", 'ID;Title;Content;year\na;T;"x; y";1999\n;;z;\na;;again;\nshort\n')
    first, second = reader(path)
    assert (first.id, first.title, first.text, first.metadata) == (
        "a",
        "T",
        "x; y",
        {"year": "1999"},
    )
    assert (second.id, second.text) == ("c.csv#2", "z")
    assert [problem.source for problem in reader.skipped] == [f"{path}:4", f"{path}:5"]


def test_tsv_and_a_missing_column(reader, write) -> None:
    assert reader.one(write("c.tsv", "text\tid\na, b\t1\n")).text == "a, b"
    assert reader(write("d.csv", "a,b\n1,2\n"), text_field="c") == []
    assert reader.reasons == ["no column 'c'; its columns are 'a', 'b'"]


@cases("delimiter", [",", ";", "\t"])
def test_a_row_with_too_many_fields_is_told(reader, write, delimiter) -> None:
    text = "id,text\n1,Hello, world, of commas\n2,Fine\n3,Trailing,, \n".replace(",", delimiter)
    path = write("c.csv", text)
    assert {each.id: each.text for each in reader(path)} == {"2": "Fine", "3": "Trailing"}
    assert [problem.source for problem in reader.skipped] == [f"{path}:2"]
    assert reader.reasons[0].startswith("4 fields, but the header has 2; ")


@cases("end", ["\n", "\r\n", "\r"])
@cases(
    "text, ids, line",
    [
        ('id,text\n1,One\n2,"never closed, and more\n3,Row three\n4,Row four\n', ["1"], 3),
        ('id,text\n1,"a ""quoted"" word, never closed', [], 2),
        ('id,title,text\n1,One,x\n2,"over\ntwo lines","opens\n3,Row,three', ["1"], 4),
        ('text,"id\na,1\nb,2\n', [], 1),
        ('text\na\n"', ["c.csv#1"], 3),
    ],
)
def test_a_quote_that_is_never_closed_is_told(reader, write, text, ids, line, end) -> None:
    path = write("c.csv", text.replace("\n", end))
    assert [document.id for document in reader(path)] == ids
    assert [problem.source for problem in reader.skipped] == [f"{path}:{line}"]
    assert reader.reasons[0].startswith(
        "unclosed quote, so the rest of the file is one field; close it, or double it inside quotes"
    )


@cases("tail", ['"closed at the end"', '"closed"\n\n', '5" pipe', 'a "b"', '""'])
def test_quotes_that_are_closed_or_are_none(reader, write, tail) -> None:
    path = write("c.csv", f'id,title,text\n1,"over\ntwo lines",x\n2,y,z{tail}\n3,y,{tail}')
    assert len(reader(path)) == (2 if tail == '""' else 3)
    assert reader.reasons == ["its 'text' is empty"] * (tail == '""')


def test_an_open_quote_in_a_table_loses_nothing(reader, write) -> None:
    text = 'name,note\nann,"open\nbob,5\n'
    assert reader.one(write("t.csv", text)).text == text


def test_two_columns_of_one_name_are_both_kept(reader, write) -> None:
    document = reader.one(write("c.csv", "text,note,note\na,b,c\n"))
    assert document.metadata == {"note": "b", "note~2": "c"}


def test_a_header_without_rows_is_told(reader, write) -> None:
    assert reader(write("c.csv", "id,text\n\n")) == []
    assert reader.reasons == ["no records"]


@cases(
    "name, text",
    [
        *(("c.json", text) for text in ("[]", "{}", " [ ]\n", "\ufeffnull", '""')),
        ("c", "[]"),
        ("c", "{}\n"),
    ],
)
def test_json_that_holds_nothing_is_empty(reader, write, name, text) -> None:
    assert reader(write(name, text)) == []
    assert reader.reasons == ["empty"]


def test_a_field_longer_than_the_csv_librarys_limit(reader, write) -> None:
    assert len(reader.one(write("c.csv", "text\n" + "x" * 200_000)).text) == 200_000


@pytest.mark.unwatched
def test_megabytes_of_rows_take_linear_time(reader, write) -> None:
    def work(rows: int) -> None:
        path = write("t.csv", "a,b\n" + 'some value,"another, value"\n' * rows)
        assert len(reader.one(path).blocks) == rows + 1

    work(74_000)
    is_linear(work, 2_000)


@cases("name", ["corpus", "corpus.txt", "corpus.csv"])
@cases("delimiter", [",", ";", "\t"])
def test_csv_by_its_content(reader, write, name, delimiter) -> None:
    rows = [["id", "Text", "year"], ["a", "one, two; three\tfour\nfive", "1"], ["b", 'a "b"', ""]]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    documents = reader(write(name, "\ufeff" + out.getvalue()))
    assert {document.id: document.text for document in documents} == {
        "a": "one, two; three\tfour\nfive",
        "b": 'a "b"',
    }


def test_long_csv_by_its_content(reader, write) -> None:
    text = "id,text\n" + "".join(f'{n},"some é words, {n}"\n' for n in range(1000))
    assert len(reader(write("corpus", text))) == 1000


@cases(
    "text",
    [
        "Text, content\n",
        "id,text\n1,one row proves nothing\n",
        "id,name\n1,a\n2,b\n3,c\n",
        "text,title\nDear Sir,\nwe write, as we said, to you.\nYours\n",
        "In the text, we say\nthat prose, too\nhas commas, often\n",
        "Text, text\nmore, words\nmore, words\n",
        "Title, body and soul together again, text.\nOne, two, three\nOne, two, three\n",
        "id | text\n---|---\n1 | a\n2 | b\n",
        "| id | text |\n|---|---|\n| 1 | a |\n| 2 | b |\n",
        "text\none\ntwo\nthree\n",
    ],
)
def test_what_may_be_prose_is_no_csv(reader, write, text) -> None:
    assert not looks_like_csv(text.encode())
    assert reader.one(write("notes", text)).text == text


@pytest.mark.parametrize("name", ["corpus", "corpus.txt"])
def test_json_lines_by_their_content(reader, write, name) -> None:
    records = '{"id":"a","text":"one"}\n{"id":"b","text":"two"}\n'
    assert [document.id for document in reader(write(name, records))] == ["a", "b"]


def test_a_log_named_txt_stays_a_text(reader, write) -> None:
    log = '{"time":1,"event":"start"}\n{"time":2,"event":"stop"}\n'
    assert reader.one(write("log.txt", log)).text == log


@pytest.mark.parametrize("name", ["corpus", "corpus.json"])
def test_json_lines_whose_first_is_longer_than_what_is_looked_at(reader, write, name) -> None:
    lines = [json.dumps({"id": n, "text": f"{n} " * 5000}) + "\n" for n in range(3)]
    assert [document.id for document in reader(write(name, "".join(lines)))] == ["0", "1", "2"]
    assert reader.skipped == []


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


@cases("option", ["text_field", "id_field", "title_field"])
@cases("name", ["c.jsonl", "c.json", "c.csv"])
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
    assert reader.reasons[20:] == ["... and 19 more records with a duplicate id"]
    assert reader.skipped[20].source == str(path)


def test_lines_that_are_no_records_are_named_up_to_twenty(reader, write) -> None:
    path = write("c.jsonl", lines({"text": "a"}) + "{broken\n" * 30 + lines({"text": "b"}))
    assert [document.text for document in reader(path)] == ["a", "b"]
    assert len(reader.reasons) == 21
    assert reader.reasons[20] == "... and 10 more records that are unreadable"


@cases("name", ["c.jsonl", "c.json", "c.csv"])
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


@cases(
    "value, kind",
    [
        (None, "nothing"),
        (["a"], "a list"),
        (3, "a number"),
        (2.5, "a number"),
        (True, "true or false"),
        ({"a": 1}, "a record"),
    ],
)
@cases("chosen", [None, "text"])
def test_what_a_text_is_instead(reader, write, value, kind, chosen) -> None:
    path = write("c.jsonl", lines({"text": value}, {"text": "fine"}))
    assert [document.text for document in reader(path, text_field=chosen)] == ["fine"]
    assert reader.reasons == [f"its 'text' is {kind}, not text"]
    path = write("c.json", json.dumps([{"text": value}]))
    assert reader(path, text_field="text") == []
    assert reader.reasons == [f"its 'text' is {kind}, not text"]


def test_another_usual_name_holds_the_text(reader, write) -> None:
    path = write("c.jsonl", lines({"text": None, "body": "b"}, {"text": "t", "body": "b"}))
    assert [document.text for document in reader(path)] == ["b", "t"]


def chunk_rows() -> list[dict[str, object]]:
    chunks = chunkwise.ext.chunk_document(Document("d", "Some text. More text."))
    return [dict(row_of(chunk)) for chunk in chunks]


@cases("name", ["c.jsonl", "c.json", "c.csv"])
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
    chunks = chunkwise.ext.chunk_document(document)
    assert all(chunk.text.strip("\ufeff") for chunk in chunks)


def test_no_two_records_alike(reader, write) -> None:
    path = write("c.jsonl", lines(*({"text": "x", f"f{n}": n} for n in range(1000))))
    assert [document.metadata for document in reader(path)][-1] == {"f999": 999}
