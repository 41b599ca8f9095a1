"""The command as a user runs it, in a process of its own."""

import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from chunkwise.models.embed import pretrained
from chunkwise.models.embed.onnx import OnnxEmbedder
from untimed import HANG

_LOADED = lru_cache(maxsize=2)(OnnxEmbedder)
"""By its files and how they are read; what is loaded for a folder of one test is soon let go again."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def model_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real one, but not loaded anew by every command that is run in this process."""
    monkeypatch.setattr(pretrained, "OnnxEmbedder", _LOADED)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `chunkwise` with these words in an empty folder."""

    def run(*words: object, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "chunkwise", *map(str, words)],
            cwd=tmp_path,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=HANG,
        )

    return run


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """A small folder of documents."""
    folder = tmp_path / "handbook"
    (folder / "deep").mkdir(parents=True)
    (folder / "leave.md").write_text(
        "# Leave\n\nAsk in writing. It is paid.\n\n## Sick\n\nNo note.\n"
    )
    (folder / "deep" / "hours.txt").write_text("Five to one. One to nine. " * 40)
    (folder / "page.html").write_text("<h1>Lamps</h1><p>Lit at <b>dusk</b>.</p>")
    return folder
