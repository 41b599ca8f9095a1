"""`chunkwise testset import-queries` as a user runs it."""

import json
from pathlib import Path

from cli.in_process import Run, here

__all__ = ["here"]

LOG = [
    *[{"query": "Who approves leave?"}] * 6, *[{"query": "who approves LEAVE"}] * 3,
    *[{"query": "how is leave approved"}] * 2, {"query": "reset the tide clock", "count": 4},
    {"query": "mail bob@example.org about the crane"},
]  # fmt: skip


def write(path: Path, rows: list[dict[str, object]] = LOG) -> None:  # type: ignore[assignment]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_log_becomes_questions_to_be_labeled(here: Run, tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl")
    done = here("testset", "import-queries", "log.jsonl", "--into", "q-live.json")
    assert done.returncode == 0
    rows = json.loads((tmp_path / "q-live.json").read_text())
    assert [(row["query"], row["asked"], row["weight"]) for row in rows] == [
        ("Who approves leave?", 11, 11.0),
        ("reset the tide clock", 4, 4.0),
        ("mail [email] about the crane", 1, 1.0),
    ]
    assert rows[0]["wordings"] == ["how is leave approved"]
    assert rows[0]["types"] == ["live"]
    assert all(row["query_id"].startswith("live-") and row["cluster"] for row in rows)
    assert "16 asked: 3 questions in 4 spellings, 3 clusters" in done.stdout
    assert "redacted an e-mail address in 1 entry as [email]" in done.stderr
    assert "bob" not in done.stdout + done.stderr
    assert "Add the passage that answers each question" in done.stdout


def test_what_was_imported_can_be_asked(here: Run, tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("The head of the station approves leave.\n")
    assert here("testset", "import-queries", "log.jsonl", "--into", "q.json", "-q").returncode == 0
    assert here("index", "docs", "--into", "kb", "--vectors", "none", "-q").returncode == 0
    found = here("search", "kb", "--queries", "q.json", "--retriever", "bm25", "--json", "-q")
    assert found.returncode == 0
    assert "head of the station" in found.stdout


def test_what_was_labeled_stays_and_only_new_ones_are_added(here: Run, tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl")
    assert here("testset", "import-queries", "log.jsonl", "--into", "q.json", "-q").returncode == 0
    rows = json.loads((tmp_path / "q.json").read_text())
    rows[0]["relevant_text"] = "The head of the station."
    (tmp_path / "q.json").write_text(json.dumps(rows))
    write(tmp_path / "next.jsonl", [*LOG, {"query": "where is the boiler"}])
    done = here("testset", "import-queries", "next.jsonl", "--into", "q.json")
    now = json.loads((tmp_path / "q.json").read_text())
    assert now[:3] == rows
    assert [row["query"] for row in now[3:]] == ["where is the boiler"]
    assert "4 questions drawn, 3 already in the file" in done.stdout
    before = (tmp_path / "q.json").read_bytes()
    assert here("testset", "import-queries", "next.jsonl", "--into", "q.json", "-q").returncode == 0
    assert (tmp_path / "q.json").read_bytes() == before


def test_as_json_nothing_else_is_printed(here: Run, tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl")
    done = here(
        "testset", "import-queries", "log.jsonl", "--into", "q.json", "--json", "--sample", "2"
    )
    told = json.loads(done.stdout)
    assert (told["asked"], told["questions"], told["sampled"], told["added"]) == (16, 3, 2, 2)
    assert told["hidden"] == {"email": 1}
    assert sum(each["weight"] for each in told["queries"]) == 16


def test_bad_entries_are_told_and_the_rest_goes_on(here: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"query": "one word"}\n' + "{broken\n" * 25)
    done = here("testset", "import-queries", "log.jsonl", "--into", "q.json")
    assert done.returncode == 3
    assert done.stderr.count("skipped log.jsonl, line") == 10
    assert "skipped 15 more" in done.stderr
    assert len(json.loads((tmp_path / "q.json").read_text())) == 1


def test_what_cannot_be_is_one_clear_line(here: Run, tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl")
    gone = here("testset", "import-queries", "none.jsonl", "--into", "q.json")
    assert (gone.returncode, gone.stderr.count("\n")) == (1, 1)
    (tmp_path / "junk.txt").write_text("???\n")
    empty = here("testset", "import-queries", "junk.txt", "--into", "q.json")
    assert empty.returncode == 1
    assert "no questions in junk.txt; nothing was written" in empty.stderr
    assert not (tmp_path / "q.json").exists()
    same = here("testset", "import-queries", "log.jsonl", "--into", "log.jsonl")
    assert same.returncode == 2
    wrong = here(
        "testset", "import-queries", "log.jsonl", "--into", "q.json", "--embedder", "nobody"
    )
    assert wrong.returncode == 2
    other = here("testset", "import-queries", "log.jsonl", "--into", "q.json", "--language", "xx")
    assert other.returncode == 2
    (tmp_path / "o.json").write_text('[{"doc_id": "a"}]')
    assert here("testset", "import-queries", "log.jsonl", "--into", "o.json").returncode == 1


def test_a_log_of_json_lines_that_begins_with_none_is_no_list_of_plain_questions(
    here: Run, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_text('not json\n{"query": "who approves leave?"}\n{"x": 1}\n')
    done = here("testset", "import-queries", "log.jsonl", "--into", "live.json")
    assert done.returncode == 3, done.stderr
    assert "log.jsonl, line 1" in done.stderr
    text = (tmp_path / "live.json").read_text()
    assert "who approves leave?" in text
    assert "not json" not in text
