"""Boundary issues as the page of a sweep shows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.metrics.metric import CutCounts, CutIssue
from chunkwise.report.lint_report import cuts_words, kind_name
from chunkwise.report.sanitize import one_line

_RETURN = " ↵ "
"""Line ends are what many cuts are about: they are seen."""


@dataclass(frozen=True, slots=True)
class CutExample:
    """One cut with what stands on both sides of it."""

    doc_id: str
    chunk: int
    """From 1."""
    offset: int
    before: str
    after: str
    more_before: bool
    more_after: bool
    """Whether the document goes on there."""


@dataclass(frozen=True, slots=True)
class CutKind:
    """One kind of boundary issue that there is."""

    kind: str
    """As options and files name it."""
    name: str
    help: str
    count: int
    examples: tuple[CutExample, ...]


@dataclass(frozen=True, slots=True)
class CutsView:
    """What the boundaries of the chunks are like."""

    chunks: int
    with_issues: int
    cuts_with_issues: int | None
    kinds: tuple[CutKind, ...]
    """The most frequent first."""
    absent: tuple[str, ...]
    """Kinds that do not occur."""

    @property
    def words(self) -> str:
        return cuts_words(self.chunks, self.with_issues, self.cuts_with_issues)

    @property
    def by_kind(self) -> str:
        return BY_KIND


BY_KIND = (
    "By kind, in cuts: where a chunk ends and the next begins is one cut, overlapping or not; it may be of several "
    "kinds, and hurt both chunks."
)
"""Why the kinds add up to neither of the totals."""


def cuts_view(cuts: CutCounts) -> CutsView:
    """Kinds by their counts."""
    found = sorted(
        ((kind, count) for kind, count in cuts.counts.items() if count),
        key=lambda item: (-item[1], item[0]),
    )
    return CutsView(
        cuts.chunks,
        cuts.with_issues,
        cuts.cuts_with_issues,
        tuple(
            CutKind(
                kind, kind_name(kind), KINDS.get(kind, ""), count, _examples(kind, cuts.examples)
            )
            for kind, count in found
        ),
        tuple(kind_name(kind) for kind, count in cuts.counts.items() if not count),
    )


def _examples(kind: str, cuts: Iterable[CutIssue]) -> tuple[CutExample, ...]:
    return tuple(_example(cut) for cut in cuts if cut.kind == kind)


def _example(cut: CutIssue) -> CutExample:
    before, after = (_RETURN.join(text.splitlines()) for text in (cut.before, cut.after))
    before += _RETURN if cut.before.endswith("\n") else ""
    return CutExample(
        cut.doc_id,
        cut.chunk + 1,
        cut.offset,
        before,
        after,
        cut.offset > len(cut.before),
        bool(one_line(after).strip()),
    )
