"""Words for figures: good, excellent, below; the four questions they answer; what to try where they are not good."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, NamedTuple

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.evaluation.judge_calibrations import is_weak
from chunkwise.evaluation.results import Figure, Json, MetricAdvice, Results, positions_by
from chunkwise.metrics.metric import KeyQuestion, Remedy, Targets
from chunkwise.metrics.registry import format_score, key_questions, lower_is_better, metric_of
from chunkwise.stats.intervals import Robustness, robustness

Grade = Literal["excellent", "good", "below", ""]

_ROUNDED = 9
"""Digits that count: a mean of 0.7 may come out as 0.7000000000000001, and is no more than 0.7."""


def targets_of(metric: str) -> Targets | None:
    """From where on a figure is good; a metric that nobody here declares is judged as its question is."""
    known = metric_of(metric)
    if known is not None:
        return known.aims
    question = question_of(metric)
    return question.targets if question else None


def question_of(metric: str) -> KeyQuestion | None:
    """Which of the four questions a metric answers, by its name in a table."""
    known = metric_of(metric)
    if known is not None:
        return known.question
    return key_questions().get(re.split(r"[.@]", metric, maxsplit=1)[0])


def verdict(metric: str, value: float | None) -> Grade:
    """The word beside a figure; empty for metrics that have none, and where there is no figure."""
    targets = targets_of(metric)
    if targets is None or value is None or math.isnan(value):
        return ""
    if _beyond(targets, targets.excellent, value):
        return "excellent"
    return "good" if _beyond(targets, targets.good, value) else "below"


def _beyond(targets: Targets, target: float, value: float) -> bool:
    value = round(value, _ROUNDED)
    return value < target if targets.lower_is_better else value > target


_NOTHING: Mapping[str, Json] = MappingProxyType({})
_AT = 1e-9
"""A mean so near to the most that can be reached has reached it."""


def advice(
    summary: Mapping[str, Figure],
    reachable: Mapping[str, float] = MappingProxyType({}),
    configuration: Mapping[str, Json] = _NOTHING,
) -> tuple[MetricAdvice, ...]:
    """One piece for all figures below good that have the same usual causes; it names them.

    `reachable`: by metric, the most that any ranking could reach with as many hits; who has reached it needs no
    advice. `configuration`: of the run, which is told to do nothing that it does already, or cannot.
    """
    below: dict[Remedy, list[str]] = {}
    for metric, figure in summary.items():
        if _wants_better(metric, figure, reachable) and not _known_better(
            metric, summary, reachable
        ):
            known, question = metric_of(metric), question_of(metric)
            remedy = known.advice if known else question.remedy if question else None
            if remedy is not None:
                below.setdefault(remedy, []).append(metric)
    return tuple(
        MetricAdvice(metrics[0], _text(fitting(known, configuration), metrics, summary, reachable))
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
    name = _known_by(metric)
    gold = summary.get(name)
    return gold is not None and gold.mean is not None and not _wants_better(name, gold, reachable)


def _known_by(metric: str) -> str:
    """The metric that knows what this one guesses; empty: it guesses nothing."""
    known = metric_of(metric)
    return known.known_better_by if known else ""


def fitting(known: Remedy, configuration: Mapping[str, Json]) -> Remedy:
    """In the words of this run: with a budget there is no k, and hits from a file are not read again."""
    can_rerank = not configuration.get("reranker") and not configuration.get("hits")
    strategy = str(configuration.get("strategy") or "")
    overlaps = _repeats(strategy)
    words = {
        "k": "budget" if configuration.get("budget") else "k",
        "reranker": "`--reranker local`" if can_rerank else "",
        "overlap": "" if overlaps else "overlap",
        "no_overlap": "" if overlaps else "no overlap",
        "parent_child": _unless(strategy, "parent_child"),
        "structural": _structural(strategy),
    }
    return Remedy(_joined(known.causes, words, ", "), _joined(known.remedies, words, ", or "))


def remedy_text(known: Remedy) -> str:
    """Causes and remedies of one that fits its run."""
    return f"Common causes: {known.causes}. Try: {known.remedies}."


def _joined(phrases: str | tuple[str, ...], words: Mapping[str, str], last: str) -> str:
    """The phrases that are left in the words of a run, the last of them behind `last`."""
    every = (phrases,) if isinstance(phrases, str) else phrases
    texts = [each for phrase in every if (each := phrase.format_map(words))]
    return last.join(item for item in (", ".join(texts[:-1]), texts[-1]) if item)


def _unless(strategy: str, name: str) -> str:
    return "" if strategy.partition("(")[0] == name else name


def _structural(strategy: str) -> str:
    """Strategies that cut by what a text is made of, but the one in use."""
    structure = [name for name in ("structure", "sections") if _unless(strategy, name)]
    follows = f"the structure ({', '.join(structure)})"
    if _unless(strategy, "semantic"):
        follows += " or the meaning (semantic)"
    return f"a strategy that follows {follows}"


def _repeats(strategy: str) -> bool:
    """Whether chunks repeat the end of the one before already; not known of chunks that others made."""
    try:
        repeated = get_strategy(strategy).repeated if strategy else None
    except ChunkwiseError:
        return False
    return repeated is not None and repeated[1] > 0


def _text(
    known: Remedy,
    metrics: list[str],
    summary: Mapping[str, Figure],
    reachable: Mapping[str, float],
) -> str:
    targets = targets_of(metrics[0])
    assert targets is not None
    message = ", ".join(_figure(metric, summary[metric]) for metric in metrics)
    side = "under" if targets.lower_is_better else "over"
    limits = "".join(
        f" With so many hits, {metric} can't exceed {format_score(metric, most)}: questions "
        f"have fewer relevant chunks."
        for metric in metrics
        if (most := reachable.get(metric)) is not None and out_of_reach(metric, most)
    )
    good = format_score(metrics[0], targets.good)
    return f"{message}: good is {side} {good}.{limits} {remedy_text(known)}"


def _figure(metric: str, figure: Figure) -> str:
    of = figure.of_how_many and f" ({figure.of_how_many})"
    return f"{metric} {format_score(metric, figure.mean)}{of}"


WEAK = "weak judge"
"""In place of a word for the figure: it says more about the judge."""
AT_CEILING = "at its ceiling"
OUT_OF_REACH = "out of reach"
"""In place of "below" where no ranking of these chunks could be good with so many hits: no fault of the chunking."""


class AnsweredQuestion(NamedTuple):
    """One of the four questions with its figures."""

    question: str
    metric: str
    figures: Mapping[str, Figure]
    """By method; a metric with one method has it under an empty name."""

    def name_of(self, method: str) -> str:
        """The metric's whole name."""
        if not method:
            return self.metric
        name = f"{self.metric}.{method}"
        return method if metric_of(method) and not metric_of(name) else name


