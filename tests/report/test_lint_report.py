"""The report of boundary issues: a verdict, the kinds, and some cuts of every document."""

from __future__ import annotations

from collections.abc import Sequence

import chunkwise
from chunkwise.core import Document, Span
from chunkwise.evaluation.lint import LocatedIssue, located
from chunkwise.metrics.cuts.boundary_issue_counts import CutTally
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.report.lint_report import LintSample, cuts_in, lint_report, lint_result_report
from chunkwise.report.report import Excerpt, Headline, Note, Report, ValueTable, all_parts
from chunkwise.report.to_terminal import terminal_text
from chunkwise.text.analyzed import Analyzed

BAD = "The lamp was lit by the kee¦per of the light, and he "


def cut(name: str, marked: str) -> tuple[Analyzed, list[Span]]:
    pieces = marked.split("¦")
    ends = [len("".join(pieces[: i + 1])) for i in range(len(pieces))]
    spans = [Span(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    return Analyzed(Document(name, "".join(pieces), source=f"in/{name}")), spans


def report_of(
    *documents: tuple[Analyzed, list[Span]], most: int = 3, kinds: Sequence[str] = tuple(KINDS)
) -> Report:
    tally, sample = CutTally(kinds), LintSample(most)
    for document, spans in documents:
        sample.add(document.document, located(document, tally.add(document, spans)))
    return lint_report(
        tally.cuts(), "recursive", sample.chosen(), "chunkwise lint in --html cuts.html"
    )


def headline(report: Report) -> Headline:
    return next(part for part in report.parts if isinstance(part, Headline))


def notes(report: Report) -> list[str]:
    return [part.text for part in report.parts if isinstance(part, Note)]


def excerpts(report: Report) -> list[Excerpt]:
    return [part for part in all_parts(report.parts[2:]) if isinstance(part, Excerpt)]


def test_a_cut_shows_its_place_its_kinds_and_the_text_around_it() -> None:
    report = report_of(cut("lamps.txt", f"Two lines.\n{BAD}"))
    assert headline(report).level == "bad"
    assert headline(report).text == (
        "2 of 2 chunks (100%) have a boundary issue, at 1 cut; under 10% is good."
    )
    table = next(part for part in report.parts if isinstance(part, ValueTable))
    assert ("mid word", 1, KINDS["mid_word"]) in table.rows
    shown = excerpts(report)[-1]
    assert (shown.title, shown.place) == (
        "in/lamps.txt",
        "2:28 · mid word, mid sentence end, mid sentence start",
    )
    words = "".join(run.text for run in shown.runs)
    assert words == "…ines. ↵ The lamp was lit by the kee│per of the light, and he …"
    *_, advice = notes(report)
    assert advice.startswith("Common causes: unsuitable separators")  # the verdict has the figures


def test_a_good_chunking_needs_no_advice() -> None:
    report = report_of(cut("a.txt", "The lamp was lit. ¦The boat left."))
    assert headline(report).level == "good"
    assert "None of 2 chunks has a boundary issue: excellent" in headline(report).text
    assert not notes(report)


def test_some_kinds_alone_are_not_judged() -> None:
    report = report_of(cut("a.txt", BAD), kinds=["mid_word"])
    assert headline(report).text == "2 of 2 chunks (100%) have a boundary issue, at 1 cut."


def test_no_chunks() -> None:
    assert "No chunks." in terminal_text(report_of())


def test_every_document_gets_its_share() -> None:
    documents = [cut("many.txt", BAD * 9), cut("few.txt", BAD), cut("last.txt", BAD)]
    names = [each.title for each in excerpts(report_of(*documents, most=4))][-4:]
    assert names == ["in/many.txt", "in/many.txt", "in/few.txt", "in/last.txt"]
    assert "Examples (4 of 11)" in terminal_text(report_of(*documents, most=4))
    assert "Examples" not in terminal_text(report_of(*documents, most=0))


def test_a_terminal_shows_it_at_a_glance() -> None:
    text = "# A\n\n1. one\n2. two, which is longer\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = 1\ny = 2\n```\n"
    result = chunkwise.lint(
        [Document("a.md", text * 9), Document("b", BAD * 9)], "characters(max_chars=11, overlap=0)"
    )
    shown = terminal_text(lint_result_report(result), 80).splitlines()
    assert len(shown) <= 25
    assert max(map(len, shown)) <= 80


def test_the_issues_of_one_cut_are_shown_together_where_its_first_edge_is() -> None:
    """Also those of chunks that overlap, whose edges lie apart."""
    issues = [
        LocatedIssue("mid_word", "d", "d", 0, offset, None, None, None, "", "", number)
        for offset, number in ((9, 9), (5, 12), (12, 12), (30, 30))
    ]
    assert [[issue.offset for issue in found] for found in cuts_in(issues)] == [[5, 12], [9], [30]]
