"""Two runs on the same questions: differences that are shown when they should be, p and interval never apart."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.paired import (
    SIGNIFICANCE,
    holm,
    holm_shares,
    paired_difference,
    paired_differences,
    ties,
)
from how_many import examples
from tables import cases

TENTHS = st.integers(-10, 10).map(lambda tenth: tenth / 10)
Scores = NDArray[np.float64]
Runs = tuple[Scores, Scores]
COLUMNS = 200
"""Experiments of a simulation."""


def coin(up: int, down: int) -> float:
    """The exact sign test, in whole numbers."""
    pairs = up + down
    heads = range(max(up, down), pairs + 1)
    return min(1.0, 2 * sum(math.comb(pairs, each) for each in heads) / 2**pairs)


@cases(
    "up, down, same",
    [(6, 0, 0), (5, 0, 30), (13, 4, 3), (4, 13, 80), (9, 2, 0), (40, 38, 5), (200, 0, 0), (90, 42, 1), (1, 1, 4)],
)  # fmt: skip
def test_of_right_and_wrong_p_is_that_of_the_exact_sign_test(up: int, down: int, same: int) -> None:
    second = np.array([1.0] * up + [0.0] * down + [1.0] * same)
    first = np.array([0.0] * up + [1.0] * down + [1.0] * same)
    found = paired_difference(first, second)
    assert found is not None
    assert found.p == pytest.approx(coin(up, down), rel=0.08 if down == 0 else 0.01)
    assert (found.p <= SIGNIFICANCE) == (coin(up, down) <= SIGNIFICANCE)


def naive(differences: list[float], reach: float, draws: int = 20_000) -> float:
    """Pairs weighted at random, one by one, with one that was not seen against what they say; in plain Python."""
    chance = random.Random(9)
    sign = math.copysign(1.0, sum(differences))
    values = [sign * each for each in differences]
    against = 0
    for _ in range(draws):
        total = math.fsum(chance.expovariate(1) * each for each in values)
        against += total <= chance.expovariate(1) * reach
    return min(1.0, 2 * against / draws)


@pytest.mark.unwatched
@pytest.mark.parametrize(
    "second",
    [
        [0.5, 1, 1, 0.2, 1, 0, 0.9, 1, 1, 0.3, 1, 1],
        [0.1, 0.2, 0.1, 0.05, 0.3, 0.1, 0.2, 0.1],
        [1, 0] * 8 + [0.5] * 8,
    ],
)
def test_p_is_that_of_weights_drawn_one_by_one(second: list[float]) -> None:
    first = [0.4 if each > 0.4 else 0.05 for each in second]
    found = paired_difference(first, second)
    assert found is not None
    differences = [b - a for a, b in zip(first, second, strict=True)]
    reach = max(*first, *second) if len(set(first)) > 1 else 1.0
    assert found.reach == pytest.approx(reach)
    assert found.p == pytest.approx(naive(differences, reach), abs=0.012)
    assert found.spread == pytest.approx(np.std(differences, ddof=1))


def test_it_is_near_another_implementation_on_many_pairs() -> None:
    rng = np.random.default_rng(5)
    first = rng.random(200)
    second = np.clip(first + rng.normal(0.05, 0.25, 200), 0, 1)
    found = paired_difference(first, second)
    other = scipy.stats.ttest_rel(second, first)
    assert found is not None
    # It allows for a question that was not seen, so it says a little less.
    assert other.pvalue < found.p < 4 * other.pvalue
    ends = other.confidence_interval()
    assert found.difference.low == pytest.approx(ends.low, abs=0.012)
    assert found.difference.high == pytest.approx(ends.high, abs=0.012)
    assert found.difference.low < ends.low < ends.high < found.difference.high


@settings(max_examples=examples(40))
@given(
    st.lists(st.tuples(TENTHS, TENTHS), min_size=1, max_size=30),
    st.sampled_from([0.05, 0.025, 0.001, 0.4]),
)
def test_interval_and_p_never_contradict_each_other(
    pairs: list[tuple[float, float]], outside: float
) -> None:
    found = paired_difference([one for one, _ in pairs], [two for _, two in pairs], outside=outside)
    assert found is not None
    assert found.difference.leaves_out_zero == (found.p <= outside)
    assert found.difference.low <= found.difference.mean <= found.difference.high
    assert found.difference.low < found.difference.high
    assert 0 < found.p <= 1


@settings(max_examples=examples(20))
@given(st.lists(st.tuples(TENTHS, TENTHS), max_size=20))
def test_the_other_way_round_is_the_same_difference(pairs: list[tuple[float, float]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    one, other = paired_difference(first, second), paired_difference(second, first)
    if not pairs:
        assert one is other is None
        return
    assert one is not None
    assert other is not None
    assert one.p == pytest.approx(other.p)
    assert one.difference.mean == -other.difference.mean
    assert one.difference.low == pytest.approx(-other.difference.high)
    assert one.pairs == len(pairs)


@cases("questions", [10, 13, 50])
def test_of_questions_that_are_all_the_same_the_interval_has_a_width(questions: int) -> None:
    found = paired_difference(np.ones(questions), np.ones(questions))
    assert found is not None
    # As many others as one would miss in one sample of forty.
    unseen = 1 - 0.025 ** (1 / questions)
    assert found.difference == pytest.approx((0.0, -unseen, unseen), rel=0.01)
    assert found.p == 1.0


def right_or_wrong(rng: np.random.Generator, questions: int, changed: float, up: float) -> Runs:
    first = (rng.random((questions, COLUMNS)) < 0.6).astype(float)
    draws = rng.random((questions, COLUMNS))
    # Of those that change, `up` are right in the second run.
    is_changed, is_up = draws < changed, draws < changed * up
    base = np.where(is_changed, np.where(is_up, 0.0, 1.0), first)
    return base, np.where(is_changed, np.where(is_up, 1.0, 0.0), first)


def found_in_part(rng: np.random.Generator, questions: int, changed: float, up: float) -> Runs:
    """Recall: none, all, or something between."""

    def recall() -> Scores:
        kind = rng.random((questions, COLUMNS))
        return np.where(
            kind < 0.2, 0.0, np.where(kind < 0.8, 1.0, rng.random((questions, COLUMNS)))
        )

    first = recall()
    draws = rng.random((questions, COLUMNS))
    second = np.where(draws < changed, np.where(draws < changed * up, 1.0, recall()), first)
    return first, second


def smooth(rng: np.random.Generator, questions: int, changed: float, up: float) -> Runs:
    """Values all over the place that change a little."""
    first = rng.random((questions, COLUMNS))
    moved = rng.normal(0.1 * up, 0.15, first.shape) * (rng.random(first.shape) < changed)
    return first, np.clip(first + moved, 0, 1)


def low_and_graded(rng: np.random.Generator, questions: int, changed: float, up: float) -> Runs:
    """Precision of large chunks: low, all values different."""
    first = 0.3 * rng.beta(2, 4, (questions, COLUMNS))
    draws = rng.random((questions, COLUMNS))
    second = np.where(draws < changed, first * np.where(draws < changed * up, 0.5, 1.3), first)
    return first, second


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("made", [right_or_wrong, found_in_part, low_and_graded, smooth])
@pytest.mark.parametrize("questions", [10, 13, 40, 150, 500])
def test_the_interval_covers_the_true_difference_as_often_as_it_says(
    made: Callable[..., Runs], questions: int
) -> None:
    for changed in (0.01, 0.04, 0.15, 0.6):
        for up in (0.6, 1.0):
            rng = np.random.default_rng([questions, int(100 * changed), int(10 * up)])
            first, second = made(rng, 2_000, changed, up)
            true = float((second - first).mean())
            found = paired_differences(*made(rng, questions, changed, up))
            ends = [each.difference for each in found if each is not None]
            covered = np.mean([each.low <= true <= each.high for each in ends])
            assert covered >= 0.93, (changed, up, true)


@cases("scores_vary", [True, False])
@cases(
    "questions, share, common, rare",
    [(30, 0.03, 0.02, -0.8), (50, 0.03, -0.02, 0.8), (30, 0.01, 0.01, -1.0), (60, 0.05, -0.03, 0.6)],
)  # fmt: skip
def test_what_few_questions_gain_or_lose_is_covered_when_none_of_them_was_drawn(
    questions: int, share: float, common: float, rare: float, scores_vary: bool
) -> None:
    rng = np.random.default_rng(questions)
    size = (questions, COLUMNS)
    # Some differences vary and some do not; scores show how far they go, or nothing.
    small = common * rng.uniform(0.5, 1.5, size) if scores_vary else np.full(size, common)
    apart = np.where(rng.random(size) < share, rare, small)
    lowest, highest = np.maximum(0, -apart), np.minimum(1, 1 - apart)
    first = lowest + (highest - lowest) * rng.random(size) if scores_vary else np.zeros(size)
    true = share * rare + (1 - share) * common
    ends = [each.difference for each in paired_differences(first, first + apart) if each]
    assert np.mean([each.low <= true <= each.high for each in ends]) >= 0.93
    wrong = [each.low > 0 if true < 0 else each.high < 0 for each in ends]
    assert np.mean(wrong) <= 0.025


def test_small_differences_of_many_questions_are_shown() -> None:
    """Where all questions differ a little; Student's test, which trusts what was seen, shows it of 40."""
    rng = np.random.default_rng(3)
    first, second = smooth(rng, 80, 1.0, 1.0)
    found = [pair.p for pair in paired_differences(first, second) if pair]
    assert np.mean(np.array(found) <= 0.05) >= 0.95


