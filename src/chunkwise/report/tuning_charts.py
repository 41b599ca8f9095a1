"""Charts of a sweep: recall by budget, levers, sizes, quality against cost, fitted weights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import isfinite

from chunkwise.base.wording import format_number
from chunkwise.evaluation.cost import cost_label
from chunkwise.evaluation.results import Figure
from chunkwise.metrics.registry import lower_is_better
from chunkwise.report.evaluation_report import estimate_of
from chunkwise.report.report import (
    Axis,
    Chart,
    Column,
    Estimate,
    Level,
    Note,
    Point,
    ReportPart,
    Section,
    Series,
    ValueTable,
)
from chunkwise.report.svg import MOST_SERIES
from chunkwise.report.tuning_figures import SweepFigures, cost_of
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import Outcome

_MOST_POINTS = 1000
"""Of more, the best."""


def budget_section(figures: SweepFigures) -> Iterator[Section]:
    """Recall over the tokens a question may be given: the choice, the defaults, the best of every retriever."""
    budgets = figures.budgets
    if len(budgets) < 2:
        return
    metrics = [f"recall@{budget}t" for budget in budgets]
    series = []
    for name, outcome in _compared(figures)[:MOST_SERIES]:
        measured = zip(budgets, figures.figures(outcome, metrics), strict=True)
        points = [
            Point(format_number(budget, "count"), estimate_of(figure))
            for budget, figure in measured
            if figure
        ]
        if points:
            series.append(Series(name, tuple(points), is_line=True))
    if series:
        tokens = Axis("context tokens per question")
        title = f"Recall by token budget, {figures.reported_on}"
        chart = Chart(title, "lines", tokens, Axis("recall", "score"), tuple(series))
        yield Section("Token budgets", (chart,), detail=True)


def _compared(figures: SweepFigures) -> list[tuple[str, Outcome]]:
    """Each once, under all the names it goes by."""
    names: dict[str, list[str]] = {}
    for outcome in figures.choice_and_defaults():
        names[outcome.configuration.key] = [figures.name_of(outcome)]
    seen: set[str] = set()
    for outcome in figures.best_first():
        retriever = outcome.configuration.retriever.split("(", 1)[0]
        if retriever not in seen and not outcome.error:
            seen.add(retriever)
            names.setdefault(outcome.configuration.key, []).append(f"best {retriever}")
    return [
        (f"{', '.join(known)}: {figures.outcomes[key].configuration.label}", figures.outcomes[key])
        for key, known in names.items()
    ]


def lever_section(figures: SweepFigures) -> Iterator[Section]:
    """How far the best and the worst value of each lever lie apart, and the mean of every value."""
    levers = sorted(figures.tuning.levers, key=lambda lever: (-abs(lever.effect), lever.name))
    if not levers:
        return
    points = tuple(
        Point(
            lever.name,
            Estimate(lever.effect, lever.low, lever.high),
            level="good" if lever.moves else "tie",
        )
        for lever in levers
    )
    chart = Chart(
        f"Effect on {figures.objective}: best value minus worst", "rows", Axis("lever"),
        Axis("best minus worst", figures.change), (Series("", points),),
    )  # fmt: skip
    rows = tuple(
        (lever.name, level.value or "none", level.mean, level.configurations)
        for lever in levers
        for level in lever.levels
    )
    columns = (
        Column("lever", is_filter=True), Column("value"), Column(figures.objective, figures.kind, is_drawn=True),
        Column("configurations", 'count'),
    )  # fmt: skip
    table = ValueTable(columns, rows, "Mean by value", "value")
    lead = (
        "Averages over all configurations with a value. Filled: significant effect; hollow: "
        "inconclusive. The 95% intervals hold jointly for all hyperparameters."
    )
    yield Section("Levers", (chart, table), lead, detail=True)


BySize = Mapping[str, Mapping[str, Mapping[str, Figure]]]
"""Figures by strategy, overlap and size."""


def size_section(figures: SweepFigures) -> Iterator[Section]:
    """Quality over size, all else as in the best configuration that has chunks."""
    like = _reference(figures)
    result = _by_size(figures, like) if like else {}
    lines_of = [line for lines in result.values() for line in lines.values()]
    sizes = sorted({size for line in lines_of for size in line}, key=value_order)
    if like is None or len(sizes) < 2:
        return
    # Sizes of one unit need not say it.
    units = {size.partition(" ")[2] for size in sizes}
    unit = units.pop() if len(units) == 1 else ""
    quality = Axis(figures.objective, figures.kind)
    charts = []
    for strategy in sorted(result):
        lines = tuple(
            Series(
                f"overlap {overlap or 'none'}",
                tuple(_size_point(size, unit, result[strategy][overlap]) for size in sizes),
                is_line=True,
            )
            for overlap in sorted(result[strategy], key=value_order)[:MOST_SERIES]
        )
        charts.append(
            Chart(strategy or "chunks", "lines", Axis(unit or "size"), quality, lines, is_half=True)
        )
    same = [like.retriever, *(["headings with the text"] if like.context == "headings" else [])]
    same += [f"{like.vectors} vectors"] if like.vectors != "none" else []
    same += [f"neighbors {like.neighbors}"] if like.neighbors else []
    lead = f"{figures.objective} {figures.reported_on}; {', '.join(same)} in all of them."
    yield Section("Chunk size", tuple(charts), lead, is_beside=True, detail=True)


def _size_point(size: str, unit: str, line: Mapping[str, Figure]) -> Point:
    name = size.partition(" ")[0] if unit else size
    return Point(name, estimate_of(line[size]) if size in line else Estimate(None))


def _reference(figures: SweepFigures) -> Configuration | None:
    """The choice, or the best that has chunks where the choice has none."""
    for outcome in [*([figures.chosen] if figures.chosen else []), *figures.best_first()]:
        if outcome.configuration.strategy and not outcome.error:
            return outcome.configuration
    return None


def _by_size(figures: SweepFigures, like: Configuration) -> BySize:
    alike = [
        outcome.configuration
        for outcome in figures.best_first()
        if outcome.configuration.strategy and _rest(outcome.configuration) == _rest(like)
    ]
    # A default with a size or an overlap of its own would be a dot without a line.
    varied = {_size(item) for item in alike if not item.baseline}
    result: dict[str, dict[str, dict[str, Figure]]] = defaultdict(lambda: defaultdict(dict))
    for configuration in alike:
        figure, (size, overlap) = figures.quality(configuration.key), _size(configuration)
        if figure and figure.mean is not None and size and (size, overlap) in varied:
            strategy = configuration.levers.get("boundaries", "")
            result[strategy][overlap].setdefault(size, figure)
    return result


def _rest(configuration: Configuration) -> tuple[object, ...]:
    return (
        configuration.retriever,
        configuration.context,
        configuration.neighbors,
        configuration.vectors,
    )


def _size(configuration: Configuration) -> tuple[str, str]:
    return configuration.levers.get("size", ""), configuration.levers.get("overlap", "")


def value_order(value: str) -> tuple[float, str]:
    """Numbers by their size, none before them, words behind them."""
    digits = "0" if value == "none" else value.split(" ", 1)[0].replace(",", "").rstrip("%")
    is_number = digits.isascii() and digits.isdigit()
    return (float(digits), value) if is_number else (float("inf"), value)


def cost_section(figures: SweepFigures) -> Iterator[Section]:
    """Every configuration over the storage it needs and over the context it hands on."""
    # Within a budget all read as much.
    costs = ["storage", *(["context_tokens"] if figures.budget is None else [])]
    charts = [chart for cost in costs for chart in _cost_chart(figures, cost)]
    if charts:
        lead = (
            "The line is the Pareto front: no configuration is both better and cheaper. "
            "Validation questions."
        )
        yield Section("Trade-off", tuple(charts), lead, detail=True)


def _cost_chart(figures: SweepFigures, cost: str) -> Iterator[Chart]:
    points = {}
    for standing in figures.tuning.standings[:_MOST_POINTS]:
        value = cost_of(figures.outcomes.get(standing.key), cost)
        if value is not None and isfinite(value) and standing.validation.mean is not None:
            # Intervals would hide the marks.
            points[standing.key] = Point(value, Estimate(standing.validation.mean), standing.label)
    if len(points) < 2:
        return
    series = [
        Series("others", tuple(points.values()), is_faint=True),
        Series("front", _front(list(points.values()), figures.objective), is_line=True),
    ]
    for outcome in figures.choice_and_defaults()[:3]:
        if point := points.get(outcome.configuration.key):
            name = figures.name_of(outcome)
            series.append(Series(name, (Point(point.x, point.y, name),)))
    yield Chart(
        f"{figures.objective} over {cost_label(cost)}", "points", Axis(cost_label(cost), 'number'),
        Axis(figures.objective, figures.kind), tuple(series),
    )  # fmt: skip


def _front(points: list[Point], objective: str) -> tuple[Point, ...]:
    """Those that nothing is both better and cheaper than, the cheapest first."""
    sign = -1 if lower_is_better(objective) else 1
    front, best = [], float("-inf")
    ranked = [(float(point.x), sign * (point.y.value or 0.0), point) for point in points]
    for cost, quality, point in sorted(ranked, key=lambda known: (known[0], -known[1])):
        if quality > best:
            best = quality
            front.append(Point(cost, point.y))
    return tuple(front)


def vector_section(figures: SweepFigures) -> Iterator[Section]:
    """The weights of several sizes that were tried."""
    parts: list[ReportPart] = []
    if fit := figures.tuning.fit:
        levels: dict[str, Level] = {fit.kept: "good"}
        points = tuple(
            Point(label, Estimate(mean), level=levels.get(label, "tie"))
            for label, mean in fit.tried
        )
        weights = Axis(f"mean {figures.objective}, validation", figures.kind)
        title = "Multi-scale weights"
        chart = Chart(title, "rows", Axis("weights"), weights, (Series("", points),), is_half=True)
        parts += [*([chart] if points else []), Note(fit.why)]
    if parts:
        yield Section("Vectors", tuple(parts), detail=True)
