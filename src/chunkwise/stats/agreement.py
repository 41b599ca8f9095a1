"""Whether judges say the same (Cohen's kappa, Krippendorff's alpha), and whether two figures rank alike (Kendall)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, thousands


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
            f"{counted(len(first), 'verdict')} and {thousands(len(second))}; expected one "
            "verdict per item in both"
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


def coincidences(units: Iterable[Sequence[int | None]], values: int) -> NDArray[np.float64]:
    """How often two judges gave a unit this and that value, of 0 to `values` - 1: what alpha is computed from.

    Each unit counts as many times as it has values; None is no value, and a unit with fewer than two says nothing.
    """
    table = np.zeros((values, values))
    for unit in units:
        counts = np.bincount([number for number in unit if number is not None], minlength=values)
        count = int(counts.sum())
        if count > 1:
            table += (np.outer(counts, counts) - np.diag(counts)) / (count - 1)
    return table


def krippendorff(tables: ArrayLike) -> NDArray[np.float64]:
    """Alpha for values in an order, of many tables of coincidences at once; NaN: there is but one value, or none.

    1: always the same; 0: as by chance. Values further from each other disagree more, by how many lie between them
    (Krippendorff 2004, chapter 11).
    """
    counted = np.asarray(tables, dtype=np.float64)
    of_value = counted.sum(axis=-1)
    total = of_value.sum(axis=-1)
    up_to = np.cumsum(of_value, axis=-1) - of_value / 2
    apart = (up_to[..., :, None] - up_to[..., None, :]) ** 2
    seen = (counted * apart).sum(axis=(-2, -1))
    chance = (of_value[..., :, None] * of_value[..., None, :] * apart).sum(axis=(-2, -1))
    values = np.full(np.shape(total), np.nan)
    np.divide((total - 1) * seen, chance, out=values, where=chance > 0)
    return 1 - values


def kendall(first: ArrayLike, second: ArrayLike) -> float | None:
    """1: the same order; -1: the opposite one; None: one of them has no order. For up to some thousand values."""
    one, other = (np.asarray(values, dtype=np.float64).ravel() for values in (first, second))
    if len(one) != len(other):
        raise InvalidParameter(
            f"{counted(len(one), 'value')} and {thousands(len(other))}; expected one value per "
            "item in both"
        )
    if np.isnan(one).any() or np.isnan(other).any():
        raise InvalidParameter("a value is NaN, which has no rank; leave it out of both")
    ahead, beyond = (np.sign(values[:, None] - values) for values in (one, other))
    told = math.sqrt(float((ahead != 0).sum()) * float((beyond != 0).sum()))
    # The square root of a product of equal numbers is rounded: nothing agrees more than wholly.
    return max(-1.0, min(1.0, float((ahead * beyond).sum()) / told)) if told else None
