"""`chunkwise tune --review`: a person answers, the next sweep counts the answers and runs nothing again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import chunkwise
from chunkwise.testsets.testset import REVIEWED
from cli.in_process import Run, here

__all__ = ["here"]  # a fixture

WORDS = ("tune", "sweep.toml", "-o", "out")
PLAN = """[sweep]
source = "docs"
embedder = "none"

[[sweep.chunkers]]
strategy = ["sentences", "structure"]
max_tokens = [50, 200]

[[sweep.retrieval]]
retriever = ["bm25"]
"""
Answer = Callable[[str], None]


@pytest.fixture
def swept(here: Run, tmp_path: Path) -> Path:
    """The folder of a sweep on generated questions."""
    (tmp_path / "docs").mkdir()
    for name in ("ferry-safety-manual.md", "recipes-of-the-salt-kitchen.md"):
        shutil.copy(Path(chunkwise.__file__).with_name("corpus") / name, tmp_path / "docs")
    (tmp_path / "sweep.toml").write_text(PLAN)
    done = here(*WORDS)
    assert done.returncode == 0, done.stderr
    assert "--review" in done.stdout.splitlines()[-1]
    return tmp_path / "out"


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Keys that a person will press, and then goes away."""

    def press(keys: str) -> None:
        pressed = iter(keys)
        monkeypatch.setattr(click, "getchar", lambda: next(pressed))

    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return press


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever standard input is, it takes itself for a terminal."""
    monkeypatch.setattr("chunkwise.cli.tune.refuse_without_terminal", lambda: None)


def states(swept: Path) -> list[str]:
    rows = json.loads((swept / "questions.json").read_text())
    return [row["review"] for row in rows if "review" in row]


def outcomes(swept: Path) -> dict[str, dict[str, object]]:
    folder = swept / ".chunkwise-sweep" / "outcomes"
    return {path.name: json.loads(path.read_text())["outcome"] for path in folder.glob("*.json")}


def test_answers_are_counted_by_the_sweep_that_follows_and_nothing_runs_again(
    here: Run, swept: Path, answer: Answer, terminal: None
) -> None:
    before = outcomes(swept)
    total = len(json.loads((swept / "questions.json").read_text()))
    answer("ad" + "a" * (REVIEWED - 2) + "dsbbq")
    done = here(*WORDS, "--review")
    assert done.returncode == 0, done.stderr
    assert states(swept) == ["accepted"] * (REVIEWED - 1)
    assert "early estimate" in done.stdout.splitlines()[0]
    result = json.loads((swept / "results.json").read_text())
    assert result["data"]["questions"]["reviewed"] == REVIEWED - 1
    assert len(result["questions"]) == total - 1  # the last one came back
    after = outcomes(swept)
    assert {name: each["seconds"] for name, each in after.items()} | {
        name: each["seconds"] for name, each in before.items()
    } == {name: each["seconds"] for name, each in after.items()}
    assert "accept 1 more" in done.stdout
    answer("aq")
    done = here("tune", "--resume", "-o", "out", "--review")
    assert done.returncode == 0, done.stderr
    assert "reviewed: " in done.stdout
    recommendation = (swept / "recommendation.toml").read_text()
    assert recommendation.startswith("# ◑ reviewed")
    assert "Next  chunkwise index" in done.stdout


def test_whoever_is_killed_between_answers_loses_none_of_them(
    here: Run, swept: Path, answer: Answer, terminal: None
) -> None:
    answer("aaa")
    with pytest.raises(StopIteration):
        here(*WORDS, "--review")
    assert states(swept) == ["accepted"] * 3
    answer("q")
    done = here(*WORDS, "--review")
    assert "3 questions decide" in done.stdout


def test_an_interrupt_ends_the_review_and_its_answers_count(
    here: Run, swept: Path, answer: Answer, terminal: None
) -> None:
    answer("aa\x03")
    done = here(*WORDS, "--review", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads((swept / "results.json").read_text())["data"]["questions"]["reviewed"] == 2


def test_an_edited_question_is_asked_by_the_sweep_that_follows(
    here: Run, swept: Path, answer: Answer, terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "How much salt?")
    answer("eaq")
    done = here(*WORDS, "--review")
    assert done.returncode == 0, done.stderr
    assert states(swept) == ["edited"]
    about = json.loads((swept / "results.json").read_text())["data"]["questions"]
    assert about["count"] - about["generated"] == 1


def test_without_a_terminal_nothing_is_run(here: Run, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(PLAN)
    done = here(*WORDS, "--review")
    assert done.returncode == 1
    assert "terminal" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.toml"]
