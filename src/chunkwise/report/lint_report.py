"""The report of boundary issues: how many chunks are hurt, by which kinds of issues, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import PurePath

from chunkwise.base.wording import counted, one_or_many, percent
from chunkwise.core import Document
from chunkwise.evaluation.lint import LintResult, LocatedIssue
from chunkwise.evaluation.verdicts_and_advice import fitting, remedy_text, verdict
from chunkwise.metrics.cuts.boundary_issue_counts import QUESTION, in_turn
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.metrics.metric import CutCounts, CutIssue
from chunkwise.report.report import (
    Column,
    Excerpt,
    Headline,
    Next,
    Note,
    Report,
    ReportPart,
    Section,
    TextRun,
    ValueTable,
)

_LINE_END = re.compile(r"\s*[\r\n]\s*")
"""Line ends are what many cuts are about: they are seen."""
_AROUND = 35
"""Characters on each side of a cut: both fit on a line."""
_BRIEF_KINDS = 7

Cut = tuple[LocatedIssue, ...]
"""All issues of one cut: what ends one chunk badly often begins the next one badly."""


class LintSample:
    """Takes documents as they come; `most` cuts of all of them are shown, of every document one before a second."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._documents: list[list[tuple[str, Cut]]] = []

    def add(self, document: Document, issues: Sequence[LocatedIssue]) -> None:
        if issues and len(self._documents) < self._most:
            name = _name(document.source, document.id)
            self._documents.append([(name, cut) for cut in cuts_in(issues)[: self._most]])

    def chosen(self) -> list[tuple[str, Cut]]:
        """Documents in their order, each with its share of the cuts."""
        return in_turn(self._documents, self._most)


def _name(source: str, doc_id: str) -> str:
    """A file that is one document is named after itself; a record of a corpus has a name of its own."""
    return source if PurePath(source).as_posix().endswith(doc_id) else f"{source} {doc_id}".strip()


def cuts_in(issues: Sequence[LocatedIssue]) -> list[Cut]:
    """The issues of one document by cut, in the order of the text."""
    cuts: dict[int, list[LocatedIssue]] = {}
    for issue in sorted(issues, key=attrgetter("offset")):
        cuts.setdefault(issue.cut, []).append(issue)
    return [tuple(cut) for cut in cuts.values()]


