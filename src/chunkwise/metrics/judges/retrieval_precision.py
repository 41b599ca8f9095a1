"""Are the retrieved chunks relevant? By the verdicts of one judge or several, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chunkwise.core import Score
from chunkwise.metrics.metric import KeyQuestion, Metric, Need, Remedy, Targets
from chunkwise.metrics.span_tables import Chunking
from chunkwise.metrics.spans.ranking import relevant_chunks
from chunkwise.stats.agreement import agreement

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence, Hits, Verdicts

NOTHING = "nothing was retrieved"


Pair = tuple[str, str, float | None, float | None, int]
"""Two judges by name, Cohen's kappa, the share of hits on which they agree, and the hits that both judged."""


class UnjudgedHits(NamedTuple):
    """How much of what was retrieved the shares rest on."""

    hits: int
    judged: int
    reasons: Mapping[str, int]
    """Of the others, why there is no verdict, by how many hits; the most frequent first."""


def retrieval_precision(verdicts: Verdicts, expected: Sequence[bool] = ()) -> list[Score]:
    """Of each question, the share of its judged hits that are relevant; without a verdict there is no share.

    `expected`: by question, whether something is known to be there to be found, as its references tell; then nothing
    retrieved is 0, as it is for every measure over spans.
    """
    known = expected or [False] * len(verdicts)
    return [_share(scores, there) for scores, there in zip(verdicts, known, strict=True)]


def unjudged_hits(verdicts: Verdicts) -> UnjudgedHits:
    """Over all questions: a share of the judged hits says nothing about the others, so they are counted."""
    every = [score for verdict in verdicts for score in verdict]
    why = Counter(score.reason for score in every if score.value is None)
    return UnjudgedHits(len(every), len(every) - why.total(), dict(why.most_common()))


def _share(scores: Sequence[Score], expected: bool) -> Score:
    values = [score.value for score in scores if score.value is not None]
    if values:
        return Score(sum(values) / len(values))
    if not scores:
        return Score(0.0) if expected else Score(None, NOTHING)
    # The reason most of its hits have; of several as frequent, the one of the better hit.
    return Score(None, Counter(score.reason for score in scores).most_common(1)[0][0])


def agreements(verdicts: Mapping[str, Verdicts]) -> list[Pair]:
    """Every pair of judges on the hits that both judged."""
    flat = {
        name: [
            None if score.value is None else score.value >= 0.5
            for scores in group
            for score in scores
        ]
        for name, group in verdicts.items()
    }
    pairs = combinations(flat, 2)
    return [(one, other, *agreement(flat[one], flat[other])) for one, other in pairs]


def of_judge(
    judge: str,
    help: str = "",
    *,
    needs: tuple[Need, ...] = ("judge",),
    asks: str | None = None,
    known_better_by: str = "",
) -> Metric:
    """The metric that a judge gives; `asks`: who must be named before it is measured, a judge of others itself."""

    def score(evidence: Evidence) -> list[Score]:
        return retrieval_precision(evidence.verdicts(judge))

    return Metric(
        f"{QUESTION.name}.{judge}",
        help or f"Share of hits that the judge {judge} considers relevant.",
        score=score, group=QUESTION.name, question=QUESTION, needs=needs, judge=judge,
        asks=judge if asks is None else asks, known_better_by=known_better_by,
    )  # fmt: skip


def _by_spans(evidence: Evidence) -> list[Score]:
    """Gold spans say that something is there: to find nothing is then 0. Others judge hits only."""
    expected = [bool(query.references) for query in evidence.queries]
    return retrieval_precision(evidence.verdicts("spans"), expected)


def reachable(evidence: Evidence) -> float | None:
    """The mean of the best ranking of the same chunks, with as many hits a question: five hits for a question that one
    chunk answers hold four that do not. None where hits are no chunks of the index, as parents, neighbors, summaries
    and spans of several sizes are not."""
    every, shown = evidence.chunking, evidence.hits
    chunks = None if every is None else every.without_summaries
    if chunks is None or not _are_chunks(chunks, shown, evidence.numbers):
        return None
    asked = [number for number, query in enumerate(evidence.queries) if query.references]
    if not asked:
        return None
    pairs = relevant_chunks(evidence.gold, chunks, evidence.relevance_threshold)
    relevant = np.bincount(pairs.first, minlength=len(evidence.queries))
    handed = np.array([len(hits) for hits in shown], np.int64)
    best = np.minimum(relevant, handed) / np.maximum(handed, 1)
    return float(best[asked].mean())


def _are_chunks(chunks: Chunking, shown: Hits, numbers: Mapping[str, int]) -> bool:
    columns = (chunks.document, chunks.start, chunks.end)
    known = set(zip(*(column.tolist() for column in columns), strict=True))
    for hits in shown:
        places = {(numbers[hit.doc_id], hit.start, hit.end) for hit in hits}
        # Somebody's hits may name a chunk twice: of those a ranking may have more than there are.
        if len(places) < len(hits) or not places <= known:
            return False
    return True


QUESTION = KeyQuestion(
    "retrieval_precision",
    "Are the retrieved chunks relevant?",
    Targets(0.70, 0.85),
    Remedy(
        "large chunks, a weak embedding model, {k} too high",
        ("smaller chunks", "a better model", "a smaller {k}", "{reranker}"),
    ),
)
METRICS = (
    of_judge("labels", "Share of hits labeled relevant.", needs=("labels",), asks=""),
    replace(
        of_judge(
            "spans", "Share of hits that overlap gold text.", needs=("references",), asks="",
        ),
        score=_by_spans, reachable=reachable,
    ),
    of_judge(
        "similarity", "Share of hits similar to the question by embedding.", needs=("embedder",), asks="",
        # Whoever finds likeness in more chunks than the references name is no better a search for it.
        known_better_by=f"{QUESTION.name}.spans",
    ),
    of_judge(
        "llm", "Share of hits that contain the answer or a part of it, judged by an LLM.", needs=("llm",),
    ),
)  # fmt: skip
