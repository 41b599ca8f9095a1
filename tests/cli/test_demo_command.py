"""`chunkwise demo`: the whole of it, on the corpus inside the package; and what `make` shows a newcomer."""

import json
import re
import runpy
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import chunkwise
from chunkwise.cli import tune
from chunkwise.tuning.sweep import Sweep
from cli.in_process import Run, here

__all__ = ["here"]  # a fixture

ROOT = Path(__file__).parents[2]
PACKAGE = Path(chunkwise.__file__).parent


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_every_step_of_make_demo_runs(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = runpy.run_path(str(ROOT / "scripts" / "demo.py"))
    monkeypatch.setenv("COLUMNS", str(demo["WIDEST"]))
    shutil.copytree(PACKAGE / "corpus", tmp_path / "handbook")
    shutil.copy(PACKAGE / "corpus_questions.json", tmp_path / "questions.json")
    for _, *commands in demo["STEPS"]:
        for command in commands:
            program, *words = demo["words_of"](command)
            assert program == "chunkwise"
            if words[0] == "demo":
                tunes_and_writes_three_files(here, tmp_path, words)
                continue
            done = here(*words)
            assert done.returncode == 0, done.stderr
    # The last one shows a gain.
    assert re.search(r"b is better than a: recall@1000t \+\d+\.\d pts", done.stdout)
    assert {"report.html", "cuts.html", "profile.html"} <= {
        path.name for path in tmp_path.iterdir()
    }


def tunes_and_writes_three_files(here: Run, out: Path, words: list[str]) -> None:
    """By words alone, in seconds."""
    done = here(*words, "--embedder", "none")
    assert done.returncode == 0, done.stderr
    assert "13 documents, 132 questions" in done.stderr
    assert done.stderr.endswith(
        "open report.html in a browser\nyour documents: chunkwise tune FOLDER -Q questions.json\n"
    )
    assert "recall@1000t" in done.stdout
    results = json.loads((out / "results.json").read_text())
    assert results["chosen"]
    assert not any(each["error"] for each in results["outcomes"])
    assert {"bm25", "multiscale(dense=0)"} == {
        each["configuration"]["retriever"] for each in results["outcomes"]
    }
    assert tomllib.loads((out / "recommendation.toml").read_text())["strategy"]
    page = (out / "report.html").read_text()
    assert len(page) < 5_000_000
    assert ">Questions<" in page


def test_the_model_is_part_of_it_unless_said_otherwise(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sweep] = []
    monkeypatch.setattr(tune, "tune_and_show", lambda source, _: asked.append(source.sweep))
    here("demo", "-q")
    (sweep,) = asked
    assert sweep.embedder == "minilm"
    assert sweep.retrieval[0].names == ("bm25", "dense", "hybrid", "multiscale")


@pytest.mark.usefixtures("processes")
def test_make_lists_its_targets() -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"^([a-z]+):.*## (.+)$", makefile, re.M)
    assert {"demo", "test", "help"} <= {name for name, _ in named}
    assert re.findall(r"^  make ([a-z]+) +(.+)$", shown, re.M) == named
    assert max(map(len, shown.splitlines())) <= 100


def test_the_first_screen_names_what_a_fresh_clone_runs() -> None:
    first = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:40]
    commands = [line.partition("#")[0].strip() for line in first]
    assert {"make demo", "make test", "pip install ."} <= set(commands)
