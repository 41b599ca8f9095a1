"""`chunkwise lint` as a user runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import chunkwise
from chunkwise.metrics.cuts.boundary_issues import KINDS, find_issues
from chunkwise.text.analyzed import Analyzed
from cli.in_process import Run, here, run_without_reader

__all__ = ["here"]


def rows(done: CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_shortest_command_shows_issues_by_file(here: Run, handbook: Path) -> None:
    done = here("lint", "handbook", "-s", "tokens(max_tokens=7)")
    assert done.returncode == 0
    assert "handbook/deep/hours.txt" in done.stdout
    assert "mid sentence end" in done.stdout
    assert "Boundary issues of tokens(max_tokens=7, overlap=0)" in done.stdout
    assert "47 of 50 chunks (94%)" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Next  chunkwise lint handbook -s ")
    assert done.stderr == ""


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_reader_who_leaves_opens_no_gate(
    handbook: Path, tmp_path: Path, form: tuple[str, ...]
) -> None:
    words = ("handbook", "-s", "tokens(max_tokens=7)", "--fail-over", "0.1", *form)
    done = run_without_reader(tmp_path, "lint", *words)
    assert done.returncode == 4, done.stderr


def test_one_issue_a_line_and_nothing_else(here: Run, handbook: Path) -> None:
    done = here("lint", "handbook", "-s", "tokens(max_tokens=7)", "--json")
    found = rows(done)
    text = (handbook / "deep" / "hours.txt").read_text()
    documents = list(chunkwise.read(str(handbook)))
    expected = [
        (document.id, issue.kind, issue.chunk, issue.offset)
        for document in documents
        for issue in find_issues(
            Analyzed(document), chunkwise.ext.chunk_document(document, "tokens(max_tokens=7)")
        )
    ]
    assert [(row["doc_id"], row["kind"], row["chunk"], row["offset"]) for row in found] == expected
    for row in found:
        offset = int(str(row["offset"]))
        if row["doc_id"] == "deep/hours.txt":
            assert (row["line"], row["column"]) == (1, offset + 1)
            assert text[:offset].endswith(str(row["before"]))
            assert row["source"] == "handbook/deep/hours.txt"
        if row["doc_id"] == "page.html":
            assert row["line"] is None


def test_files_of_issues_and_the_page(here: Run, handbook: Path, tmp_path: Path) -> None:
    words = ("lint", "handbook", "-s", "tokens(max_tokens=7)")
    done = here(*words, "-o", "issues.jsonl", "--html", "cuts.html")
    assert done.returncode == 0
    assert "mid sentence" in done.stdout
    assert here(*words, "-o", "issues.jsonl", "-q").stdout == ""
    assert "written: issues.jsonl" in done.stderr
    assert (tmp_path / "issues.jsonl").read_text() == here(*words, "--json").stdout
    assert "Five to one" in (tmp_path / "cuts.html").read_text()
    assert "issues.jsonl" not in here("lint", ".", "-o", "issues.jsonl").stderr.split("written")[0]


def test_kinds(here: Run, handbook: Path) -> None:
    words = ("lint", "handbook", "-s", "tokens(max_tokens=7)", "--json")
    some = rows(here(*words, "--kinds", "mid-sentence-end, dangling_start"))
    every = rows(here(*words))
    kinds = ("mid_sentence_end", "dangling_start")
    assert some == [row for row in every if row["kind"] in kinds]
    assert len(some) < len(every)
    refused = here(*words, "--kinds", "mid_sentence")
    assert refused.returncode == 2
    assert all(kind in refused.stderr for kind in KINDS)


def test_a_share_that_is_too_large_fails(here: Run, handbook: Path) -> None:
    words = ("lint", "handbook", "--show", 0)
    assert here(*words, "-s", "sections", "--fail-over", "0.1").returncode == 0
    done = here(*words, "-s", "tokens(max_tokens=7)", "--fail-over", "0.1")
    assert done.returncode == 4
    assert "over the 10% allowed" in done.stderr
    both = here(*words, "missing.txt", "-s", "tokens(max_tokens=7)", "--fail-over", "0.1")
    assert both.returncode == 4
    assert here(*words, "-s", "tokens(max_tokens=7)", "--fail-over", "1").returncode == 0
    assert here(*words, "--fail-over", "10").returncode == 2


def test_what_cannot_be_read_is_a_line(here: Run, handbook: Path) -> None:
    (handbook / "bad.docx").write_bytes(b"PK\x03\x04 broken")
    done = here("lint", "handbook", "missing.txt")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 2
    assert "Boundary issues of structure" in done.stdout
    assert here("lint", "handbook", "--strict").returncode == 1
    none = here("lint", "missing.txt")
    assert none.returncode == 1
    assert "no readable documents" in none.stderr
    assert none.stdout == ""


@pytest.mark.usefixtures("processes")
def test_several_processes_find_the_same(here: Run, handbook: Path) -> None:
    words = ("lint", "handbook", "-s", "tokens(max_tokens=7)", "--json", "-q")
    alone = here(*words).stdout
    assert alone
    assert here(*words, "-j", 2).stdout == alone


def test_an_index_is_examined_as_it_is(here: Run, handbook: Path, tmp_path: Path) -> None:
    (handbook / "page.html").unlink()
    strategy = "tokens(max_tokens=7, overlap=0)"
    here("index", "handbook", "--into", "kb", "-s", strategy, "--vectors", "none", "-q")
    done = here("lint", "kb", "--json", "-q")
    assert done.returncode == 0
    assert rows(done) == rows(here("lint", "handbook", "-s", strategy, "--json")) != []
    assert done.stderr == ""
    assert f"Boundary issues of {strategy}" in here("lint", "kb").stdout
    assert here("lint", "kb", "--html", "kb.html").returncode == 0
    assert "Five to one" in (tmp_path / "kb.html").read_text()
    assert "leave out strategy" in here("lint", "kb", "-s", "tokens").stderr
    assert here("lint", "kb", "--chunks", "x.jsonl").returncode == 2
    assert (
        "is an index among other sources; give only the index, or only documents"
        in here("lint", "kb", "handbook").stderr
    )


def test_an_index_knows_the_layout_its_documents_declared(here: Run, handbook: Path) -> None:
    listed = "".join(f"<li>Rule {n} is that the rule before it holds.</li>" for n in range(9))
    (handbook / "rules.html").write_text(f"<h1>Rules</h1><ol>{listed}</ol>")
    here(
        "index",
        "handbook",
        "--into",
        "kb",
        "-s",
        "recursive(max_tokens=30)",
        "--vectors",
        "none",
        "-q",
    )
    found = rows(here("lint", "kb", "--json", "--kinds", "split_list"))
    assert {row["doc_id"] for row in found} == {"rules.html"}


def test_the_chunks_of_another_tool(here: Run, handbook: Path, tmp_path: Path) -> None:
    text = (handbook / "deep" / "hours.txt").read_text()
    file = tmp_path / "theirs.jsonl"
    given = [
        {"doc_id": "deep/hours.txt", "text": text[at : at + 31], "start": at, "end": at + 31}
        for at in (0, 31, 62)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in given))
    done = here("lint", "handbook", "--chunks", "theirs.jsonl", "--json")
    assert done.returncode == 0
    found = rows(done)
    assert {row["offset"] for row in found} == {31, 62, 93}
    file.write_text(file.read_text() + "no JSON\n" + '{"text": "nowhere at all"}\n')
    done = here("lint", "handbook", "--chunks", "theirs.jsonl")
    assert done.returncode == 3
    assert "theirs.jsonl, line 4: " in done.stderr
    assert "Boundary issues of theirs.jsonl" in done.stdout
    assert here("lint", "handbook", "--chunks", "theirs.jsonl", "-s", "tokens").returncode == 2
    assert here("lint", "handbook", "--chunks", "none.jsonl").returncode == 1
    assert here("lint", "-", "--chunks", "-").returncode == 2
    over = here("lint", "handbook", "--chunks", "theirs.jsonl", "-o", "theirs.jsonl")
    assert over.returncode == 2


def test_wrong_usage(here: Run, handbook: Path) -> None:
    assert here("lint", "handbook", "-s", "nonsense").returncode == 2
    refused = here("lint", "handbook", "-o", "issues.csv")
    assert refused.returncode == 2
    assert ".jsonl" in refused.stderr
    assert here("lint", "handbook", "--html", "page.txt").returncode == 2


def test_standard_input_and_documents_without_text(here: Run) -> None:
    done = here(
        "lint", "-", "-s", "tokens(max_tokens=4)", "--json", stdin="The lamp was lit at dusk."
    )
    assert {row["source"] for row in rows(done)} == {"stdin"}
    empty = here("lint", "-", "--fail-over", "0", stdin=" \n")
    assert empty.returncode == 1
    assert "empty" in empty.stderr


def test_the_page_opens_on_the_document_with_most_issues(here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("All is well here.\n")
    (folder / "b.txt").write_text(
        "One sentence is much longer than a chunk may be in this run. " * 20
    )
    (folder / "c.txt").write_text("All is well there.\n")
    for verb, first in (("lint", 2), ("chunk", 1)):
        here(verb, "texts", "-s", "characters(max_chars=40, overlap=0)", "--html", f"{verb}.html")
        page = (tmp_path / f"{verb}.html").read_text(encoding="utf-8")
        script = re.search(r'<script[^>]*id="overview"[^>]*>(.*?)</script>', page, re.DOTALL)
        assert script
        assert json.loads(script[1])["first"] == first


def test_quiet_says_nothing_of_a_page_that_cannot_show_everything(
    here: Run, handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkwise.cli.cut_documents._CHARACTERS_AT_MOST", 1)
    words = ("lint", "handbook", "--html", "page.html")
    assert "more would make it too large for a browser" in here(*words).stderr
    done = here(*words, "-q")
    assert (done.stdout, done.stderr) == ("", "")
