"""Ids that no two documents share; a question may name a document in many ways: more than one fit, or none, is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise.core import Document
from chunkwise.documents import Ids, LoadOptions, distinct_documents, read, sources
from chunkwise.documents.document_ids import DocumentNames
from tables import cases
from untimed import is_linear

DOCUMENTS = [
    Document("handbook/leave.md", "", title="Leave and Hours", source="docs/handbook/leave.md"),
    Document("handbook/hours.txt", "", source="docs/handbook/hours.txt"),
    Document("old/hours.txt", "", title="Leave", source="docs/old/hours.txt"),
    Document("leave", "", source="corpus.jsonl"),
    Document("n7", "", title="Tide Clock", source="corpus.jsonl"),
    Document("7", ""),
]
NAMES = DocumentNames(DOCUMENTS)


@cases(
    "name, number",
    [
        ("handbook/leave.md", 0),
        ("leave", 3),  # an id goes before a stem and a title
        ("leave.md", 0),
        ("./handbook/leave.md", 0),
        ("/home/somebody/docs/handbook/leave.md", 0),
        ("C:\\docs\\handbook\\leave.md", 0),
        ("HANDBOOK/LEAVE.MD", 0),
        ("Leave and Hours", 0),
        ("tide clock", 4),
        ("docs/old/hours.txt", 2),
        ("old/hours.txt", 2),
        ("7", 5),
    ],
)
def test_found(name: str, number: int) -> None:
    assert NAMES.find(name) == number


@cases(
    "name, said",
    [
        ("hours.txt", "'hours.txt' matches 'handbook/hours.txt', 'old/hours.txt'; use one id"),
        ("hours", "'hours' matches 'handbook/hours.txt', 'old/hours.txt'; use one id"),
        ("corpus.jsonl", "'corpus.jsonl' matches 'leave', 'n7'; use one id"),
        ("handbook/leaf.md", "unknown document 'handbook/leaf.md'; near: 'handbook/leave.md'"),
        ("zzz", "unknown document 'zzz'; ids are as in 'handbook/leave.md'"),
        ("", "no doc_id"),
        ("  ", "no doc_id"),
        ("x" * 5000, "unknown document 'xxx"),
        ("/" * 3000, "unknown document '///"),
    ],
)
def test_told(name: str, said: str) -> None:
    found = NAMES.find(name)
    assert isinstance(found, str)
    assert found.startswith(said)
    assert len(found) < 300
    assert NAMES.find(name) == found


def test_one_document_needs_no_name() -> None:
    assert DocumentNames([Document("a", "")]).find("") == 0
    assert DocumentNames([]).find("a") == "unknown document 'a'; there are no documents"


@pytest.mark.unwatched
def test_thousands_of_foreign_names_are_not_all_compared() -> None:
    names = DocumentNames([Document(f"h{n:05}", "") for n in range(10_000)])
    told = [
        names.find(f"i{n:05}") for n in range(5_000)
    ]  # comparing all takes a quarter of an hour
    assert "near: 'h00000'" in str(told[0])
    assert str(told[-1]).endswith("; ids are as in 'h00000'")


def test_a_taken_id_gets_its_source_then_a_number() -> None:
    ids = Ids()
    given = [ids.distinct("x", source) for source in ("a", "b", "b", "b", "c", "")]
    assert given == ["x", "b/x", "b/x~2", "b/x~3", "c/x", "x~2"]


def test_a_number_that_is_an_id_already_is_passed_over() -> None:
    ids = Ids()
    given = [ids.distinct(id, "s") for id in ("s/x", "s/x~2", "x", "x", "x")]
    assert given == ["s/x", "s/x~2", "x", "s/x~3", "s/x~4"]
    assert ids.distinct("s/x~3", "s") == "s/s/x~3"


def test_many_equal_ids_take_linear_time() -> None:
    def work(size: int) -> None:
        ids = Ids()
        given = [ids.distinct("x", "s") for _ in range(size)]
        assert given[-1] == f"s/x~{size - 1}"
        assert len(set(given)) == size

    is_linear(work, 2_000)


def test_documents_are_renamed_and_otherwise_the_same() -> None:
    first = Document("x", "1", source="a")
    second = Document("x", "2", title="t", source="b", metadata={"k": 1})
    same, renamed = distinct_documents([first, second])
    assert same is first
    assert renamed == Document("b/x", "2", title="t", source="b", metadata={"k": 1})


def test_within_one_file_of_records_a_repeated_id_is_a_skipped_line(reader, write) -> None:
    path = write("a.jsonl", '{"id":"x","text":"1"}\n{"id":"x","text":"2"}\n')
    assert [document.text for document in reader(path)] == ["1"]
    assert reader.reasons == ["duplicate id 'x' (first at line 1)"]


def test_a_record_named_like_a_file(reader, write, tmp_path) -> None:
    write("a.md", "1")
    write("b.jsonl", '{"id":"a.md","text":"2"}')
    assert [document.id for document in reader(tmp_path)] == ["a.md", "b.jsonl/a.md"]


def test_files_the_caller_writes_are_left_out_in_silence(
    write, make_zip, tmp_path, monkeypatch
) -> None:
    write("in/a.md", "text")
    out = write("in/out.md", "written")
    (tmp_path / "in" / "link.md").symlink_to(out)
    packed = write("in/z.zip", make_zip({"b.md": "packed"}))
    folder = tmp_path / "in"
    leave_out = [out, packed, folder / "not-yet-there.md"]
    for given in (folder, [folder / "a.md", out, packed], str(folder / "*.*")):
        assert [
            source.id for source in sources(given, pytest.fail, LoadOptions(leave_out=leave_out))
        ] == ["a.md"]
    monkeypatch.chdir(folder)
    relative = {Path("out.md"), Path("z.zip")}
    documents = read(".", LoadOptions(leave_out=relative, on_unreadable=pytest.fail))
    assert [document.text for document in documents] == ["text"]
    assert list(sources("out.md", pytest.fail, LoadOptions(leave_out=relative))) == []


def test_the_first_id_that_two_documents_have_is_told_and_no_other() -> None:
    told: list[str] = []
    ids = Ids(told.append)
    for source in ("a", "b", "b", "c"):
        ids.distinct("x\n", source)
    [line] = told
    assert "'x\\n'" in line
    assert "'b/x\\n'" in line
    assert "\n" not in line


def test_a_reader_tells_it_of_files_and_of_records(tmp_path: Path) -> None:
    for folder in ("one/d", "two/d"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "f.md").write_text("A line.", encoding="utf-8")
    told: list[str] = []
    options = LoadOptions(on_renamed=told.append)
    assert len(list(read([tmp_path / "one" / "d", tmp_path / "two" / "d"], options))) == 2
    assert [line.partition(":")[0] for line in told] == ["duplicate document id 'f.md'"]
    told.clear()
    same = [Document("x", "One."), Document("x", "Two.")]
    assert [each.id for each in read(same, options)] == ["x", "x~2"]
    assert len(told) == 1
    told.clear()
    assert list(read(same[:1], options)) == same[:1]
    assert told == []
