"""The four questions about a chunking, a card each: the figure large, its interval, and the word for it."""

from __future__ import annotations

from chunkwise.evaluation.four_questions import (
    AT_CEILING,
    FOUR,
    OUT_OF_REACH,
    WEAK,
    Answered,
    four_questions,
)
from chunkwise.evaluation.judges_told import judged_by
from chunkwise.evaluation.results import Figure, Results
from chunkwise.evaluation.verdicts import BOUNDS
from chunkwise.report.evaluation.beside import at_most, offsets, with_so_many
from chunkwise.report.evaluation.marks import gauge
from chunkwise.report.evaluation.rows import between, value_text, why_unscored
from chunkwise.report.page_text import attribute, breakable

_WORDS = {
    "excellent": ("★", "excellent"), "good": ("✓", "good"), "below": ("!", "below good"), WEAK: ("?", WEAK),
    AT_CEILING: ("–", AT_CEILING), OUT_OF_REACH: ("–", OUT_OF_REACH),
}  # fmt: skip
"""A sign beside the word, so that colour is never what tells them apart."""
_WHOLE = "share of chunks with an issue"


def four_cards(results: Results) -> str:
    """All four, also those that were not measured; nothing where none was."""
    answered = {each.metric: each for each in four_questions(results)}
    if not answered:
        return ""
    cards = "".join(
        _card(results, question, metric, answered.get(metric)) for question, metric in FOUR
    )
    return f'<div class="four">{cards}</div>'


def _card(results: Results, question: str, metric: str, answered: Answered | None) -> str:
    head = f'<h3>{question}</h3><p class="metric">{breakable(metric)}</p>'
    if answered is None:
        return f'<article class="card unasked">{head}<p class="none">Not measured in this run.</p></article>'
    told = [
        (method, figure) for method, figure in answered.figures.items() if figure.mean is not None
    ]
    gone = [(method, figure) for method, figure in answered.figures.items() if figure.mean is None]
    methods = "".join(_method(metric, method, figure) for method, figure in told)
    judged = "".join(_judged(results, metric, method) for method, _ in told)
    shown = f'<div class="methods">{methods}</div>' if methods else ""
    missing = "".join(
        _unscored(method, figure) for method, figure in told + gone if figure.unscored
    )
    beside = [
        f"{method}: {most} {with_so_many(results)}"
        for method, _ in told
        if (most := at_most(f"{metric}.{method}", results))
    ]
    if metric == "citation_accuracy":
        beside += offsets(results)
    said = judged + missing + "".join(f"<li>{attribute(each, 300)}</li>" for each in beside)
    notes = f'<ul class="unscored">{said}</ul>' if said else ""
    return (
        f'<article class="card">{head}{shown}{notes}<p class="hint">{_bounds(metric)}</p></article>'
    )


def _method(metric: str, method: str, figure: Figure) -> str:
    number, sure = value_text(metric, figure.mean), between(metric, figure)
    told = f"{method or _WHOLE}: {number}" + (f", 95 % interval {sure}" if sure else "")
    return (
        f'<div class="method"><span class="by">{attribute(method or _WHOLE)}</span>'
        f'<span class="large">{number}</span>{badge(figure.verdict)}'
        f"{gauge(figure, BOUNDS[metric], told)}"
        f'<span class="sure">{f"95 %: {sure}" if sure else "of the whole chunking"}</span></div>'
    )


def _judged(results: Results, metric: str, method: str) -> str:
    """Who judged, and what that is worth."""
    told = judged_by(results, f"{metric}.{method}")
    return f"<li><b>{attribute(method)}</b> {attribute(told, 300)}</li>" if told else ""


def badge(verdict: str) -> str:
    """The word for a figure with its sign."""
    if verdict not in _WORDS:
        return ""
    sign, word = _WORDS[verdict]
    kind = {WEAK: "below", AT_CEILING: "limit", OUT_OF_REACH: "limit"}.get(verdict, verdict)
    return f'<span class="badge {kind}"><span aria-hidden="true">{sign}</span> {word}</span>'


def _unscored(method: str, figure: Figure) -> str:
    name = f"<b>{attribute(method)}</b> " if method else ""
    return f"<li>{name}{attribute(why_unscored(figure), 240)}</li>"


def _bounds(metric: str) -> str:
    bounds = BOUNDS[metric]
    side, shown = (
        ("under", "{:.0%}".format) if bounds.lower_is_better else ("over", "{:.2f}".format)
    )
    good, best = (shown(bound).replace("%", " %") for bound in bounds)
    return f"Good is {side} {good}, excellent {side} {best}."
