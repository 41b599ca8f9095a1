"""Runs against each other on the same questions: paired, tested, corrected."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted, shown
from chunkwise.evaluation.comparison_result import (
    NO_DIFFERENCE,
    Best,
    Change,
    Comparison,
    Contrast,
    MetricDifference,
    Pairing,
    Run,
    Tested,
    check_common,
    chosen_metrics,
    common_metrics,
    pair,
    whole_figures,
)
from chunkwise.evaluation.results import Json, Results, positions_by, read_results
from chunkwise.metrics.judges.judge import LLM
from chunkwise.metrics.judges.relevance_judges import SimilarityJudge
from chunkwise.metrics.registry import lower_is_better, metric_of
from chunkwise.models import DEFAULT as DEFAULT_MODEL
from chunkwise.stats.intervals import OUTSIDE, Interval, ScoreMatrix, mean
from chunkwise.stats.paired import (
    SIGNIFICANCE,
    PairedDifference,
    Ties,
    detectable,
    differences,
    holm,
    holm_shares,
    paired_differences,
    questions_needed,
)
from chunkwise.stats.paired import ties as find_ties
from chunkwise.testsets.testset import QuestionCounts
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER


def warnings_of(first: Results, second: Results, names: tuple[str, str]) -> list[str]:
    """A sentence for each thing that differs and should not."""
    a, b = names
    warnings = [
        f"{a} and {b} have different {what}, which may cause a difference"
        for what in changed_data(first, second)
    ]
    warnings += _amounts(first, second, names)
    warnings += changed_rules(first, second, names)
    if first.questions and first.questions == second.questions:
        warnings.append(f"{a} and {b} have identical hits for every question: is one a copy?")
    return warnings


def changed_data(first: Results, second: Results) -> list[str]:
    """Which of documents and questions are others in the second run."""
    return [
        what
        for what in ("documents", "questions")
        if _fingerprint(first, what) != _fingerprint(second, what)
    ]


def changed_rules(first: Results, second: Results, names: tuple[str, str]) -> list[str]:
    """A sentence for each thing that scores are made with and that is another in the second run."""
    a, b = names
    rules = _rules(first), _rules(second)
    return [
        f"{key} differs ({a}: {_or_none(one)}, {b}: {_or_none(other)}): scores aren't comparable"
        for key in rules[0]
        # What is asked of one run alone is compared with nothing.
        if key in rules[1] and (one := rules[0][key]) != (other := rules[1][key])
    ]


def _amounts(first: Results, second: Results, names: tuple[str, str]) -> list[str]:
    """Where one may return more than the other."""
    one, other = _amount(first), _amount(second)
    if one == other:
        return []
    a, b = names
    return [
        f"{a} returns {one}, {b} {other}, and more context raises recall; compare at equal "
        f"size, or recall at a token budget (-m recall@1000t)"
    ]


def _amount(run: Results) -> str:
    budget = run.configuration.get("budget")
    if budget is None:
        return f"{_or_none(run.configuration.get('k'))} hits per question"
    return f"up to {shown(budget)} tokens per question"


def _rules(run: Results) -> Mapping[str, Json]:
    """What scores are made with; a file of another system's hits names no tokenizer and no model: the usual ones."""
    asked = run.configuration
    rules = {key: asked.get(key) for key in ("unit", "relevance_threshold")}
    rules["tokenizer"] = asked.get("tokenizer") or DEFAULT_TOKENIZER
    declared = [metric for name in run.summary if (metric := metric_of(name))]
    if any(metric.judge == SimilarityJudge.name for metric in declared):
        rules["similarity_threshold"] = asked.get("similarity_threshold")
        rules["judge model"] = asked.get("judge_model") or asked.get("embedder") or DEFAULT_MODEL
    if any(metric.asks == LLM for metric in declared):
        rules["language model"] = asked.get("llm")
        rules["prompts"] = asked.get("judge_prompts")
    return rules


def _fingerprint(results: Results, what: str) -> Json:
    """The hash, where there is one."""
    value = results.data.get(what)
    return value.get("hash", value) if isinstance(value, dict) else value


def _or_none(value: Json) -> str:
    return "none" if value is None else str(value)


CHANGED = 5
"""Questions that changed most, in either direction."""


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
    ) -> Scored:
        """By the metrics that both have; `metrics`: by these of them."""
        there, pairing = common_metrics(results), pair(results, names)
        check_common(results, names, pairing, there)
        wanted = there if metrics is None else chosen_metrics(there, metrics)
        first, second = (pairing.scores(run, wanted) for run in (0, 1))
        tests = paired_differences(first, second)
        return cls(names, results, pairing, wanted, first, second, tests)

    @property
    def p(self) -> dict[str, float]:
        """By metric, of those that can be tested."""
        return {
            name: test.p
            for name, test in zip(self.metrics, self.tests, strict=True)
            if test is not None
        }

    def corrected(self, outside: Mapping[str, float]) -> dict[str, Interval]:
        """By metric, intervals that leave out as much as the correction leaves to each."""
        shares = [outside.get(name, OUTSIDE) for name in self.metrics]
        result = paired_differences(self.first, self.second, outside=shares)
        return {
            name: own.difference
            for name, own in zip(self.metrics, result, strict=True)
            if own is not None
        }


