"""The tokens of context that an objective allows a question."""

from __future__ import annotations

from chunkwise.metrics.measures import is_measure, parse


def budget_of(objective: str) -> int | None:
    """1000 of recall@1000t; None: the objective looks at a number of hits."""
    wanted = parse(objective) if is_measure(objective) else None
    return wanted.at if wanted and wanted.tokens else None
