"""`chunkwise demo`: the whole of it, on the corpus inside the package."""

import json
import tomllib
from pathlib import Path

import pytest

from chunkwise.cli import tune_command
from chunkwise.tuning.sweep import Sweep
from cli.in_process import Run, here

__all__ = ["here"]  # a fixture


@pytest.mark.unwatched
def test_the_demo_tunes_and_writes_three_files(here: Run, tmp_path: Path) -> None:
    done = here("demo", "--output", "out", "--model", "none")
    assert done.returncode == 0, done.stderr
    assert "13 documents, 132 questions" in done.stderr
    assert "open out/report.html in a browser" in done.stderr
    assert "Recommendation" in done.stdout
    out = tmp_path / "out"
    results = json.loads((out / "results.json").read_text())
    assert results["chosen"]
    assert not any(each["error"] for each in results["outcomes"])
    assert {"bm25", "multiscale(dense=0)"} == {
        each["configuration"]["retriever"] for each in results["outcomes"]
    }
    assert tomllib.loads((out / "recommendation.toml").read_text())["strategy"]
    page = (out / "report.html").read_text()
    assert len(page) < 5_000_000
    assert "Questions, one by one" in page


def test_the_model_is_part_of_it_unless_said_otherwise(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sweep] = []
    monkeypatch.setattr(tune_command, "run_sweep", lambda sweep, *_: asked.append(sweep))
    here("demo", "-q")
    (sweep,) = asked
    assert sweep.model == "minilm"
    assert sweep.retrieval[0].names == ("bm25", "dense", "hybrid", "multiscale")
