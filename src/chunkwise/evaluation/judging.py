"""What the judges that were asked for say about the hits a user gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Hit, OnProgress, Query, Score
from chunkwise.evaluation.measuring import ScoringOptions
from chunkwise.evaluation.results import Agreement, Figure
from chunkwise.evaluation.subject import Hits
from chunkwise.metrics.judges.judge import Judge
from chunkwise.metrics.judges.labels import LabelJudge
from chunkwise.metrics.judges.retrieval_precision import agreements, unjudged_hits
from chunkwise.metrics.judges.similarity import SimilarityJudge
from chunkwise.metrics.judges.spans import SpanJudge
from chunkwise.models import DEFAULT, get_embedder

Verdicts = dict[str, list[list[Score]]]
"""By judge: a score a hit, by question."""

_FAMILY = "retrieval_precision."
_AT_ONCE = 32


def judged(
    queries: Sequence[Query], hits: Hits, measuring: ScoringOptions, advance: OnProgress
) -> Verdicts:
    """Of every judge named among the metrics but the language model, which is asked about more than hits
    (`llm.judging`); gold spans are always asked, since they cost nothing."""
    named = [name.removeprefix(_FAMILY) for name in measuring.metrics if name.startswith(_FAMILY)]
    names = [name for name in named if name != "llm"]
    if "spans" not in names and any(query.references for query in queries):
        names.append("spans")
    judges = {name: _judge(name, measuring) for name in names}
    found: Verdicts = {name: [] for name in names}
    for low in range(0, len(queries), _AT_ONCE):
        block = slice(low, low + _AT_ONCE)
        for name, judge in judges.items():
            found[name] += judge.judge(queries[block], hits[block])
        advance(
            len(queries[block]),
            f"{min(low + _AT_ONCE, len(queries)):,} of {len(queries):,} questions",
        )
    return found


def with_unjudged(summary: Mapping[str, Figure], verdicts: Verdicts) -> dict[str, Figure]:
    """A share of the judged hits says nothing about the others: they are counted beside it."""
    found = dict(summary)
    for judge, own in verdicts.items():
        figure = found.get(f"{_FAMILY}{judge}")
        reasons = unjudged_hits(own).reasons
        if figure is not None and figure.mean is not None and reasons:
            hits = {f"single hits: {reason}": count for reason, count in reasons.items()}
            found[f"{_FAMILY}{judge}"] = replace(figure, unscored={**figure.unscored, **hits})
    return found


def agreement_of(verdicts: Verdicts, measuring: ScoringOptions) -> tuple[Agreement, ...]:
    """Every two judges that were asked for and gave a verdict somewhere."""
    told = {
        name: own
        for name, own in verdicts.items()
        if f"{_FAMILY}{name}" in measuring.metrics
        and any(score.value is not None for score in chain.from_iterable(own))
    }
    return tuple(Agreement(*pair) for pair in agreements(told))


def _judge(name: str, measuring: ScoringOptions) -> Judge:
    if name == "labels":
        return LabelJudge()
    if name == "spans":
        return SpanJudge(measuring.relevance_threshold)
    try:
        embedder = get_embedder(measuring.judge_model or DEFAULT)
    except ChunkwiseError as error:
        # Figures that need no model are there all the same.
        return _Absent(str(error))
    return SimilarityJudge(embedder, measuring.similarity_threshold)


class _Absent:
    """The judge by similarity where its model cannot be had: it says why about every hit."""

    name = "similarity"

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        return [[Score(None, self._reason) for _ in own] for own in hits]
