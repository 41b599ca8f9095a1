"""What usually causes a figure that is not good, and what to try next."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from chunkwise.evaluation.results import Advice, Figure
from chunkwise.evaluation.verdicts import BOUNDS, family, verdict


class _Known(NamedTuple):
    causes: str
    remedies: str


# By one of the four questions, or by a single metric whose causes are others.
_KNOWN: Mapping[str, _Known] = MappingProxyType(
    {
        "retrieval_precision": _Known(
            "chunks that are too large, an embedding that is too weak, a k that is too high",
            "smaller chunks, a better model, a smaller k, or `--rerank maxsim`",
        ),
        "completeness": _Known(
            "chunks that are too small, no overlap, a k that is too small",
            "larger chunks, overlap, more chunks, or parent_child",
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
    summary: Mapping[str, Figure], reachable: Mapping[str, float] = MappingProxyType({})
) -> tuple[Advice, ...]:
    """One piece for all figures below good that have the same usual causes; it names them.

    `reachable`: by metric, the most that any ranking could reach with as many hits.
    """
    below: dict[_Known, list[str]] = {}
    for metric, figure in summary.items():
        if figure.mean is not None and verdict(metric, figure.mean) == "below":
            known = _KNOWN.get(metric.partition("@")[0]) or _KNOWN[family(metric)]
            below.setdefault(known, []).append(metric)
    return tuple(
        Advice(metrics[0], _text(known, metrics, summary, reachable))
        for known, metrics in below.items()
    )


def out_of_reach(metric: str, reachable: float) -> bool:
    """Whether no ranking could be good by this metric."""
    return verdict(metric, reachable) == "below"


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
