"""Chroma's CSV and LegalBench-RAG: spans with their texts."""

import csv
import json
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Passage, Query, Reference
from chunkwise.testsets.testset import GivenPassage
from tables import cases
from testsets.formats.format_files import read, write


def chroma(tmp_path: Path, *rows: tuple[str, object, str]) -> Path:
    path = tmp_path / "questions.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        out = csv.writer(file)  # with \r\n between rows
        out.writerow(("question", "references", "corpus_id"))
        out.writerows((q, r if isinstance(r, str) else json.dumps(r), c) for q, r, c in rows)
    return path


def at(content: str, start: object, end: object) -> dict[str, object]:
    return {"content": content, "start_index": start, "end_index": end}


def test_chroma_rows_with_line_breaks_and_quotes(tmp_path: Path) -> None:
    path = chroma(
        tmp_path,
        ('Who said\n"no", and why?', [at("a", 3, 4), at("b\n", 5.0, "7")], "speech"),
        ("Who?", [{"content": "somewhere"}], "wiki"),
        ("None?", [], "wiki"),
    )
    drafts, bad = read("chroma", path)
    assert not bad
    first, second, third = drafts
    references = (Reference("speech", 3, 4), Reference("speech", 5, 7))
    assert first.query == Query("1", 'Who said\n"no", and why?', references)
    assert [passage.text for passage in first.passages] == ["a", "b\n"]
    assert second.passages == (GivenPassage("reference", "reference 1", "wiki", text="somewhere"),)
    assert third.query == Query("3", "None?")
    assert third.where.endswith("questions.csv, line 5")


@cases(
    "references, reason",
    [
        ("[{", "aren't JSON"),
        ("{}", "a record, not a list"),
        ("[1]", "a number, not a record"),
        ([at("x", -1, 2)], "start_index is -1"),
        ([at("x", 1, None)], "end_index is missing"),
        ([at("x", 1.5, 2)], "start_index is 1.5"),
        ([{"start_index": None}], "no 'content'"),
        ([{"content": 3, "start_index": 0, "end_index": 1}], "not text"),
        ("[" * 99_999, "aren't JSON"),
    ],
)
def test_a_bad_row_is_told_and_ids_stay_positions(
    tmp_path: Path, references: object, reason: str
) -> None:
    drafts, bad = read("chroma", chroma(tmp_path, ("Bad?", references, "c"), ("Good?", [], "c")))
    assert [draft.query.id for draft in drafts] == ["2"]
    assert reason in bad[0].reason
    assert bad[0].where.endswith("line 2")


def test_a_row_of_other_length_is_told(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("question,references,corpus_id\na,b\n\nGood?,[],c\nx\0y,[],c\n")
    drafts, bad = read("chroma", path)
    assert [draft.query.text for draft in drafts] == ["Good?", "x\0y"]
    assert bad[0].reason.startswith("its references aren't JSON: expecting value")
    path.write_text("question,references,corpus_id\na,[],c,more\n")
    assert read("chroma", path)[1][0].reason.startswith("4 fields, but the header has 3")


def test_chroma_says_what_is_lost(tmp_path: Path) -> None:
    asked = [
        Query("q", "?", (Reference("a", 0, 1), Reference("b", 0, 1)), answer="x", types=("t",)),
        Query("2", "?", (Reference("a", 0, 1, (Passage("a", 2, 3),)),)),
        Query("3", "?", (Reference("c", 0, 1),)),
    ]
    texts = [Document("a", "One."), Document("b", "Two.")]
    assert write("chroma", tmp_path / "q.csv", asked, texts) == [
        "Chroma's CSV can't represent ids: question 'q'",
        "Chroma's CSV can't represent answers: question 'q'",
        "Chroma's CSV can't represent types: question 'q'",
        "Chroma's CSV can't represent references as they are: 2 questions ('q', '2')",
    ]


def legalbench(tmp_path: Path, *tests: object) -> Path:
    path = tmp_path / "b.json"
    path.write_text(json.dumps({"tests": list(tests)}))
    return path


def snippet(file: object, *span: object, **more: object) -> dict[str, object]:
    return {"file_path": file, "span": list(span), **more}


def test_legalbench_spans_with_their_answers(tmp_path: Path) -> None:
    snippets = [snippet("cuad/a.txt", 3, 9, answer="notice"), snippet("b.txt", 0, 2)]
    path = legalbench(tmp_path, {"query": "When?", "snippets": snippets, "tags": ["cuad"]})
    drafts, _ = read("legalbench", path)
    references = (Reference("cuad/a.txt", 3, 9), Reference("b.txt", 0, 2))
    assert drafts[0].query == Query("1", "When?", references, types=("cuad",))
    assert [passage.text for passage in drafts[0].passages] == ["notice", ""]


@cases(
    "bad_snippet, reason",
    [
        (snippet("a", 0), "[start, end]"),
        (snippet("a", 0, 1, 2), "[start, end]"),
        (snippet("a", "x", 1), "start is 'x'"),
        (snippet(3, 0, 1), "not text"),
        (snippet("a", 0, 10**30), ""),
    ],
)
def test_legalbench_bad_snippets_are_told(tmp_path: Path, bad_snippet: object, reason: str) -> None:
    good = {"query": "Good?", "snippets": []}
    path = legalbench(tmp_path, {"query": "Bad?", "snippets": [bad_snippet]}, good)
    drafts, bad = read("legalbench", path)
    assert drafts[-1].query == Query("2", "Good?")
    if reason:
        assert reason in bad[0].reason
        assert bad[0].where.endswith("entry 1")


@cases("text", ['{"tests": 3}', "[]", '{"tests": [\n{"query" 1}]}'])
def test_a_file_of_another_shape_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(ChunkwiseError, match=r"b\.json(, line 2, column 10| has no list)"):
        read("legalbench", path)
