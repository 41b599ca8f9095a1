"""Where a judge by similarity would best draw its line, and what that is worth on questions it was not drawn on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.judges.calibration import kappa_of
from chunkwise.stats.agreement import agreement

NEAR = 1e-6
"""Cosines so far under a threshold reach it: rounding must not decide."""


class Threshold(NamedTuple):
    """A cosine from which a passage is best called relevant."""

    value: float
    kappa: float
    """On the very passages it was chosen by: somewhat too good."""
    kappa_elsewhere: float | None
    """Chosen on one half of the questions, measured on the other, both ways; None: too few questions."""


def best_threshold(
    cosines: Sequence[float], is_relevant: Sequence[bool], questions: Sequence[str]
) -> Threshold | None:
    """The line with the highest kappa, about half-way between the two cosines it parts, with as few digits as tell it
    from both; None: there is one class only."""
    known = ~np.isnan(np.asarray(cosines, dtype=np.float64))
    near = np.asarray(cosines, dtype=np.float64)[known]
    truth = np.asarray(is_relevant, dtype=bool)[known]
    found = _best(near, truth)
    if found is None:
        return None
    number = {id: at for at, id in enumerate(dict.fromkeys(questions))}
    half = np.array([number[id] % 2 for id in questions])[known]
    return Threshold(*found, _elsewhere(near, truth, half))


def _elsewhere(
    near: NDArray[np.float64], truth: NDArray[np.bool_], half: NDArray[np.int64]
) -> float | None:
    called = np.zeros(len(near), dtype=bool)
    for own in (0, 1):
        chosen = _best(near[half == own], truth[half == own])
        if chosen is None:
            return None
        called[half != own] = near[half != own] >= chosen[0]
    return agreement(truth.tolist(), called.tolist()).kappa


def _best(near: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[float, float] | None:
    """The line and its kappa."""
    relevant, irrelevant = int(truth.sum()), int((~truth).sum())
    if not relevant or not irrelevant:
        return None
    order = np.argsort(-near, kind="stable")
    ranked = near[order]
    both = np.cumsum(truth[order]).astype(np.float64)
    false = np.arange(1, len(near) + 1) - both
    kappa = kappa_of(both, relevant - both, false, irrelevant - false)
    # A line can only be drawn between two cosines that differ; behind the last all are called relevant.
    parts = np.append(ranked[:-1] > ranked[1:], True)
    kappa[~parts] = -np.inf
    at = int(np.argmax(kappa))
    below = ranked[at + 1] if at + 1 < len(ranked) else None
    return _round(below, float(ranked[at])), float(kappa[at])


def _round(below: float | None, above: float) -> float:
    """A short number over the one and at most the other: written down, it draws the same line."""
    middle = above if below is None else (float(below) + above) / 2
    for digits in range(2, 16):
        short = round(middle, digits)
        if (below is None or below + NEAR < short) and short <= above:
            return short
    return middle
