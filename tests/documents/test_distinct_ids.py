"""One rule for documents of one id, and files that are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise.core import Document
from chunkwise.documents import Ids, LoadOptions, distinct_documents, read, sources
from untimed import is_linear


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
    documents = read(".", LoadOptions(leave_out=relative), on_unreadable=pytest.fail)
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
    assert [line.partition(":")[0] for line in told] == ["two documents are called 'f.md'"]
    told.clear()
    same = [Document("x", "One."), Document("x", "Two.")]
    assert [each.id for each in read(same, options)] == ["x", "x~2"]
    assert len(told) == 1
    told.clear()
    assert list(read(same[:1], options)) == same[:1]
    assert told == []
