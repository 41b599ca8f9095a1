"""`chunkwise models` and `chunkwise models cache`."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chunkwise.base.errors import ChunkwiseError
from chunkwise.cli import models as models_module
from chunkwise.cli.models import command as models
from chunkwise.models.llm import local as module
from chunkwise.models.llm.local import LocalModel
from chunkwise.models.weights import catalog
from chunkwise.models.weights.catalog import ALL, MINILM, SETS
from chunkwise.models.weights.installed import ensure
from models.weights.parcels import THINGS, build_wheel


def call(command: object, *words: object, fails: bool = False) -> Result:
    result = CliRunner().invoke(command, [str(word) for word in words])  # type: ignore[arg-type]
    if not fails and result.exception:
        raise result.exception
    return result


def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speed is measured on next to nothing."""
    for name, few in (("_SECONDS", 0.01), ("_WRITTEN", 2), ("_SAMPLE", "The ferry. ")):
        monkeypatch.setattr(models_module, name, few)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without anything in it, and beside it a folder with minilm's files."""
    folder = tmp_path / "brought"
    folder.mkdir()
    for path in ensure(MINILM).values():
        shutil.copy(path, folder)
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_MODELS", raising=False)
    return folder


def test_from_nothing_to_fetched_to_removed(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch)
    listed = call(models).stdout
    assert re.search(r"minilm +23.4 MB +not here +Apache-2.0 +--embedder minilm\n", listed)
    assert "balanced (bge-small)" in " ".join(listed.split())
    assert "openai:NAME" in listed
    assert "https://HOST/rerank#NAME" in listed
    assert "minilm is here" in call(models, "get", "minilm", "--from", bare).stderr
    assert re.search(r"minilm +23.4 MB +here", call(models, "list", "--no-speed").stdout)
    assert "minilm: whole" in call(models, "verify").stdout
    told = json.loads(call(models, "verify", "minilm", "--json").stdout)
    assert told[0]["state"] == "here"
    assert "23.4 MB freed" in call(models, "remove", "minilm").stderr
    told = json.loads(call(models, "get", "minilm", "--from", bare, "--json").stdout)
    assert told["bytes_here"] == MINILM.size
    path = Path(told["files"]["model.onnx"])
    path.write_bytes(b"\0" * path.stat().st_size)
    damaged = call(models, "verify", fails=True)
    assert damaged.exit_code == 1
    assert "minilm: damaged" in damaged.stdout
    assert json.loads(call(models, "remove", "minilm", "--json").stdout)["freed"] > 20e6


def test_speed_is_measured_unless_it_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch, local_model: LocalModel
) -> None:
    monkeypatch.setattr(module, "packaged", lambda name: local_model)  # it is loaded once
    quickly(monkeypatch)
    assert "tokens_per_second" not in call(models, "--no-speed", "--json").stdout
    told = json.loads(call(models, "--json").stdout)
    minilm = told["weights"][0]
    assert minilm["name"] == "minilm"
    assert minilm["tokens_per_second"] > 10
    assert "minilm" in told["embedders"]
    smollm2 = next(each for each in told["weights"] if each["name"] == "smollm2")
    assert smollm2["tokens_per_second"] > 0
    assert smollm2["written_per_second"] > 0
    assert "local" in told["language_models"]
    assert (minilm["kind"], minilm["use"]) == ("embedder", "--embedder minilm")
    assert "eight English sets" in minilm["worth"]
    reference = next(each for each in told["weights"] if each["name"] == "minilm-fp32")
    assert "tokens_per_second" not in reference
    assert told["sets"]["fast"] == ["minilm"]
    plain = json.loads(call(models, "list", "--no-speed", "--json").stdout)
    assert "tokens_per_second" not in plain["weights"][0]


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_fits_its_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = call(models, "--no-speed").stdout.splitlines()
    assert max(map(len, lines)) <= width
    for weights in ALL:
        facts = next(line for line in lines if line.startswith(f"{weights.name} "))
        assert facts.endswith(weights.spec)
        assert f" {weights.license}" in facts
        assert weights.purpose in " ".join(" ".join(lines).split())


def test_a_set_is_fetched_whole_and_each_package_once(
    bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(SETS, "both", (THINGS.name, "minilm"))
    monkeypatch.setattr(catalog, "ALL", (*ALL, THINGS))
    shutil.copy(build_wheel(tmp_path / "w"), bare)
    told = json.loads(call(models, "get", "both", "--from", bare, "--json").stdout)
    assert [(each["name"], each["state"]) for each in told] == [
        ("things", "here"), ("minilm", "here"),
    ]  # fmt: skip
    said = call(models, "get", "both").stderr
    assert "things is here" in said
    assert "minilm is here" in said


def test_wrong_names_and_sources(bare: Path) -> None:
    for words, reason in (
        (["get", "maxilm"], "unknown model 'maxilm'"),
        (["get", "best"], "sets: fast, balanced, quality, multilingual, llm"),
        (["get", "minilm", "--from", "nowhere"], "expected an existing file or folder"),
        (["remove", "minilm"], "nothing to remove"),
    ):
        result = call(models, *words, fails=True)
        assert isinstance(result.exception, ChunkwiseError)
        assert reason in str(result.exception)
