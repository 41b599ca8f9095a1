"""Alarms of `chunkwise monitor` on made-up weeks: false where nothing changed, missed where something fell."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks.page import write_page  # noqa: E402
from benchmarks.tables import table  # noqa: E402
from chunkwise.stats.control_chart import (  # noqa: E402
    ALARM,
    ControlChart,
    Fall,
    alarm_of,
    paired_falls,
    unpaired_falls,
)
from chunkwise.stats.paired import detectable_by  # noqa: E402

Runs = NDArray[np.float64]
"""Runs × questions × metrics."""

_METRICS = 8
_WEEKS = 100
_STREAMS = 24
_TRIALS = 60
_SEED = 2611
"""Of streams that nobody looked at while the rule was made."""
_AT = 12
"""The run with which something falls."""
_WITHIN = 3
_SIZES = (50, 200)
_SIMPLE = 0.95
_SLOW = 20
"""Weeks over which a slow fall comes."""


class Regime(NamedTuple):
    """Why scores differ from week to week though nothing is worse."""

    name: str
    runs: Callable[[np.random.Generator, int, int], Runs]
    is_paired: bool = True


def _scores(rng: np.random.Generator, questions: int) -> Runs:
    """Of eight metrics that mostly agree: what is hard is hard by all of them."""
    hard, own = rng.normal(size=(questions, 1)), rng.normal(size=(questions, _METRICS))
    return np.clip(0.65 + 0.28 * (0.8 * hard + 0.6 * own), 0.0, 1.0)


def _documents(rng: np.random.Generator, questions: int, runs: int) -> Runs:
    """Every week one question in a hundred gets other scores, for good."""
    now = _scores(rng, questions)
    found = np.empty((runs, *now.shape))
    for at in range(runs):
        changed = rng.random(questions) < 0.01
        now = np.where(changed[:, None], _scores(rng, questions), now)
        found[at] = now
    return found


def _judge(rng: np.random.Generator, questions: int, runs: int) -> Runs:
    """Right or wrong, and one verdict in twenty is the other one."""
    right = _scores(rng, questions) > 0.5
    flipped = rng.random((runs, questions, _METRICS)) < 0.05
    return (right ^ flipped).astype(np.float64)


def _answers(rng: np.random.Generator, questions: int, runs: int) -> Runs:
    """A model that answers anew every week."""
    noise = rng.normal(0.0, 0.15, (runs, questions, _METRICS))
    return np.clip(_scores(rng, questions) + noise, 0.0, 1.0)


def _both(rng: np.random.Generator, questions: int, runs: int) -> Runs:
    noise = rng.normal(0.0, 0.15, (runs, questions, _METRICS))
    return np.clip(_documents(rng, questions, runs) + noise, 0.0, 1.0)


def _others(rng: np.random.Generator, questions: int, runs: int) -> Runs:
    """Other questions every week."""
    return np.stack([_scores(rng, questions) for _ in range(runs)])


REGIMES = (
    Regime("documents change", _documents),
    Regime("a judge errs", _judge),
    Regime("answers differ", _answers),
    Regime("answers differ, documents change", _both),
    Regime("other questions every week", _others, is_paired=False),
)


class Alarms(NamedTuple):
    """By run and metric, from the second run on."""

    beside: NDArray[np.bool_]
    """Where the alarm rule holds."""
    shown: NDArray[np.bool_]
    """Where the metric is shown to be worse by its own interval: an alert that stands goes on."""
    simple: NDArray[np.bool_]
    """Five per cent lower than last time."""


def alarms(runs: Runs, *, is_paired: bool) -> Alarms:
    """The rule of `chunkwise monitor`, run by run, with the first one as the baseline."""
    falls = _falls(runs, is_paired)
    beside = np.zeros((len(falls), _METRICS), dtype=bool)
    for metric in range(_METRICS):
        chart = ControlChart(ALARM / _METRICS)
        chart.add(0.0)
        for at, each in enumerate(falls):
            value = each[metric].difference.mean
            beside[at, metric] = alarm_of(each[metric], chart.look(value)) is not None
            chart.add(value, is_stable=not beside[at, metric])
    shown = np.array([[fall.difference.high < 0 for fall in own] for own in falls])
    means = runs.mean(axis=1)
    return Alarms(beside, shown, means[1:] < _SIMPLE * means[:-1])


def _falls(runs: Runs, is_paired: bool) -> list[list[Fall]]:
    """Of every run behind the first, all in one go: run by run and metric by metric."""
    later = len(runs) - 1
    first, second = np.tile(runs[0], later), np.hstack([*runs[1:]])
    found = (
        paired_falls(first, second, family=_METRICS)
        if is_paired
        else unpaired_falls([*first.T], [*second.T], family=_METRICS)
    )
    falls = [fall for fall in found if fall is not None]
    assert len(falls) == later * _METRICS
    return [falls[at : at + _METRICS] for at in range(0, len(falls), _METRICS)]


def raised(found: Alarms) -> NDArray[np.bool_]:
    """Runs at which an alert is raised that did not stand already."""
    stands = np.zeros(_METRICS, dtype=bool)
    told = []
    for beside, shown in zip(found.beside, found.shown, strict=True):
        told.append(bool((beside & ~stands).any()))
        stands = beside | (stands & shown)
    return np.array(told)


def _least(regime: Regime, rng: np.random.Generator, questions: int) -> float:
    """The least difference that so many questions can show, as `evaluate` tells it; the mean over the metrics."""
    runs = regime.runs(rng, questions, 2)
    if not regime.is_paired:
        found = [fall.least for fall in _falls(runs, False)[0]]
    else:
        found = [detectable_by(own) or 0.0 for own in runs[0].T]
    return float(np.mean(found))


def _fallen(runs: Runs, rng: np.random.Generator, by: NDArray[np.float64], metrics: int) -> Runs:
    """Some questions lose all they had, by so much of the mean at each run."""
    found = runs.copy()
    order = rng.random(runs.shape[1])
    level = max(float(runs[0].mean()), 1e-9)
    for at, amount in enumerate(by):
        found[at, order < amount / level, :metrics] = 0.0
    return found


def _rng(regime: Regime, questions: int, table: int) -> np.random.Generator:
    return np.random.default_rng([_SEED, REGIMES.index(regime), questions, table])


def quiet_weeks(regime: Regime, questions: int) -> list[str]:
    """False alarms in a hundred weeks."""
    rng = _rng(regime, questions, 0)
    counts = np.zeros(3)
    streams = _STREAMS if regime.is_paired else _STREAMS // 3
    for _ in range(streams):
        found = alarms(regime.runs(rng, questions, _WEEKS + 1), is_paired=regime.is_paired)
        counts += [
            raised(found).sum(), found.beside.any(axis=1).sum(), found.simple.any(axis=1).sum(),
        ]  # fmt: skip
    alerts, beyond, simple = counts / streams
    met = "met" if alerts <= 1 else "**missed**"
    return [
        regime.name, f"{questions}", f"{alerts:.2f}", met, f"{beyond:.2f}", f"{simple:.1f}",
    ]  # fmt: skip


def fallen_weeks(regime: Regime, questions: int) -> list[str]:
    """How often a fall is found."""
    rng = _rng(regime, questions, 1)
    least = _least(regime, rng, questions)
    cells = [regime.name, f"{questions}", f"{least:.3f}"]
    some = _TRIALS if regime.is_paired else _TRIALS // 2
    for metrics in (1, _METRICS):
        trials = some if metrics == 1 else some // 2
        ours, simple = _step(regime, rng, questions, 2 * least, metrics, trials)
        cells += [
            f"{100 * ours:.0f} %{'' if ours >= 0.9 else ' **missed**'}",
            f"{100 * simple:.0f} %",
        ]
    ours, _ = _step(regime, rng, questions, least, 1, some // 2)
    slow = _slow(regime, rng, questions, 2 * least, some // 4)
    return [*cells, f"{100 * ours:.0f} %", f"{100 * slow:.0f} %"]


def _rows(measured: Callable[[Regime, int], list[str]]) -> list[list[str]]:
    # Other questions take four times as long, and more of them say the same.
    return [
        measured(regime, questions)
        for regime in REGIMES
        for questions in (_SIZES if regime.is_paired else _SIZES[:1])
    ]


def _step(
    regime: Regime, rng: np.random.Generator, questions: int, by: float, metrics: int, trials: int
) -> tuple[float, float]:
    ours = simple = 0
    for _ in range(trials):
        amounts = np.where(np.arange(_AT + _WITHIN) >= _AT, by, 0.0)
        runs = regime.runs(rng, questions, len(amounts))
        found = alarms(_fallen(runs, rng, amounts, metrics), is_paired=regime.is_paired)
        ours += bool(found.beside[_AT - 1 :, :metrics].any())
        simple += bool(found.simple[_AT - 1 :, :metrics].any())
    return ours / trials, simple / trials


def _slow(
    regime: Regime, rng: np.random.Generator, questions: int, by: float, trials: int
) -> float:
    """The share found by the end of a fall that came week by week."""
    hits = 0
    for _ in range(trials):
        amounts = np.clip(by * (np.arange(_AT + _SLOW + _WITHIN) - _AT + 1) / _SLOW, 0.0, by)
        runs = regime.runs(rng, questions, len(amounts))
        found = alarms(_fallen(runs, rng, amounts, 1), is_paired=regime.is_paired)
        hits += bool(found.beside[_AT - 1 :, 0].any())
    return hits / trials


def quiet() -> str:
    heads = ["without change", "questions", "alerts", "bar: 1", "runs beyond", "simple rule"]
    return "\n".join([
        f"{_STREAMS} streams ({_STREAMS // 3} of other questions) of {_WEEKS} weekly runs over {_METRICS} metrics,",
        "seeded; figures are per hundred runs.",
        "*Alerts* are those raised; *runs beyond* is how many runs the rule held at (one that stands is one alert).",
        'The *simple rule* alerts when a metric is 5 % lower than last time.\n',
        table(heads, _rows(quiet_weeks)), "",
    ])  # fmt: skip


def fallen() -> str:
    heads = [
        "something falls", "questions", "least difference", "1 metric falls by 2×", "simple rule", "all 8 fall by 2×",
        "simple rule", "1 metric by 1×", "1 metric by 2×, slowly",
    ]  # fmt: skip
    return "\n".join([
        f"{_TRIALS} streams for one metric, fewer for the rest. With run {_AT} some questions lose all they had, so",
        "that the mean falls by twice the least difference the questions can show, or once.",
        f"Found: an alert within {_WITHIN} runs; the bar for 2× is 90 %.",
        f"*Slowly*: over {_SLOW} weeks, found by the end of it.\n",
        table(heads, _rows(fallen_weeks)), "",
    ])  # fmt: skip


if __name__ == "__main__":
    write_page(
        "Watching: false alarms and missed ones", "watch.md",
        {"quiet": ("Without changes", quiet), "fallen": ("With a regression", fallen)},
        __doc__,
    )  # fmt: skip