def lint_result_report(result: LintResult) -> Report:
    """The report of what `chunkwise.lint` returned, with a few cuts."""
    by_document = groupby(result.issues, key=attrgetter("source", "doc_id"))
    cuts = [(_name(*names), cut) for names, issues in by_document for cut in cuts_in(list(issues))]
    return lint_report(result.cuts, result.label, cuts[:: max(1, len(cuts) // 3)][:3])


def lint_report(
    cuts: CutCounts, label: str, sample: Iterable[tuple[str, Cut]] = (), next_command: str = ""
) -> Report:
    """Build the report.

    Args:
        cuts: What was counted.
        label: What cut the documents.
        sample: Some cuts, each with the file that it is in.
        next_command: What to run next.
    """
    places = tuple(_located_excerpt(name, cut) for name, cut in sample)
    parts: list[ReportPart] = [_headline(cuts), *boundary_table(cuts)]
    if places:
        total = cuts.cuts_with_issues or 0
        shown = f" ({len(places):,} of {total:,})" if total > len(places) else ""
        parts.append(Section(f"Examples{shown}", places))
    parts += [Note(text) for text in _advice(cuts, label)]
    parts += [Next(next_command)] if next_command else []
    return Report(f"Boundary issues of {label}", tuple(parts), "lint")


def _headline(cuts: CutCounts) -> Headline:
    """Only where every kind is counted does the share mean meaning judged by."""
    if not cuts.chunks:
        return Headline("No chunks.", "tie")
    words = cuts_words(cuts.chunks, cuts.with_issues, cuts.cuts_with_issues)
    text = f"{words[0].upper()}{words[1:]}"
    if len(cuts.counts) < len(KINDS):
        return Headline(f"{text}.", "bad" if cuts.with_issues else "good")
    grade = verdict(QUESTION.name, cuts.with_issues / cuts.chunks)
    good, excellent = (percent(limit) for limit in QUESTION.targets)
    if grade == "below":
        return Headline(f"{text}; under {good} is good.", "bad")
    limit = f"under {good} is good, under {excellent} excellent"
    return Headline(f"{text}: {grade} ({limit}).", "good")


def _advice(cuts: CutCounts, label: str) -> Iterator[str]:
    """What cut the documents is not advised again."""
    is_judged = cuts.chunks and len(cuts.counts) == len(KINDS)
    if is_judged and verdict(QUESTION.name, cuts.with_issues / cuts.chunks) == "below":
        yield remedy_text(fitting(QUESTION.remedy, {"strategy": label}))


def cuts_words(chunks: int, with_issues: int, cuts: int | None) -> str:
    """How many chunks are hurt, and by how many cuts: both are counted once, whatever is wrong there."""
    if chunks and not with_issues:
        return f"none of {counted(chunks, 'chunk')} has a boundary issue"
    share = f" ({percent(with_issues / chunks)})" if chunks else ""
    verb = one_or_many(with_issues, "has a boundary issue", "have a boundary issue")
    text = f"{with_issues:,} of {counted(chunks, 'chunk')}{share} {verb}"
    return text if cuts is None else f"{text}, at {counted(cuts, 'cut')}"


def kind_name(kind: str) -> str:
    """ "mid sentence end": a kind in plain words."""
    return kind.replace("_", " ")


def boundary_table(cuts: CutCounts) -> Iterator[ReportPart]:
    """The kinds that occur, the most frequent first; each opens to examples."""
    kinds = sorted(
        (kind for kind, count in cuts.counts.items() if count),
        key=lambda kind: (-cuts.counts[kind], kind),
    )
    rows = tuple((kind_name(kind), cuts.counts[kind], KINDS.get(kind, "")) for kind in kinds)
    details = tuple(
        tuple(cut_excerpt(cut) for cut in cuts.examples if cut.kind == kind) for kind in kinds
    )
    if rows:
        columns = (Column("kind"), Column("cuts", "count"), Column("meaning"))
        yield ValueTable(columns, rows, "Kinds of issues", details=details, brief_rows=_BRIEF_KINDS)
        yield Note(
            "A boundary is where one chunk ends and the next begins; it can have several issues.", detail=True
        )  # fmt: skip
    absent = [kind_name(kind) for kind, count in cuts.counts.items() if not count]
    if absent and rows:
        yield Note(f"None of: {', '.join(absent)}.", detail=True)


def cut_excerpt(cut: CutIssue) -> Excerpt:
    """One cut, with what stands on both sides of it."""
    return Excerpt(_cut_runs(cut), cut.doc_id, f"chunk {cut.chunk + 1:,}, at {cut.offset:,}")


def _located_excerpt(name: str, cut: Cut) -> Excerpt:
    """One cut where editors find it, and everything that is wrong there."""
    first, kinds = cut[0], {issue.kind for issue in cut}
    place = f"at {first.offset:,}"
    if first.line is not None:
        place = f"{first.line}:{first.column}"
    elif first.page is not None:
        place = f"page {first.page}, {place}"
    named = ", ".join(kind_name(kind) for kind in KINDS if kind in kinds)
    return Excerpt(_cut_runs(first), name, f"{place} · {named}")


def _cut_runs(cut: CutIssue | LocatedIssue) -> tuple[TextRun, ...]:
    before, after = (_LINE_END.sub(" ↵ ", text) for text in (cut.before, cut.after))
    more = "…" if cut.offset > len(cut.before) or len(before) > _AROUND else ""
    return (
        TextRun(more + before[-_AROUND:]),
        TextRun("│", "cut"),
        TextRun(after[:_AROUND] + ("…" if after.strip() else "")),
    )
