"""Runs on the same questions, each against the first: differences, intervals, tests, and words for them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from string import ascii_lowercase

import numpy as np

from chunkwise.base.errors import InvalidParameter
from chunkwise.evaluation.comparing.comparable import warnings_of
from chunkwise.evaluation.comparing.comparison import Best, Comparison, Run
from chunkwise.evaluation.comparing.contrast import Lower, Scored, contrast
from chunkwise.evaluation.comparing.pairing import common_metrics, pair
from chunkwise.evaluation.comparing.whole_figures import whole_figures
from chunkwise.evaluation.direction import lower_is_better
from chunkwise.evaluation.files.results_file import read_results
from chunkwise.evaluation.results import Results
from chunkwise.stats.paired import SIGNIFICANCE, Ties, holm
from chunkwise.stats.paired import ties as find_ties

Test = tuple[str, frozenset[str]]
"""A metric and the two runs it is tested on."""


def compare(
    runs: Sequence[Results | str | os.PathLike[str]],
    *,
    metrics: Sequence[str] | None = None,
    sources: Sequence[str] = (),
    lower: Lower = lower_is_better,
    seed: int = 0,
) -> Comparison:
    """Compare runs, or files of results, on the questions they share; `sources`: what tables call them.

    Each is held against the first, metric by metric, and of several against the best. Holm's correction is over all
    these tests together, metrics and runs: whoever looks through a table for a difference finds one by chance the
    more easily the longer it is. Fewer `metrics` show smaller differences.
    """
    if len(runs) < 2:
        raise InvalidParameter(f"{len(runs)} run; a comparison needs two or more")
    if sources and len(sources) != len(runs):
        raise InvalidParameter(
            f"{len(sources)} sources of {len(runs)} runs; name one file a run, or none"
        )
    if not sources and all(isinstance(run, str | os.PathLike) for run in runs):
        sources = [os.fspath(run) for run in runs if isinstance(run, str | os.PathLike)]
    found_runs = [run if isinstance(run, Results) else read_results(os.fspath(run)) for run in runs]
    return _compared(found_runs, metrics, sources, lower, seed)


def _compared(
    runs: Sequence[Results],
    metrics: Sequence[str] | None,
    sources: Sequence[str],
    lower: Lower,
    seed: int,
) -> Comparison:
    names = [run_name(at) for at in range(len(runs))]
    others = range(1, len(runs))
    scored = [Scored.of((runs[0], runs[at]), (names[0], names[at]), metrics, seed) for at in others]
    ties = _ties(runs, names, scored, lower, seed) if len(runs) > 2 else {}
    tests = {_test(name, *each.names): p for each in scored for name, p in each.p.items()}
    for metric, found in ties.items():
        for name, p in zip(names, found.alone, strict=True):
            if name != names[found.best]:
                tests.setdefault(_test(metric, name, names[found.best]), p)
    adjusted = dict(zip(tests, holm(list(tests.values())), strict=True))
    return Comparison(
        tuple(
            Run(name, run.label, len(run.questions), source)
            for name, run, source in zip(names, runs, sources or [""] * len(runs), strict=True)
        ),
        tuple(
            contrast(
                each, {name: adjusted[_test(name, *each.names)] for name in each.p}, lower, seed
            )
            for each in scored
        ),
        {metric: _best(metric, found, names, adjusted) for metric, found in ties.items()},
        len(tests),
        whole_figures(runs),
        tuple(
            told for at in others for told in warnings_of(runs[0], runs[at], (names[0], names[at]))
        ),
    )


def _test(metric: str, one: str, other: str) -> Test:
    """Two runs by one metric, whichever comes first."""
    return metric, frozenset((one, other))


def run_name(at: int) -> str:
    """a, b, c …; past z with a number: a2."""
    turn, letter = divmod(at, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(turn + 1) if turn else "")


def _ties(
    runs: Sequence[Results],
    names: Sequence[str],
    scored: Sequence[Scored],
    lower: Lower,
    seed: int,
) -> dict[str, Ties]:
    """By each metric that all have, on the questions that all have."""
    compared = {metric for each in scored for metric in each.metrics}
    wanted = [metric for metric in common_metrics(runs) if metric in compared]
    pairing = pair(runs, names)
    tables = [pairing.scores(run, wanted) for run in range(len(runs))]
    found: dict[str, Ties] = {}
    for at, metric in enumerate(wanted):
        scores = np.column_stack([table[:, at] for table in tables])
        own = find_ties(scores, lower_is_better=lower(metric), seed=seed)
        if own is not None:
            found[metric] = own
    return found


def _best(metric: str, found: Ties, names: Sequence[str], adjusted: Mapping[Test, float]) -> Best:
    best = names[found.best]
    tied = (
        name for name in names if name == best or adjusted[_test(metric, name, best)] > SIGNIFICANCE
    )
    shares = dict(zip(names, found.best_share, strict=True))
    return Best(best, tuple(tied), shares, found.questions, found.needed)
