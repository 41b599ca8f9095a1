"""Several runs: the best, those tied with it, and how often each would be best."""

import math

import numpy as np
import pytest

from chunkwise.stats.paired import compare
from chunkwise.stats.ties import ties


def test_what_is_worse_is_not_tied_and_what_is_close_is() -> None:
    rng = np.random.default_rng(6)
    good = rng.random(80)
    scores = np.column_stack([good - 0.4, good, good + rng.normal(-0.002, 0.05, 80)])
    found = ties(scores)
    assert found is not None
    assert found.best == 1
    assert found.tied == [False, True, True]
    assert found.p[1] == 1.0
    assert found.p[0] < 0.001
    alone = compare(good, scores[:, 2])
    assert alone is not None
    assert found.p[2] == alone.p
    assert found.best_share[0] == 0
    assert found.best_share[1] > found.best_share[2] > 0
    assert sum(found.best_share) == pytest.approx(1)
    assert found.means == pytest.approx(scores.mean(axis=0))
    assert found.needed is not None
    assert found.needed > 80


def test_lower_can_be_better() -> None:
    scores = np.column_stack([np.zeros(20), np.ones(20)])
    up, down = ties(scores), ties(scores, lower_is_better=True)
    assert up is not None
    assert down is not None
    assert (up.best, down.best) == (1, 0)
    assert (up.best_share, down.best_share) == ([0, 1], [1, 0])
    assert down.means == [0, 1]


def test_equal_runs_share_the_first_place() -> None:
    values = np.random.default_rng(1).random((30, 1))
    found = ties(np.repeat(values, 3, axis=1))
    assert found is not None
    assert found.best == 0
    assert found.tied == [True] * 3
    assert found.best_share == pytest.approx([1 / 3] * 3)
    assert found.needed is None


def test_only_questions_that_all_have_count() -> None:
    nothing = math.nan
    found = ties([[1.0, 0.0], [nothing, 1.0], [1.0, nothing]])
    assert found is not None
    assert (found.questions, found.best, found.means) == (1, 0, [1.0, 0.0])
    assert ties([[nothing, 1.0]]) is None
    assert ties(np.empty((0, 3))) is None
    assert ties(np.empty((3, 0))) is None
    alone = ties([[0.5]])
    assert alone is not None
    assert (alone.best, alone.tied, alone.best_share, alone.needed) == (0, [True], [1.0], None)
