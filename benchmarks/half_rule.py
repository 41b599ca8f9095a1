"""The rule of earlier versions, to be held against: half of the questions choose, the cheapest of the tied is taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chunkwise.base import spec
from chunkwise.evaluation.cost import cost_amount, running_cost
from chunkwise.retrieval.retrievers import get_retriever
from chunkwise.stats.paired import SIGNIFICANCE, holm, paired_differences, ties
from chunkwise.tuning.choose.choose import SAME_CUTS, SAME_PRICE, baseline_columns, issue_share
from chunkwise.tuning.choose.score_table import Rows, ScoreTable

NEAR = 0.01
FOLDS = 5


def half_choice(score_table: ScoreTable, used: Rows, seed: int) -> int:
    """Of these questions a seeded half chooses; the other half would have judged."""
    order = np.random.default_rng([seed, 7]).permutation(used)
    own = replace(score_table, validation=np.sort(order[: (len(order) + 1) // 2]))
    own = replace(own, aside={**own.aside, **dict.fromkeys(_other_weights(own, seed), "other")})
    scores = own.better(own.validation, own.entrants)
    found = ties(scores, seed=seed)
    assert found is not None
    near = _no_worse_than_defaults(own, [at for at, tied in enumerate(found.tied) if tied])
    least = max(found.means[at] for at in near) - NEAR - 1e-12
    near = [at for at in near if found.means[at] >= least]
    shares = {at: issue_share(own.outcomes[own.entrants[at]]) for at in near}
    known = [share for share in shares.values() if share is not None]
    most = min(known, default=0.0) + SAME_CUTS + 1e-12
    near = [at for at, share in shares.items() if share is None or share <= most]
    prices = {at: running_cost(own.outcomes[own.entrants[at]].cost, own.budget) for at in near}
    cheap = [at for at in near if prices[at] <= min(prices.values()) * (1 + SAME_PRICE)]

    def order_of(at: int) -> tuple[float, ...]:
        outcome = own.outcomes[own.entrants[at]]
        costs = (cost_amount(outcome.cost, name) for name in ("tokens_embedded", "chunks"))
        return (-found.means[at], *costs, at)

    return own.entrants[min(cheap, key=order_of)]


def _no_worse_than_defaults(score_table: ScoreTable, tied: list[int]) -> list[int]:
    kept = tied
    for column in baseline_columns(score_table).values():
        first = score_table.better(score_table.validation, [column])
        columns = [score_table.entrants[at] for at in kept]
        second = score_table.better(score_table.validation, columns)
        pairs = paired_differences(np.repeat(first, len(columns), axis=1), second)
        kept = [
            at
            for at, pair in zip(kept, pairs, strict=True)
            if pair is None or pair.difference.mean >= 0 or pair.p > SIGNIFICANCE
        ]
    return kept or tied


def _other_weights(score_table: ScoreTable, seed: int) -> list[int]:
    """All weights of several sizes but one set: the usual, unless another is shown to be better, and across folds."""
    named = [
        (at, score_table.outcomes[at].configuration.retriever)
        for at in score_table.entrants
        if not score_table.outcomes[at].configuration.strategy
    ]
    if not named:
        return []
    default = get_retriever("multiscale")
    same = (at for at, name in named if not spec.parse(name)[1] or get_retriever(name) == default)
    usual = next(same, named[0][0])
    others = [at for at, _ in named if at != usual]
    scores = score_table.better(score_table.validation, [usual, *others])
    tests = paired_differences(np.repeat(scores[:, [0]], len(others), axis=1), scores[:, 1:])
    paired = [test for test in tests if test is not None]
    kept = usual
    if len(paired) == len(others) and others:
        best = max(range(len(others)), key=lambda at: paired[at].difference.mean)
        shown = holm([test.p for test in paired])[best] <= SIGNIFICANCE
        if paired[best].difference.mean > 0 and shown and _gained(scores, seed) > 0:
            kept = others[best]
    return [at for at, _ in named if at != kept]


def _gained(scores: np.ndarray, seed: int) -> float:
    gains = np.zeros(len(scores))
    order = np.random.default_rng([seed, 2]).permutation(len(scores))
    for first in range(min(FOLDS, len(scores))):
        fold = order[first::FOLDS]
        rest = np.delete(scores, fold, axis=0)
        chosen = int(rest.mean(axis=0).argmax()) if len(rest) else 0
        gains[fold] = scores[fold, chosen] - scores[fold, 0]
    return float(gains.mean())
