"""`chunkwise mcp`: refused before anything is served, and one call as an assistant would make it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cli.in_process import Run, here

__all__ = ["here"]  # a fixture


@pytest.fixture
def kb(tmp_path: Path, here: Run) -> str:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Lamps\n\nA lamp at the end of the mole.", "utf-8")
    assert here("index", "docs", "--into", "kb", "--vectors", "none").returncode == 0
    return "kb"


def test_what_cannot_be_served_is_told_at_once(here: Run, kb: str) -> None:
    assert here("mcp").returncode == 2
    missing = here("mcp", "no-such")
    assert missing.returncode == 1
    assert "no-such" in missing.stderr
    assert here("mcp", kb, "--project", "none").returncode == 2
    assert (
        "is an index, which stores its embedder; leave out --embedder"
        in here("mcp", kb, "--embedder", "minilm").stderr
    )
    refused = here("mcp", kb, "--http", "--host", "0.0.0.0")
    assert refused.returncode == 2
    assert "allowed: 127.0.0.1" in refused.stderr
    for name, value in (("--port", "8420"), ("--host", "127.0.0.1")):
        refused = here("mcp", kb, name, value)
        assert refused.returncode == 2
        assert f"{name} needs --http" in refused.stderr


def test_what_an_index_names_is_followed_where_it_is_allowed(here: Run, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Lamps\n\nA lamp at the end of the mole.", "utf-8")
    (tmp_path / "mine.py").write_text(
        "from retrieval.tiny_embedder import Tiny\nclass Mine(Tiny): pass\n"
    )
    made = here("index", "docs", "--into", "kb", "--embedder", "./mine.py:Mine")
    assert made.returncode == 0, made.stderr
    asked = ("mcp", "kb", "--call", "search", "--arguments", '{"query": "lamp"}')
    refused = here(*asked)
    assert refused.returncode != 0
    allow = refused.stderr.partition("--allow ")[2].split()[0]
    answered = here(*asked, "--allow", allow)
    assert answered.returncode == 0, answered.stderr
    assert "A lamp at the end" in answered.stdout


@pytest.mark.parametrize("missing", ["mcp", "mcp_types"])
def test_without_the_sdk_the_command_that_installs_it_is_told(
    here: Run, kb: str, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    told = here("mcp", kb)
    assert told.returncode == 1
    assert told.stderr.strip().endswith("pip install 'chunkwise[mcp]'")


def test_one_call_prints_what_an_assistant_reads(here: Run, kb: str) -> None:
    asked = json.dumps({"query": "where is the lamp?", "budget": 50})
    shown = here("mcp", kb, "--call", "search", "--arguments", asked)
    assert shown.returncode == 0
    assert "A lamp at the end of the mole." in shown.stdout
    found = json.loads(here("mcp", kb, "--call", "search", "--arguments", asked, "--json").stdout)
    assert found["passages"][0]["doc_id"] == "a.md"
    cut = here("mcp", kb, "--project", "docs", "--call", "chunk", "--arguments", '{"path": "a.md"}')
    assert "1 chunk" in cut.stdout


def test_a_call_that_is_refused_is_a_line(here: Run, kb: str) -> None:
    for tool, asked, said in (
        ("search", "lamp", "expected a JSON object such as"),
        ("serch", "{}", "serch"),
        ("read", '{"document": "b"}', "no document has the id 'b'"),
        ("chunk", '{"path": "docs/a.md"}', "--project FOLDER"),
    ):
        refused = here("mcp", kb, "--call", tool, "--arguments", asked)
        assert refused.returncode in (1, 2)
        assert said in refused.stderr
        assert refused.stderr.count("\n") == 1
        assert refused.stdout == ""
