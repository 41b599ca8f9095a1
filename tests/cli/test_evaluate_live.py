"""`chunkwise evaluate --retriever` with a pipeline of the user's own."""

import json
from pathlib import Path

import pytest

from cli.in_process import Run, here
from cli.small_corpus import write_corpus, write_questions
from tables import cases

__all__ = ["here"]

MINE = """
import re
from pathlib import Path
TEXTS = [part for file in sorted(Path("docs").glob("*.md")) for part in file.read_text().split("\\n\\n")]
def search(query, k):
    if "numbered 7?" in query:
        raise RuntimeError("::error::down \\x1b[31m")
    wanted = set(re.findall(r"\\w+", query))
    ranked = sorted(TEXTS, key=lambda text: -len(wanted & set(re.findall(r"\\w+", text))))
    return ranked[:k]
"""
MEASURED = ("--metrics", "recall,mrr,ndcg", "-q")


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "docs")
    write_questions(tmp_path / "queries.json")
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def test_a_function_is_evaluated_and_what_failed_is_told(here: Run, tmp_path: Path) -> None:
    words = (
        "evaluate",
        "docs",
        "--retriever",
        "./mine.py:search",
        "--test-queries",
        "queries.json",
    )
    done = here(*words, *MEASURED, "-o", "out.json", "--retrieved", "theirs.jsonl", "-k", 2)
    assert done.returncode == 3, done.stderr
    assert (
        "skipped question 'q7': ./mine.py:search failed: RuntimeError: ::error::down" in done.stderr
    )
    assert "\x1b" not in done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["summary"]["recall@2"]["mean"] == 1.0
    assert found["summary"]["recall@2"]["scored"] == 39
    assert found["configuration"]["retriever"] == "./mine.py:search"
    assert found["summary"]["ndcg@2"]["mean"] is None
    assert len((tmp_path / "theirs.jsonl").read_text().splitlines()) == 40
    (tmp_path / "mine.py").write_text("def search(query, k): return []\n")
    again = here(*words, *MEASURED, "-o", "again.json", "--retrieved", "theirs.jsonl", "-k", 2)
    assert again.returncode == 0, (
        again.stderr
    )  # only the one that failed is asked, and found nothing now
    assert json.loads((tmp_path / "again.json").read_text())["summary"]["recall@2"][
        "mean"
    ] == pytest.approx(39 / 40)


@pytest.mark.usefixtures("large_inputs")
def test_latency_is_shown(here: Run) -> None:
    done = here(
        "evaluate", "docs", "--retriever", "./mine.py:search", "--test-queries", "queries.json"
    )
    assert "retriever latency: median " in done.stdout
    assert "./mine.py:search" in done.stdout


def test_documents_beside_the_questions_are_taken_and_no_scripts(here: Run, tmp_path: Path) -> None:
    words = ("evaluate", "--retriever", "./mine.py:search", "--test-queries", "queries.json")
    done = here(*words, *MEASURED, "-o", "out.json")
    assert done.returncode == 3, done.stderr
    assert "no documents given: using those in ./" in done.stderr
    documents = json.loads((tmp_path / "out.json").read_text())["data"]["documents"]["count"]
    assert documents == len(list((tmp_path / "docs").iterdir()))


@pytest.mark.usefixtures("processes")
@cases(
    "words, status, told",
    [
        ("--retriever ./none.py:search", 2, "no file './none.py'"),
        ("--retriever ./mine.py:nobody", 2, "has no 'nobody'"),
        (
            "--retriever ./mine.py:search --strategy sentences",
            2,
            "strategy is 'sentences'; hits of",
        ),
        ("--retriever ./mine.py:search --mmr 0.5", 2, "mmr is 0.5"),
        ("--retriever ./mine.py:search --timeout 0", 2, "timeout is 0"),
        (
            "--retriever ./mine.py:search --retrieved o.json -o o.json",
            2,
            "two outputs have the same path",
        ),
        (
            "--retriever http://127.0.0.1:1/x(attempts=1)",
            1,
            "failed on all of the first 10 questions",
        ),
        ("--retriever http://user:secret@127.0.0.1:1/x", 2, "has a user name or password in it"),
        (
            "--retriever command:false",
            1,
            "failed on all of the first 10 questions: it exited with status 1",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_line(here: Run, words: str, status: int, told: str) -> None:
    done = here("evaluate", "docs", "--test-queries", "queries.json", *words.split(), "-q")
    assert done.returncode == status, done.stderr
    assert done.stderr.count(told) == 1
    assert "did not answer" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr


def test_a_recommendation_names_no_pipeline_by_itself(here: Run, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text('strategy = "structure"\nretriever = "./mine.py:search"\n')
    words = ("evaluate", "docs", "--test-queries", "queries.json", "--config", "r.toml", *MEASURED)
    done = here(*words)
    assert done.returncode == 2, done.stderr
    assert "--allow ./mine.py:search" in done.stderr
