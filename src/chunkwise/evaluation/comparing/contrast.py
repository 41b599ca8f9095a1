"""One run against another on the questions they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chunkwise.evaluation.comparing.comparison import (
    NO_DIFFERENCE,
    Change,
    Contrast,
    Difference,
    Tested,
)
from chunkwise.evaluation.comparing.pairing import (
    Pairing,
    check_common,
    chosen_metrics,
    common_metrics,
    pair,
)
from chunkwise.evaluation.results import Results
from chunkwise.stats.intervals import intervals
from chunkwise.stats.paired import (
    BOUNDS,
    SIGNIFICANCE,
    PairedDifference,
    differences,
    paired_differences,
)
from chunkwise.stats.power import detectable, questions_needed
from chunkwise.stats.table import ScoreMatrix, mean

CHANGED = 5
"""Questions that changed most, in either direction."""

Lower = Callable[[str], bool]
"""Whether less of a metric is better."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Two runs' scores side by side, and the tests of their differences."""

    names: tuple[str, str]
    results: tuple[Results, Results]
    pairing: Pairing
    metrics: Sequence[str]
    first: ScoreMatrix
    second: ScoreMatrix
    tests: Sequence[PairedDifference | None]

    @classmethod
    def of(
        cls,
        results: tuple[Results, Results],
        names: tuple[str, str],
        metrics: Sequence[str] | None,
        seed: int,
    ) -> Scored:
        """By the metrics that both have; `metrics`: by these of them."""
        there, pairing = common_metrics(results), pair(results, names)
        check_common(results, names, pairing, there)
        wanted = there if metrics is None else chosen_metrics(there, metrics)
        first, second = (pairing.scores(run, wanted) for run in (0, 1))
        tests = paired_differences(first, second, seed=seed)
        return cls(names, results, pairing, wanted, first, second, tests)

    @property
    def p(self) -> dict[str, float]:
        """By metric, of those that can be tested."""
        return {
            name: test.p
            for name, test in zip(self.metrics, self.tests, strict=True)
            if test is not None
        }


def contrast(scored: Scored, adjusted: Mapping[str, float], lower: Lower, seed: int) -> Contrast:
    """Everything about two runs; `adjusted` has the corrected p-values by metric."""
    first, second = scored.results
    tested = {
        name: _tested(scored, at, test, adjusted[name], lower(name))
        for at, (name, test) in enumerate(zip(scored.metrics, scored.tests, strict=True))
        if test is not None
    }
    objective = first.objective if first.objective in tested else next(iter(tested), "")
    changed = _changed(scored, objective, lower) if objective else ((), ())
    shared = len(scored.pairing.runs[0])
    left_out = len(scored.pairing.other_text)
    return Contrast(
        *scored.names,
        questions=shared,
        other_text=scored.pairing.other_text,
        only_first=len(first.questions) - shared - left_out,
        only_second=len(second.questions) - shared - left_out,
        metrics=tested,
        unpaired=tuple(name for name in scored.metrics if name not in tested),
        by_type=_by_type(scored, seed),
        objective=objective,
        first_better=changed[0],
        second_better=changed[1],
    )


def _tested(
    scored: Scored, at: int, test: PairedDifference, adjusted: float, lower: bool
) -> Tested:
    difference = test.difference.mean
    verdict = NO_DIFFERENCE
    if adjusted <= SIGNIFICANCE and difference:
        verdict = f"{scored.names[(difference > 0) != lower]} is better"
    first, second = _means(scored.first[:, at], scored.second[:, at])
    return Tested(
        first, second, test.difference, test.pairs, test.p, adjusted, verdict, lower,
        unscored=len(scored.first) - test.pairs,
        detectable=detectable(test.spread, test.pairs),
        needed=questions_needed(difference, test.known_spread),
    )  # fmt: skip


def _means(first: ScoreMatrix, second: ScoreMatrix) -> tuple[float, float]:
    """Over the questions that both have a score for."""
    both = ~(np.isnan(first) | np.isnan(second))
    return mean(first[both]), mean(second[both])


def _by_type(scored: Scored, seed: int) -> dict[str, dict[str, Difference]]:
    table = differences(scored.first, scored.second)
    found: dict[str, dict[str, Difference]] = {}
    for type, rows in scored.pairing.of_types().items():
        own = table[rows]
        found[type] = {
            name: Difference(
                *_means(scored.first[rows, at], scored.second[rows, at]),
                interval,
                int((~np.isnan(own[:, at])).sum()),
            )
            for at, (name, interval) in enumerate(
                zip(scored.metrics, intervals(own, seed=seed, bounds=BOUNDS), strict=True)
            )
            if interval is not None
        }
    return found


def _changed(
    scored: Scored, metric: str, lower: Lower
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Those that the first run answers better, and those that the second does."""
    at = scored.metrics.index(metric)
    first, second = scored.first[:, at], scored.second[:, at]
    gain = differences(first, second)
    gain = -gain if lower(metric) else gain

    def most(gain: ScoreMatrix) -> tuple[Change, ...]:
        # NaN is not above 0, and equal changes stay in the order of the questions.
        rows = [row for row in np.argsort(-gain, kind="stable").tolist() if gain[row] > 0]
        asked = scored.pairing.runs[0]
        return tuple(
            Change(asked[row].id, asked[row].text, float(first[row]), float(second[row]))
            for row in rows[:CHANGED]
        )

    return most(-gain), most(gain)
