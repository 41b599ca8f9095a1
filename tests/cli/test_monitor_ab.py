"""`chunkwise ab` as a user runs it."""

import json
from pathlib import Path

import pytest

from cli.in_process import Run, here
from cli.small_corpus import write_corpus, write_questions
from tables import cases

__all__ = ["here"]


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    write_corpus(tmp_path / "docs", passages=5)
    write_questions(tmp_path / "queries.json", count=20, passages=5)
    for name, strategy in (("now", "tokens(max_tokens=12)"), ("new", "paragraphs")):
        (tmp_path / f"{name}.toml").write_text(
            f'strategy = "{strategy}"\nretriever = "bm25"\nvectors = "none"\nk = 3\n'
        )
    rows = json.loads((tmp_path / "queries.json").read_text())
    for row in rows:
        row.pop("query_id", None)
    (tmp_path / "live.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows * 15))


AB = (
    "monitor",
    "ab",
    "docs",
    "--a",
    "now.toml",
    "--b",
    "new.toml",
    "--queries",
    "live.jsonl",
    "-q",
)


@pytest.mark.usefixtures("large_inputs")
def test_two_configurations_are_held_against_each_other(here: Run) -> None:
    done = here(*AB, "--metric", "recall@3")
    assert done.returncode == 0, done.stderr
    assert "recall@3, parallel: 300 questions" in done.stdout
    assert "b is better than a, shown after " in done.stdout
    told = json.loads(here(*AB, "--metric", "recall@3", "--json").stdout)
    assert (told["state"], told["questions"]) == ("higher", 300)
    assert told["decided_at"] < 300
    same = here(
        *AB[:5],
        "now.toml",
        *AB[6:],
        "--b",
        "now.toml",
        "--metric",
        "recall@3",
        "--tolerance",
        "0.1",
    )
    assert "No difference of 0.1 or more" in same.stdout
    few = here(*AB, "--how", "interleaved")
    assert few.returncode == 0
    assert "wins, interleaved" in few.stdout


def test_a_judge_may_say_who_is_better(here: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from chunkwise.ext import Score\n\n\nclass Long:\n    name = 'long'\n\n"
        "    def judge(self, queries, hits):\n"
        "        return [[Score(float(len(hit.text) > 80)) for hit in own] for own in hits]\n"
    )
    asked = ("--judge", "./mine.py:Long", "--metric", "retrieval_precision.long")
    told = json.loads(here(*AB, *asked, "--json").stdout)
    assert (told["metric"], told["state"]) == ("retrieval_precision.long", "higher")


def test_a_log_of_what_people_saw_needs_nothing_else(here: Run, tmp_path: Path) -> None:
    rows = [
        {"clicks_a": 1, "clicks_b": 1, "date": "2026-01-05"},
        {"clicks_a": 1, "clicks_b": 0, "date": "2026-01-06"},
    ]
    (tmp_path / "seen.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = here("monitor", "ab", "--queries", "seen.jsonl")
    assert done.returncode == 0
    assert "Inconclusive so far: continue" in done.stdout
    (tmp_path / "seen.jsonl").write_text(
        json.dumps(rows[1]) + "\n" + "{\n" + (json.dumps(rows[1]) + "\n") * 60
    )
    done = here("monitor", "ab", "--queries", "seen.jsonl")
    assert done.returncode == 3
    assert "a is better than b, shown after " in done.stdout
    assert "(2026-01-06)" in done.stdout


@cases(
    "words, said, status",
    [
        (("monitor", "ab", "docs", "--a", "now.toml", "--queries", "live.jsonl"), "missing configurations", 2),
        (("monitor", "ab", "docs", "--queries", "live.jsonl"), "give SOURCE, --a CONFIG and --b CONFIG", 2),
        ((*AB[:4], "none.toml", *AB[5:]), "none.toml", 1),
        ((*AB, "--metric", "nothing"), "nothing", 2),
        ((*AB[:-3], "--queries", "gone.jsonl"), "gone.jsonl", 1),
        ((*AB, "--tolerance", "3"), "tolerance is 3", 2),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_clear_line(
    here: Run, words: tuple[str, ...], said: str, status: int
) -> None:
    done = here(*words)
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
