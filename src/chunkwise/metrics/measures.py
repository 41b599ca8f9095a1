"""Every measure over spans and rankings, by the names users give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.metrics.spans import chroma, ranking
from chunkwise.metrics.spans import coverage as coverage_module
from chunkwise.metrics.spans.budget import TokenEnds, within
from chunkwise.metrics.spans.evidence import Evidence
from chunkwise.metrics.spans.relevance import RELEVANCE_THRESHOLD
from chunkwise.metrics.spans.tables import Chunking, Gold, HitTable

FAILURE_AT = 20
"""Where failure is measured unless told otherwise, as the literature does."""

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure a question, from what was found."""

    name: str
    help: str
    score: Callable[[Evidence, int], Scores]
    better: Literal["higher", "lower"] = "higher"
    cut: Literal["hits", "either", "none"] = "either"
    """What the number behind @ may count: hits, or also tokens."""
    counts_hits: bool = False
    """Relevant hits are counted; the others measure lengths of text."""
    ideal: bool = False
    """Held against all relevant chunks of the index, so hits must be chunks of it."""


CATALOGUE: tuple[Measure, ...] = (
    Measure(
        "recall", "Share of the gold text that is retrieved.",
        lambda e, k: coverage_module.recall(e.coverage(k)),
    ),
    Measure(
        "precision", "Share of the retrieved text that is gold; text retrieved twice counts once.",
        lambda e, k: coverage_module.precision(e.coverage(k)),
    ),
    Measure(
        "density", "Share of the retrieved text that is gold; text retrieved twice is paid twice.",
        lambda e, k: coverage_module.density(e.coverage(k)),
    ),
    Measure(
        "iou", "Text that is both gold and retrieved / text that is either.",
        lambda e, k: coverage_module.iou(e.coverage(k)),
    ),
    Measure(
        "context_precision", "Relevant hits / hits retrieved.",
        lambda e, k: ranking.context_precision(e.judged, k), counts_hits=True,
    ),
    Measure(
        "context_recall", "Share of the references that are covered.",
        lambda e, k: e.context_recall(k),
    ),
    Measure(
        "failure", "Share of the references that are not covered.",
        lambda e, k: 1 - e.context_recall(k), better="lower",
    ),
    Measure(
        "hit", "1 where any hit is relevant.",
        lambda e, k: ranking.hit(e.ranking, k), counts_hits=True,
    ),
    Measure(
        "mrr", "1 / the rank of the first relevant hit.",
        lambda e, k: ranking.mrr(e.ranking, k), counts_hits=True,
    ),
    Measure(
        "ndcg", "Relevant hits, early ones worth more, against the best possible order.",
        lambda e, k: ranking.ndcg(e.ranking, k), cut="hits", counts_hits=True, ideal=True,
    ),
    Measure(
        "map", "Precision at each relevant hit, summed / all relevant chunks of the index.",
        lambda e, k: ranking.average_precision(e.ranking, k), cut="hits", counts_hits=True, ideal=True,
    ),
    Measure(
        "p", "Relevant hits / k, however few were retrieved.",
        lambda e, k: ranking.p(e.ranking, k), cut="hits", counts_hits=True,
    ),
    Measure(
        "chunk_recall", "Relevant hits / all relevant chunks of the index.",
        lambda e, k: ranking.chunk_recall(e.ranking, k), cut="hits", counts_hits=True, ideal=True,
    ),
    Measure(
        "chroma.recall", "As the Chroma report has it: gold retrieved / summed references.",
        lambda e, k: chroma.recall(e.chroma_sums(k)),
    ),
    Measure(
        "chroma.precision", "As the Chroma report has it: gold retrieved / summed chunks.",
        lambda e, k: chroma.precision(e.chroma_sums(k)),
    ),
    Measure(
        "chroma.iou", "As the Chroma report has it: gold retrieved / (summed chunks and missed gold).",
        lambda e, k: chroma.iou(e.chroma_sums(k)),
    ),
    Measure(
        "chroma.precision_omega", "As the Chroma report has it: precision if retrieval were perfect.",
        lambda e, _: e.precision_omega(), cut="none",
    ),
)  # fmt: skip

