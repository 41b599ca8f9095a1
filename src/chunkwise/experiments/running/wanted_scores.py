"""What is measured of every configuration of a sweep."""

from __future__ import annotations

from chunkwise.errors import InvalidParameter
from chunkwise.metrics.measures import Wanted, is_measure, parse

BUDGETS = (250, 500, 1000, 2000)
"""Tokens a reader may have room for."""
_AT_K = ("recall", "precision", "context_recall", "ndcg", "hit")


def wanted_scores(objective: str, k: int) -> list[Wanted]:
    """The objective first, then recall within several budgets, then what is looked at of the best k; none twice."""
    if not is_measure(objective):
        raise InvalidParameter(
            f"objective is {objective!r}; a sweep is decided by a measure over what is retrieved, such as "
            "recall@1000t, ndcg@5 or context_recall@5"
        )
    names = [objective, *(f"recall@{tokens}t" for tokens in BUDGETS), *_AT_K]
    found = [parse(name, k=k) for name in names]
    return list({each.label: each for each in found}.values())
