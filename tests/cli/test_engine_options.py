"""`--engine`, `--address`, `--estimate`: the same of every command that shares its work."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chunkwise.chunkers.work_estimate import WorkEstimate, estimate_work
from chunkwise.cli.main import group
from cluster_here import ClusterHere
from tables import cases

COMMANDS = {
    "chunk": [],
    "index": ["--into", "kb", "--vectors", "none"],
    "lint": [],
    "profile": [],
}


@pytest.fixture(autouse=True)
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(f"# Title {number}\n\nA text about {number}.\n")
    return folder


@cases("name", COMMANDS)
def test_a_cluster_is_named_with_its_engine_and_without_processes(name: str) -> None:
    words = [name, "docs", *COMMANDS[name]]
    done = CliRunner().invoke(group, [*words, "--address", "auto"])
    assert (done.exit_code, "--address needs --engine ray" in done.output) == (2, True)
    done = CliRunner().invoke(group, [*words, "--engine", "ray", "-j", "2"])
    assert (done.exit_code, "leave it out with --engine ray" in done.output) == (2, True)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_cluster_prints_what_one_process_prints(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ClusterHere] = []

    class Cluster(ClusterHere):
        def __init__(self, address: str | None) -> None:
            super().__init__()
            self.address, self.is_stopped = address, False
            made.append(self)

        def stop(self) -> None:
            self.is_stopped = True

    monkeypatch.setattr("chunkwise.base.ray_workers.RayCluster", Cluster)
    words = [name, "docs", *COMMANDS[name], "-q"]
    local = CliRunner().invoke(group, words)
    ray = CliRunner().invoke(group, [*words, "--engine", "ray", "--address", "head:6379"])
    assert (ray.exit_code, ray.output) == (local.exit_code, local.output)
    (cluster,) = made
    assert (cluster.address, cluster.is_stopped, len(cluster.stages)) == ("head:6379", True, 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["chunk", "index"])
def test_an_estimate_is_told_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    words = [name, "docs", *COMMANDS[name], "--estimate"]
    done = CliRunner().invoke(group, words)
    assert done.exit_code == 0, done.output
    assert "3 files, 81 bytes; estimated from 3: about" in done.output
    assert not (tmp_path / "kb").exists()


def _estimated(words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, object]]:
    """The strategy and the settings that an estimate was made with."""
    seen: list[tuple[str, dict[str, object]]] = []

    def noted(source: Any, strategy: Any, options: Any, further: Any, **rest: Any) -> WorkEstimate:
        seen.append((strategy.label, asdict(further.settings)))
        return estimate_work(source, strategy, options, further, **rest)

    monkeypatch.setattr("chunkwise.retrieval.indexes.estimate_work", noted)
    done = CliRunner().invoke(group, ["index", "docs", "--vectors", "none", *words, "--estimate"])
    assert done.exit_code == 0, done.output
    ((label, settings),) = seen
    return label, settings


def test_an_estimate_is_of_the_index_that_the_options_ask_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--into", "kb", "--language", "de", "--tokenizer", "words", "--graph"]
    _, settings = _estimated(words, monkeypatch)
    assert (settings["language"], settings["tokenizer"]) == ("de", "words")
    assert settings["graph"] == "names"
    rows = [{"doc_id": f"{number}.md", "start": 0, "end": 4} for number in range(3)]
    (tmp_path / "theirs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    label, _ = _estimated(["--into", "kb", "--chunks", "theirs.jsonl"], monkeypatch)
    assert "theirs.jsonl" in label


def test_an_estimate_of_a_rebuild_is_of_the_settings_that_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = ["index", "docs", "--into", "kb", "--vectors", "none", "-s", "sections", "--graph", "-q"]
    assert CliRunner().invoke(group, made).exit_code == 0
    label, settings = _estimated(["--into", "kb", "--rebuild"], monkeypatch)
    assert label.startswith("sections")
    assert settings["graph"] == "names"
