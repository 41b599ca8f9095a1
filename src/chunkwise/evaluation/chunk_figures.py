"""Figures of a whole chunking: they have no questions to be averaged over, and so no interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from chunkwise.core import Query, Score, Span
from chunkwise.evaluation.cost import index_cost
from chunkwise.evaluation.files.hits_file import is_nowhere
from chunkwise.evaluation.results import CutCounts, Figure, Json
from chunkwise.evaluation.subject import Hits, Subject
from chunkwise.evaluation.verdicts import verdict
from chunkwise.metrics.answers.position import KINDS, NO_TEXT
from chunkwise.metrics.cuts.boundary_issues import cuts_of
from chunkwise.metrics.cuts.coherence import index_coherence
from chunkwise.metrics.spans.split_references import split
from chunkwise.metrics.spans.tables import Gold
from chunkwise.text.analysis import Analyzed

_NO_CHUNKS = "the hits come without the chunks of an index; name their file with --chunks"
_NO_REFERENCES = "no question has references"


def chunk_figures(
    subject: Subject, queries: Sequence[Query], shown: Hits, metrics: Sequence[str]
) -> tuple[dict[str, Figure], CutCounts | None]:
    """Those that are among the metrics, and what is wrong at the cuts."""
    found: dict[str, Figure] = {}
    cuts = None
    if "boundary_issues" in metrics:
        cuts = cuts_of(_spans(subject, shown))
        share = cuts.with_issues / cuts.chunks if cuts.chunks else None
        found["boundary_issues"] = _figure("boundary_issues", share, cuts.chunks, "no chunks")
    if "split_references" in metrics:
        found["split_references"] = _split(subject, queries)
    if "citation_accuracy.position" in metrics:
        found["citation_accuracy.position"] = _position(subject)
    wanted = [name for name in ("coherence", "cohesion", "contrast") if name in metrics]
    if wanted:
        scores = index_coherence(subject.index) if subject.index else {}
        for name in wanted:
            score = scores.get(name, Score(None, _NO_CHUNKS))
            count = 0 if subject.chunking is None else len(subject.chunking.start)
            found[name] = _figure(name, score.value, count, score.reason)
    return found, cuts


def cost_of(subject: Subject, context_tokens: Sequence[int]) -> dict[str, Json]:
    """Beside quality, always: of the index where there is one, and of what is read for a question."""
    if subject.index is not None:
        return index_cost(subject.index, context_tokens)
    mean = sum(context_tokens) / len(context_tokens) if context_tokens else None
    return {"context_tokens": mean}


def _figure(name: str, value: float | None, count: int, reason: str) -> Figure:
    if value is None:
        return Figure(None, unscored={reason: 1})
    return Figure(value, scored=count, verdict=verdict(name, value))


def _split(subject: Subject, queries: Sequence[Query]) -> Figure:
    if subject.chunking is None:
        return _figure("split_references", None, 0, _NO_CHUNKS)
    cut = split(Gold.of(queries, subject.numbers), subject.chunking)
    share = float(cut.mean()) if len(cut) else None
    return _figure("split_references", share, len(cut), _NO_REFERENCES)


def _position(subject: Subject) -> Figure:
    """Of chunks from a file, how many stand where they say; those of an index are places, inside the text or not."""
    name = "citation_accuracy.position"
    if subject.position is not None:
        score, counts = subject.position.score, dict(subject.position.counts)
        untold = counts.pop(NO_TEXT, 0)
        found = _figure(name, score.value, sum(counts.values()), score.reason)
        return replace(found, unscored={KINDS[NO_TEXT]: untold}) if untold else found
    chunks = subject.chunking
    if chunks is None or not len(chunks.start):
        return _figure(name, None, 0, _NO_CHUNKS)
    sizes = np.array([len(document.text) for document in subject.documents], np.int64)
    inside = (
        (chunks.start >= 0) & (chunks.start < chunks.end) & (chunks.end <= sizes[chunks.document])
    )
    return _figure(name, float(inside.mean()), len(inside), "")


def _spans(subject: Subject, shown: Hits) -> Iterator[tuple[Analyzed, list[Span]]]:
    """Every document with its chunks; without an index, with what was found in it."""
    own: list[list[Span]] = [[] for _ in subject.documents]
    numbers = subject.numbers
    found = [hit for each in shown for hit in each if not is_nowhere(hit) and not hit.level]
    rows = sorted({(numbers[hit.doc_id], hit.start, hit.end) for hit in found})
    if subject.chunking is not None:
        chunks = subject.chunking.without_summaries
        columns = (chunks.document, chunks.start, chunks.end)
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
    for number, start, end in rows:
        own[number].append(Span(start, end))
    for document, spans in zip(subject.documents, own, strict=True):
        if spans:
            yield Analyzed(document), spans
