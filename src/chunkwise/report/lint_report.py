"""Boundary issues as a table: how many chunks are hurt, by which kinds, with the places."""

from __future__ import annotations

from collections.abc import Iterator

from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.metrics.metric import CutCounts, CutIssue
from chunkwise.report.report import Column, Excerpt, Note, ReportPart, TextRun, ValueTable

_RETURN = " ↵ "
"""Line ends are what many cuts are about: they are seen."""


def boundary_table(cuts: CutCounts) -> Iterator[ReportPart]:
    """The kinds that occur, the most frequent first; each opens to examples."""
    kinds = sorted(
        (kind for kind, count in cuts.counts.items() if count),
        key=lambda kind: (-cuts.counts[kind], kind),
    )
    rows = tuple((kind.replace("_", " "), cuts.counts[kind], KINDS.get(kind, "")) for kind in kinds)
    details = tuple(
        tuple(cut_excerpt(cut) for cut in cuts.examples if cut.kind == kind) for kind in kinds
    )
    if rows:
        columns = (Column("kind"), Column("cuts", "count"), Column("what it is"))
        yield ValueTable(columns, rows, details=details)
    absent = [kind.replace("_", " ") for kind, count in cuts.counts.items() if not count]
    if absent:
        yield Note(f"None of: {', '.join(absent)}.", detail=True)


def cut_excerpt(cut: CutIssue) -> Excerpt:
    """One cut, with what stands on both sides of it."""
    before, after = (_RETURN.join(text.splitlines()) for text in (cut.before, cut.after))
    before = ("…" if cut.offset > len(cut.before) else "") + before
    runs = (TextRun(before), TextRun(" │ ", "cut"), TextRun(after + ("…" if after.strip() else "")))
    return Excerpt(runs, cut.doc_id, f"chunk {cut.chunk + 1:,}, at {cut.offset:,}")
