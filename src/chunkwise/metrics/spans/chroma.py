"""The measures of the report "Evaluating Chunking Strategies for Retrieval", on the offsets given.

They differ from ours in what they divide by: every reference and every chunk by itself, overlaps counted twice.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chunkwise.metrics.metric import Scores
from chunkwise.metrics.span_tables import Chunking, Gold, HitTable
from chunkwise.metrics.spans.coverage import (
    Spans,
    Sums,
    Union,
    best_places,
    by_document,
    coverage,
    overlapping,
    ratio,
    shares,
)
from chunkwise.metrics.spans.retrieval_metrics import iou as iou_of_unions
from chunkwise.metrics.spans.span_metric import SpanEvidence, SpanMetric


def recall(lengths: Sums) -> Scores:
    return ratio(lengths.both, lengths.references)


def precision(lengths: Sums) -> Scores:
    return ratio(lengths.both, lengths.chunks)


def iou(lengths: Sums) -> Scores:
    return ratio(lengths.both, lengths.chunks + lengths.missed)


def precision_omega(gold: Gold, chunking: Chunking) -> Scores:
    """What precision could be at best: gold / (chunks that touch a reference, and gold in none of them).

    Of the chunks alone: a summary has more beside the gold than the chunks it stands for.
    """
    chunking = chunking.without_summaries
    places, chunks = by_document(gold, chunking)
    best = best_places(gold, shares(places, Union(chunks)))
    # A chunk that ends where a reference begins touches it, as in the report: widened by one, the two overlap.
    reference, chunk = overlapping(_widened(places.of(best)), _widened(chunks))
    order = np.argsort(gold.question[reference], kind="stable")
    touching = chunk[order]
    counts = np.bincount(gold.question[reference], minlength=gold.questions)
    return iou_of_unions(
        coverage(
            replace(
                gold,
                reference=gold.reference[best],
                document=gold.document[best],
                start=gold.start[best],
                end=gold.end[best],
            ),
            HitTable(
                np.concatenate(([0], np.cumsum(counts))),
                chunking.document[touching],
                chunking.start[touching],
                chunking.end[touching],
                chunking.tokens[touching],
            ),
        )
    )


def _precision_omega(evidence: SpanEvidence) -> Scores:
    if evidence.chunking is None:
        return np.full(evidence.gold.questions, np.nan)
    return precision_omega(evidence.gold, evidence.chunking)


def _widened(spans: Spans) -> Spans:
    return Spans(spans.start, np.where(spans.length > 0, spans.end + 1, spans.end))


METRICS = (
    SpanMetric(
        "chroma.recall", "As in the Chroma report: retrieved gold text / total references.",
        group="chroma", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: recall(evidence.chroma_sums(k)),
    ),
    SpanMetric(
        "chroma.precision", "As in the Chroma report: retrieved gold text / total chunks.",
        group="chroma", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: precision(evidence.chroma_sums(k)),
    ),
    SpanMetric(
        "chroma.iou", "As in the Chroma report: retrieved gold text / (total chunks + missed gold text).",
        group="chroma", needs=("references",), at="hits or tokens",
        formula=lambda evidence, k: iou(evidence.chroma_sums(k)),
    ),
    SpanMetric(
        "chroma.precision_omega", "As in the Chroma report: precision of perfect retrieval.",
        group="chroma", needs=("references", "chunks"),
        formula=lambda evidence, _: _precision_omega(evidence),
    ),
)  # fmt: skip
