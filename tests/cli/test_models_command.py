"""`chunkwise models` and `chunkwise cache`."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chunkwise.base.errors import ChunkwiseError
from chunkwise.cli import model_speed
from chunkwise.cli.cache_command import command as cache
from chunkwise.cli.models_command import command as models
from chunkwise.models.cache import ModelCache
from chunkwise.models.llm import local as module
from chunkwise.models.llm.local import LocalModel
from chunkwise.models.weights.catalogue import MINILM
from chunkwise.models.weights.installed import ensure


def call(command: object, *words: object, fails: bool = False) -> Result:
    result = CliRunner().invoke(command, [str(word) for word in words])  # type: ignore[arg-type]
    if not fails and result.exception:
        raise result.exception
    return result


def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speed is measured on next to nothing."""
    for name, few in (("_SECONDS", 0.01), ("_WRITTEN", 2), ("_SAMPLE", "The ferry. ")):
        monkeypatch.setattr(model_speed, name, few)


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
    assert "not here, 23.4 MB; chunkwise models get minilm" in listed
    assert "openai:NAME" in listed
    assert "https://HOST/rerank#NAME" in listed
    assert "minilm is here" in call(models, "get", "minilm", "--from", bare).stderr
    assert "  here, 23.4 MB" in call(models, "list").stdout
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
    assert "minilm: damaged: chunkwise models get minilm" in damaged.stdout
    assert json.loads(call(models, "remove", "minilm", "--json").stdout)["freed"] > 20e6


def test_speed_is_measured_unless_it_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch, local_model: LocalModel
) -> None:
    monkeypatch.setattr(module, "packaged", lambda: local_model)  # it is loaded once
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
    assert "tokens_per_second" not in told["weights"][1]
    plain = json.loads(call(models, "list", "--no-speed", "--json").stdout)
    assert "tokens_per_second" not in plain["weights"][0]


def test_wrong_names_and_sources(bare: Path) -> None:
    for words, reason in (
        (["get", "maxilm"], "no weights are named 'maxilm'"),
        (["get", "minilm", "--from", "nowhere"], "no such file or folder"),
        (["remove", "minilm"], "nothing to remove"),
    ):
        result = call(models, *words, fails=True)
        assert isinstance(result.exception, ChunkwiseError)
        assert reason in str(result.exception)


def test_cache_stats_and_clear(bare: Path) -> None:
    assert "0  " in call(cache).stdout
    kept = ModelCache()
    kept.put("minilm:1", {b"a": b"1" * 400_000, b"b": b"2"})
    kept.put("other:1", {b"c": b"3"})
    kept.close()
    shown = call(cache, "stats").stdout
    assert "minilm:1" in shown
    assert "other:1" in shown
    told = json.loads(call(cache, "--json").stdout)
    assert told["entries"] == 3
    assert told["models"][0] == {"model": "minilm:1", "entries": 2, "bytes": 400_001}
    assert told["bytes_on_disk"] > 400_000
    nothing = call(cache, "clear", "--model", "", fails=True)
    assert isinstance(nothing.exception, ChunkwiseError)
    assert "model is ''" in str(nothing.exception)
    assert "2 entries forgotten" in call(cache, "clear", "--model", "minilm").stderr
    assert json.loads(call(cache, "clear", "--json").stdout)["removed"] == 1


@pytest.mark.parametrize("command", [models, cache])
def test_every_help_has_examples(command: object) -> None:
    names: list[list[str]] = [[], *([name] for name in command.commands)]  # type: ignore[attr-defined]
    for words in names:
        assert "Examples:" in call(command, *words, "--help").stdout
