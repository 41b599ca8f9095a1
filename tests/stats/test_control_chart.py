"""Control charts and the alarm rule: as a plain reading of the definition has them, and quiet where nothing changes."""

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.control_chart import (
    ALARM,
    FEWEST_RUNS,
    MOST_RUNS,
    WEIGHT,
    ControlChart,
    ControlPoint,
    Fall,
    alarm_of,
    paired_falls,
    unpaired_falls,
)
from chunkwise.stats.intervals import Interval, interval, unpaired_difference
from chunkwise.stats.paired import detectable, holm, paired_difference
from how_many import examples
from tables import cases

CHANCE = ALARM / 8


def points(values: list[float], chance: float = CHANCE) -> list[ControlPoint | None]:
    chart = ControlChart(chance)
    return [chart.add(value) for value in values]


def naive(values: list[float], chance: float) -> list[tuple[float, float, float, bool] | None]:
    """Average, limits and whether the run alone is like the first ones, from the definition: sums of weights, and
    Student's quantile by bisection."""
    found: list[tuple[float, float, float, bool] | None] = []
    first = values[:FEWEST_RUNS]
    usual = _student(0.975, FEWEST_RUNS - 1) * statistics.stdev(first)
    usual *= (1 + 1 / FEWEST_RUNS) ** 0.5
    past: list[float] = []
    began = None
    for at, value in enumerate(values):
        if len(past) < FEWEST_RUNS:
            found.append(None)
            past.append(value)
            continue
        began = at if began is None else began
        since = values[began : at + 1]
        centre = statistics.fmean(past)
        weights = [WEIGHT * (1 - WEIGHT) ** (len(since) - 1 - n) for n in range(len(since))]
        average = centre * (1 - sum(weights)) + sum(
            w * x for w, x in zip(weights, since, strict=True)
        )
        variance = sum(w * w for w in weights) + 1 / len(past)
        away = _student(1 - chance / 2, len(past) - 1) * statistics.stdev(past) * variance**0.5
        is_usual = abs(value - statistics.fmean(first)) <= usual
        found.append((average, centre - away, centre + away, is_usual))
        if centre - away <= average <= centre + away and len(past) < MOST_RUNS:
            past.append(value)
    return found


def _student(share: float, freedom: int) -> float:
    """By adding up the density."""
    scale = math.gamma((freedom + 1) / 2) / (math.sqrt(freedom * math.pi) * math.gamma(freedom / 2))

    def below(t: float, steps: int = 2000) -> float:
        xs = [t * n / steps for n in range(steps + 1)]
        ys = [scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2) for x in xs]
        return 0.5 + t / steps * (sum(ys) - (ys[0] + ys[-1]) / 2)

    low, high = 0.0, 60.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return low