class Correction(NamedTuple):
    """What Holm's procedure makes of one test."""

    adjusted: float
    """The p-value that is compared with 0.05."""
    outside: float
    """What the interval leaves out that says the same."""


def contrast(scored: Scored, holm: Mapping[str, Correction]) -> Contrast:
    """Everything about two runs; `holm` has the corrections by metric."""
    first, second = scored.results
    wide = scored.corrected({name: row.outside for name, row in holm.items()})
    tested = {
        name: _tested(scored, at, test, holm[name], wide[name])
        for at, (name, test) in enumerate(zip(scored.metrics, scored.tests, strict=True))
        if test is not None
    }
    objective = first.objective if first.objective in tested else next(iter(tested), "")
    changed = changed_questions(scored, objective) if objective else ((), ())
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
        by_type=_by_type(scored),
        objective=objective,
        first_better=changed[0],
        second_better=changed[1],
    )


def _tested(
    scored: Scored,
    at: int,
    test: PairedDifference,
    holm: Correction,
    corrected: Interval,
) -> Tested:
    lower = lower_is_better(scored.metrics[at])
    difference = test.difference.mean
    verdict = NO_DIFFERENCE
    # The interval and p agree about this; of both, the interval is what is drawn.
    if corrected.leaves_out_zero:
        verdict = f"{scored.names[(difference > 0) != lower]} is better"
    first, second = _means(scored.first[:, at], scored.second[:, at])
    return Tested(
        first, second, test.difference, test.pairs,
        corrected=corrected, confidence=1 - holm.outside, p=test.p, adjusted=holm.adjusted,
        verdict=verdict, lower_is_better=lower,
        unscored=len(scored.first) - test.pairs,
        detectable=detectable(test.spread, test.pairs, test.reach),
        needed=questions_needed(difference, test.known_spread, test.reach),
    )  # fmt: skip


def _means(first: ScoreMatrix, second: ScoreMatrix) -> tuple[float, float]:
    """Over the questions that both have a score for."""
    both = ~(np.isnan(first) | np.isnan(second))
    return mean(first[both]), mean(second[both])


def _by_type(scored: Scored) -> dict[str, dict[str, MetricDifference]]:
    result: dict[str, dict[str, MetricDifference]] = {}
    types = positions_by(question.types for question in scored.pairing.runs[0])
    for type, rows in sorted(types.items()):
        first, second = scored.first[rows], scored.second[rows]
        result[type] = {
            name: MetricDifference(*_means(first[:, at], second[:, at]), own.difference, own.pairs)
            for at, (name, own) in enumerate(
                zip(scored.metrics, paired_differences(first, second), strict=True)
            )
            if own is not None
        }
    return result


