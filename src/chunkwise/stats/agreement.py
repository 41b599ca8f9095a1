"""Whether two judges say the same: Cohen's kappa, from counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from chunkwise.errors import InvalidParameter


class Agreed(NamedTuple):
    """Two judges on the items that both have a verdict on."""

    kappa: float | None
    """1: always the same; 0: as often as by chance; None: chance alone makes them agree, or no item has both."""
    same: float | None
    """Share of the items with the same verdict."""
    items: int


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreed:
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
        return Agreed(None, None, 0)
    same = sum(one == other for one, other in pairs)
    ours, theirs = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    # In whole numbers, so that full agreement is 1 to the bit.
    chance = sum(times * theirs[verdict] for verdict, times in ours.items())
    if chance == count**2:
        return Agreed(None, same / count, count)
    return Agreed((count * same - chance) / (count**2 - chance), same / count, count)