def test_the_chart_is_that_of_its_definition() -> None:
    rng = random.Random(3)
    values = [rng.gauss(0, 0.02) for _ in range(30)] + [rng.gauss(-0.04, 0.02) for _ in range(6)]
    ours, theirs = points(values), naive(values, 0.01)
    for one, other in zip(points(values, 0.01), theirs, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one.average == pytest.approx(other[0])
            # Student's quantile is Cornish and Fisher's, which is right to half a per cent here.
            width = one.high - one.low
            assert (one.low, one.high) == pytest.approx(other[1:3], abs=0.006 * width)
            assert one.is_usual == other[3]
    assert len({one.is_usual for one in ours if one}) == 2
    assert [point is None for point in ours] == [True] * FEWEST_RUNS + [False] * 28


def test_a_run_is_usual_within_what_the_first_runs_predict() -> None:
    rng = random.Random(5)
    first = [rng.gauss(0.5, 0.1) for _ in range(FEWEST_RUNS)]
    chart = ControlChart(CHANCE)
    for value in [*first, 0.4, 0.6, 0.5]:
        chart.add(value)
    reach = _student(0.975, FEWEST_RUNS - 1) * statistics.stdev(first) * math.sqrt(9 / 8)
    for away, is_usual in [(0.99, True), (1.01, False), (-0.99, True), (-1.01, False)]:
        point = chart.look(statistics.fmean(first) + away * reach)
        assert point is not None
        assert point.is_usual == is_usual


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.floats(-1, 1), max_size=40), st.floats(0.5, 4), st.floats(-3, 3))
def test_a_chart_follows_its_unit_and_its_origin(
    values: list[float], scale: float, away: float
) -> None:
    values = [round(value, 6) for value in values]
    moved = [away + scale * value for value in values]
    for one, other in zip(points(values), points(moved), strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert other.centre == pytest.approx(away + scale * one.centre, abs=1e-9)
            assert other.high - other.low == pytest.approx(scale * (one.high - one.low), abs=1e-9)
            assert one.low <= one.centre <= one.high


def test_runs_that_are_all_the_same_are_within_limits_of_no_width() -> None:
    chart = ControlChart(CHANCE)
    found = [chart.add(0.5) for _ in range(FEWEST_RUNS + 3)]
    for point in found[FEWEST_RUNS:]:
        assert point == ControlPoint(0.5, 0.5, 0.5, 0.5, True)
        assert not point.is_above
        assert not point.is_below
    assert chart.add(0.6).is_above  # type: ignore[union-attr]
    assert chart.add(0.2).is_below  # type: ignore[union-attr]


def test_what_is_not_stable_moves_no_limits() -> None:
    chart = ControlChart(CHANCE)
    for at in range(FEWEST_RUNS):
        assert chart.add(0.01 * (at % 3)) is None
    before = chart.look(0.0)
    for _ in range(5):
        chart.add(-0.5)
        chart.add(0.0, is_stable=False)
    after = chart.look(0.0)
    assert before is not None
    assert after is not None
    assert (before.low, before.centre) != (0, 0)
    assert after.centre == before.centre
    assert chart.look(-0.5) is not None
    assert after.is_below


def test_a_run_that_is_not_stable_teaches_nothing() -> None:
    chart = ControlChart(CHANCE)
    for at in range(3 * FEWEST_RUNS):
        assert chart.add(float(at), is_stable=False) is None


@cases("chance", [0, 1, -0.1, math.nan])
def test_a_chance_is_a_share(chance: float) -> None:
    with pytest.raises(InvalidParameter, match="chance"):
        ControlChart(chance)


@cases("value", [math.nan, math.inf])
def test_a_run_without_a_value_is_no_point(value: float) -> None:
    with pytest.raises(InvalidParameter, match="leave out runs without a value"):
        ControlChart(CHANCE).add(value)


def fall(by: float, *, width: float = 0.01, shown: bool = True) -> Fall:
    return Fall(
        0.8, 0.8 - by, Interval(-by, -by - width, -by + width), 1e-3, 100, 0.03, shown, width < by
    )  # fmt: skip


OUT = ControlPoint(-0.1, 0.0, -0.02, 0.02, False)
WITHIN = ControlPoint(0.0, 0.0, -0.02, 0.02, True)


def test_an_alarm_needs_significance_and_the_tolerance() -> None:
    assert alarm_of(fall(0.05), None) == "fall"
    assert alarm_of(fall(0.05, shown=False), None) is None
    assert alarm_of(fall(0.02), None) is None
    assert alarm_of(fall(0.05), None, tolerance=0.06) is None
    assert alarm_of(fall(0.05), None, tolerance=0.05) == "fall"
    assert alarm_of(fall(0.02), None, tolerance=0.0) == "fall"
    assert alarm_of(fall(-0.05), None) is None
    assert alarm_of(fall(-0.05), None, lower_is_better=True) == "fall"
    assert alarm_of(fall(0.05), None, lower_is_better=True) is None
    assert alarm_of(fall(0.0), OUT, tolerance=0.0) is None


def test_a_decay_needs_the_chart_and_a_difference_that_is_shown() -> None:
    slow = fall(0.02, shown=False)
    assert alarm_of(slow, None) is None
    assert alarm_of(slow, WITHIN) is None
    assert alarm_of(slow, OUT) == "decay"
    assert alarm_of(slow, OUT, tolerance=0.03) is None
    assert alarm_of(slow, OUT, tolerance=0.02) == "decay"
    rising = fall(-0.02, shown=False)._replace(is_likely=True)
    assert alarm_of(rising, OUT) is None
    assert alarm_of(rising, OUT, lower_is_better=True) is None
    assert alarm_of(rising, ControlPoint(0.1, *OUT[1:]), lower_is_better=True) == "decay"
    assert alarm_of(fall(0.02, width=0.03, shown=False), OUT) is None
    assert alarm_of(fall(-0.02, shown=False), OUT) is None


def test_a_lucky_reference_is_not_a_fall_of_every_run_behind_it() -> None:
    assert alarm_of(fall(0.05), WITHIN) is None
    assert alarm_of(fall(0.05), OUT) == "fall"


def test_the_test_is_corrected_over_the_metrics() -> None:
    first = np.full((60, 1), 0.5)
    second = first - 0.12 + 0.14 * np.tile([[1.0], [-1.0]], (30, 1))
    (alone,) = paired_falls(first, second)
    same = np.repeat(first, 30, axis=1)
    among = paired_falls(np.hstack([first, same]), np.hstack([second, same]))[0]
    assert alone is not None
    assert among is not None
    assert alone.p == among.p
    assert alone.is_shown
    assert not among.is_shown
    assert alone.after - alone.before == pytest.approx(alone.difference.mean)
    # As of a normal curve, and a little more for the questions that were not seen.
    assert 2.8 * 0.14 / 60**0.5 < alone.least < 1.7 * 2.8 * 0.14 / 60**0.5


def made_runs(questions: int, metrics: int, by: float, seed: int) -> np.ndarray:
    """Two runs, some questions unscored, every second metric lower by so much in the second."""
    rng = np.random.default_rng(seed)
    runs = np.clip(rng.normal(0.6, 0.2, (2, questions, metrics)), 0, 1)
    runs[1, :, ::2] -= by
    runs[rng.random(runs.shape) < 0.1] = math.nan
    return runs


@settings(max_examples=examples(20), deadline=None)
@given(
    st.sampled_from([1, 4, 6, 20, 60]), st.integers(1, 4), st.sampled_from([0.0, 0.15, 0.5]), st.integers(0, 99)
)  # fmt: skip
def test_falls_are_those_of_one_metric_after_the_other(
    questions: int, metrics: int, by: float, seed: int
) -> None:
    first, second = made_runs(questions, metrics, by, seed)
    pairs = [paired_difference(first[:, at], second[:, at]) for at in range(metrics)]
    adjusted = iter(holm([pair.p for pair in pairs if pair]))
    for at, (pair, found) in enumerate(zip(pairs, paired_falls(first, second), strict=True)):
        assert (pair is None) == (found is None)
        if pair is None or found is None:
            continue
        both = ~np.isnan(first[:, at] + second[:, at])
        assert found.before == pytest.approx(first[both, at].mean())
        assert found.after == pytest.approx(second[both, at].mean(), abs=1e-12)
        assert (found.difference, found.p, found.pairs) == (pair.difference, pair.p, pair.pairs)
        least = detectable(pair.known_spread, pair.pairs, pair.reach)
        assert found.least == (pair.reach if pair.pairs < 6 else least)
        own = next(adjusted)
        assert (found.is_shown, found.is_likely) == (own <= ALARM, own <= 0.05)


@settings(max_examples=examples(20), deadline=None)
@given(
    st.sampled_from([1, 4, 20, 60]), st.integers(1, 4), st.sampled_from([0.0, 0.15, 0.5]), st.integers(0, 99)
)  # fmt: skip
def test_falls_of_other_questions_are_those_of_their_intervals(
    questions: int, metrics: int, by: float, seed: int
) -> None:
    first, second = made_runs(questions, metrics, by, seed)
    for at, found in enumerate(unpaired_falls([*first.T], [*second.T])):
        runs = first[:, at], second[:, at]
        before, after = map(interval, runs)
        assert (found is None) == (before is None or after is None)
        if found is None or before is None or after is None:
            continue
        apart = unpaired_difference(before, after)
        assert (found.before, found.after, found.difference) == (before.mean, after.mean, apart)
        # 1.96 standard errors are shown every second time, 2.80 four times in five.
        widest = max(apart.mean - apart.low, apart.high - apart.mean)
        assert found.least == pytest.approx(widest * 2.8016 / 1.96, rel=1e-4)
        for shown, level in ((found.is_shown, ALARM), (found.is_likely, 0.05)):
            one, other = (interval(run, outside=level / metrics) for run in runs)
            assert one is not None
            assert other is not None
            assert shown == unpaired_difference(one, other).leaves_out_zero


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 99))
def test_several_runs_at_once_are_each_by_itself(runs: int, family: int, seed: int) -> None:
    scores = np.random.default_rng(seed).random((runs + 1, 12, family))
    scores[1:, :, 0] *= 0.3
    first, second = np.tile(scores[0], runs), np.hstack([*scores[1:]])
    apart = [paired_falls(scores[0], own) for own in scores[1:]]
    assert paired_falls(first, second, family=family) == [fall for own in apart for fall in own]
    apart = [unpaired_falls([*scores[0].T], [*own.T]) for own in scores[1:]]
    together = unpaired_falls([*first.T], [*second.T], family=family)
    assert together == [fall for own in apart for fall in own]


