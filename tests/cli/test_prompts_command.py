"""`chunkwise prompts`: seen, copied, changed, put to use."""

import json
from pathlib import Path

import pytest

from cli.in_process import Run, here

__all__ = ["here"]


def test_every_prompt_is_listed_and_shown(here: Run) -> None:
    listed = json.loads(here("prompts", "--json").stdout)
    names = [each["name"] for each in listed]
    assert "summary" in names
    assert all(each["file"] is None and each["gaps"] for each in listed)
    lines = here("prompts").stdout.splitlines()
    assert [line.partition("@")[0] for line in lines] == names
    shown = here("prompts", "show", "summary")
    assert shown.stdout.startswith("version: 1\n---\n")
    assert "{{passages}}" in json.loads(here("prompts", "show", "summary", "--json").stdout)["user"]


def test_a_copy_is_put_to_use(here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = here("prompts", "copy", "mine", "--only", "summary")
    assert done.returncode == 0
    assert "CHUNKWISE_PROMPTS=mine" in done.stderr
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["summary.md"]
    own = tmp_path / "mine" / "summary.md"
    own.write_text(own.read_text().replace("version: 1", "version: mine"))
    monkeypatch.setenv("CHUNKWISE_PROMPTS", str(tmp_path / "mine"))
    assert here("prompts", "show", "summary").stdout.startswith("version: mine\n")
    (tmp_path / "mine" / "sumary.md").write_text("")
    listed = here("prompts")
    assert "summary@mine" in listed.stdout
    assert "your own" in listed.stdout
    assert "sumary.md stands for no prompt" in listed.stderr


def test_a_copy_goes_over_nothing_unasked(here: Run, tmp_path: Path) -> None:
    assert here("prompts", "copy", "mine").returncode == 0
    own = tmp_path / "mine" / "summary.md"
    own.write_text("precious")
    again = here("prompts", "copy", "mine")
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert own.read_text() == "precious"
    told = json.loads(here("prompts", "copy", "mine", "--force", "--json").stdout)
    assert own.read_text() != "precious"
    assert "summary" in told
    (tmp_path / "file").write_text("")
    assert here("prompts", "copy", "file").returncode == 2


def test_an_unknown_name_is_told(here: Run) -> None:
    for words in (("show", "nothing"), ("copy", "x", "--only", "nothing")):
        done = here("prompts", *words)
        assert done.returncode == 2
        assert "no prompt is named 'nothing'" in done.stderr
