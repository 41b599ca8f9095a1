"""Whether two figures put the same things in the same order: Kendall's tau-b, ties allowed for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from chunkwise.errors import InvalidParameter


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
