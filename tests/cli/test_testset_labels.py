"""`chunkwise testset labels` and `testset from-labels`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

from chunkwise.labels.store import LabelStore
from cli.in_process import Run, here
from labels.made_labels import document, event, pool

__all__ = ["here"]


def _labels(folder: Path) -> LabelStore:
    store = LabelStore(folder / ".chunkwise" / "labels.db")
    store.add_pool(pool())
    store.add(
        [
            event(grade=3, seconds=2.0),
            event(who="grace", grade=0),
            event(start=100, end=140, grade=2),
        ]
    )
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text(document().text, "utf-8")
    return store


def test_from_export_to_evaluation(here: Run, tmp_path: Path) -> None:
    _labels(tmp_path)
    out = here("testset", "labels", "export", "labels.jsonl")
    assert out.returncode == 0
    assert "3 labels written" in out.stderr
    found = json.loads(
        here("testset", "labels", "import", "labels.jsonl", "--labels", "other.db", "--json").stdout
    )
    assert (found["labels"], found["new"]) == (3, 3)
    told = here("testset", "labels", "agreement").stdout
    assert "Krippendorff's alpha" in told
    assert "1 passage disputed" in told
    assert "2.0 s" in told
    agreed = json.loads(here("testset", "labels", "agreement", "--json").stdout)
    assert agreed["agreement"]["relevance_disputed"] == 1
    assert agreed["unjudged"] == 2

    listed = json.loads(here("testset", "labels", "adjudicate", "--json").stdout)["disputed"]
    assert [(each["number"], each["grades"]) for each in listed] == [(1, {"ada": 3, "grace": 0})]
    decided = here("testset", "labels", "adjudicate", "1", "--grade", "3", "--who", "eve", "--json")
    assert json.loads(decided.stdout) == {"disputed": []}

    made = here("testset", "from-labels", "docs", "-o", "questions.json", "--json")
    assert json.loads(made.stdout)["questions"] == 1
    run = here(
        "evaluate", "docs", "--test-queries", "questions.json", "--vectors", "none", "--metrics",
        "recall,labels", "--json",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    metrics = json.loads(run.stdout)
    assert "bpref" in json.dumps(metrics)
    assert "judged@5" in json.dumps(metrics)


def test_without_labels_it_is_said_how_to_make_some(here: Run, tmp_path: Path) -> None:
    for words in (("agreement",), ("adjudicate",), ("export", "a.jsonl")):
        told = here("testset", "labels", *words)
        assert told.returncode == 1
        assert "chunkwise studio" in told.stderr
    assert here("testset", "from-labels", "-o", "q.json").returncode == 1
    assert not (tmp_path / ".chunkwise").exists()


def test_a_decision_is_a_grade_and_a_name(here: Run, tmp_path: Path) -> None:
    _labels(tmp_path)
    assert here("testset", "labels", "adjudicate", "1", "--grade", "2").returncode == 2
    told = here("testset", "labels", "adjudicate", "7", "--grade", "2", "--who", "eve")
    assert told.returncode == 2
    assert "7" in told.stderr
    assert "1 disputed passage" in told.stderr
