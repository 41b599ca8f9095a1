"""From a score a question to figures with intervals: over all questions, by type, by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from chunkwise.core import Query
from chunkwise.evaluation.results import Figure
from chunkwise.evaluation.scores.column import Column
from chunkwise.evaluation.verdicts import verdict
from chunkwise.stats.bootstrap import intervals

Columns = Mapping[str, Column]


def figures(columns: Columns, rows: Sequence[int] | None, seed: int) -> dict[str, Figure]:
    """One figure a metric, over the questions of these rows; None: all."""
    if not columns:
        return {}
    table = np.column_stack([column.values for column in columns.values()])
    chosen = table if rows is None else table[list(rows)]
    found: dict[str, Figure] = {}
    for at, ((name, column), interval) in enumerate(
        zip(columns.items(), intervals(chosen, seed=seed), strict=True)
    ):
        missing = np.isnan(chosen[:, at])
        numbers = range(len(table)) if rows is None else rows
        why = Counter(
            column.reasons[row] for row, gone in zip(numbers, missing, strict=True) if gone
        )
        scored = int((~missing).sum())
        if interval is None:
            found[name] = Figure(None, scored=0, unscored=dict(sorted(why.items())))
        else:
            found[name] = Figure(
                interval.mean, interval.low, interval.high, scored, dict(sorted(why.items())),
                verdict(name, interval.mean),
            )  # fmt: skip
    return found


def by_group(
    columns: Columns, groups: Mapping[str, Sequence[int]], seed: int
) -> dict[str, dict[str, Figure]]:
    """The same for every group of questions, in the order of their names."""
    return {name: figures(columns, groups[name], seed) for name in sorted(groups)}


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
