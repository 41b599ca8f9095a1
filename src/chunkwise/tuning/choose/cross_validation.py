"""What choosing is worth on questions it has not seen: all but a fold choose, the fold judges, in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from chunkwise.stats.intervals import ScoreMatrix, mean
from chunkwise.tuning.choose.score_table import Rows

FOLDS = 5
REPEATS = 4
"""Ways to divide the questions into folds: with one, much would hang on who sits with whom."""

Choose = Callable[[Rows], Sequence[int]]
"""From numbers of questions to columns: the choice, and what it is compared with."""


class HeldOut(NamedTuple):
    """Scores of what was chosen without the question they are of."""

    scores: ScoreMatrix
    """Questions × what `Choose` hands out, each the mean over the repeats."""
    chosen: dict[int, float]
    """Columns with the share of the folds that chose them, the most frequent first."""


def folds(questions: int, seed: int, repeat: int = 0) -> list[Rows]:
    """Of numbers of questions, in an order drawn by the seed; as many as there are questions for."""
    order = np.random.default_rng([seed, 2, repeat]).permutation(questions)
    return [np.sort(order[first::FOLDS]) for first in range(min(FOLDS, questions))]


def held_out(scores: ScoreMatrix, choose: Choose, seed: int) -> HeldOut | None:
    """`scores`: questions × columns, none missing. None: with fewer than two questions nothing is left to choose by."""
    questions = len(scores)
    if questions < 2:
        return None
    found, counts = [], Counter[int]()
    # Folds of one question each are the same however they are drawn.
    for repeat in range(REPEATS if questions > FOLDS else 1):
        for fold in folds(questions, seed, repeat):
            columns = choose(np.delete(np.arange(questions), fold))
            counts[columns[0]] += 1
            found.append((fold, scores[fold][:, list(columns)]))
    rows = np.concatenate([fold for fold, _ in found])
    values = np.concatenate([own for _, own in found])[np.argsort(rows, kind="stable")]
    each = values.reshape(questions, -1, values.shape[1])
    means = np.array([[mean(column) for column in own.T] for own in each])
    total = sum(counts.values())
    order = sorted(counts, key=lambda column: (-counts[column], column))
    return HeldOut(means, {column: counts[column] / total for column in order})
