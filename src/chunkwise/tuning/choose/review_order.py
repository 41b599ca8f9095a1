"""Which generated question to review next, and when more answers would not change the choice: from scores on disk."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chunkwise.base.errors import ChunkwiseError
from chunkwise.metrics.registry import metric_of
from chunkwise.testsets.testset import REVIEWED, Origin, TestSet, hash_of
from chunkwise.tuning.choose.choose import NEAR, expected_scores, recommended_column
from chunkwise.tuning.choose.priors_and_shrinkage import Expectation, Means
from chunkwise.tuning.choose.score_table import ScoreTable, score_table_of
from chunkwise.tuning.sweep import Configuration, Sweep
from chunkwise.tuning.sweep_result import SweepResult
from chunkwise.tuning.validation import UNREVIEWED, VALIDATION

LEADERS = 5
DRAWS = 40
"""Ways to answer the rest that are looked at."""
SETTLED = 0.95
"""Share of them in which the choice must be as good as the best."""
CONTROL = 5
"""Every fifth question is a random one; the others are those on which the leaders differ most."""


@dataclass(frozen=True, slots=True)
class Leader:
    """A configuration that the answers may choose."""

    configuration: Configuration
    expected: float
    """The objective on questions not asked yet: the mean over the ways to answer the rest."""
    chance: float
    """Share of these that choose it."""


@dataclass(frozen=True, slots=True)
class ReviewOutlook:
    """What the answers so far choose, and what is left to ask."""

    leaders: tuple[Leader, ...]
    """The choice so far, then those that are most likely to replace it."""
    order: tuple[str, ...]
    """Ids of the questions without an answer, the one to ask next first."""
    deciding: int
    """Questions that people wrote or accepted."""
    is_settled: bool
    """Whether enough of them decide, and the choice stays as good as the best however the rest is answered."""


class ReviewOrder:
    """The scores of one sweep, looked at after every answer."""

    def __init__(self, result: SweepResult, sweep: Sweep, hashes: Sequence[str]) -> None:
        """`hashes`: of the questions as the sweep asked them, in the order of the scores."""
        splits = tuple(VALIDATION if split == UNREVIEWED else split for split in result.splits)
        table = score_table_of(result.outcomes, splits, sweep, frozenset())
        if table is None:
            raise ChunkwiseError("no question has a score, so answers cannot change the choice")
        meeting = table.meeting()
        self._table: ScoreTable = meeting if meeting.entrants else table
        self._sweep, self._ids = sweep, frozenset(result.questions)
        self._rows = {item: row for row, item in enumerate(hashes)}
        random = np.random.default_rng([sweep.seed, 3])
        self._shuffled = random.permutation(len(hashes)).tolist()
        """A place of each question that its scores do not decide."""
        self._draws = random.random((DRAWS, len(hashes)))

    def after(self, testset: TestSet) -> ReviewOutlook:
        """`testset`: the questions as their file has them now. An edited one has no score before the next sweep."""
        scored = set(self._table.validation.tolist())
        rows: dict[Origin, dict[int, str]] = {"people": {}, "reviewed": {}, "generated": {}}
        for query in testset.queries:
            row = self._rows.get(hash_of([query]), -1)
            if row in scored:
                rows[testset.origins.get(query.id, "people")][row] = query.id
        accepted, waiting = len(rows["reviewed"]), rows["generated"]
        dropped = len(self._ids - {query.id for query in testset.queries})
        deciding = {*rows["people"], *rows["reviewed"]}
        likely = (accepted + 1) / (accepted + dropped + 2)
        chosen, _ = self._choice(deciding)
        ends = [
            self._choice({*deciding, *(row for row in waiting if draw[row] < likely)})
            for draw in self._draws
        ]
        expected = np.mean([expectation.means for _, expectation in ends], axis=0)
        chances = np.bincount([at for at, _ in ends], minlength=len(expected)) / DRAWS
        leaders = sorted(
            range(len(expected)), key=lambda at: (at != chosen, -chances[at], -expected[at], at)
        )[:LEADERS]
        as_good = np.mean(
            [
                expectation.cautious[chosen] >= expectation.cautious.max() - NEAR
                for _, expectation in ends
            ]
        )
        return ReviewOutlook(
            tuple(self._leader(at, expected[at], chances[at]) for at in leaders),
            self._order(waiting, leaders, chances, accepted + dropped),
            len(deciding),
            not waiting or (len(deciding) >= REVIEWED and bool(as_good >= SETTLED)),
        )

    def _choice(self, deciding: Collection[int]) -> tuple[int, Expectation]:
        """The number of the choice among the entrants, and what is expected of each."""
        table = replace(self._table, deciding=frozenset(deciding))
        expected = expected_scores(table, self._sweep)
        return table.entrants.index(recommended_column(table, expected)), expected

    def _leader(self, at: int, expected: float, chance: float) -> Leader:
        configuration = self._table.outcomes[self._table.entrants[at]].configuration
        objective = metric_of(self._sweep.objective)
        # A shrunk mean may lie beyond the best score there can be.
        shown = np.clip(
            self._table.sign * expected, *(objective.bounds if objective else (None, None))
        )
        return Leader(configuration, float(shown), float(chance))

    def _order(
        self, waiting: Mapping[int, str], leaders: Sequence[int], chances: Means, answered: int
    ) -> tuple[str, ...]:
        """Those on which the leaders differ most first, each leader weighed by its chance; a control in its turn."""
        weights = chances[leaders] + 1 / DRAWS
        weights = weights / weights.sum()
        rows = np.array(list(waiting), dtype=np.intp)
        scores = self._table.better(rows, [self._table.entrants[at] for at in leaders])
        apart = (scores - (scores @ weights)[:, None]) ** 2 @ weights
        known = dict(zip(waiting, apart.round(9).tolist(), strict=True))
        order = sorted(waiting, key=lambda row: (-known[row], self._shuffled[row]))
        if waiting and answered % CONTROL == CONTROL - 1:
            control = min(waiting, key=self._shuffled.__getitem__)
            order = [control, *(row for row in order if row != control)]
        return tuple(waiting[row] for row in order)
