"""A mean that may be looked at every day: errors stay bounded however often one looks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.stats.sequential import anytime_p, sequential_mean
from how_many import examples
from tables import cases

STREAMS, LENGTH = 400, 600


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the means that are bet against: ends are less exact by that, and wider."""
    monkeypatch.setattr("chunkwise.stats.sequential._GRID", 201)


def null_streams(kind: str, seed: int = 0) -> NDArray[np.float64]:
    """Differences whose mean is zero: of wins and losses with ties, of scores, and of a few large losses."""
    rng = np.random.default_rng(seed)
    if kind == "wins":
        return rng.choice([-1.0, 0.0, 1.0], (STREAMS, LENGTH), p=[0.15, 0.7, 0.15])
    if kind == "scores":
        return np.clip(rng.normal(0, 0.3, (STREAMS, LENGTH)), -1, 1)
    return rng.choice([-0.9, 0.1], (STREAMS, LENGTH), p=[0.1, 0.9])


def naive_false_alarms(streams: NDArray[np.float64]) -> float:
    """Of the usual test, made again every day."""
    count = np.arange(1, LENGTH + 1)
    mean = streams.cumsum(1) / count
    deviation = np.sqrt(np.maximum((streams**2).cumsum(1) / count - mean**2, 1e-12))
    z = np.abs(mean) / (deviation / np.sqrt(count))
    return float((z[:, 20:] > 1.96).any(axis=1).mean())


@cases("kind", ["wins", "scores", "losses"])
def test_looking_after_every_question_raises_at_most_five_false_alarms_in_a_hundred(kind: str) -> None:  # fmt: skip
    streams = null_streams(kind)
    alarms = [anytime_p(each)[-1] < 0.05 for each in streams]
    assert np.mean(alarms) <= 0.05
    # What people do without it, on the same streams.
    assert naive_false_alarms(streams) > 0.2


def naive(
    values: list[float], bounds: tuple[float, float], level: float, grid: list[float]
) -> list[tuple[float, float, float]]:
    """Low, high and p after each value, from the bets as they are described: one by one, in plain Python."""
    low, high = bounds
    zero = -low / (high - low)
    up, down, best = (dict.fromkeys([*grid, zero], 1.0) for _ in range(3))
    best = dict.fromkeys(best, 0.0)
    total, squares = 0.5, 0.25
    found = []
    for count, value in enumerate(values, 1):
        x = (value - low) / (high - low)
        stake = math.sqrt(
            2 * math.log(2 / (1 - level)) / (squares / count * count * math.log(count + 1))
        )
        for mean in best:
            up[mean] *= 1 + (min(stake, 0.75 / mean) if mean else stake) * (x - mean)
            down[mean] *= 1 - (min(stake, 0.75 / (1 - mean)) if mean < 1 else stake) * (x - mean)
            best[mean] = max(best[mean], up[mean] / 2, down[mean] / 2)
        kept = [at for at, mean in enumerate(grid) if best[mean] < 1 / (1 - level)]
        ends = (grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, len(grid) - 1)])
        found.append((*(low + (high - low) * end for end in ends), min(1.0, 1 / best[zero])))
        total += x
        squares += (x - total / (count + 1)) ** 2
    return found


@settings(max_examples=examples(20))
@given(
    st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=1, max_size=40),
    st.sampled_from([(-1.0, 1.0), (-0.2, 1.0), (-3.0, 2.0)]),
    st.sampled_from([0.95, 0.7]),
    st.integers(0, 3),
)
def test_it_is_what_bets_one_by_one_give(
    shares: list[float], bounds: tuple[float, float], level: float, times: int
) -> None:
    grid = [n / 40 for n in range(41)]
    values = [bounds[0] + (bounds[1] - bounds[0]) * each for each in shares * 2**times]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chunkwise.stats.sequential._GRID", len(grid))
        found = sequential_mean(values, bounds=bounds, level=level)
    ours = list(zip(found.low.tolist(), found.high.tolist(), found.p.tolist(), strict=True))
    for one, other in zip(ours, naive(values, bounds, level, grid), strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    assert found.level == level
    assert found.mean[-1] == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.usefixtures("coarse")
def test_the_interval_holds_the_mean_at_all_times_at_once() -> None:
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(100):
        found = sequential_mean(np.clip(rng.normal(0.1, 0.35, 300), -1, 1))
        missed += not ((found.low <= 0.1) & (found.high >= 0.1)).all()
    assert missed <= 5


@pytest.mark.usefixtures("coarse")
def test_a_difference_that_is_there_is_found_and_the_sooner_the_larger_it_is() -> None:
    rng = np.random.default_rng(5)
    waits = {}
    for mean in (0.05, 0.1, 0.2):
        found = [
            sequential_mean(np.clip(rng.normal(mean, 0.35, 4000), -1, 1)).decided_at()
            for _ in range(5)
        ]
        assert None not in found
        waits[mean] = float(np.median(found))  # type: ignore[arg-type]
    assert 4000 > waits[0.05] > waits[0.1] > waits[0.2] > 10


@settings(max_examples=examples(40))
@given(st.lists(st.floats(-1, 1), max_size=40))
def test_intervals_hold_the_mean_shrink_and_agree_with_p(values: list[float]) -> None:
    found = sequential_mean(values)
    assert len(found) == len(values)
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) <= 0).all()
    assert (np.diff(found.p) <= 0).all()
    assert ((found.p <= 1) & (found.p > 0)).all()
    assert ((found.low >= -1) & (found.high <= 1)).all()
    assert np.allclose(found.mean, [np.mean(values[: n + 1]) for n in range(len(values))])
    excludes_zero = (found.low > 0) | (found.high < 0)
    # Ends are a step of the grid wider than what is excluded.
    assert (found.p[excludes_zero] < 0.05 + 1e-9).all()


