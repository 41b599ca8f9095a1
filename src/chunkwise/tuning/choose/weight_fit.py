"""Few weights for several sizes at once: fitted with care, so that they are not many chances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from chunkwise.base import spec
from chunkwise.retrieval.retrievers import get_retriever
from chunkwise.stats.paired import SIGNIFICANCE, holm, paired_differences
from chunkwise.stats.table import ScoreMatrix, mean
from chunkwise.tuning.choose.score_table import Rows, ScoreTable
from chunkwise.tuning.sweep_result import Outcome, WeightFit

FOLDS = 5
MULTISCALE = "multiscale"


class FittedWeights(NamedTuple):
    """The fit, and the column that stands for all its variants."""

    fit: WeightFit
    kept: int
    others: tuple[int, ...]


def fit_weights(score_table: ScoreTable) -> FittedWeights | None:
    """The default weights, unless others are better by a paired test (after Holm) and across folds; None: not tried.

    Across folds: what four fifths of the validation questions choose is judged on the last fifth, in turn.
    """
    variants = [at for at in score_table.entrants if is_multiscale(score_table.outcomes[at])]
    if not variants:
        return None
    names = [score_table.outcomes[at].configuration.retriever for at in variants]
    usual = _usual(names)
    scores = score_table.better(score_table.validation, variants)
    folds = _folds(len(scores), score_table.seed)
    tried = tuple(
        (name, score_table.sign * mean(scores[:, at]) + 0.0) for at, name in enumerate(names)
    )
    kept, why = _kept(scores, folds, names, usual)
    others = tuple(at for at in variants if at != variants[kept])
    return FittedWeights(WeightFit(tried, names[kept], why), variants[kept], others)


def is_multiscale(outcome: Outcome) -> bool:
    """Whether it searches several sizes at once."""
    return outcome.configuration.retriever.partition("(")[0].strip() == MULTISCALE


def _usual(names: Sequence[str]) -> int:
    """The variant with the default weights; where that was not tried, the first."""
    usual = get_retriever(MULTISCALE)
    known = (at for at, name in enumerate(names) if _same(name, usual))
    return next(known, 0)


def _same(name: str, usual: object) -> bool:
    return not spec.parse(name)[1] or get_retriever(name) == usual


def _kept(
    scores: ScoreMatrix, folds: Sequence[Rows], names: Sequence[str], usual: int
) -> tuple[int, str]:
    others = [at for at in range(len(names)) if at != usual]
    if not others:
        return usual, f"{names[usual]} alone was tried"
    tests = paired_differences(
        np.repeat(scores[:, [usual]], len(others), axis=1), scores[:, others]
    )
    # Every question has all scores here, so every test has its pairs.
    paired = [test for test in tests if test is not None]
    adjusted = dict(zip(others, holm([test.p for test in paired]), strict=True))
    gains = {at: test.difference.mean for at, test in zip(others, paired, strict=True)}
    best = max(others, key=gains.__getitem__)
    told = f"{names[best]} is {100 * gains[best]:.1f} points better than {names[usual]}"
    if gains[best] <= 0:
        return usual, f"none of {len(others)} others is better on {len(scores)} questions"
    sure = f"p = {adjusted[best]:.3f} after Holm over {len(others)}"
    if adjusted[best] > SIGNIFICANCE:
        return usual, f"{told}, which {len(scores)} questions do not show ({sure})"
    gained = _gained(scores, folds, usual)
    if gained <= 0:
        return usual, f"{told} ({sure}), but what four folds choose is no better on the fifth"
    return best, f"{told} ({sure}); what four folds choose gains {100 * gained:.1f} on the fifth"


def _folds(questions: int, seed: int) -> list[Rows]:
    """Of numbers of questions, in an order drawn by the seed; as many as there are questions for."""
    order = np.random.default_rng([seed, 2]).permutation(questions)
    return [np.sort(order[first::FOLDS]) for first in range(min(FOLDS, questions))]


def _gained(scores: ScoreMatrix, folds: Sequence[Rows], usual: int) -> float:
    """What choosing the weights adds to the default on questions that did not choose them."""
    gains = np.zeros(len(scores))
    for fold in folds:
        rest = np.delete(scores, fold, axis=0)
        chosen = int(np.argmax([mean(column) for column in rest.T])) if len(rest) else usual
        gains[fold] = scores[fold, chosen] - scores[fold, usual]
    return mean(gains)
