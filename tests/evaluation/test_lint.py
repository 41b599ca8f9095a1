"""`chunkwise.lint` from Python: what the command shows, as a value."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

import chunkwise
from chunkwise import Document
from chunkwise.base.errors import InvalidParameter, UnreadableDocument
from chunkwise.options import LoadOptions
from cli.in_process import Run, running_in
from report.reading_pages import Page
from tables import cases

LIST = "# Tools\n\nTake these with you:\n\n" + "".join(
    f"- the tool number {n}\n" for n in range(12)
)
DOCUMENTS = [
    Document("tools.md", LIST, format="markdown"),
    Document("plain.txt", "One lamp is lit."),
]
CUT = "tokens(max_tokens=16, overlap=0)"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / "docs").mkdir()
    for document in DOCUMENTS:
        (tmp_path / "docs" / document.id).write_text(document.text)
    monkeypatch.chdir(tmp_path)
    return running_in(tmp_path, monkeypatch)


def test_the_value_is_what_the_command_prints(here: Run) -> None:
    printed = here("lint", "docs", "-s", CUT, "--json").stdout
    found = chunkwise.lint("docs", CUT)
    assert [json.loads(line) for line in printed.splitlines()] == found.to_dict()["issues"]
    assert found.issues


def test_counts_and_shares_agree() -> None:
    found = chunkwise.lint(DOCUMENTS, CUT)
    told = found.to_dict()
    cuts = told["cuts"]
    assert (told["documents"], cuts["chunks"]) == (2, found.cuts.chunks)
    assert cuts["with_issues"] == len({(each.doc_id, each.chunk) for each in found.issues})
    assert found.share == told["share"] == cuts["with_issues"] / cuts["chunks"]
    assert cuts["counts"]["split_list"] > 0
    assert {*told} == {"kind", "version", "share", *(each.name for each in fields(found))}
    assert {*cuts} == {each.name for each in fields(found.cuts)}
    json.dumps(told)
    assert re.fullmatch(
        r"<LintResult tokens\(max_tokens=16, overlap=0\): 2 documents, \d+ chunks, \d+% with an issue>",
        repr(found),
    )


def test_an_index_and_given_chunks_are_examined_as_the_strategy_is() -> None:
    cut = chunkwise.lint(DOCUMENTS, CUT)
    index = chunkwise.index(DOCUMENTS, CUT, vectors="none")
    assert chunkwise.lint(index).issues == cut.issues
    chunks = list(chunkwise.chunk(DOCUMENTS, CUT))
    given = chunkwise.lint(DOCUMENTS, chunks=chunks)
    assert (given.issues, given.label) == (cut.issues, "given")
    with pytest.raises(InvalidParameter, match="stores its chunks: leave out strategy"):
        chunkwise.lint(index, "sentences")
    with pytest.raises(InvalidParameter, match="conflict; leave one out"):
        chunkwise.lint(DOCUMENTS, "sentences", chunks=chunks)


@cases("kinds", ["split-list, mid_word", ["split_list", "mid_word"]])
def test_some_kinds_alone(kinds: str | list[str]) -> None:
    found = chunkwise.lint(DOCUMENTS, CUT, kinds=kinds)
    assert {*found.cuts.counts} == {"split_list", "mid_word"}
    assert {each.kind for each in found.issues} <= {"split_list", "mid_word"}
    with pytest.raises(InvalidParameter, match="kinds has 'typo'; allowed: "):
        chunkwise.lint(DOCUMENTS, CUT, kinds="typo")


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One lamp.")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 nothing")
    told: list[UnreadableDocument] = []
    assert chunkwise.lint(tmp_path, options=LoadOptions(on_unreadable=told.append)).documents == 1
    assert len(told) == 1
    with pytest.raises(UnreadableDocument):
        chunkwise.lint(tmp_path, options=LoadOptions(on_unreadable="raise"))


def test_a_notebook_shows_it_and_obeys_nothing() -> None:
    hostile = Document(
        "<b>x</b>.md", LIST.replace("tool", "<script>alert(1)</script>"), format="markdown"
    )
    html = chunkwise.lint([hostile], CUT)._repr_html_()
    page = Page(html)
    assert page.tags[0][0] == "div"
    assert "script" not in {name for name, *_ in page.tags}
    assert "split list" in html
    assert "<script" not in html
