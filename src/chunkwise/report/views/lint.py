"""What is shown of the cuts that hurt: some of every document, as far as they go, and the count of every kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import ClassVar

from chunkwise.base.wording import counted, one_or_many, percent, thousands
from chunkwise.core import Document
from chunkwise.evaluation.lint import LintResult, LocatedIssue, is_file
from chunkwise.evaluation.results import Figure, MetricAdvice
from chunkwise.evaluation.verdicts_and_advice import advice
from chunkwise.metrics.cuts.boundary_issue_counts import QUESTION
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.metrics.metric import CutCounts, CutIssue
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.view import View

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


def cuts_words(chunks: int, with_issues: int, cuts: int | None) -> str:
    """How many chunks are hurt, and by how many cuts: both are counted once, whatever is wrong there."""
    if chunks and not with_issues:
        return f"none of {counted(chunks, 'chunk')} begins or ends badly"
    said = f"{thousands(with_issues)} of {counted(chunks, 'chunk')}"
    if chunks:
        said += f" ({percent(with_issues / chunks)})"
    said += one_or_many(with_issues, " begins or ends badly", " begin or end badly")
    return said if cuts is None else f"{said}, at {counted(cuts, 'cut')}"


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


def kind_name(kind: str) -> str:
    """ "mid sentence end": a kind in plain words."""
    return kind.replace("_", " ")


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


Cut = tuple[LocatedIssue, ...]
"""All issues of one cut: what ends one chunk badly often begins the next one badly."""


@dataclass(frozen=True, slots=True)
class LintedDocument:
    """A document with issues."""

    name: str
    chunks: int
    bad_cuts: int
    cuts: tuple[Cut, ...]
    """The first of them, in the order of the text."""
    more: int
    """Cuts that are not among them."""


@dataclass(frozen=True, slots=True)
class LintView(View):
    """Cuts that hurt, by document, and all of them by kind."""

    fragment_template: ClassVar[str] = "fragment_lint.html.j2"

    label: str
    """What cut the documents."""
    documents: tuple[LintedDocument, ...]
    more_cuts: int
    """In `more_documents`, of which nothing is shown."""
    more_documents: int
    cuts: CutCounts
    advice: tuple[MetricAdvice, ...]

    @property
    def words(self) -> str:
        return cuts_words(self.cuts.chunks, self.cuts.with_issues, self.cuts.cuts_with_issues)


def lint_view(sample: LintSample, cuts: CutCounts, label: str) -> LintView:
    """Documents with their cuts, and what to do about them."""
    return LintView(label, tuple(sample.chosen()), *sample.left_out, cuts, _advice(cuts, label))


def result_view(result: LintResult) -> LintView:
    """The counts and their examples alone."""
    return LintView(result.label, (), 0, 0, result.cuts, _advice(result.cuts, result.label))


def _advice(cuts: CutCounts, label: str) -> tuple[MetricAdvice, ...]:
    """Only where every kind is counted does the share mean what it is judged by; what cut them is not advised again."""
    if len(cuts.counts) < len(KINDS):
        return ()
    share = cuts.with_issues / cuts.chunks if cuts.chunks else None
    return tuple(advice({QUESTION.name: Figure(share)}, configuration={"strategy": label}))


class LintSample:
    """Takes documents as they come; `most` cuts of all of them are shown in the end."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._documents: list[LintedDocument] = []
        self._left_out = self._left_out_cuts = 0

    def add(self, document: Document, chunks: int, issues: Sequence[LocatedIssue]) -> None:
        cuts = cuts_in(issues)
        if not cuts:
            return
        if len(self._documents) >= self._most:
            self._left_out += 1
            self._left_out_cuts += len(cuts)
            return
        name = document.source if is_file(document) else f"{document.source} {document.id}".strip()
        shown = tuple(cuts[: self._most])
        left = len(cuts) - len(shown)
        self._documents.append(LintedDocument(name, chunks, len(cuts), shown, left))

    @property
    def left_out(self) -> tuple[int, int]:
        """Cuts and documents of which nothing is shown."""
        return self._left_out_cuts, self._left_out

    def chosen(self) -> list[LintedDocument]:
        """Documents in their order, each with its share of the cuts that are shown."""
        shares = _shared([len(each.cuts) for each in self._documents], self._most)
        return [
            replace(each, cuts=each.cuts[:share], more=each.more + len(each.cuts) - share)
            for each, share in zip(self._documents, shares, strict=True)
        ]


def cuts_in(issues: Sequence[LocatedIssue]) -> list[Cut]:
    """The issues of one document by cut, in the order of the text: they are counted as they are shown."""
    cuts: dict[int, list[LocatedIssue]] = {}
    for issue in sorted(issues, key=attrgetter("offset")):
        cuts.setdefault(issue.cut, []).append(issue)
    return [tuple(cut) for cut in cuts.values()]


def _shared(sizes: Sequence[int], most: int) -> list[int]:
    """How many each may show: all of them the same number, or all it has; what is left goes to the first."""
    shares = [0] * len(sizes)
    left = most
    # From the smallest on, everyone may take an equal part of what is left then.
    for rank, number in enumerate(
        sorted(range(len(sizes)), key=lambda number: (sizes[number], -number))
    ):
        shares[number] = min(sizes[number], left // (len(sizes) - rank))
        left -= shares[number]
    return shares