def test_few_questions_show_nothing_and_unscored_ones_are_left_out() -> None:
    (few,) = paired_falls([[1.0]] * 5, [[0.0]] * 5)
    assert few is not None
    assert alarm_of(few, None) is None
    nan = math.nan
    one, none = paired_falls([[1.0, nan], [nan, 1.0]], [[0.5, 0.1], [0.5, nan]])
    assert one is not None
    assert (one.pairs, one.before, one.after) == (1, 1.0, 0.5)
    assert none is None


def test_other_questions_are_compared_by_their_means() -> None:
    rng = np.random.default_rng(1)
    high, low = rng.uniform(0.7, 1, 80), rng.uniform(0.2, 0.5, 120)
    one, other, none = unpaired_falls([high, high, high], [low, high[::2], []])
    assert one is not None
    assert (one.p, one.pairs) == (None, 0)
    assert alarm_of(one, None) == "fall"
    assert other is not None
    assert alarm_of(other, None) is None
    assert none is None


def test_runs_without_change_are_quiet_and_a_fall_is_found() -> None:
    """A small copy of what `benchmarks/watching.py` measures: eight metrics, a judge that errs."""
    rng = np.random.default_rng(2)
    right = rng.random((80, 8)) < 0.7
    runs = (right ^ (rng.random((45, 80, 8)) < 0.05)).astype(float)
    runs[42:, :24, 0] = 0.0
    charts = [ControlChart(CHANCE) for _ in range(8)]
    alarms = []
    for at, run in enumerate(runs):
        for metric, found in enumerate(paired_falls(runs[0], run)):
            assert found is not None
            value = found.difference.mean
            alarm = alarm_of(found, charts[metric].look(value))
            charts[metric].add(value, is_stable=alarm is None)
            if alarm:
                alarms.append((at, metric))
    assert alarms == [(42, 0), (43, 0), (44, 0)]
