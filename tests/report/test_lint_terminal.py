"""Boundary issues in a terminal: some of every document, at any width, and never obeyed."""

from __future__ import annotations

import io
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from chunkwise.core import Document, Span
from chunkwise.evaluation.lint import LocatedIssue, located
from chunkwise.metrics.cuts.boundary_issue_counts import CutTally
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.report.terminal.lint import MARK, render_lint
from chunkwise.report.views.lint import LintSample, cuts_in, lint_view
from chunkwise.text.analyzed import Analyzed
from tables import cases

BAD = "The lamp was lit by the kee¦per of the light, and he "


def cut(name: str, marked: str) -> tuple[Analyzed, list[Span]]:
    pieces = marked.split("¦")
    ends = [len("".join(pieces[: i + 1])) for i in range(len(pieces))]
    spans = [Span(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    return Analyzed(Document(name, "".join(pieces), source=f"in/{name}")), spans


def shown(
    *documents: tuple[Analyzed, list[Span]],
    width: int = 100,
    most: int = 20,
    kinds: Sequence[str] = tuple(KINDS),
    label: str = "recursive",
) -> str:
    tally, sample = CutTally(kinds), LintSample(most)
    for document, spans in documents:
        sample.add(document.document, len(spans), located(document, tally.add(document, spans)))
    out = io.StringIO()
    view = lint_view(sample, tally.cuts(), label)
    render_lint(view, Console(file=out, width=width))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_a_cut_shows_its_place_its_kinds_and_the_text_around_it() -> None:
    text = shown(cut("lamps.txt", f"Two lines.\n{BAD}"))
    lines = text.splitlines()
    assert lines[0] == "in/lamps.txt  1 bad cut in 2 chunks"
    assert lines[1] == "  2:28  offset 38  mid word, mid sentence end, mid sentence start"
    assert lines[2] == f"    Two lines. The lamp was lit by the kee{MARK}per of the light, and he"
    assert lines[3:5] == ["", "Boundary issues of recursive"]
    assert "  2 of 2 chunks (100 %) begin or end badly, at 1 cut, below good" in text
    assert "By kind, in cuts: where a chunk ends and the next begins is one cut" in text
    assert "  mid word            ████████████████████████  1" in lines
    assert "none: split list, split table" in text
    assert "Usual causes: the wrong separators" in text


def test_one_empty_line_divides_the_parts() -> None:
    text = shown(cut("a.txt", BAD * 3), cut("b.txt", BAD), cut("c.txt", BAD), most=2)
    assert "\n\nin/b.txt" in text
    assert "\n\n… 1 more cut in 1 other document\n\nBoundary issues" in text
    assert "\n\n\n" not in text
    assert shown(cut("a.txt", "Lit. ¦Out.")).startswith("Boundary issues")


def test_a_good_chunking_is_told_so_without_advice() -> None:
    text = shown(cut("a.txt", "The lamp was lit. ¦The boat left."))
    assert "none of 2 chunks begins or ends badly, excellent (good is under 10 %, excellent" in text
    assert "Usual causes" not in text
    assert "a.txt" not in text


def test_some_kinds_alone_are_not_judged() -> None:
    text = shown(cut("a.txt", BAD), kinds=["mid_word"])
    assert "2 of 2 chunks (100 %) begin or end badly, at 1 cut\n" in text
    assert "mid sentence" not in text


def test_no_chunks() -> None:
    assert "there are no chunks" in shown()


def test_every_document_gets_its_share() -> None:
    many, few = cut("many.txt", BAD * 9), cut("few.txt", BAD)
    text = shown(many, few, cut("last.txt", BAD), most=4)
    assert sum(line.startswith("    ") and MARK in line for line in text.splitlines()) == 4
    assert "in/few.txt" in text
    assert "in/last.txt" in text
    assert "  … 7 more cuts" in text
    assert "other document" not in text
    text = shown(many, few, cut("last.txt", BAD), most=2)
    assert "… 1 more cut in 1 other document" in text
    assert "in/" not in shown(many, few, most=0)


@cases("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    wide = cut("潮" * 60 + ".txt", "潮が満ちると道は消える¦と言われている。" * 3)
    text = shown(wide, cut("x/" * 90, BAD), width=width, label="long(" + "name" * 40 + ")")
    assert max(map(cell_len, text.splitlines())) <= width
    assert MARK in text


def test_hostile_text_is_shown_and_not_obeyed() -> None:
    text = shown(
        cut(
            "\x1b[2Jname[bold]\n.txt", "It is [red]\x1b]0;title\x07 a te¦st \x1b[31m\u202eof words."
        ),
        label="\x1b[2Jmine",
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "name[bold] .txt" in text
    assert "[red]" in text
    assert f"te{MARK}st" in text


def issue(offset: int, cut: int) -> LocatedIssue:
    return LocatedIssue("mid_word", "d", "d", 0, offset, None, None, None, "", "", cut)


def test_the_issues_of_one_cut_are_shown_together_where_its_first_edge_is() -> None:
    """Also those of chunks that overlap, whose edges lie apart."""
    issues = [issue(9, 9), issue(5, 12), issue(12, 12), issue(30, 30)]
    assert [[each.offset for each in found] for found in cuts_in(issues)] == [[5, 12], [9], [30]]


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 30))
def test_shares_are_even_and_nothing_is_lost(sizes: list[int], most: int) -> None:
    sample = LintSample(most)
    for number, size in enumerate(sizes):
        found = [issue(10 * place, place) for place in range(size)]
        sample.add(Document(str(number), ""), size + 1, found)
    chosen = sample.chosen()
    counts = [len(each.cuts) for each in chosen]
    more, others = sample.left_out
    assert sum(counts) == min(most, sum(sizes) - more)
    assert sum(counts) + sum(each.more for each in chosen) + more == sum(sizes)
    assert len(chosen) + others == sum(size > 0 for size in sizes)
    assert all(counts)
    short = [count for count, each in zip(counts, chosen, strict=True) if each.more]
    assert not short or max(short) - min(short) <= 1
    assert not short or max(counts) <= min(short) + 1