NAMES: tuple[str, ...] = tuple(measure.name for measure in CATALOGUE)

_ALL = 1_000_000_000
"""Hits: within a budget all are looked at that fit."""


@dataclass(frozen=True, slots=True)
class MetricAt:
    """A measure at a number of hits or tokens."""

    measure: Measure
    at: int
    """0 where the measure counts nothing."""
    tokens: bool = False
    """Whether `at` counts tokens: hits are then taken in rank order, the last one cut at the budget."""

    @property
    def label(self) -> str:
        """The canonical name: argument, key and column head at once."""
        if self.measure.cut == "none":
            return self.measure.name
        return f"{self.measure.name}@{self.at}{'t' if self.tokens else ''}"


_WANTED = re.compile(r"(?P<name>[a-z_.]+)(?:@(?P<at>0*[1-9][0-9]{0,8})(?P<tokens>t?))?")


def is_measure(name: str) -> bool:
    """Whether this is one of these, whatever stands behind its @."""
    return name.strip().lower().partition("@")[0] in NAMES


def parse(text: str, k: int = 5, budget: int | None = None) -> MetricAt:
    """recall@5, recall@1000t, or a bare name: then at the budget or the k of the run, failure at 20."""
    match = _WANTED.fullmatch(text.strip().lower())
    name = match["name"] if match else text.strip().lower().partition("@")[0]
    if name not in NAMES:
        raise UnknownName(f"no measure is named {name!r}; known: {', '.join(NAMES)}")
    if match is None:
        raise InvalidParameter(
            f"{text!r}: behind @ stands a number of hits, as in {name}@5, or of tokens, as in recall@1000t"
        )
    measure = CATALOGUE[NAMES.index(name)]
    if match["at"] is None:
        return _usual(measure, k, budget)
    if measure.cut == "none":
        raise InvalidParameter(f"{text!r}: {name} depends on no number of hits; write {name}")
    if match["tokens"] and measure.cut == "hits":
        raise InvalidParameter(
            f"{text!r}: {name} counts hits and is not measured within tokens; write {name}@{k}"
        )
    return MetricAt(measure, int(match["at"]), bool(match["tokens"]))


def _usual(measure: Measure, k: int, budget: int | None) -> MetricAt:
    if measure.cut == "none":
        return MetricAt(measure, 0)
    if budget is not None and measure.cut == "either":
        return MetricAt(measure, budget, tokens=True)
    return MetricAt(measure, FAILURE_AT if measure.name == "failure" else k)


def span_scores(
    wanted: Sequence[MetricAt],
    gold: Gold,
    found: HitTable,
    chunking: Chunking | None,
    cut: TokenEnds,
    threshold: float = RELEVANCE_THRESHOLD,
) -> dict[str, Scores]:
    """By label, one value a question; NaN: unscored, for the reason `why_unscored` gives."""
    whole = Evidence(gold, found, chunking, threshold)
    budgets = {each.at for each in wanted if each.tokens}
    cuts = {at: Evidence(gold, within(found, at, cut), chunking, threshold) for at in budgets}
    return {each.label: _scores(each, cuts[each.at] if each.tokens else whole) for each in wanted}


def _scores(wanted: MetricAt, evidence: Evidence) -> Scores:
    scores = wanted.measure.score(evidence, _ALL if wanted.tokens else wanted.at)
    unscored = evidence.without_references
    if wanted.measure.ideal:
        unscored = unscored | evidence.without_ideal(wanted.at)
    return np.where(unscored, np.nan, scores)


def why_unscored(wanted: MetricAt, *, references: int, chunking: Chunking | None) -> str:
    """Why a question with so many references has no score."""
    if not references:
        return "the question has no references"
    if chunking is None:
        return f"{wanted.measure.name} counts the chunks of an index, and there is none"
    return (
        f"{wanted.measure.name} counts chunks, and hits of this question are no chunks of the index"
    )
