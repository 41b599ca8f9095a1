"""Words for figures: from where on a figure is good, and from where on excellent."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Verdict = Literal["excellent", "good", "below", ""]

_ROUNDED = 9
"""Digits that count: a mean of 0.7 may come out as 0.7000000000000001, and is no more than 0.7."""


class Bounds(NamedTuple):
    """Figures beyond a bound deserve its word; the bound itself does not."""

    good: float
    excellent: float

    @property
    def lower_is_better(self) -> bool:
        return self.excellent < self.good


BOUNDS: Mapping[str, Bounds] = MappingProxyType(
    {
        "retrieval_precision": Bounds(0.70, 0.85),
        "completeness": Bounds(0.75, 0.90),
        "boundary_issues": Bounds(0.10, 0.05),
        "citation_accuracy": Bounds(0.90, 0.95),
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


def _beyond(bounds: Bounds, bound: float, value: float) -> bool:
    value = round(value, _ROUNDED)
    return value < bound if bounds.lower_is_better else value > bound
