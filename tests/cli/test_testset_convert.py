"""`chunkwise testset convert`, as a user runs it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chunkwise.base.errors import ChunkwiseError
from chunkwise.cli.testset.convert import command
from chunkwise.documents import read
from chunkwise.testsets.formats import FORMATS
from tables import cases

LEAVE = "# Leave\n\nAsk in writing. It is paid.\n\n## Sick\n\nNo note.\n"
CONTEXT = "Ask in writing. It is paid."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text(LEAVE)
    return tmp_path


def convert(*words: object) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words])


def squad(*more: object) -> Path:
    answers = [{"text": "It is paid.", "answer_start": 16}]
    qas = [{"id": "q1", "question": "Is it paid?", "answers": answers}, *more]
    article = {"title": "Leave", "paragraphs": [{"context": "Lit.", "qas": []},
                                                {"context": CONTEXT, "qas": qas}]}  # fmt: skip
    path = Path("squad.json")
    path.write_text(json.dumps({"version": "1.1", "data": [article]}))
    return path


def test_squad_to_stdout_with_documents_of_its_own() -> None:
    done = convert(squad(), "--to", "chunkwise", "--documents-to", "corpus.jsonl")
    assert done.exit_code == 0
    (row,) = json.loads(done.stdout)
    (reference,) = row["references"]
    assert (row["query_id"], reference["doc_id"], reference["text"]) == (
        "q1",
        "Leave",
        "It is paid.",
    )
    (document,) = read(["corpus.jsonl"])
    assert (document.id, document.text) == ("Leave", f"Lit.\n\n{CONTEXT}")
    assert document.text[reference["start"] : reference["end"]] == "It is paid."
    assert done.stderr == "1 question: squad → chunkwise\n"


def test_squad_in_documents_of_the_user() -> None:
    done = convert(squad(), "--to", "chunkwise", "--documents", "docs", "-o", "q.json", "-q")
    assert (done.exit_code, done.output) == (0, "")
    (reference,) = json.loads(Path("q.json").read_text())[0]["references"]
    assert LEAVE[reference["start"] : reference["end"]] == "It is paid."
    assert reference["doc_id"] == "leave.md"


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "chunkwise"])
def test_there_and_back(name: str) -> None:
    start = LEAVE.index("It is")
    rows = [{"query_id": "1", "query": "Is it paid?", "answer": "It is paid.",
             "references": [{"doc_id": "leave.md", "start": start, "end": start + 11}]}]  # fmt: skip
    Path("q.json").write_text(json.dumps(rows))
    there = {"chroma": "there.csv", "ragas": "there.jsonl"}.get(name, "there")
    first = convert("q.json", "--to", name, "--documents", "docs", "-o", there)
    assert first.exit_code == (0 if name == "squad" else 3), first.stderr
    if name == "ragas":
        assert "Ragas can't represent references as they are: question '1'" in first.stderr
    again = convert(there, "--to", "chunkwise", "--documents", "docs", "-o", "again.json")
    assert again.exit_code == 0, again.stderr
    (row,) = json.loads(Path("again.json").read_text())
    assert (row["query_id"], row["query"]) == ("1", "Is it paid?")
    if name == "ragchecker":
        assert "references" not in row
    else:
        (reference,) = row["references"]
        whole = name in ("beir", "trec", "autorag")
        assert reference["text"] == (LEAVE if whole else "It is paid.")


def test_what_is_left_out_is_told_and_the_rest_written() -> None:
    bad = {"id": "q2", "question": "?", "answers": [{"text": "dawn", "answer_start": 0}]}
    done = convert(squad(bad), "--to", "legalbench", "-o", "b.json")
    assert done.exit_code == 3
    lines = done.stderr.splitlines()
    assert lines[0].startswith(
        "chunkwise: skipped squad.json, article 1, paragraph 2, question 2: its answer"
    )
    assert lines[1] == "chunkwise: LegalBench-RAG can't represent ids: question 'q1'"
    assert lines[-1] == "written: b.json"
    assert len(json.loads(Path("b.json").read_text())["tests"]) == 1


def test_quotes_need_documents_where_they_cannot_stay_quotes() -> None:
    Path("r.json").write_text(
        json.dumps([{"user_input": "?", "reference_contexts": ["It is paid."]}])
    )
    done = convert("r.json", "--to", "chunkwise")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == [
        {"query_id": "1", "query": "?", "relevant_text": "It is paid."}
    ]
    done = convert("r.json", "--to", "legalbench", "-o", "l.json")
    assert done.exit_code == 3
    assert "1 question quotes passages: give the documents with --documents" in done.stderr


def test_without_documents_all_texts_are_kept() -> None:
    row = {
        "query_id": "a",
        "query": "Is it paid?",
        "references": [
            {"doc_id": "l", "start": 3, "end": 9, "text": "It is",
             "alternatives": [{"text": "It is so"}, {"doc_id": "m", "start": 0, "end": 5, "text": "It was"}]},
            {"doc_id": "l", "start": 30, "end": 33},
        ],
        "labels": [
            {"doc_id": "l", "start": 0, "end": 2, "relevant": 1, "text": "No"},
            {"text": "Ask", "relevant": 0},
        ],
        "relevant_text": [
            {"text": "in writing", "doc_id": "l",
             "alternatives": [{"text": "written"}, {"doc_id": "m", "start": 7, "end": 9, "text": "on"}]},
            "paid",
        ],
    }  # fmt: skip
    Path("q.json").write_text(json.dumps([row, {"query": "?", "relevant_text": "No note."}]))
    done = convert("q.json", "--to", "chunkwise", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [
        row,
        {"query_id": "2", "query": "?", "relevant_text": "No note."},
    ]


def test_documents_may_be_an_index() -> None:
    from chunkwise.retrieval import index

    index(["docs"], into="kb", vectors="none")
    Path("q.json").write_text(json.dumps([{"query": "?", "relevant_text": "It is paid."}]))
    done = convert("q.json", "--to", "chunkwise", "--documents", "kb", "-q")
    assert done.exit_code == 0, done.stderr
    (reference,) = json.loads(done.stdout)[0]["references"]
    assert (reference["doc_id"], reference["text"]) == ("leave.md", "It is paid.")


def test_the_questions_are_none_of_the_documents() -> None:
    Path("docs/q.json").write_text(json.dumps([{"query": "?", "relevant_text": "It is paid."}]))
    done = convert("docs/q.json", "--to", "chunkwise", "--documents", "docs", "-q")
    (reference,) = json.loads(done.stdout)[0]["references"]
    assert "alternatives" not in reference


def test_whole_documents_without_their_lengths_are_no_spans() -> None:
    Path("qrels.txt").write_text("1 0 leave.md 1\n")
    Path("topics.tsv").write_text("1\tIs it paid?\n")
    done = convert("qrels.txt", "--to", "chroma", "-o", "q.csv")
    assert done.exit_code == 1
    assert (
        "to whole documents of unknown length; give the documents with --documents" in done.stderr
    )
    assert not Path("q.csv").exists()
    done = convert("qrels.txt", "--to", "beir", "-o", "b")
    assert Path("b/qrels/test.tsv").read_text().endswith("1\tleave.md\t1\n")


def test_a_beir_folder_without_its_corpus_says_so() -> None:
    Path("b/qrels").mkdir(parents=True)
    Path("b/queries.jsonl").write_text('{"_id": "1", "text": "?"}\n')
    Path("b/qrels/test.tsv").write_text("1\tleave.md\t1\n")
    done = convert("b", "--to", "trec", "-o", "t")
    assert done.exit_code == 3
    assert "no corpus.jsonl; give the documents with --documents" in done.stderr
    assert Path("t/qrels.txt").read_text() == "1 0 leave.md 1\n"


def test_documents_of_one_id_are_told() -> None:
    Path("b/qrels").mkdir(parents=True)
    Path("b/queries.jsonl").write_text('{"_id": "1", "text": "?"}\n')
    Path("b/qrels/test.tsv").write_text("1\td\t1\n")
    Path("b/corpus.jsonl").write_text(
        '{"_id": "d", "text": "One"}\n{"_id": "d", "text": "Two"}\n[]\n'
    )
    done = convert("b", "--to", "chunkwise", "-q")
    assert done.exit_code == 1
    assert "document 'd': duplicate id; using the first" in done.stderr
    assert "corpus.jsonl, line 3" in done.stderr


@cases(
    "words, message",
    [
        (["squad.json", "--to", "beir"], "-o PATH"),
        (["squad.json", "--to", "squad", "-o", "squad.json"], "would be overwritten"),
        (["squad.json", "--to", "word"], "'word' is not one of"),
        (
            ["r.json", "--to", "chunkwise", "--documents-to", "c.jsonl"],
            "has no documents to write: give them with --documents",
        ),
    ],
)
def test_wrong_usage(words: list[str], message: str) -> None:
    squad()
    Path("r.json").write_text(json.dumps([{"user_input": "?", "reference_contexts": []}]))
    done = convert(*words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_an_empty_set_writes_nothing() -> None:
    Path("s.json").write_text('{"data": [{"paragraphs": []}]}')
    done = convert("s.json", "--to", "chunkwise", "-o", "q.json")
    assert done.exit_code == 1
    assert "nothing was written" in done.stderr
    assert not Path("q.json").exists()


def test_what_was_meant_to_be_another_format_is_refused() -> None:
    done = convert(squad(), "--from", "legalbench", "--to", "chunkwise")
    assert isinstance(done.exception, ChunkwiseError)
    assert "no list of questions under 'tests'" in str(done.exception)


def test_help_names_every_format() -> None:
    shown = convert("--help").output
    assert all(name in shown for name in FORMATS)
    assert "chunkwise testset convert squad.json --to chunkwise" in shown


def test_documents_are_read_as_the_options_say() -> None:
    Path("docs/leave.md").unlink()
    Path("docs/leave.txt").write_bytes(f"Über. {CONTEXT}".encode("latin-1"))
    words = squad(), "--to", "chunkwise", "--documents", "docs", "-q"
    done = convert(*words, "--encoding", "latin-1")
    assert done.exit_code == 0
    assert json.loads(done.stdout)[0]["references"][0]["start"] == 22
    assert convert(*words, "--exclude", "*.txt").exit_code == 1
