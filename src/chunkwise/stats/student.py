"""Quantiles for small samples: a mean of few questions is less sure than the normal curve says."""

from __future__ import annotations

from statistics import NormalDist

LEVEL = NormalDist().inv_cdf(0.975)
"""Of 95 %, two-sided, on the normal curve."""


def student(z: float, freedom: int) -> float:
    """Student's quantile from the normal one (Cornish and Fisher): to 0.2 % from five degrees of freedom on."""
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
