"""What usually causes a figure that is not good, and what to try next."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from chunkwise.evaluation.results import Advice, Figure, Json
from chunkwise.evaluation.verdicts import BOUNDS, family, verdict

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
) -> tuple[Advice, ...]:
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
        Advice(metrics[0], _text(_fitting(known, configuration), metrics, summary, reachable))
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
