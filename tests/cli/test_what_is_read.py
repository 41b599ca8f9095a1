"""`--include`, `--exclude`, `--ocr`, and the line about what is passed over, in every command that reads documents."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click
import pytest

from chunkwise.cli.main import group
from cli.in_process import Run, here
from tables import cases

__all__ = ["here"]  # a fixture

PNG = b"\x89PNG\r\n\x1a\n\0\0"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "drafts").mkdir(parents=True)
    (folder / "a.md").write_text("# Lamps\n\nThe lamps are lit at dusk.\n")
    (folder / "drafts" / "b.md").write_text("# Boats\n\nThe boats leave at nine.\n")
    (folder / "plan.png").write_bytes(PNG)
    return folder


def test_one_line_tells_what_was_passed_over_and_the_status_is_good(here: Run, docs) -> None:
    done = here("chunk", docs, "-o", "chunks.jsonl")
    assert done.returncode == 0
    line = "chunkwise: skipped 1 picture; to read a file anyway, give its path\n"
    assert done.stderr.count(line) == 1
    assert "skipped" not in here("chunk", docs, "-o", "chunks.jsonl", "--quiet").stderr
    named = here("chunk", docs / "plan.png", docs, "-o", "chunks.jsonl")
    assert named.returncode == 3
    assert "--ocr 'tesseract {} -'" in named.stderr


@cases(
    "words, ids",
    [
        (["--exclude", "drafts"], {"a.md"}),
        (["--include", "*.md", "--exclude", "a.*"], {"drafts/b.md"}),
        (["--include", "a.md", "--include", "drafts/**"], {"a.md", "drafts/b.md"}),
    ],
)
def test_patterns_say_which_files_are_read(here: Run, docs, words, ids) -> None:
    assert here("chunk", docs, "-o", "chunks.jsonl", *words).returncode == 0
    rows = [json.loads(line) for line in Path("chunks.jsonl").read_text().splitlines()]
    assert {row["doc_id"] for row in rows} == ids


def test_patterns_that_leave_nothing_are_told(here: Run, docs) -> None:
    done = here("profile", docs, "--include", "*.rst")
    assert done.returncode == 1
    assert "include '*.rst'" in done.stderr
    assert "all 3 files" in done.stderr


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_pictures_are_read_by_a_command(here: Run, docs, jobs) -> None:
    ocr = shlex.join([sys.executable, "-c", "print('words of the plan')", "{}"])
    done = here("chunk", docs, "-o", "chunks.jsonl", "--ocr", ocr, "-j", jobs)
    assert done.returncode == 0
    assert "words of the plan" in Path("chunks.jsonl").read_text()


def test_a_pattern_or_a_command_that_is_none_is_wrong_usage(here: Run, docs) -> None:
    for words in (["--include", "[z-a]"], ["--exclude", ""], ["--ocr", "x 'y"]):
        done = here("chunk", docs, *words)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) <= 3


@cases("name", ["chunk", "profile", "lint", "index", "evaluate", "tune", "ask", "testset generate"])
def test_every_command_that_reads_documents_has_them(name) -> None:
    command: click.Command = group
    for word in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    flags = {flag for each in command.params for flag in each.opts}
    assert {"--include", "--exclude", "--ocr"} <= flags


@pytest.mark.parametrize("command", ["chunk", "index", "profile"])
def test_one_line_tells_that_two_documents_have_one_id(here: Run, tmp_path, command: str) -> None:
    for folder in ("one/d", "two/d", "three/d"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "f.md").write_text("The lamps are lit at dusk.\n")
    folders = [tmp_path / "one" / "d", tmp_path / "two" / "d", tmp_path / "three" / "d"]
    more = ["--into", "kb", "--vectors", "none"] if command == "index" else []
    done = here(command, *folders, *more)
    assert done.returncode == 0
    assert done.stderr.count("the second one becomes") == 1
    assert "two documents" not in here(command, folders[0], *more).stderr


def test_what_commands_found_is_no_document_of_a_later_run(here: Run, docs) -> None:
    Path("q.json").write_text(
        json.dumps([{"query": "When are the lamps lit?", "references": [{"quote": "lit at dusk"}]}])
    )
    asked = ("evaluate", docs, "--test-queries", "q.json", "--embedder", "none", "--quiet")
    assert here(*asked, "-o", docs / "first.json").returncode == 0
    assert here(*asked, "-o", docs / "second.json", "-s", "words").returncode == 0
    runs = (docs / "first.json", docs / "second.json")
    assert here("compare", *runs, "-o", docs / "compared.json").returncode == 0
    (docs / "profile.json").write_text(here("profile", docs, "--json").stdout)
    assert here("chunk", docs, "-o", "chunks.jsonl").returncode == 0
    rows = [json.loads(line) for line in Path("chunks.jsonl").read_text().splitlines()]
    assert {row["doc_id"] for row in rows} == {"a.md", "drafts/b.md"}
    named = here("chunk", docs / "compared.json", "-o", "chunks.jsonl")
    assert "a chunkwise results file, not a document" in named.stderr
