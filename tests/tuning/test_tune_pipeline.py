"""A user's own pipeline tuned: what it declares is tried, its index built no more often than needed."""

import json
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import InvalidParameter
from chunkwise.evaluation.pipeline import declared_parameters
from chunkwise.tuning.plan.plan import MOST, USUAL, plan_pipeline
from chunkwise.tuning.sweep import Sweep
from cli.in_process import Run, here
from cli.small_corpus import write_corpus, write_questions
from tables import cases

__all__ = ["here"]

MINE = """
import re
from pathlib import Path
HERE = Path(__file__).parent
def log(name, text):
    with (HERE / name).open("a") as out: out.write(text + "\\n")
PARAMETERS = {
    "size": {"when": "index", "values": [1, 4], "default": 4},
    "weight": {"when": "query", "low": 0.0, "high": 1.0, "default": 0.0},
}
class Search:
    def __init__(self, size):
        self.chunks = []
        for file in sorted((HERE / "docs").glob("*.md")):
            parts = [part for part in file.read_text().split("\\n\\n")]
            texts = ["\\n\\n".join(parts[at : at + size]) for at in range(0, len(parts), size)]
            self.chunks += [{"text": text, "source": file.name} for text in texts]
    def search(self, query, k, weight=0.0):
        log("asked.log", query)
        if weight == 1.0 and "numbered 7?" in query: raise RuntimeError("down")
        wanted = set(re.findall(r"\\w+", query))
        return sorted(self.chunks, key=lambda one: -len(wanted & set(re.findall(r"\\w+", one["text"]))))[:k]
def build(size, broken=False):
    log("built.log", str(size))
    if broken and size == 1: raise OSError("no disk")
    return Search(size)
def search(query): return []
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_corpus(tmp_path / "docs")
    write_questions(tmp_path / "queries.json")
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


TUNE = ("tune", "docs", "--pipeline", "./mine.py:build", "--test-queries", "queries.json",
        "--objective", "recall@40t", "-o", "out", "-q")  # fmt: skip


def test_the_best_is_chosen_and_an_index_is_built_once(here: Run, project: Path) -> None:
    done = here(*TUNE)
    assert done.returncode == 3, done.stderr  # one question failed with one weight
    assert lines(project / "built.log") == ["4", "1"]
    assert len(lines(project / "asked.log")) == 2 * 3 * 40
    told = json.loads((project / "out" / "results.json").read_text())
    assert len(told["outcomes"]) == 6
    assert told["plan"]["sweep"]["pipeline"] == "./mine.py:build"
    by_label = {each["configuration"]["retriever"]: each for each in told["outcomes"]}
    assert by_label["./mine.py:build(size=4, weight=0.0)"]["configuration"]["baseline"] == USUAL
    assert by_label["./mine.py:build(size=1, weight=1.0)"]["scores"]["recall@40t"].count(None) == 1
    assert by_label["./mine.py:build(size=1, weight=0.0)"]["cost"]["median_seconds"] > 0
    assert {lever["name"] for lever in told["levers"]} == {"size", "weight"}
    assert told["against"][0]["words"] == "better"
    assert "better than the defaults" in told["sentence"]
    assert (project / "out" / "report.html").stat().st_size > 1000
    # The recommendation is what evaluate takes, once the user allows the code.
    toml = (project / "out" / "recommendation.toml").read_text()
    assert 'retriever = "./mine.py:build(size=1, weight=0.' in toml
    words = (
        "evaluate",
        "docs",
        "--config",
        "out/recommendation.toml",
        "--test-queries",
        "queries.json",
        "-q",
    )
    refused = here(*words)
    assert refused.returncode == 2
    assert "--allow ./mine.py:build" in refused.stderr
    again = here(*words, "--allow", "./mine.py:build", "-o", "found.json")
    assert again.returncode == 0, again.stderr


@pytest.mark.usefixtures("large_inputs")
def test_the_same_command_goes_on_and_changed_code_is_run_again(here: Run, project: Path) -> None:
    assert here(*TUNE).returncode == 3
    first = (project / "out" / "results.json").read_text()
    assert here(*TUNE).returncode in (0, 3)
    assert lines(project / "built.log") == ["4", "1"]
    strip = lambda text: json.loads(text)["outcomes"]  # noqa: E731
    assert strip((project / "out" / "results.json").read_text()) == strip(first)
    outcomes = sorted((project / "out").rglob("outcomes/*.json"))
    outcomes[0].unlink()
    assert here(*TUNE).returncode in (0, 3)
    assert len(lines(project / "built.log")) == 3
    (project / "mine.py").write_text(MINE.replace("no disk", "no room"))
    assert here(*TUNE).returncode == 3
    assert len(lines(project / "built.log")) == 5


@pytest.mark.usefixtures("large_inputs")
def test_what_stopped_amid_a_configuration_asks_no_question_twice(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chunkwise.tuning.run import run_pipeline

    real, asked = run_pipeline.evaluate_system, []

    def stops(*given: Any, **named: Any) -> Any:
        asked.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_pipeline, "evaluate_system", stops)
    tune = {"pipeline": "./mine.py:build(weight=0.0)", "output": "out", "objective": "recall@40t"}
    with pytest.raises(KeyboardInterrupt):
        chunkwise.tune("docs", "queries.json", **tune)
    monkeypatch.setattr(run_pipeline, "evaluate_system", real)
    found = chunkwise.tune("docs", "queries.json", **tune)
    assert len(lines(project / "asked.log")) == 2 * 40
    assert found.recommendation is not None
    assert found.recommendation.retriever == "./mine.py:build(weight=0.0, size=1)"


@pytest.mark.usefixtures("large_inputs")
def test_what_cannot_be_built_is_an_outcome_and_the_others_go_on(here: Run, project: Path) -> None:
    done = here(*(word.replace(":build", ":build(broken=True)") for word in TUNE))
    assert done.returncode == 3
    assert "it can't be built: OSError: no disk" in done.stderr
    told = json.loads((project / "out" / "results.json").read_text())
    assert sum(bool(each["error"]) for each in told["outcomes"]) == 3


@cases(
    "words, told",
    [
        ("--embedder none", "embedder is 'none'"),
        ("--timeout 0", "timeout is 0"),
    ],
)
def test_options_that_do_not_go_with_it_are_told(here: Run, words: str, told: str) -> None:
    done = here(*TUNE, *words.split())
    assert done.returncode == 2
    assert told in done.stderr


def test_a_dry_run_builds_nothing(here: Run, project: Path) -> None:
    done = here(*TUNE[:-1], "--dry-run")
    assert done.returncode == 0
    assert "6 configurations of ./mine.py:build" in done.stderr
    assert lines(project / "built.log") == []


@cases(
    "declared, told",
    [
        ("None", "declares no parameters; declare them in its file"),
        ("{'size': {'when': 'later', 'values': [1]}}", "size: Invalid enum value 'later'"),
        ("{'size': {'values': []}}", "Expected `array` of length >= 1"),
        ("{'size': {'values': [[1]]}}", "Expected `bool"),
        ("{'size': {'low': 4, 'high': 1}}", "neither values nor a range"),
        ("{'size': {'low': 0, 'high': float('nan')}}", "neither values nor a range"),
        ("{'size': {'valeus': [1]}}", "unknown field `valeus`"),
        ("{'depth': [1, 2]}", "cannot build"),
        ("7", "expected a mapping"),
    ],
)
def test_a_wrong_declaration_is_told_before_anything_is_built(
    project: Path, declared: str, told: str
) -> None:
    (project / "mine.py").write_text(f"{MINE}\nPARAMETERS = {declared}\n")
    with pytest.raises(InvalidParameter, match=told):
        chunkwise.tune("docs", "queries.json", pipeline="./mine.py:build")
    assert lines(project / "built.log") == []


def test_a_parameter_that_is_none_is_told_before_anything_is_built(
    here: Run, project: Path
) -> None:
    named = [each.replace("build", "build(sise=1)") for each in TUNE]
    done = here(*named)
    assert done.returncode == 2
    assert "cannot build ./mine.py:build: got an unexpected keyword argument 'sise'" in done.stderr
    assert lines(project / "built.log") == []
    for known in ("size=1", "weight=0.5", "broken=False"):
        sweep = Sweep(
            ("docs",), "queries.json", (), (), embedder="", pipeline=f"./mine.py:build({known})"
        )
        assert plan_pipeline(sweep).configurations


def test_too_many_combinations_are_sampled_and_every_value_is_tried(project: Path) -> None:
    values = list(range(12))
    (project / "many.py").write_text(
        f"PARAMETERS = {{name: {values} for name in 'abc'}}\ndef build(a, b, c): return None\n"
    )
    sweep = Sweep(("docs",), "queries.json", (), (), embedder="", pipeline="./many.py:build")
    plan = plan_pipeline(sweep)
    assert len({each.key for each in plan.configurations}) == len(plan.configurations) == MOST
    assert plan.configurations[0].baseline == USUAL
    for lever in "abc":
        assert {each.levers[lever] for each in plan.configurations} == {*map(str, values)}
    assert plan.left_out[0].what == f"{12**3 - MOST:,} of 1,728 combinations"
    assert plan_pipeline(sweep) == plan


def test_bounds_of_a_dataclass_are_a_declaration() -> None:
    from dataclasses import dataclass

    from chunkwise.base.parameters import param

    @dataclass
    class Build:
        size: int = param(200, "tokens", low=100, high=500)
        kind: str = param("a", "which", choices=("a", "b"))
        free: int = 3

    found = declared_parameters("Build", Build)
    assert found["size"].values == (200, 100, 300, 500)
    assert found["kind"].values == ("a", "b")
    assert "free" not in found


def test_a_function_beside_the_declaration_is_asked_as_it_is(project: Path) -> None:
    found = chunkwise.evaluate(
        "docs", "queries.json", retriever="./mine.py:search", metrics="recall"
    )
    assert found.summary["recall@5"].mean == 0.0
