"""Whether two judges say the same (Cohen's kappa), and whether two figures rank alike (Kendall's tau-b)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.base.errors import InvalidParameter


class KappaAgreement(NamedTuple):
    """Two judges on the items that both have a verdict on."""

    kappa: float | None
    """1: always the same; 0: as often as by chance; None: chance alone makes them agree, or no item has both."""
    same: float | None
    """Share of the items with the same verdict."""
    items: int


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> KappaAgreement:
    """Verdicts item by item; None is no verdict, and the item is left out."""
    if len(first) != len(second):
        raise InvalidParameter(
            f"{len(first)} verdicts and {len(second)}; agreement is counted item by item"
        )
    pairs = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if one is not None and other is not None
    ]
    count = len(pairs)
    if not count:
        return KappaAgreement(None, None, 0)
    same = sum(one == other for one, other in pairs)
    ours, theirs = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    # In whole numbers, so that full agreement is 1 to the bit.
    chance = sum(times * theirs[verdict] for verdict, times in ours.items())
    if chance == count**2:
        return KappaAgreement(None, same / count, count)
    return KappaAgreement((count * same - chance) / (count**2 - chance), same / count, count)


def kendall(first: ArrayLike, second: ArrayLike) -> float | None:
    """1: the same order; -1: the opposite one; None: one of them has no order. For up to some thousand values."""
    one, other = (np.asarray(values, dtype=np.float64).ravel() for values in (first, second))
    if len(one) != len(other):
        raise InvalidParameter(
            f"{len(one)} values and {len(other)}; an order is compared pair by pair"
        )
    if np.isnan(one).any() or np.isnan(other).any():
        raise InvalidParameter("a value is NaN and has no place in an order; leave it out of both")
    ahead, beyond = (np.sign(values[:, None] - values) for values in (one, other))
    told = math.sqrt(float((ahead != 0).sum()) * float((beyond != 0).sum()))
    # The square root of a product of equal numbers is rounded: nothing agrees more than wholly.
    return max(-1.0, min(1.0, float((ahead * beyond).sum()) / told)) if told else None