@cases("questions", [13, 60])
def test_corrected_intervals_cover_more(questions: int) -> None:
    rng = np.random.default_rng(questions)
    first, second = right_or_wrong(rng, questions, 0.2, 0.7)
    found = paired_differences(first, second, outside=0.005)
    ends = [each.difference for each in found if each is not None]
    assert np.mean([each.low <= 0.08 <= each.high for each in ends]) >= 0.985


def test_false_alarms_are_no_more_than_they_say() -> None:
    rng = np.random.default_rng(8)
    first, second = rng.random((2, 100, 400))
    found = [pair.p for pair in paired_differences(first, second) if pair]
    assert 0.01 <= np.mean(np.array(found) <= 0.05) <= 0.06


def test_p_is_never_zero_and_small_where_it_should_be() -> None:
    found = paired_difference(np.zeros(200), np.ones(200))
    assert found is not None
    assert found.difference == pytest.approx((1.0, 2 * 0.025 ** (1 / 200) - 1, 1.0), rel=1e-3)
    assert found.p == pytest.approx(2.0**-199, rel=0.1)
    found = paired_difference(np.zeros(3000), np.ones(3000))
    assert found is not None
    assert 0 < found.p < 1e-300


def test_hundreds_of_tests_can_show_what_is_plain() -> None:
    found = paired_difference(np.zeros(40), np.ones(40))
    assert found is not None
    assert max(holm([found.p] * 5_000)) < 1e-6


