"""Words for figures: good, excellent, below; the four questions they answer; what to try where they are not good."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, NamedTuple

from chunkwise.evaluation.direction import lower_is_better
from chunkwise.evaluation.results import Figure, Json, MetricAdvice, Results
from chunkwise.evaluation.trust import is_weak

Verdict = Literal["excellent", "good", "below", ""]

_ROUNDED = 9
"""Digits that count: a mean of 0.7 may come out as 0.7000000000000001, and is no more than 0.7."""


class Targets(NamedTuple):
    """Figures beyond a bound deserve its word; the bound itself does not."""

    good: float
    excellent: float

    @property
    def lower_is_better(self) -> bool:
        return self.excellent < self.good


BOUNDS: Mapping[str, Targets] = MappingProxyType(
    {
        "retrieval_precision": Targets(0.70, 0.85),
        "completeness": Targets(0.75, 0.90),
        "boundary_issues": Targets(0.10, 0.05),
        "citation_accuracy": Targets(0.90, 0.95),
    }
)
"""By family: `completeness.facts` and `completeness.spans` are judged alike."""


def family(metric: str) -> str:
    """`completeness` of `completeness.facts@5`."""
    return re.split(r"[.@]", metric, maxsplit=1)[0]


def verdict(metric: str, value: float | None) -> Verdict:
    """The word beside a figure; empty for metrics that have none, and where there is no figure."""
    bounds = BOUNDS.get(family(metric))
    if bounds is None or value is None or math.isnan(value):
        return ""
    if _beyond(bounds, bounds.excellent, value):
        return "excellent"
    return "good" if _beyond(bounds, bounds.good, value) else "below"


def _beyond(bounds: Targets, bound: float, value: float) -> bool:
    value = round(value, _ROUNDED)
    return value < bound if bounds.lower_is_better else value > bound


_NOTHING: Mapping[str, Json] = MappingProxyType({})
_GOLD, _GUESSED = "retrieval_precision.spans", "retrieval_precision.similarity"
_AT = 1e-9
"""A mean so near to the most that can be reached has reached it."""


class _Known(NamedTuple):
    """`{k}` stands for what says how much is handed out, `{last}` for what a run can try that has no reranker yet."""

    causes: str
    remedies: str


# By one of the four questions, or by a single metric whose causes are others.
_KNOWN: Mapping[str, _Known] = MappingProxyType(
    {
        "retrieval_precision": _Known(
            "chunks that are too large, an embedding that is too weak, a {k} that is too high",
            "smaller chunks, a better model, {last}",
        ),
        "completeness": _Known(
            "chunks that are too small, no overlap, a {k} that is too small",
            "larger chunks, overlap, a larger {k}, or parent_child",
        ),
        "boundary_issues": _Known(
            "the wrong separators or the wrong size",
            "a strategy that follows the structure (structure, sections) or the meaning (semantic), another "
            "size, or overlap",
        ),
        "citation_accuracy": _Known(
            "offsets that are wrong or lost",
            "cut again with exact spans, and never find text again by searching for it",
        ),
        "citation_accuracy.support": _Known(
            "answers that say more than the text they cite, or cite another chunk than the one they were made from",
            "ask for one citation behind each claim, with the words it rests on; less text to choose from, or "
            "another model for the answers",
        ),
        "citation_accuracy.attribution": _Known(
            "documents or chunks that are alike or go by numbers that are mixed up, quotes that are not word for word",
            "give every chunk a name of its own to be cited by, with its document and place, and ask for exact quotes",
        ),
    }
)


def advice(
    summary: Mapping[str, Figure],
    reachable: Mapping[str, float] = MappingProxyType({}),
    configuration: Mapping[str, Json] = _NOTHING,
) -> tuple[MetricAdvice, ...]:
    """One piece for all figures below good that have the same usual causes; it names them.

    `reachable`: by metric, the most that any ranking could reach with as many hits; who has reached it needs no
    advice. `configuration`: of the run, which is told to do nothing that it does already, or cannot.
    """
    below: dict[_Known, list[str]] = {}
    for metric, figure in summary.items():
        if _wants_better(metric, figure, reachable) and not _known_better(
            metric, summary, reachable
        ):
            known = _KNOWN.get(metric.partition("@")[0]) or _KNOWN[family(metric)]
            below.setdefault(known, []).append(metric)
    return tuple(
        MetricAdvice(metrics[0], _text(_fitting(known, configuration), metrics, summary, reachable))
        for known, metrics in below.items()
    )


def at_ceiling(metric: str, mean: float, reachable: float | None) -> bool:
    """Whether it is as high as any ranking could make it, and that is not good."""
    return reachable is not None and out_of_reach(metric, reachable) and mean >= reachable - _AT


def out_of_reach(metric: str, reachable: float) -> bool:
    """Whether no ranking could be good by this metric."""
    return verdict(metric, reachable) == "below"


def _wants_better(metric: str, figure: Figure, reachable: Mapping[str, float]) -> bool:
    return (
        figure.mean is not None
        and verdict(metric, figure.mean) == "below"
        and not at_ceiling(metric, figure.mean, reachable.get(metric))
    )


def _known_better(
    metric: str, summary: Mapping[str, Figure], reachable: Mapping[str, float]
) -> bool:
    """Whether the references praise what the judge by similarity blames: they know, it guesses."""
    gold = summary.get(_GOLD) if metric == _GUESSED else None
    return gold is not None and gold.mean is not None and not _wants_better(_GOLD, gold, reachable)


def _fitting(known: _Known, configuration: Mapping[str, Json]) -> _Known:
    """In the words of this run: with a budget there is no k, and hits from a file are not read again."""
    amount = "budget" if configuration.get("budget") else "k"
    can_rerank = not configuration.get("rerank") and not configuration.get("hits")
    last = f"a smaller {amount}, or `--reranker maxsim`" if can_rerank else f"or a smaller {amount}"
    return _Known(*(each.format(k=amount, last=last) for each in known))


def _text(
    known: _Known,
    metrics: list[str],
    summary: Mapping[str, Figure],
    reachable: Mapping[str, float],
) -> str:
    bounds = BOUNDS[family(metrics[0])]
    told = ", ".join(f"{metric} {summary[metric].mean:.3f}" for metric in metrics)
    side = "under" if bounds.lower_is_better else "over"
    limits = "".join(
        f" With so many hits a question no ranking of these chunks reaches more than {most:.3f} by {metric}: the "
        "questions have fewer chunks that answer them."
        for metric in metrics
        if (most := reachable.get(metric)) is not None and out_of_reach(metric, most)
    )
    return (
        f"{told}: good is {side} {bounds.good:.2f}.{limits} Usual causes: {known.causes}. "
        f"What to try: {known.remedies}."
    )


WEAK = "weak judge"
"""In place of a word for the figure: it says more about the judge."""
AT_CEILING = "at its ceiling"
OUT_OF_REACH = "out of reach"
"""In place of "below" where no ranking of these chunks could be good with so many hits: no fault of the chunking."""
FOUR = (
    ("Are the retrieved chunks relevant?", "retrieval_precision"),
    ("Is everything needed there?", "completeness"),
    ("Do the cuts hurt?", "boundary_issues"),
    ("Can one point at the source?", "citation_accuracy"),
)


class AnsweredQuestion(NamedTuple):
    """One of the four questions with its figures."""

    question: str
    metric: str
    figures: Mapping[str, Figure]
    """By method; a metric with one method has it under an empty name."""


class Robustness(NamedTuple):
    """How much harder one type of question is than another."""

    easiest: str
    hardest: str
    drop: float
    """How far apart their figures are."""


def four_questions(results: Results) -> list[AnsweredQuestion]:
    """Those that were measured, in their order; methods without any score come last."""
    found = []
    for question, metric in FOUR:
        figures = {
            name[len(metric) + 1 :]: replace(figure, verdict=_word(results, name, figure))
            for name, figure in results.summary.items()
            if name == metric or name.startswith(f"{metric}.")
        }
        if figures:
            scored = sorted(figures, key=lambda method: figures[method].mean is None)
            found.append(
                AnsweredQuestion(question, metric, {name: figures[name] for name in scored})
            )
    return found


def most_reachable(results: Results, metric: str) -> float | None:
    """How far a figure can rise that no ranking could make good; None: it could be good, or nothing is known."""
    known = results.data.get("reachable")
    most = known.get(metric) if isinstance(known, dict) else None
    return most if isinstance(most, int | float) and out_of_reach(metric, most) else None


def _word(results: Results, metric: str, figure: Figure) -> str:
    if figure.verdict and is_weak(results, metric):
        return WEAK
    # Whoever finds likeness in more chunks than the references name is no better a search for it.
    most = most_reachable(results, _GOLD if metric == _GUESSED else metric)
    if most is None or figure.mean is None or figure.verdict != "below":
        return figure.verdict
    return AT_CEILING if at_ceiling(metric, figure.mean, most) else OUT_OF_REACH


def robustness(results: Results) -> Robustness | None:
    """By the objective; None where there are not two types with a score."""
    means = {
        type: figure.mean
        for type, figures in results.by_type.items()
        if (figure := figures.get(results.objective)) and figure.mean is not None
    }
    if len(means) < 2:
        return None
    high, low = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    easiest, hardest = (low, high) if lower_is_better(results.objective) else (high, low)
    return Robustness(easiest, hardest, means[high] - means[low])
