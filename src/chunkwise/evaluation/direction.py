"""Which way a metric is better."""

from __future__ import annotations

from chunkwise.metrics.measures import CATALOGUE

_LOWER = frozenset(
    {
        "boundary_issues", "split_references", "coherence",  # these are no measures over spans
        *(measure.name for measure in CATALOGUE if measure.better == "lower"),
    }
)  # fmt: skip


def lower_is_better(metric: str) -> bool:
    """Of a metric by the name it has in a table, as in `failure@20`."""
    return metric.partition("@")[0] in _LOWER
