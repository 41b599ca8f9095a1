"""Every configuration of a sweep in a row, the best on validation first; or what can be compared without questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chunkwise.evaluation.results import Figure
from chunkwise.report.charts import Scale, scale_of
from chunkwise.report.views.sweep_charts import (
    SweepFigures,
    cost_of,
    interval_words,
    mean_words,
    value_order,
)
from chunkwise.tuning.sweep_result import Outcome, Standing

_MOST = 1000
"""Rows; whoever sweeps more finds the others in the results."""


@dataclass(frozen=True, slots=True)
class Leader:
    """One configuration among the others."""

    place: int
    label: str
    is_chosen: bool
    is_tied: bool
    is_on_front: bool
    baseline: str
    """Which common default it is; empty: none."""
    aside: str
    """Why it is listed and not chosen from; empty: it takes part."""
    validation: Figure
    test: Figure | None
    expected: float | None
    """On questions not asked yet: the mean with its noise shrunk, which decides."""
    best_share: float
    """Of the resamples, in how many it is the best."""
    storage: float | None
    context: float | None
    levers: tuple[int | None, ...]
    """The number of its value of each filter."""

    @property
    def kinds(self) -> list[str]:
        """Words for what filters show and styles mark."""
        so = (
            ("chosen", self.is_chosen),
            ("tied", self.is_tied),
            ("baseline", self.baseline),
            ("pareto", self.is_on_front),
        )
        return [name for name, is_so in so if is_so]

    @property
    def description(self) -> str:
        """Both figures, for those who hear the drawing."""
        text = f"validation {mean_words(self.validation)} ({interval_words(self.validation)})"
        if self.test:
            text += f", test {mean_words(self.test)} ({interval_words(self.test)})"
        return text


@dataclass(frozen=True, slots=True)
class FilterOption:
    """One value of a lever that was tried."""

    number: int
    label: str


@dataclass(frozen=True, slots=True)
class LeverFilter:
    """A lever with more than one value."""

    name: str
    options: tuple[FilterOption, ...]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The table of configurations, both figures of each on one scale."""

    rows: tuple[Leader, ...]
    scale: Scale
    filters: tuple[LeverFilter, ...]
    more: int
    """Configurations that are not among the rows, all of them worse."""

    def first(self, count: int) -> Leaderboard:
        """The first rows alone, on a scale of their own and without filters."""
        rows = tuple(replace(row, levers=()) for row in self.rows[:count])
        return replace(self, rows=rows, scale=_scale(rows), filters=())


@dataclass(frozen=True, slots=True)
class ChunkingRow:
    """A chunking without questions: its cuts and what it costs."""

    strategy: str
    has_headings: bool
    baseline: str
    issue_share: float | None
    chunks: float | None
    mean_tokens: float | None
    median_tokens: float | None
    storage: float | None

    @property
    def name(self) -> str:
        return self.strategy + (" · headings" if self.has_headings else "")


def leaderboard(figures: SweepFigures) -> Leaderboard | None:
    """None: nothing has a figure."""
    standings = figures.tuning.standings
    if all(each.validation.mean is None for each in standings):
        return None
    shown = standings[:_MOST]
    numbers = _varied(figures, shown)
    rows = tuple(_leader(figures, place, each, numbers) for place, each in enumerate(shown, 1))
    filters = tuple(
        LeverFilter(
            name,
            tuple(
                FilterOption(values[value], value or "(none)")
                for value in sorted(values, key=value_order)
            ),
        )
        for name, values in numbers.items()
    )
    return Leaderboard(rows, _scale(rows), filters, len(standings) - len(shown))


def _varied(figures: SweepFigures, shown: Sequence[Standing]) -> dict[str, dict[str, int]]:
    """What was varied, each value with a number; nothing that has one value only."""
    numbers: dict[str, dict[str, int]] = {}
    for each in shown:
        outcome = figures.outcomes.get(each.key)
        for name, value in outcome.configuration.levers.items() if outcome else ():
            values = numbers.setdefault(name, {})
            values.setdefault(value, len(values))
    return {name: values for name, values in numbers.items() if len(values) > 1}


def _leader(
    figures: SweepFigures, place: int, standing: Standing, numbers: dict[str, dict[str, int]]
) -> Leader:
    outcome = figures.outcomes.get(standing.key)
    levers = outcome.configuration.levers if outcome else {}
    return Leader(
        place=place,
        label=standing.label,
        is_chosen=standing.key == figures.tuning.chosen,
        is_tied=standing.tied,
        is_on_front=standing.pareto,
        baseline=outcome.configuration.baseline if outcome else "",
        aside=standing.aside,
        validation=standing.validation,
        test=standing.test,
        expected=standing.expected,
        best_share=standing.best_share,
        storage=cost_of(outcome, "storage") if outcome else None,
        context=cost_of(outcome, "context_tokens") if outcome else None,
        levers=tuple(
            values.get(levers.get(name, "")) if outcome else None
            for name, values in numbers.items()
        ),
    )


def _scale(rows: Sequence[Leader]) -> Scale:
    known = [figure for each in rows for figure in (each.validation, each.test) if figure]
    return scale_of((end for each in known for end in (each.mean, each.low, each.high)), 4)


def chunkings(figures: SweepFigures) -> tuple[ChunkingRow, ...]:
    """Each chunking once, in the order of the standings; empty where questions tell more."""
    if any(each.validation.mean is not None for each in figures.tuning.standings):
        return ()
    first_of: dict[tuple[str, str], Outcome] = {}
    for each in figures.best_first():
        if each.configuration.strategy:
            first_of.setdefault((each.configuration.strategy, each.configuration.context), each)
    return tuple(_chunking(each) for each in first_of.values())


def _chunking(outcome: Outcome) -> ChunkingRow:
    configuration = outcome.configuration
    chunks, hurt = cost_of(outcome, "chunks"), outcome.boundary_issues.get("chunks_with_issues")
    return ChunkingRow(
        configuration.strategy,
        configuration.context == "headings",
        configuration.baseline,
        hurt / chunks if chunks and hurt is not None else None,
        chunks,
        cost_of(outcome, "mean_tokens"),
        cost_of(outcome, "median_tokens"),
        cost_of(outcome, "storage"),
    )
