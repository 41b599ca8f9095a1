"""What nothing else beats in everything at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def front(values: ArrayLike) -> list[bool]:
    """Rows × figures of which more is better: whether no other row is as good in all and better in one."""
    table = np.asarray(values, dtype=np.float64)
    as_good = (table[:, None, :] >= table[None, :, :]).all(axis=2)
    better = (table[:, None, :] > table[None, :, :]).any(axis=2)
    beaten = np.asarray((as_good & better).any(axis=0))
    return [not each for each in beaten.tolist()]