def test_unscored_questions_are_no_pairs() -> None:
    nothing = math.nan
    found = paired_difference([0.5, nothing, 0.2, 0.1], [0.75, 1.0, nothing, 0.1])
    assert found is not None
    assert (found.pairs, found.difference.mean, found.p, found.reach) == (2, 0.125, 1.0, 0.75)
    assert paired_difference([nothing], [1.0]) is None
    assert paired_difference([], []) is None
    alone = paired_difference([1.0], [0.5])
    assert alone is not None
    # One question is sure of nearly nothing.
    assert alone.difference == pytest.approx((-0.5, -0.9875, 0.9625), abs=0.003)
    assert (alone.p, alone.pairs, alone.spread, alone.known_spread) == (1.0, 1, 0.0, None)


@cases("pairs", range(2, 9))
def test_six_pairs_are_the_fewest_that_show_anything(pairs: int) -> None:
    found = paired_difference(np.zeros(pairs), np.ones(pairs))
    assert found is not None
    assert (found.difference.low > 0) == (found.p <= 0.05) == (pairs >= 6)


@settings(max_examples=examples(20))
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=5))
def test_of_too_few_pairs_no_interval_leaves_out_0(differences: list[float]) -> None:
    found = paired_difference(np.zeros(len(differences)), differences)
    assert found is not None
    assert found.difference.low <= 0


def test_rounding_is_no_difference() -> None:
    first = np.full(40, 0.3)
    found = paired_difference(first, np.full(40, 0.1 + 0.2))
    assert found is not None
    assert (found.difference.mean, found.p) == (0.0, 1.0)
    assert found.difference.low == -found.difference.high


def test_many_metrics_are_as_one_after_the_other() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.random((2, 40, 5))
    second[:30, 1] = first[:30, 1]
    assert paired_differences(first, second) == [
        paired_difference(first[:, at], second[:, at]) for at in range(5)
    ]


def test_unequal_shapes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"\(2, 1\) and \(3, 1\)"):
        paired_difference([1, 2], [1, 2, 3])


def rejected(p: list[float], level: float) -> set[int]:
    """Step down as the procedure is written: stop at the first that is not under its share."""
    found: set[int] = set()
    for place, at in enumerate(sorted(range(len(p)), key=lambda at: p[at])):
        if p[at] * (len(p) - place) > level:
            break
        found.add(at)
    return found


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.5))
def test_what_is_rejected_is_what_the_procedure_rejects(p: list[float], level: float) -> None:
    adjusted = holm(p)
    assert {at for at, each in enumerate(adjusted) if each <= level} == rejected(p, level)
    assert all(own <= each <= 1 for own, each in zip(p, adjusted, strict=True))


def test_a_known_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_what_each_test_is_held_to_says_what_the_procedure_says(p: list[float]) -> None:
    shares = holm_shares(p)
    shown = {at for at, (own, share) in enumerate(zip(p, shares, strict=True)) if own <= share}
    assert shown == rejected(p, SIGNIFICANCE)
    assert all(SIGNIFICANCE / len(p) - 1e-15 <= share <= SIGNIFICANCE for share in shares)


def test_what_each_of_four_is_held_to() -> None:
    assert holm_shares([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])
    assert holm_shares([0.3]) == [0.05]
    assert holm_shares([0.05, 0.025]) == [0.05, 0.025]  # what just reaches it is shown
    assert holm_shares([]) == []


@cases("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidParameter, match="p-value is"):
        holm([0.5, wrong])


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
    alone = paired_difference(good, scores[:, 2])
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