def four_questions(results: Results) -> list[AnsweredQuestion]:
    """Those that were measured, in their order; methods without any score come last."""
    result = []
    for metric, question in key_questions().items():
        figures = {
            _method(name, metric): replace(figure, verdict=_word(results, name, figure))
            for name, figure in results.summary.items()
            if question_of(name) == question
        }
        if figures:
            scored = sorted(figures, key=lambda method: figures[method].mean is None)
            by_method = {name: figures[name] for name in scored}
            result.append(AnsweredQuestion(question.text, metric, by_method))
    return result


def _method(name: str, metric: str) -> str:
    """`facts` of completeness.facts; a metric of another name goes by the whole of it."""
    return "" if name == metric else name.removeprefix(f"{metric}.")


def most_reachable(results: Results, metric: str) -> float | None:
    """How far a figure can rise that no ranking could make good; None: it could be good, or nothing is known."""
    known = results.data.get("reachable")
    most = known.get(metric) if isinstance(known, dict) else None
    return most if isinstance(most, int | float) and out_of_reach(metric, most) else None


def _word(results: Results, metric: str, figure: Figure) -> str:
    if figure.verdict and is_weak(results, metric):
        return WEAK
    # Whoever finds likeness in more chunks than the references name is no better a search for it.
    most = most_reachable(results, _known_by(metric) or metric)
    if most is None or figure.mean is None or figure.verdict != "below":
        return figure.verdict
    return AT_CEILING if at_ceiling(metric, figure.mean, most) else OUT_OF_REACH


def type_robustness(results: Results, types: tuple[str, str] | None = None) -> Robustness | None:
    """By the objective, from the easiest type of question to the hardest, or between two that are named."""
    scores = _scores_by_type(results)
    if types is not None:
        scores = {name: _known_type(scores, name) for name in types}
    return robustness(scores, lower_is_better=lower_is_better(results.objective))


def _scores_by_type(results: Results) -> dict[str, list[float]]:
    """Of the objective, the types by name."""
    scored = [
        question
        for question in results.questions
        if question.scores.get(results.objective) is not None
    ]
    groups = positions_by(result.types for result in scored)
    return {
        type: [scored[at].scores[results.objective] or 0.0 for at in groups[type]]
        for type in sorted(groups)
    }


def _known_type(values: Mapping[str, list[float]], name: str) -> list[float]:
    if name not in values:
        raise InvalidParameter(
            f"no scored questions of type {name!r}; known types: {', '.join(values) or 'none'}"
        )
    return values[name]