@settings(max_examples=examples(20))
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40), st.integers(1, 39))
def test_what_comes_later_changes_nothing_that_was_said(values: list[float], cut: int) -> None:
    whole, part = sequential_mean(values), sequential_mean(values[:cut])
    assert np.allclose(whole.low[: len(part)], part.low)
    assert np.allclose(whole.high[: len(part)], part.high)
    assert np.allclose(whole.p[: len(part)], part.p)


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.clip(np.random.default_rng(1).normal(0.1, 0.4, 50), -1, 1)
    whole = sequential_mean(values)
    monkeypatch.setattr("chunkwise.stats.sequential._BLOCK", 7)
    parts = sequential_mean(values)
    assert np.allclose(whole.low, parts.low)
    assert np.allclose(whole.high, parts.high)


def test_it_says_what_is_shown_and_when_to_stop() -> None:
    better = sequential_mean([0.5, 0.3, 0.6, 0.4] * 50)
    assert better.state() == "higher"
    assert better.state(0) == "open"
    decided = better.decided_at()
    assert decided is not None
    assert better.state(decided - 1) == "higher"
    assert better.state(decided - 2) == "open"
    assert better.more_needed() is None
    for sign, state in ((1.0, "higher"), (-1.0, "lower")):
        slow = sequential_mean([0.3 * sign, -0.2 * sign] * 150)
        decided = slow.decided_at()
        assert decided is not None
        states = [slow.state(at) for at in range(len(slow))]
        assert states == ["open"] * (decided - 1) + [state] * (len(slow) - decided + 1)
    alike = sequential_mean([0.01, -0.01] * 400)
    assert alike.state(tolerance=0.05) == "alike"
    assert alike.state() == "open"
    assert sequential_mean([]).state() == "open"
    assert sequential_mean([]).decided_at() is None


@pytest.mark.usefixtures("coarse")
def test_the_forecast_is_about_right() -> None:
    rng = np.random.default_rng(11)
    values = np.clip(rng.normal(0.03, 0.3, 6000), -1, 1)
    early = sequential_mean(values[:150])
    assert early.state() == "open"
    more, needed = early.more_needed(), sequential_mean(values).decided_at()
    assert more is not None
    assert needed is not None
    assert needed / 5 < 150 + more < needed * 5
    assert sequential_mean([0.0, 0.0, 0.0]).more_needed() is None
    # What goes on as it began is decided when it was said to be, whenever that was asked.
    steady = sequential_mean([0.4, -0.3] * 2000)
    decided = steady.decided_at()
    assert decided is not None
    counts = (100, 200, 400)
    more_of = [sequential_mean([0.4, -0.3] * (count // 2)).more_needed() for count in counts]
    ends = [count + (more or 0) for count, more in zip(counts, more_of, strict=True)]
    assert decided / 2 < max(ends) < 1.1 * min(ends) < decided * 2


@given(st.lists(st.sampled_from([-0.5, 0.0, 0.5]), min_size=1, max_size=60))
def test_within_a_tolerance_its_bounds_are_alike(values: list[float]) -> None:
    found = sequential_mean(values)
    reach = max(-float(found.low[-1]), float(found.high[-1]))
    if found.state() == "open":
        assert found.state(tolerance=reach) == "alike"
        assert found.decided_at(tolerance=reach) is not None
        assert found.state(tolerance=reach - 1e-9) == "open"


@cases("values", [[2.0], [float("nan")], [-1.5, 0]])
def test_values_outside_are_refused(values: list[float]) -> None:
    with pytest.raises(InvalidParameter, match="outside of -1 to 1"):
        sequential_mean(values)


@cases("level", [0.0, 1.0, 1.5])
def test_a_level_lies_between_0_and_1(level: float) -> None:
    with pytest.raises(InvalidParameter, match="level"):
        sequential_mean([0.0], level=level)
