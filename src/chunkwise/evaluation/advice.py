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


_KNOWN: Mapping[str, _Known] = MappingProxyType(
    {
        "retrieval_precision": _Known(
            "chunks that are too large, an embedding that is too weak, a k that is too high",
            "smaller chunks, a better model, a smaller k, or rerank",
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
    }
)


def advice(summary: Mapping[str, Figure]) -> tuple[Advice, ...]:
    """One piece for each of the four questions that has a figure below good; it names all of its figures that are."""
    below: dict[str, list[str]] = {}
    for metric, figure in summary.items():
        if figure.mean is not None and verdict(metric, figure.mean) == "below":
            below.setdefault(family(metric), []).append(metric)
    return tuple(
        Advice(metrics[0], _text(name, metrics, summary)) for name, metrics in below.items()
    )


def _text(name: str, metrics: list[str], summary: Mapping[str, Figure]) -> str:
    bounds, known = BOUNDS[name], _KNOWN[name]
    told = ", ".join(f"{metric} {summary[metric].mean:.3f}" for metric in metrics)
    side = "under" if bounds.lower_is_better else "over"
    return (
        f"{told}: good is {side} {bounds.good:.2f}. Usual causes: {known.causes}. "
        f"What to try: {known.remedies}."
    )
