"""A mean and how sure it is."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """A figure with its 95 % interval."""

    mean: float
    low: float
    high: float
