"""From a score a question to figures with intervals: over all questions, by type, by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Query
from chunkwise.evaluation.results import Figure
from chunkwise.evaluation.scores.column import Column
from chunkwise.evaluation.verdicts import verdict
from chunkwise.stats.intervals import Interval, intervals

Columns = Mapping[str, Column]


def figures(columns: Columns, seed: int) -> dict[str, Figure]:
    """One figure a metric, over all questions."""
    count = len(next(iter(columns.values())).values) if columns else 0
    return by_group(columns, {"": range(count)}, seed)[""]


def by_group(
    columns: Columns, groups: Mapping[str, Sequence[int]], seed: int
) -> dict[str, dict[str, Figure]]:
    """The same for every group of questions, in the order of their names."""
    found: dict[str, dict[str, Figure]] = {name: {} for name in sorted(groups)}
    if not columns:
        return found
    table = np.column_stack([column.values for column in columns.values()])
    # Groups of one size are drawn from alike: their columns stand side by side.
    alike: dict[int, list[str]] = {}
    for name in found:
        alike.setdefault(len(groups[name]), []).append(name)
    for names in alike.values():
        rows = np.array([list(groups[name]) for name in names])
        beside = np.hstack(list(table[rows]))
        every = iter(zip(intervals(beside, seed=seed), beside.T, strict=True))
        for name, (metric, column) in product(names, columns.items()):
            interval, values = next(every)
            found[name][metric] = _figure(metric, column, groups[name], interval, values)
    return found


def _figure(
    metric: str,
    column: Column,
    rows: Sequence[int],
    interval: Interval | None,
    values: NDArray[np.float64],
) -> Figure:
    missing = np.isnan(values).tolist()
    why = Counter(column.reasons[row] for row, gone in zip(rows, missing, strict=True) if gone)
    unscored = dict(sorted(why.items()))
    if interval is None:
        return Figure(None, scored=0, unscored=unscored)
    scored = len(missing) - sum(missing)
    return Figure(*interval, scored, unscored, verdict(metric, interval.mean))


def types_of(queries: Sequence[Query]) -> dict[str, list[int]]:
    """The questions of every type; one of several types counts in each."""
    found: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        for type in dict.fromkeys(query.types):
            found.setdefault(type, []).append(number)
    return found


def documents_of(queries: Sequence[Query]) -> dict[str, list[int]]:
    """The questions about every document; one about several counts in each."""
    found: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        for document in dict.fromkeys(each.doc_id for each in query.references):
            found.setdefault(document, []).append(number)
    return found
