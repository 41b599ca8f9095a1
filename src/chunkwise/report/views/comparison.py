"""What is shown of a comparison: first the objective, the four questions and the usual costs, or all there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import ClassVar

from chunkwise.base.wording import counted, listed, number, percent, thousands
from chunkwise.evaluation.comparison_result import (
    CONTEXT,
    NO_DIFFERENCE,
    Comparison,
    Contrast,
    Tested,
)
from chunkwise.evaluation.cost import COSTS, cost_words
from chunkwise.evaluation.verdicts_and_advice import question_of
from chunkwise.metrics.registry import metric_of
from chunkwise.report.charts import Scale, scale_of
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.view import View

_FEW = 8
"""Measures that are all shown."""
_MOST_NAMED = 4
_FIRST_COSTS = frozenset({"chunks", "median_tokens", "storage", "index_bytes", CONTEXT})


@dataclass(frozen=True, slots=True)
class ComparisonView(View):
    """Runs against the first of them, and which measures and figures are drawn."""

    page_template: ClassVar[str] = "comparison.html.j2"
    fragment_template: ClassVar[str] = "fragment_comparison.html.j2"

    comparison: Comparison
    metrics: tuple[str, ...]
    """That are drawn; a line says what the others show."""
    figures: tuple[str, ...]
    """Of whole runs."""
    is_whole: bool
    """Types of questions and every change are shown, too."""

    @property
    def titles(self) -> tuple[str, ...]:
        """What each run is; where several are called the same, with the file they are from, or their letter."""
        runs = self.comparison.runs
        times = Counter(run.label for run in runs)
        names = Counter((run.label, PurePath(run.source).name) for run in runs)
        titles = []
        for run in runs:
            file = PurePath(run.source).name
            # Files of the same name lie in different folders.
            which = (file if names[run.label, file] == 1 else run.source) or run.name
            titles.append(f"{run.label} ({which})" if times[run.label] > 1 else run.label)
        return tuple(titles)

    def figure_words(self, name: str, value: float) -> str:
        return figure_words(name, value)

    @property
    def leaves_out(self) -> bool:
        """Whether there is more than is drawn."""
        every = every_metric(self.comparison)
        return len(self.metrics) < len(every) or len(self.figures) < len(self.comparison.figures)

    @property
    def tested_as(self) -> str:
        """Which test it is, in words."""
        return corrected_words(self.comparison.tests)

    def scale(self, contrast: Contrast) -> Scale:
        """Of the differences of two runs that are drawn; those of figures beyond 1 would leave the others no room."""
        ends = [
            end
            for name in self.metrics
            if (found := contrast.metrics.get(name)) and max(map(abs, found.corrected)) <= 1
            for end in found.corrected
        ]
        return scale_of(ends, zero=True)

    @property
    def shows_all_metrics(self) -> bool:
        return self.is_whole or len(self.metrics) == len(every_metric(self.comparison))


def comparison_view(comparison: Comparison, *, whole: bool = False) -> ComparisonView:
    """`whole`: every measure and every figure, not only those to be looked at first."""
    metrics = every_metric(comparison) if whole else first_metrics(comparison)
    # Measures may be few because the runs have few in common; what they cost is not less for it.
    figures = list(comparison.figures) if whole else first_figures(comparison.figures)
    return ComparisonView(comparison, tuple(metrics), tuple(figures), whole)


def corrected_words(tests: int) -> str:
    """Which test it is, and how the interval belongs to it."""
    sign = "of right and wrong it is the exact sign test"
    if tests == 1:
        return f"a run is better where the 95 % interval leaves out 0, and p says the same ({sign})"
    return (
        f"interval and p after Holm's correction over {counted(tests, 'test')}: a run is better where the interval "
        f"leaves out 0, and p says the same ({sign})"
    )


def every_metric(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(name for each in comparison.contrasts for name in each.metrics))


def first_metrics(comparison: Comparison) -> list[str]:
    """The measures that say whether one run is better; all of them where they are few."""
    every = every_metric(comparison)
    objectives = {each.objective for each in comparison.contrasts}
    first = [name for name in every if name in objectives or question_of(name)]
    return every if len(every) <= _FEW else first


def first_figures(names: Iterable[str]) -> list[str]:
    """Figures of whole runs that answer one of the four questions, or say what a run costs."""
    return [name for name in names if name in _FIRST_COSTS or question_of(name)]


def figure_words(name: str, value: float) -> str:
    """A figure of a whole run: a cost as everywhere, a score with its digits."""
    cost = "context_tokens" if name == CONTEXT else name
    if cost in COSTS:
        return cost_words(cost, value)
    if (metric := metric_of(name)) and metric.as_percent:
        return percent(value)
    # A score of 0 or 1 is no count: what counts so little is among the costs.
    is_count = value.is_integer() and abs(value) > 1
    return thousands(value) if is_count else number(value)


def behind(contrast: Contrast, shown: Iterable[str]) -> list[str]:
    """What the measures that are not shown say: by which of them a run is better, and how many show nothing."""
    rest = {name: each for name, each in contrast.metrics.items() if name not in set(shown)}
    verdicts = dict.fromkeys(each.verdict for each in rest.values())
    sentences = [_by(word, rest) for word in sorted(verdicts) if word != NO_DIFFERENCE]
    if silent := sum(each.verdict == NO_DIFFERENCE for each in rest.values()):
        sentences.append(f"{NO_DIFFERENCE} by {counted(silent, 'measure')}")
    return sentences


def _by(word: str, rest: Mapping[str, Tested]) -> str:
    names = [one_line(name, 40) for name, each in rest.items() if each.verdict == word]
    return f"{word} by {listed(names, _MOST_NAMED)}"
