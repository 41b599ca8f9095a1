"""`chunkwise models cache` as a user runs it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chunkwise.base.errors import ChunkwiseError
from chunkwise.cli.models_cache import command as cache
from chunkwise.models.cache import ModelCache
from chunkwise.models.home_folder import HOME_VARIABLE


def call(command: object, *words: object, fails: bool = False) -> Result:
    result = CliRunner().invoke(command, [str(word) for word in words])  # type: ignore[arg-type]
    if not fails and result.exception:
        raise result.exception
    return result


def test_cache_stats_and_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    assert "0  " in call(cache).stdout
    kept = ModelCache()
    kept.put("minilm:1", {b"a": b"1" * 400_000, b"b": b"2"})
    kept.put("other:1", {b"c": b"3"})
    kept.close()
    shown = call(cache).stdout
    assert "minilm:1" in shown
    assert "other:1" in shown
    told = json.loads(call(cache, "--json").stdout)
    assert told["entries"] == 3
    assert told["models"][0] == {"model": "minilm:1", "entries": 2, "bytes": 400_001}
    assert told["bytes_on_disk"] > 400_000
    nothing = call(cache, "clear", "--model", "", fails=True)
    assert isinstance(nothing.exception, ChunkwiseError)
    assert "model is ''" in str(nothing.exception)
    assert "2 entries" in call(cache, "clear", "--model", "minilm").stderr
    assert json.loads(call(cache, "clear", "--json").stdout)["removed"] == 1
