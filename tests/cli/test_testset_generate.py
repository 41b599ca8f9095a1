"""`chunkwise testset generate`: as a user runs it, with a server that speaks the protocol and without any model."""

import json
from pathlib import Path

import pytest

from cli.in_process import Run, here
from models.chat_server import asked, chat_server
from tables import cases
from testsets.generate.rule_model import LEAVE, SALT, by_words

__all__ = ["here"]  # a fixture


@pytest.fixture(autouse=True)
def _named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_LLM", raising=False)


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    folder = tmp_path / "harbour"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE)
    (folder / "salt.md").write_text(SALT)
    return folder


def test_asked_of_a_server_then_taken_by_the_other_commands(
    here: Run, harbour: Path, tmp_path: Path
) -> None:
    with chat_server(lambda payload: json.dumps(by_words(asked(payload)))) as server:
        words = ("testset", "generate", harbour, "--count", 5, "--max-calls", 60, "-o", "q.json")
        done = here(*words, "--llm", server.name(), "--price", "1/2", "--max-cost", "5")
        assert done.returncode == 0, done.stderr
        assert "5 questions of 5" in done.stdout
        assert "written: q.json" in done.stderr
        assert "language model: " in done.stderr
        first = len(server.requests)
        before = (tmp_path / "q.json").read_text()
        again = here(*words, "--llm", server.name())
        assert again.returncode == 0
        assert "5 questions of 5, 5 of them from an earlier run" in again.stdout
        assert len(server.requests) == first
        assert (tmp_path / "q.json").read_text() == before
    checked = here("testset", "check", "q.json", harbour)
    assert checked.returncode == 0, checked.stdout
    measured = here(
        "evaluate", harbour, "--test-queries", "q.json", "--retriever", "bm25", "--json", "-q",
    )  # fmt: skip
    assert measured.returncode == 0, measured.stderr


def test_too_few_is_exit_status_3_with_the_reasons(
    here: Run, harbour: Path, tmp_path: Path
) -> None:
    bad = {**by_words("fifth day"), "quotes": ["Nothing of the kind is written here"]}
    with chat_server(lambda payload: json.dumps(bad)) as server:
        done = here(
            "testset", "generate", harbour, "--count", 3, "-o", "q.json", "--llm", server.name()
        )
    assert done.returncode == 3
    assert "dropped: quote not in the passage" in done.stdout
    assert "0 questions of 3" in done.stdout
    assert not (tmp_path / "q.json").exists()


def test_a_dry_run_sends_nothing(here: Run, harbour: Path, tmp_path: Path) -> None:
    with chat_server(lambda payload: "never") as server:
        done = here(
            "testset", "generate", harbour, "--count", 2, "-o", "q.json", "--llm", server.name(), "--dry-run",
            "--price", "1/2",
        )  # fmt: skip
        assert server.requests == []
    assert done.returncode == 0
    assert "6 calls" in done.stdout
    assert "if none is rejected" in done.stdout
    assert not (tmp_path / "q.json").exists()


def test_no_model_is_said_and_marked(here: Run, harbour: Path, tmp_path: Path) -> None:
    done = here("testset", "generate", harbour, "--count", 3, "-o", "q.jsonl")
    assert done.returncode == 0, done.stderr
    assert "no --llm" in done.stderr
    rows = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    assert len(rows) == 3
    assert all("extracted" in row["types"] for row in rows)
    assert all(row["generated"]["by"] == "extracted" for row in rows)
    assert "chunkwise testset review" in done.stdout


def test_the_questions_may_lie_among_the_documents(here: Run, harbour: Path) -> None:
    for _ in range(2):
        done = here("testset", "generate", harbour, "--count", 2, "-o", "harbour/q.json", "-q")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    rows = json.loads((harbour / "q.json").read_text())
    assert {row["references"][0]["doc_id"] for row in rows} <= {"leave.md", "salt.md"}


def test_the_usual_file_is_written_unless_it_is_somebody_elses(
    here: Run, harbour: Path, tmp_path: Path
) -> None:
    done = here("testset", "generate", harbour, "--count", 2)
    assert done.returncode == 0, done.stderr
    assert "written: queries.json" in done.stderr
    assert len(json.loads((tmp_path / "queries.json").read_text())) == 2
    for own in ('[{"query": "Mine?"}]', '{"data": []}', "not JSON at all"):
        (tmp_path / "queries.json").write_text(own)
        done = here("testset", "generate", harbour, "--count", 2)
        assert done.returncode == 1
        assert "queries.json" in done.stderr
        assert (tmp_path / "queries.json").read_text() == own


@cases(
    "words, said",
    [
        (
            ("-o", "harbour/leave.md", "harbour/leave.md"),
            "is an input and would be overwritten; write to another file",
        ),
        (("-o", "own.json"), "own.json exists"),
        (("-o", "q.json", "--types", "riddle"), "single-concept, list, numeric"),
        (("-o", "q.json", "--max-calls", "1"), "max_calls is 1"),
        (("-o", "q.json", "--count", "0"), "count is 0"),
    ],
)
def test_wrong_usage(
    words: tuple[str, ...], said: str, here: Run, harbour: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.json").write_text('[{"query": "Mine?"}]')
    done = here("testset", "generate", "harbour", *words)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert (tmp_path / "own.json").read_text() == '[{"query": "Mine?"}]'
    assert (harbour / "leave.md").read_text() == LEAVE


def test_a_key_that_is_refused_is_told_once(here: Run, harbour: Path) -> None:
    with chat_server(lambda payload: (401, {"error": "no"})) as server:
        done = here(
            "testset", "generate", harbour, "--count", 3, "-o", "q.json", "--llm", server.name()
        )
    assert done.returncode == 1
    assert "401" in done.stderr or "refused" in done.stderr


def test_a_limit_of_cost_is_told_as_what_it_is(here: Run, harbour: Path) -> None:
    with chat_server(lambda payload: "never") as server:
        done = here(
            "testset", "generate", harbour, "--count", 3, "-o", "q.json", "--llm", server.name(), "--price", "1/2",
            "--max-cost", "0.0000001",
        )  # fmt: skip
        assert server.requests == []
    assert done.returncode == 3
    assert "no answer" not in done.stdout
    assert "not asked" in done.stdout
    assert "limit of " in done.stdout
    assert done.stdout.splitlines()[-1].endswith(
        "cost limit reached: raise --max-cost and run the same command to resume"
    )


def test_rules_that_find_no_more_name_a_model(here: Run, harbour: Path) -> None:
    done = here("testset", "generate", harbour, "--count", 500, "-o", "q.json", "--types", "list")
    assert done.returncode == 3
    assert "--llm" in done.stdout
    assert "--max-calls" not in done.stdout
    assert f"chunkwise testset review q.json {harbour}" in " ".join(done.stdout.split())


def test_a_type_that_did_not_come_out_is_told(here: Run, harbour: Path) -> None:
    with chat_server(lambda payload: json.dumps(by_words("186.40"))) as server:
        done = here(
            "testset", "generate", harbour / "salt.md", "--count", 1, "-o", "q.json", "--llm", server.name(),
            "--types", "list",
        )  # fmt: skip
    assert "No question of the type list: " in done.stdout
