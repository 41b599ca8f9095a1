"""The four questions about a chunking, and the figures that answer them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from chunkwise.evaluation.advice import at_ceiling, out_of_reach
from chunkwise.evaluation.direction import lower_is_better
from chunkwise.evaluation.judges_told import is_weak
from chunkwise.evaluation.results import Figure, Results

WEAK = "weak judge"
"""In place of a word for the figure: it says more about the judge."""
AT_CEILING = "at its ceiling"
OUT_OF_REACH = "out of reach"
"""In place of "below" where no ranking of these chunks could be good with so many hits: no fault of the chunking."""
_GOLD, _GUESSED = "retrieval_precision.spans", "retrieval_precision.similarity"
FOUR = (
    ("Are the retrieved chunks relevant?", "retrieval_precision"),
    ("Is everything needed there?", "completeness"),
    ("Do the cuts hurt?", "boundary_issues"),
    ("Can one point at the source?", "citation_accuracy"),
)


class Answered(NamedTuple):
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


def four_questions(results: Results) -> list[Answered]:
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
            found.append(Answered(question, metric, {name: figures[name] for name in scored}))
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
