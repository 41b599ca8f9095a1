"""Holm's correction: of many comparisons some look like a difference by chance."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.errors import InvalidParameter


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given: one under 0.05 is shown, whatever the number of comparisons."""
    for value in p:
        if not 0 <= value <= 1:
            raise InvalidParameter(f"a p-value is {value}; it lies between 0 and 1")
    found = [0.0] * len(p)
    highest = 0.0
    for place, at in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        highest = max(highest, min(1.0, (len(p) - place) * p[at]))
        found[at] = highest
    return found
