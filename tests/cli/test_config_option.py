"""`--config`: what a sweep recommends, taken by other commands as it is."""

import json
from pathlib import Path

import pytest

from cli.in_process import Run, here
from cli.small_corpus import PLAN, write_corpus, write_questions

__all__ = ["here"]  # a fixture

WORDS_OF = 'vectors = "none"\nretriever = "bm25"\n'


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "docs")
    return tmp_path / "docs"


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_what_tune_writes_is_taken_as_it_is(here: Run, docs: Path, tmp_path: Path) -> None:
    write_questions(tmp_path / "queries.json")
    (tmp_path / "sweep.toml").write_text(PLAN)
    assert here("tune", "sweep.toml", "-o", "out", "-q").returncode == 0
    config = ("--config", "out/recommendation.toml")
    assert here("chunk", "docs", *config, "--json").returncode == 0
    made = here("index", "docs", "--into", "kb", *config, "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["vectors"] == "none"
    done = here("search", "kb", "who keeps the crane", *config, "--json")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    assert found
    assert sum(int(str(row["tokens"])) for row in found) <= 1000


def test_several_sizes_fill_the_budget(here: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(
        'strategy = "structure"\nvectors = "none"\nretriever = "multiscale(dense=0)"\nk = 5\nbudget = 60\n'
    )
    assert here("index", "docs", "--into", "kb", "--config", "r.toml", "-q").returncode == 0
    plain = rows(here("search", "kb", "crane", "--config", "r.toml", "--json").stdout)
    assert 0 < sum(int(str(row["tokens"])) for row in plain) <= 60
    more = here("search", "kb", "crane", "--config", "r.toml", "--budget", "400", "--json")
    assert 60 < sum(int(str(row["tokens"])) for row in rows(more.stdout)) <= 400


def test_what_is_said_on_the_command_line_wins(here: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(
        f'strategy = "sentences(max_tokens=30)"\ncontext = "headings"\nk = 2\n{WORDS_OF}'
    )
    config = ("--config", "r.toml")
    chunks = rows(here("chunk", "docs", *config, "--json").stdout)
    assert all(row["strategy"] == "sentences(max_tokens=30)" for row in chunks)
    assert any(row["context"] for row in chunks)
    chunks = rows(
        here("chunk", "docs", *config, "-s", "words", "--context", "none", "--json").stdout
    )
    assert all(str(row["strategy"]).startswith("words") for row in chunks)
    assert not any(row["context"] for row in chunks)
    assert here("index", "docs", "--into", "kb", *config, "-q").returncode == 0
    assert len(rows(here("search", "kb", "crane", *config, "--json").stdout)) == 2
    assert len(rows(here("search", "kb", "crane", *config, "-k", "1", "--json").stdout)) == 1
    told = json.loads(
        here("index", "docs", "--into", "two", "-s", "words", *config, "--json").stdout
    )
    assert told["strategy"].startswith("words")
    assert told["context"] == "headings"


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("strategy =", 1, "r.toml is no TOML"),
        ('strategy = "nobody"', 2, "no strategy is named 'nobody'"),
        ('strategy = "words"\ncontext = "all"', 2, "'all' is not one of"),
        ('strategy = "words"\nk = "many"', 2, "k is 'many'"),
        ('strategy = "words"\ncolour = "red"', 2, "'colour' is not known"),
        ("[sweep]", 1, "is the plan of a sweep"),
    ],
)
def test_a_wrong_file_is_an_error_in_a_line(
    here: Run, docs: Path, tmp_path: Path, text: str, status: int, said: str
) -> None:
    (tmp_path / "r.toml").write_text(text)
    done = here("chunk", "docs", "--config", "r.toml", "--json")
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_file_is_an_error(here: Run, docs: Path) -> None:
    for command in (("chunk", "docs"), ("index", "docs", "--into", "kb"), ("search", "kb", "x")):
        done = here(*command, "--config", "missing.toml")
        assert done.returncode == 1
        assert "cannot read missing.toml" in done.stderr
