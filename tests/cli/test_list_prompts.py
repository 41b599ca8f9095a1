"""`chunkwise list prompts`: seen, copied, changed, put to use."""

import json
from pathlib import Path

import pytest

from cli.in_process import Run, here

__all__ = ["here"]


def test_every_prompt_is_listed_and_shown(here: Run) -> None:
    listed = json.loads(here("list", "prompts", "--json").stdout)
    names = [each["name"] for each in listed]
    assert "summary" in names
    assert all(each["file"] is None and each["gaps"] for each in listed)
    lines = here("list", "prompts").stdout.splitlines()
    assert [line.partition("@")[0] for line in lines] == names
    shown = here("list", "prompts", "summary")
    assert shown.stdout.startswith("version: 1\n---\n")
    assert (
        "{{passages}}" in json.loads(here("list", "prompts", "summary", "--json").stdout)[0]["user"]
    )


def test_a_copy_is_put_to_use(here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = here("list", "prompts", "summary", "--copy", "mine")
    assert done.returncode == 0
    assert "CHUNKWISE_PROMPTS=mine" in done.stderr
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["summary.md"]
    own = tmp_path / "mine" / "summary.md"
    own.write_text(own.read_text().replace("version: 1", "version: mine"))
    monkeypatch.setenv("CHUNKWISE_PROMPTS", str(tmp_path / "mine"))
    assert here("list", "prompts", "summary").stdout.startswith("version: mine\n")
    (tmp_path / "mine" / "sumary.md").write_text("")
    listed = here("list", "prompts")
    assert "summary@mine" in listed.stdout
    assert str(own) in listed.stdout
    assert "sumary.md is not a prompt" in listed.stderr


def test_a_copy_goes_over_nothing_unasked(here: Run, tmp_path: Path) -> None:
    assert here("list", "prompts", "--copy", "mine").returncode == 0
    own = tmp_path / "mine" / "summary.md"
    own.write_text("precious")
    again = here("list", "prompts", "--copy", "mine")
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert own.read_text() == "precious"
    told = json.loads(here("list", "prompts", "--copy", "mine", "--force", "--json").stdout)
    assert own.read_text() != "precious"
    assert "summary" in told
    (tmp_path / "file").write_text("")
    assert here("list", "prompts", "--copy", "file").returncode == 2


def test_an_unknown_name_is_told(here: Run) -> None:
    for words in (("nothing",), ("nothing", "--copy", "x")):
        done = here("list", "prompts", *words)
        assert done.returncode == 2
        assert "unknown prompt" in done.stderr
