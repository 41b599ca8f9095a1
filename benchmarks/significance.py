"""Intervals and tests: how long they take, and whether they are right as often as they say."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import table
from chunkwise.stats.intervals import intervals
from chunkwise.stats.paired import Z_95, detectable, paired_differences, student, ties

_ROUNDS = 5
_QUESTIONS = 1_000
_METRICS = 20
_TRIALS = 10_000
"""Experiments that a share is of; 5 % of so many is known to half a point."""

_SAMPLES = 2_000
"""Of each shape and number of questions: a share of 95 % is known to a point."""
_COUNTS = (10, 20, 30, 50, 100, 200, 500)
_TRUTH = 2_000_000
"""Differences that the true mean of a shape is taken from."""

Scores = NDArray[np.float64]
Part = tuple[float, Callable[[np.random.Generator, tuple[int, ...]], Scores]]
"""A share of the questions, and how much they differ."""


def _by(value: float) -> Callable[[np.random.Generator, tuple[int, ...]], Scores]:
    return lambda rng, size: np.full(size, value)


def _normal(mean: float, spread: float) -> Callable[[np.random.Generator, tuple[int, ...]], Scores]:
    return lambda rng, size: np.clip(rng.normal(mean, spread, size), -0.95, 0.95)


def _between(low: float, high: float) -> Callable[[np.random.Generator, tuple[int, ...]], Scores]:
    return lambda rng, size: rng.uniform(low, high, size)


def _long_tail(sign: float) -> Callable[[np.random.Generator, tuple[int, ...]], Scores]:
    """Over three orders of magnitude, most of it small."""
    return lambda rng, size: (
        sign * (0.03 - np.minimum(0.02 * np.exp(1.5 * rng.normal(size=size)), 0.9))
    )


def _u_shaped(sign: float) -> Callable[[np.random.Generator, tuple[int, ...]], Scores]:
    return lambda rng, size: sign * rng.beta(0.3, 3, size)


SHAPES: dict[str, tuple[Part, ...]] = {
    "all alike, 0": ((1, _by(0)),),
    "all alike, +0.05": ((1, _by(0.05)),),
    "97 % +0.02, 3 % −0.8": ((0.97, _by(0.02)), (0.03, _by(-0.8))),
    "97 % −0.02, 3 % +0.8": ((0.97, _by(-0.02)), (0.03, _by(0.8))),
    "99 % +0.01, 1 % −1": ((0.99, _by(0.01)), (0.01, _by(-1))),
    "99 % −0.01, 1 % +1": ((0.99, _by(-0.01)), (0.01, _by(1))),
    "95 % normal (0.03, 0.02), 5 % −0.6": ((0.95, _normal(0.03, 0.02)), (0.05, _by(-0.6))),
    "98 % normal (0.02, 0.02), 2 % −1": ((0.98, _normal(0.02, 0.02)), (0.02, _by(-1))),
    "99.5 % 0 to 0.02, 0.5 % −1": ((0.995, _between(0, 0.02)), (0.005, _by(-1))),
    "90 % +0.05, 10 % −0.5": ((0.9, _by(0.05)), (0.1, _by(-0.5))),
    "90 % −0.05, 10 % +0.5": ((0.9, _by(-0.05)), (0.1, _by(0.5))),
    "80 % 0, 17 % +0.1, 3 % −0.7": ((0.8, _by(0)), (0.17, _by(0.1)), (0.03, _by(-0.7))),
    "85 % +0.01, 15 % −1 to 0": ((0.85, _by(0.01)), (0.15, _between(-1, 0))),
    "98 % 0, 2 % −1": ((0.98, _by(0)), (0.02, _by(-1))),
    "98 % 0, 2 % +1": ((0.98, _by(0)), (0.02, _by(1))),
    "90 % 0, 6 % −1, 4 % +1": ((0.9, _by(0)), (0.06, _by(-1)), (0.04, _by(1))),
    "recall: 70 % 0, the rest ±0.5 or ±1": (
        (0.7, _by(0)), (0.1, _by(0.5)), (0.1, _by(-0.5)), (0.06, _by(1)), (0.04, _by(-1)),
    ),
    "thirds": ((0.6, _by(0)), (0.2, _by(1 / 3)), (0.15, _by(-1 / 3)), (0.05, _by(-2 / 3))),
    "half 0, half normal (0.1, 0.3)": ((0.5, _by(0)), (0.5, _normal(0.1, 0.3))),
    "two heaps, ±0.5": ((0.5, _normal(0.5, 0.05)), (0.5, _normal(-0.5, 0.05))),
    "two heaps, 15 % 0.9, 85 % −0.1": ((0.15, _normal(0.9, 0.02)), (0.85, _normal(-0.1, 0.02))),
    "normal (0, 0.1)": ((1, _normal(0, 0.1)),),
    "normal (0.05, 0.3)": ((1, _normal(0.05, 0.3)),),
    "uniform, −1 to 1": ((1, _between(-1, 1)),),
    "uniform, −0.1 to 0.3": ((1, _between(-0.1, 0.3)),),
    "most small, some large gains": ((1, _long_tail(-1)),),
    "most small, some large losses": ((1, _long_tail(1)),),
    "beta, gains": ((1, _u_shaped(1)),),
    "beta, losses": ((1, _u_shaped(-1)),),
}  # fmt: skip


class Row(NamedTuple):
    """One thing measured, and what it is held against."""

    what: str
    found: str
    bar: str = ""
    met: bool = True


def speed() -> list[Row]:
    """Seconds, the best of some rounds."""
    rng = np.random.default_rng(0)
    first, second = rng.random((2, _QUESTIONS, _METRICS))
    gaps = np.where(rng.random(first.shape) < 0.1, np.nan, first)
    told = f"{_QUESTIONS:,} questions × {_METRICS} metrics"
    whole = _seconds(lambda: intervals(first))
    return [
        Row(f"intervals, {told}", f"{whole:.2f} s", "under 1 s", whole < 1),
        Row("the same, a tenth unscored", f"{_seconds(lambda: intervals(gaps)):.2f} s"),
        Row("the same by 10,000 resamples, drawn row by row", f"{_seconds(lambda: _gathered(first), 1):.2f} s"),
        Row(f"paired comparison, {told}", f"{_seconds(lambda: paired_differences(first, second)):.2f} s"),
        Row(f"ties of {_METRICS} runs, {_QUESTIONS:,} questions", f"{_seconds(lambda: ties(first)):.2f} s"),
    ]  # fmt: skip


def honesty() -> list[list[str]]:
    """By number of questions: intervals that hold the true mean, false alarms, and differences shown."""
    rng = np.random.default_rng(1)
    rows = []
    for count in (10, 20, 40, 100, 300):
        binary = [
            (rng.random((count, 1_000)) < 2 / 3).astype(float) for _ in range(_TRIALS // 1_000)
        ]
        shares = [rng.beta(2, 1, (count, 1_000)) for _ in range(_TRIALS // 1_000)]
        same = rng.random((2, count, _TRIALS))
        least = detectable(0.3, count) or 0.0
        apart = np.clip(rng.normal(least, 0.3, (count, _TRIALS)), -1, 1)
        rows.append([
            f"{count}", _share(_covered(binary)), _share(_covered(shares)), _share(_shown(*same)),
            f"{least:.3f}", _share(_shown(*_scored(rng, apart))),
        ])  # fmt: skip
    return rows


def skewed() -> list[list[str]]:
    """By shape of the differences: over all numbers of questions the lowest coverage and the most wrong verdicts."""
    rows = []
    for name, parts in SHAPES.items():
        true = float(_drawn(np.random.default_rng(2), (_TRUTH,), parts).mean())
        ours, t_test = [], []
        for count in _COUNTS:
            rng = np.random.default_rng(count)
            apart = _drawn(rng, (count, _SAMPLES), parts)
            found = [each.difference for each in paired_differences(*_scored(rng, apart)) if each]
            ours.append(_right(*np.array([[each.low, each.high] for each in found]).T, true))
            half = student(Z_95, count - 1) * apart.std(axis=0, ddof=1) / np.sqrt(count)
            t_test.append(_right(apart.mean(axis=0) - half, apart.mean(axis=0) + half, true))
        rows.append([name, *_worst(ours), *_worst(t_test)])
    return rows


def _drawn(rng: np.random.Generator, size: tuple[int, ...], parts: tuple[Part, ...]) -> Scores:
    part = rng.choice(len(parts), size, p=[share for share, _ in parts])
    return np.choose(part, [differ(rng, size) for _, differ in parts])


def _scored(rng: np.random.Generator, apart: Scores) -> tuple[Scores, Scores]:
    """Two runs with these differences, and scores from 0 to 1."""
    lowest, highest = np.maximum(0, -apart), np.minimum(1, 1 - apart)
    first = lowest + (highest - lowest) * rng.random(apart.shape)
    return first, first + apart


def _right(low: Scores, high: Scores, true: float) -> tuple[float, float]:
    """Intervals that hold the true difference, and those that show one of the wrong sign."""
    held = (low <= true + 1e-9) & (true - 1e-9 <= high)
    return float(held.mean()), float((((low > 0) & (true < 0)) | ((high < 0) & (true > 0))).mean())


def _worst(found: list[tuple[float, float]]) -> list[str]:
    held, wrong = zip(*found, strict=True)
    return [f"{100 * min(held):.1f} %", f"{100 * max(wrong):.1f} %"]


def _covered(blocks: list[Scores]) -> list[bool]:
    """Both kinds of scores have the mean 2/3."""
    found = [each for block in blocks for each in intervals(block)]
    return [each is not None and each.low <= 2 / 3 <= each.high for each in found]


def _shown(first: Scores, second: Scores) -> list[bool]:
    return [each is not None and each.p <= 0.05 for each in paired_differences(first, second)]


def _share(hits: list[bool]) -> str:
    return f"{100 * np.mean(hits):.1f} %"


def _gathered(values: Scores) -> None:
    """As it is usually written: the rows of each resample are put together and averaged."""
    rng = np.random.default_rng(0)
    means = [values[rng.integers(0, len(values), len(values))].mean(axis=0) for _ in range(10_000)]
    np.percentile(means, [2.5, 97.5], axis=0)


def _seconds(work: Callable[[], object], rounds: int = _ROUNDS) -> float:
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def run() -> str:
    """The tables as Markdown."""
    shown = [
        (row.what, row.found, row.bar, ("met" if row.met else "**missed**") if row.bar else "")
        for row in speed()
    ]
    heads = [
        "questions", "interval holds the mean (0 or 1)", "the same (shares)", "false alarms",
        "least difference", "shown",
    ]  # fmt: skip
    return "\n".join([
        "Best of several rounds.\n",
        table(("", "found", "bar", ""), shown), "",
        f"{_TRIALS:,} made-up experiments for each number of questions. An interval should contain the true mean in",
        "95%, a test at 5% should raise at most 5% false alarms, and the minimum detectable difference (for",
        "differences with a standard deviation of 0.3) should be detected in 80%.\n",
        table(heads, honesty()), "",
        f"Differences of many shapes, {_SAMPLES:,} samples of each for every number of questions "
        f"({', '.join(map(str, _COUNTS))}).",
        "Coverage: the lowest share of 95% intervals that contain the true difference. Wrong sign: the highest share",
        "that report the opposite.\n",
        table(["differences", "held", "wrong sign", "Student's t: held", "wrong sign"], skewed()), "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(run())
