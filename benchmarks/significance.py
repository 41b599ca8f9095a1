"""Intervals and tests: how long they take, and whether they are right as often as they say."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import table
from chunkwise.stats.intervals import intervals
from chunkwise.stats.paired import detectable, paired_differences, ties

_ROUNDS = 5
_QUESTIONS = 1_000
_METRICS = 20
_TRIALS = 10_000
"""Experiments that a share is of; 5 % of so many is known to half a point."""

Scores = NDArray[np.float64]


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
        apart = rng.normal(least, 0.3, (count, _TRIALS))
        rows.append([
            f"{count}", _share(_covered(binary)), _share(_covered(shares)), _share(_shown(*same)),
            f"{least:.3f}", _share(_shown(np.zeros_like(apart), apart)),
        ])  # fmt: skip
    return rows


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
        f"{_TRIALS:,} made-up experiments for each number of questions. An interval should hold the true mean in 95 %,",
        "a test at 5 % should raise at most 5 % false alarms, and the least difference that can be shown",
        "(of scores whose differences have a standard deviation of 0.3) should be shown in 80 %.\n",
        table(heads, honesty()), "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(run())
