"""How often chunks are cut badly: issues counted, with a few examples, references that are split, and the metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Score
from chunkwise.metrics.cuts.boundary_issues import (
    KINDS,
    Issue,
    Spanned,
    find_issues,
    without_summaries,
)
from chunkwise.metrics.metric import (
    NO_CHUNKS,
    CutCounts,
    CutIssue,
    KeyQuestion,
    Metric,
    Remedy,
    Targets,
    WholeScore,
)
from chunkwise.metrics.span_tables import Chunking, Gold
from chunkwise.metrics.spans.coverage import by_document
from chunkwise.text.analyzed import Analyzed

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence


T = TypeVar("T")


def cuts_of(
    documents: Iterable[tuple[Analyzed, Sequence[Spanned]]], most_examples: int = 5
) -> CutCounts:
    """What is wrong at the edges of the chunks of these documents."""
    tally = CutTally(most_examples=most_examples)
    for document, chunks in documents:
        tally.add(document, chunks)
    return tally.cuts()


class CutTally:
    """Takes documents as they come and keeps no more of them than a few examples."""

    def __init__(self, kinds: Collection[str] = tuple(KINDS), *, most_examples: int = 5) -> None:
        self.counts = {kind: 0 for kind in KINDS if kind in kinds}
        self.chunks = self.with_issues = self.cuts_with_issues = 0
        self._examples = {kind: _Spread(most_examples) for kind in self.counts}

    def add(self, document: Analyzed, chunks: Sequence[Spanned]) -> list[Issue]:
        """The issues of one document, those of other kinds left out."""
        issues = [issue for issue in find_issues(document, chunks) if issue.kind in self.counts]
        self.chunks += len(without_summaries(chunks))
        self.with_issues += len({issue.chunk for issue in issues})
        self.cuts_with_issues += len({issue.cut for issue in issues})
        own: dict[str, list[Issue]] = {}
        for issue in issues:
            # A cut is counted once, however many chunks end or begin there.
            if not issue.again:
                own.setdefault(issue.kind, []).append(issue)
        for kind, found in own.items():
            self.counts[kind] += len(found)
            self._examples[kind].add(document.document.id, found)
        return issues

    @property
    def share(self) -> float | None:
        """Of the chunks with an issue; None without chunks."""
        return self.with_issues / self.chunks if self.chunks else None

    @property
    def is_complete(self) -> bool:
        """Whether every kind is counted: only then does the share mean what it is judged by."""
        return len(self.counts) == len(KINDS)

    def cuts(self) -> CutCounts:
        examples = [issue for spread in self._examples.values() for issue in spread.chosen()]
        return CutCounts(
            self.chunks, self.with_issues, dict(self.counts), tuple(examples), self.cuts_with_issues
        )


class _Spread:
    """A few issues from documents all over a corpus, the same ones in every run."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[list[CutIssue]] = []
        self._step, self._seen = 1, 0

    def add(self, doc_id: str, issues: Sequence[Issue]) -> None:
        # Every `step`-th document; when there are twice too many, every second of them goes.
        if self._seen % self._step == 0:
            self._kept.append([_example(doc_id, issue) for issue in issues[: self._most]])
            if len(self._kept) > 2 * self._most:
                self._kept = self._kept[::2]
                self._step *= 2
        self._seen += 1

    def chosen(self) -> list[CutIssue]:
        kept = self._kept
        if len(kept) > self._most:
            kept = [kept[number * len(kept) // self._most] for number in range(self._most)]
        return in_turn(kept, self._most)


def in_turn(groups: Sequence[Sequence[T]], most: int) -> list[T]:
    """One of each group as long as there are others, then second ones; in the order of the groups."""
    turns = sorted((turn, at) for at, own in enumerate(groups) for turn in range(len(own)))
    return [groups[at][turn] for at, turn in sorted((at, turn) for turn, at in turns[:most])]


def _example(doc_id: str, issue: Issue) -> CutIssue:
    return CutIssue(issue.kind, doc_id, issue.chunk, issue.offset, issue.before, issue.after)


def _share_with_issues(evidence: Evidence) -> WholeScore:
    cuts = cuts_of(evidence.chunk_spans())
    if not cuts.chunks:
        return WholeScore(Score(None, "no chunks"), cuts=cuts)
    return WholeScore(Score(cuts.with_issues / cuts.chunks), cuts.chunks, cuts=cuts)


def split(gold: Gold, chunking: Chunking) -> NDArray[np.bool_]:
    """Of each reference, whether none of its places lies whole in one chunk; summaries hold nothing."""
    places, chunks = by_document(gold, chunking.without_summaries)
    order = np.argsort(chunks.start, kind="stable")
    # Of the chunks that start at or before a place, the one that reaches furthest holds it or none does.
    reach = np.concatenate(([-1], np.maximum.accumulate(chunks.end[order])))
    before = chunks.start[order].searchsorted(places.start, "right")
    whole = np.zeros(len(gold.question), dtype=np.bool_)
    whole[gold.reference[reach[before] >= places.end]] = True
    return ~whole


def _split_share(evidence: Evidence) -> WholeScore:
    if evidence.chunking is None:
        return WholeScore(Score(None, NO_CHUNKS))
    cut = split(evidence.gold, evidence.chunking)
    if not len(cut):
        return WholeScore(Score(None, "no question has references"))
    return WholeScore(Score(float(cut.mean())), len(cut))


QUESTION = KeyQuestion(
    "boundary_issues",
    "Are chunk boundaries good?",
    Targets(0.10, 0.05),
    Remedy(
        "unsuitable separators or size",
        ("{structural}", "another size", "{overlap}"),
    ),
)
METRICS = (
    Metric(
        "boundary_issues", "Share of chunks with a boundary issue.", score=_share_with_issues,
        group="boundary_issues", better="lower", question=QUESTION, per="chunking", as_percent=True,
    ),
    Metric(
        "split_references", "Share of references that no single chunk contains completely.",
        score=_split_share, group="boundary_issues", better="lower", needs=("references", "chunks"), per="chunking",
    ),
)  # fmt: skip