def changed_questions(
    scored: Scored, metric: str, most: int = CHANGED
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Those that the first run answers better, and those that the second does, `most` of each."""
    at = scored.metrics.index(metric)
    first, second = scored.first[:, at], scored.second[:, at]
    gain = differences(first, second)
    gain = -gain if lower_is_better(metric) else gain

    def largest(gain: ScoreMatrix) -> tuple[Change, ...]:
        # NaN is not above 0, and equal changes stay in the order of the questions.
        rows = [row for row in np.argsort(-gain, kind="stable").tolist() if gain[row] > 0]
        asked = scored.pairing.runs[0]
        return tuple(
            Change(asked[row].id, asked[row].text, float(first[row]), float(second[row]))
            for row in rows[:most]
        )

    return largest(-gain), largest(gain)


Test = tuple[str, frozenset[str]]
"""A metric and the two runs it is tested on."""


RunLike = Results | str | os.PathLike[str]
"""What `evaluate` gave, or the path of its file."""


def compare(
    *runs: RunLike | Sequence[RunLike],
    metrics: Sequence[str] | None = None,
    sources: Sequence[str] = (),
) -> Comparison:
    """Compare runs on the questions they share, with paired tests.

    Each run is compared with the first and, if there are three or more, with the best. Holm's correction covers all
    tests.

    Args:
        runs: Results, saved runs or result files; or one list of them.
        metrics: Metrics to compare [default: all]; fewer metrics detect smaller differences.
        sources: Names of the runs.

    Returns:
        Differences with confidence intervals, p-values and a verdict for each metric.

    Raises:
        ChunkwiseError: The runs share no question or no metric.

    Example:
        >>> print(chunkwise.compare("before.json", "after.json"))
    """
    wanted = [metrics] if isinstance(metrics, str) else metrics
    given = _runs(runs)
    if sources and len(sources) != len(given):
        raise InvalidParameter(
            f"{len(sources)} sources for {counted(len(given), 'run')}; expected one per run, or "
            "none"
        )
    if not sources and not any(isinstance(run, Results) for run in given):
        sources = [os.fspath(run) for run in given if not isinstance(run, Results)]
    return compare_results(read_runs(given), wanted, sources)[0]


def read_runs(given: Sequence[RunLike | Sequence[RunLike]]) -> list[Results]:
    """Results as they are, files read; one after the other, or all in one list."""
    return [
        run if isinstance(run, Results) else read_results(os.fspath(run)) for run in _runs(given)
    ]


def _runs(given: Sequence[RunLike | Sequence[RunLike]]) -> list[RunLike]:
    """One after the other, or all in one list; an error says what is no run."""
    kinds = (Results, str, os.PathLike)
    # Of a list with runs beside it, the list is what is wrong.
    alone = given[0] if len(given) == 1 else given
    if isinstance(alone, kinds) or not isinstance(alone, Iterable):
        alone = given
    runs: list[RunLike] = []
    for number, run in enumerate(alone, 1):
        if not isinstance(run, kinds):
            raise InvalidParameter(
                f"run {number} is {_short(run)}; expected results of "
                "chunkwise.evaluate(), or the path of their file: "
                'compare(before, after), or compare("a.json", "b.json", metrics=["recall@5"])'
            )
        runs.append(run)
    if len(runs) < 2:
        raise InvalidParameter(
            f"{counted(len(runs), 'run')} given; a comparison needs at least two: "
            "compare(before, after)"
        )
    return runs


def _short(value: object) -> str:
    return f"{shown(value, 60)} ({type(value).__name__})"


def compare_results(
    runs: Sequence[Results],
    metrics: Sequence[str] | None,
    sources: Sequence[str] = (),
) -> tuple[Comparison, list[Scored]]:
    """The comparison, and the scores of each run beside those of the first."""
    names = [run_name(at) for at in range(len(runs))]
    others = range(1, len(runs))
    scored = [Scored.of((runs[0], runs[at]), (names[0], names[at]), metrics) for at in others]
    ties = _ties(runs, names, scored) if len(runs) > 2 else {}
    tests = {_test(name, *item.names): p for item in scored for name, p in item.p.items()}
    for metric, found in ties.items():
        for name, p in zip(names, found.alone, strict=True):
            if name != names[found.best]:
                tests.setdefault(_test(metric, name, names[found.best]), p)
    every = list(tests.values())
    corrected = dict(zip(tests, map(Correction, holm(every), holm_shares(every)), strict=True))
    comparison = Comparison(
        tuple(
            Run(name, run.label, len(run.questions), source)
            for name, run, source in zip(names, runs, sources or [""] * len(runs), strict=True)
        ),
        tuple(
            contrast(item, {name: corrected[_test(name, *item.names)] for name in item.p})
            for item in scored
        ),
        {metric: _best(metric, found, names, corrected) for metric, found in ties.items()},
        len(tests),
        whole_figures(runs),
        (
            *(
                warning
                for at in others
                for warning in warnings_of(runs[0], runs[at], (names[0], names[at]))
            ),
            *dict.fromkeys(
                note for run in runs if (note := QuestionCounts.of(run.data.get("questions")).note)
            ),
        ),
    )
    return comparison, scored


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
) -> dict[str, Ties]:
    """By each metric that all have, on the questions that all have."""
    compared = {metric for item in scored for metric in item.metrics}
    wanted = [metric for metric in common_metrics(runs) if metric in compared]
    pairing = pair(runs, names)
    tables = [pairing.scores(run, wanted) for run in range(len(runs))]
    ties: dict[str, Ties] = {}
    for at, metric in enumerate(wanted):
        scores = np.column_stack([table[:, at] for table in tables])
        own = find_ties(scores, lower_is_better=lower_is_better(metric))
        if own is not None:
            ties[metric] = own
    return ties


def _best(
    metric: str, ties: Ties, names: Sequence[str], corrected: Mapping[Test, Correction]
) -> Best:
    best = names[ties.best]
    tied = (
        name
        for name in names
        if name == best or corrected[_test(metric, name, best)].adjusted > SIGNIFICANCE
    )
    shares = dict(zip(names, ties.best_share, strict=True))
    return Best(best, tuple(tied), shares, ties.questions, ties.needed)
