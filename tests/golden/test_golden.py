"""The numbers of every verb are those of the golden set."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from normalize import EXPECTED, brief, differences, dump
from snapshots import FOLDERS, QUESTIONS, SNAPSHOTS, Rows

from untimed import HANG

SHOWN = 8
STRATEGY = "structure(max_tokens=200, overlap=20)"


def check(name: str, rows: Rows, only: str = "") -> None:
    """Compares rows with those of a snapshot, or with those in which the text `only` stands."""
    layout = SNAPSHOTS[name].layout
    header, *lines = (EXPECTED / f"{name}.jsonl").read_text("utf-8").splitlines()
    expected = "".join(f"{line}\n" for line in [header, *lines] if only in line or line == header)
    found = dump(layout, rows)
    changes = iter(()) if found == expected else differences(layout, expected, found)
    if shown := list(islice(changes, SHOWN)):
        more = sum(1 for _ in changes)
        told = [f"{name} differs from tests/golden/expected/{name}.jsonl:", *shown]
        told += [f"and {more} more rows"] if more else []
        renew = f"If it should: make golden SNAPSHOTS={name}, and give the reason in the commit."
        pytest.fail("\n  ".join(told) + f"\n{renew}", pytrace=False)


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_results_are_those_of_the_golden_set(name: str) -> None:
    snapshot = SNAPSHOTS[name]
    if snapshot.is_missing_weights():
        pytest.skip(f"no weights: chunkwise models get {snapshot.weights}")
    check(name, snapshot.rows())


def run(*words: object) -> str:
    command = [sys.executable, "-m", "chunkwise", *map(str, words)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=HANG).stdout.decode()


@pytest.mark.usefixtures("processes")
def test_the_command_chunks_as_python_does() -> None:
    printed = run("chunk", FOLDERS["files"], "-s", STRATEGY, "--json").splitlines()
    fields = ("doc_id", "start", "end", "token_count", "context", "section")
    chunks = ([json.loads(line)[field] for field in fields] for line in printed)
    rows = ([STRATEGY, *place, brief(context), brief(path)] for *place, context, path in chunks)
    check("chunk-files", rows, f'["{STRATEGY}"')


@pytest.mark.smoke
@pytest.mark.usefixtures("processes")
def test_the_command_evaluates_as_python_does(tmp_path: Path) -> None:
    output, metrics = tmp_path / "run.json", "recall,ndcg,mrr,iou,boundary_issues"
    run(
        "evaluate", FOLDERS["files"], "--test-queries", QUESTIONS["files"], "-s", STRATEGY, "--embedder", "none",
        "--retriever", "bm25", "-k", 5, "--metrics", metrics, "-qo", output,
    )  # fmt: skip
    summary = json.loads(output.read_text("utf-8"))["summary"]
    rows = (["files, bm25", "metric", *pair] for pair in summary.items())
    check("evaluate", rows, '["files, bm25","metric"')
