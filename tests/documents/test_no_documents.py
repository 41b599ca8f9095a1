"""Files that lie beside documents and are none: results, pages, and questions with what is expected."""

import io
import json
from pathlib import Path

import pytest

from chunkwise.core import Document
from chunkwise.documents import LoadOptions, read
from chunkwise.documents.walk import is_written_by_us
from chunkwise.records.json import json_text
from chunkwise.report.cuts_page import ChunksView
from chunkwise.text.analyzed import Analyzed
from tables import cases

ASKED = [
    {"query": "How many days of leave?", "relevant_text": "Every employee has thirty days."},
    {"query": "Who approves it?", "answer": "The head of the department."},
]
SUITES: list[object] = [
    ASKED,
    {"queries": ASKED, "version": 2},
    {"q1": ASKED[0], "q2": ASKED[1]},
    ASKED[0],
    [{"question": "When?", "ground_truth": "At ten."}],
    [{"user_input": "When?", "reference": "At ten.", "retrieved_contexts": []}],
    {"tests": [{"query": "When?", "snippets": [{"file_path": "a.txt", "span": [0, 5]}]}]},
    [{"qid": "1", "query": "When?", "retrieval_gt": [["a"]], "generation_gt": ["At ten."]}],
    [{"question": "When?", "expected": ["ten"], "references": [{"doc_id": "a", "start": 0, "end": 9}]}],
]  # fmt: skip
CORPORA: list[object] = [
    [{"question": "When?", "answer": "At ten."}, {"question": "Who?", "answer": "The head."}],
    [{"query": "When?", "relevant_text": "At ten.", "text": "We open at ten, as we always did."}],
    [{"question": "When?", "passage": "We open at ten.", "references": []}],
    [{"doc_id": "a", "text": "We open at ten."}],
    {"name": "settings", "expected": "none", "query": 5, "deep": [{"question": "x"}]},
    [{"query": "When do we open?"}, {"query": "When do we close?"}],
    ["We open at ten.", "We close at five."],
]


def taken(path: Path, **options: str) -> tuple[list[Document], list[str]]:
    skipped: list[str] = []
    chosen = LoadOptions(**options, on_unreadable=lambda problem: skipped.append(str(problem)))
    found = list(read(path, chosen))
    return found, skipped


@pytest.mark.parametrize("asked", SUITES)
def test_questions_are_no_documents(tmp_path: Path, asked: object) -> None:
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    documents, skipped = taken(tmp_path)
    assert documents == []
    assert len(skipped) == 1
    assert "asked.json: looks like test questions" in skipped[0]
    assert "--text-field" in skipped[0]
    if isinstance(asked, list):
        (tmp_path / "asked.json").unlink()
        (tmp_path / "asked.jsonl").write_text("".join(json.dumps(each) + "\n" for each in asked))
        documents, skipped = taken(tmp_path)
        assert documents == []
        assert ["looks like test questions" in line for line in skipped] == [True]


@pytest.mark.parametrize("name", ["asked.json", "asked.jsonl"])
def test_questions_are_read_where_their_text_is_named(tmp_path: Path, name: str) -> None:
    lines = "".join(json.dumps(each) + "\n" for each in ASKED)
    (tmp_path / name).write_text(lines if name.endswith("l") else json.dumps(ASKED))
    documents, skipped = taken(tmp_path, text_field="query")
    assert [document.text for document in documents] == [each["query"] for each in ASKED]
    assert skipped == []
    documents, skipped = taken(tmp_path, loader="text")
    assert len(documents) == 1
    assert skipped == []


@cases("corpus", CORPORA)
def test_what_may_be_a_corpus_stays_one(tmp_path: Path, corpus: object) -> None:
    (tmp_path / "corpus.json").write_text(json.dumps(corpus))
    documents, skipped = taken(tmp_path)
    assert documents
    assert skipped == []


@pytest.mark.parametrize("kind", ["results", "sweep"])
def test_results_are_no_documents(tmp_path: Path, kind: str) -> None:
    questions = [{"id": "q1", "text": "How many days of leave are there?"}]
    value = {"format": f"chunkwise {kind}", "version": 1, "questions": questions}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(value))
    documents, skipped = taken(path)
    assert documents == []
    assert skipped == [f"{path}: a chunkwise results file, not a document"]
    assert is_written_by_us(path)
    path.write_text(json.dumps({**value, "format": "markdown"}))
    assert taken(path)[1] == []
    assert not is_written_by_us(path)


def test_what_a_page_shows_is_no_document(tmp_path: Path) -> None:
    """The same is said of it whether it is HTML or data."""
    (tmp_path / "leave.md").write_text("Every employee has thirty days.")
    view = ChunksView([(Analyzed(Document("leave.md", "Thirty days.")), [])], "sentences")
    out = io.StringIO()
    view.write(out)
    page, values = out.getvalue(), json_text(view.to_page_dict())
    for name, text in (("cuts.html", page), ("cuts.json", values)):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        assert is_written_by_us(path)
        documents, skipped = taken(tmp_path)
        assert [document.id for document in documents] == ["leave.md"]
        assert skipped == [f"{path}: a chunkwise report, not a document"]
        assert taken(path, text_field="text") == ([], skipped)
        path.unlink()
    path.write_text(json.dumps({**json.loads(values), "format": "a page"}))
    assert not is_written_by_us(path)
    assert len(taken(path)[0]) == 1


def test_a_note_about_our_files_is_none_of_them(tmp_path: Path) -> None:
    page = '<meta name="generator" content="chunkwise">'
    for name, text in (
        ("notes.md", f"The page has {page} in its head."),
        ("notes.jsonl", '{"text": "format: chunkwise results"}\n'),
        ("broken.jsonl", '{"id": 1, "doc_id'),
        ("list.json", '["kind", "doc_id"]'),
        ("table.csv", "id,doc_id,text\n1,a,b\n"),
        ("table.parquet", "PAR1 and then nothing"),
        ("page.html", "<!doctype html><title>chunkwise</title>"),
    ):
        (tmp_path / name).write_text(text)
        assert not is_written_by_us(tmp_path / name), name
    (tmp_path / "page.html").write_text(f"<!doctype html><html><head>{page}</head></html>")
    assert is_written_by_us(tmp_path / "page.html")
