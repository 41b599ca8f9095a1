"""The charts of a sweep (context, levers, sizes, fitted weights), each with its table, and the figures in them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from chunkwise.base.wording import counted, interval, points, points_between, score, thousands
from chunkwise.evaluation.results import Figure
from chunkwise.report.charts import (
    ACCENT,
    CARD,
    MOST_SERIES,
    SOFT,
    Chart,
    Drawing,
    Look,
    Panel,
    chart,
    label_room,
    rows_panel,
    scale_of,
    series_look,
    span,
)
from chunkwise.report.sanitize import one_line
from chunkwise.stats.intervals import intervals
from chunkwise.tuning.sweep import Configuration, budget_of
from chunkwise.tuning.sweep_result import Lever, Outcome, SweepResult, WeightFit


class SweepFigures:
    """Looked up once, since every part of a view asks."""

    def __init__(self, tuning: SweepResult) -> None:
        self.tuning = tuning
        self.outcomes = {each.configuration.key: each for each in tuning.outcomes}
        self.standings = {each.key: each for each in tuning.standings}
        self.chosen = self.outcomes.get(tuning.chosen)
        self.split = "test" if "test" in tuning.splits else "validation"
        """The questions figures are reported on."""
        self.split_count = sum(split == self.split for split in tuning.splits)
        self.budget = budget_of(tuning.objective)
        """Tokens that the objective allows a question."""

    def best_first(self) -> list[Outcome]:
        """Everything that ran, in the order of its standing; what is only listed comes behind the others."""
        ranked = sorted(self.tuning.standings, key=lambda standing: bool(standing.aside))
        return [self.outcomes[each.key] for each in ranked if each.key in self.outcomes]

    def baselines(self) -> list[Outcome]:
        """One of each common default: the choice, the one the choice is compared with, or the best on validation."""
        found: dict[str, Outcome] = {}
        held = [self.tuning.chosen, *(each.key for each in self.tuning.against)]
        known = [self.outcomes[key] for key in held if key in self.outcomes]
        for each in (*known, *self.best_first()):
            if each.configuration.baseline and not each.error:
                found.setdefault(each.configuration.baseline, each)
        return [found[name] for name in sorted(found)]

    @property
    def context_words(self) -> str:
        """What the tokens of context are called: where the objective has a budget, no more than that is read."""
        most = "" if self.budget is None else f", at most {thousands(self.budget)}"
        return f"tokens of context a question{most}"

    def quality(self, key: str) -> Figure | None:
        """The objective on the questions that count."""
        standing = self.standings.get(key)
        if standing is None:
            return None
        return standing.test if self.split == "test" else standing.validation

    def figures(self, outcome: Outcome, metrics: Sequence[str]) -> list[Figure | None]:
        """Of several metrics on the questions that count; None: not measured."""
        known = [metric for metric in metrics if metric in outcome.scores]
        if not known or not self.split_count:
            return [None] * len(metrics)
        counted = np.array([split == self.split for split in self.tuning.splits])
        table = np.array(
            [[np.nan if score is None else score for score in outcome.scores[name]] for name in known],
            dtype=np.float64,
        ).T[counted]  # fmt: skip
        found = {
            name: Figure(*own, int((~np.isnan(column)).sum()))
            for name, own, column in zip(known, intervals(table), table.T, strict=True)
            if own is not None
        }
        return [found.get(metric) for metric in metrics]

    def short_name(self, outcome: Outcome) -> str:
        """The name of a default, else its label; `chosen` says so."""
        configuration = outcome.configuration
        said = (
            f"{configuration.baseline} · {configuration.retriever}"
            if configuration.baseline
            else configuration.label
        )
        return f"the choice: {said}" if configuration.key == self.tuning.chosen else said


def mean_words(figure: Figure | None) -> str:
    """A mean with three digits; empty where there is none."""
    return "" if figure is None or figure.mean is None else score(figure.mean)


def interval_words(figure: Figure | None) -> str:
    """Its interval; empty where there is none."""
    return "" if figure is None else interval(figure.low, figure.high)


def cost_of(outcome: Outcome, name: str) -> float | None:
    """One number of what a configuration costs; None: it is not known."""
    value = outcome.cost.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


_BUDGET = re.compile(r"recall@(\d+)t")
Curves = list[tuple[str, list[Figure | None]]]
"""Names with a figure a budget."""
_LEVER_WORDS = ["moves it", "no effect shown"]
_COLUMNS = (1, 2, 3, 4, 3)
"""Panels beside each other, by how many there are; the last of these for more."""
BySize = Mapping[str, Mapping[str, Mapping[str, Figure]]]
"""Figures by strategy, then by overlap, then by size."""


def budget_chart(sweep: SweepFigures) -> Chart | None:
    """Recall over the tokens a question may be given: the choice, the defaults, the best of every retriever."""
    budgets = sorted(
        {
            int(found[1])
            for each in sweep.tuning.outcomes
            for name in each.scores
            if (found := _BUDGET.fullmatch(name))
        }
    )
    shown = [
        (name, figures)
        for name, outcome in _compared(sweep)[:MOST_SERIES]
        if any(figures := sweep.figures(outcome, [f"recall@{own}t" for own in budgets]))
    ]
    if len(budgets) < 2 or not shown:
        return None
    within = f"{thousands(budgets[0])} to {counted(budgets[-1], 'token')}"
    caption = f"Recall within {within} of context for {counted(len(shown), 'configuration')}"
    return chart(
        lambda drawing: _curves(shown, budgets, drawing),
        caption,
        ["configuration", *(counted(own, "token") for own in budgets)],
        [
            [one_line(name, 200), *(_numbers(figure) for figure in figures)]
            for name, figures in shown
        ],
    )


def _curves(curves: Curves, budgets: list[int], drawing: Drawing) -> None:
    known = [figure for _, figures in curves for figure in figures if figure]
    y = scale_of([value for own in known for value in (own.mean, own.low, own.high)], 6)
    left = label_room(y)
    # Budgets stand at equal distances: each is about twice the one before.
    panel = Panel(
        drawing, left, 30, drawing.width - left, 240 if drawing.narrow else 320, span(0, len(budgets)), y
    )  # fmt: skip
    panel.y_axis("recall")
    labels = [(at + 0.5, thousands(budget)) for at, budget in enumerate(budgets)]
    panel.x_axis(labels, "tokens of context a question")
    for number, (name, figures) in enumerate(curves):
        look = series_look(number)
        # Beside each other, so that the intervals at one budget can be told apart.
        beside = (0.6 if drawing.narrow else 0.3) * ((number + 0.5) / len(curves) - 0.5)
        places = []
        for at, (budget, figure) in enumerate(zip(budgets, figures, strict=True)):
            if figure is None or figure.mean is None:
                continue
            x = panel.x(at + 0.5 + beside)
            hint = f"{name}, {counted(budget, 'token')}: {_numbers(figure)}"
            places.append((x, panel.y(figure.mean), hint))
            if figure.low is not None and figure.high is not None:
                drawing.line(x, panel.y(figure.low), x, panel.y(figure.high), look.fill)
        _curve_with_signs(drawing, places, look)
    drawing.legend([(name, series_look(at)) for at, (name, _) in enumerate(curves)])


def _curve_with_signs(
    drawing: Drawing, places: Sequence[tuple[float, float, str]], look: Look
) -> None:
    drawing.curve([(x, y) for x, y, _ in places], look.fill, dash=look.dash)
    for x, y, hint in places:
        drawing.sign(x, y, look, hint)


def _compared(sweep: SweepFigures) -> list[tuple[str, Outcome]]:
    """Each once, under all the names it goes by."""
    names: dict[str, list[str]] = {}
    found: dict[str, Outcome] = {}

    def add(outcome: Outcome, name: str) -> None:
        key = outcome.configuration.key
        found[key] = outcome
        names.setdefault(key, []).append(name)

    if sweep.chosen:
        add(sweep.chosen, "the choice")
    for each in sweep.baselines():
        add(each, each.configuration.baseline)
    seen: set[str] = set()
    for each in sweep.best_first():
        retriever = each.configuration.retriever.split("(", 1)[0]
        if retriever not in seen and not each.error:
            seen.add(retriever)
            add(each, f"best {retriever}")
    return [
        (f"{', '.join(own)}: {found[key].configuration.label}", found[key])
        for key, own in names.items()
    ]


def _numbers(figure: Figure | None) -> str:
    return f"{mean_words(figure)} ({interval_words(figure)})" if figure else ""


def lever_chart(levers: Sequence[Lever], objective: str) -> Chart | None:
    """How far the values of each lever lie apart, the strongest first."""
    if not levers:
        return None
    return chart(
        lambda drawing: _effects(levers, drawing),
        f"How many points of {objective} lie between the best and the worst value of each lever",
        ("lever", "points", "95 % interval", ""),
        [
            (
                one_line(lever.name, 60),
                points(lever.effect),
                lever_interval(lever),
                _lever_word(lever),
            )
            for lever in levers
        ],
    )


def _effects(levers: Sequence[Lever], drawing: Drawing) -> None:
    """Full where an effect is shown, hollow where not."""
    ends = [100 * value for lever in levers for value in (lever.effect, lever.low, lever.high)]
    x = scale_of(ends, 5 if drawing.narrow else 10, zero=True)
    panel = rows_panel(drawing, [lever.name for lever in levers], 20, 30, x)
    title = "points between the best and the worst value, with the 95 % interval"
    panel.x_axis(x.labels(), "points" if drawing.narrow else title, grid=True)
    drawing.line(panel.x(0), panel.top, panel.x(0), panel.bottom, SOFT)
    for at, lever in enumerate(levers):
        y = panel.y(-at - 0.5)
        drawing.line(panel.x(100 * lever.low), y, panel.x(100 * lever.high), y, ACCENT, 2)
        hint = f"{lever.name}: {_effect_words(lever)}"
        drawing.sign(panel.x(100 * lever.effect), y, _FULL if lever.moves else _HOLLOW, hint)
    drawing.legend(list(zip(_LEVER_WORDS, (_FULL, _HOLLOW), strict=True)))


_FULL, _HOLLOW = Look(ACCENT, stroke=ACCENT), Look(CARD, stroke=ACCENT)


def _lever_word(lever: Lever) -> str:
    return _LEVER_WORDS[0 if lever.moves else 1]


def _effect_words(lever: Lever) -> str:
    return f"{points(lever.effect)} points, 95 % interval {lever_interval(lever)}"


def lever_interval(lever: Lever) -> str:
    return points_between(lever.low, lever.high)


def size_chart(sweep: SweepFigures) -> Chart | None:
    """Quality over size, all else as in the best configuration that has chunks; None where no size was varied."""
    like = reference(sweep)
    if like is None:
        return None
    alike = [each.configuration for each in sweep.best_first() if _alike(each.configuration, like)]
    # A default of a size or an overlap of its own would be a dot without a line.
    varied = {_point(each) for each in alike if not each.baseline}
    found: dict[str, dict[str, dict[str, Figure]]] = defaultdict(lambda: defaultdict(dict))
    for each in alike:
        figure, (size, overlap) = sweep.quality(each.key), _point(each)
        if figure and figure.mean is not None and size and (size, overlap) in varied:
            found[each.levers.get("boundaries", "")][overlap].setdefault(size, figure)
    sizes = sorted(
        {size for lines in found.values() for own in lines.values() for size in own},
        key=value_order,
    )
    if len(sizes) < 2:
        return None
    overlaps = sorted({overlap for lines in found.values() for overlap in lines}, key=value_order)
    rows = [
        [one_line(name, 80), one_line(overlap, 40), one_line(size, 40), mean_words(figure), interval_words(figure)]
        for name in sorted(found)
        for overlap in overlaps
        for size, figure in sorted(found[name].get(overlap, {}).items(), key=lambda item: value_order(item[0]))
    ]  # fmt: skip
    caption = f"{sweep.tuning.objective} by strategy, overlap and size"
    heads = ("strategy", "overlap", "size", "mean", "95 % interval")
    return chart(
        lambda drawing: _panels(found, sizes, overlaps[:MOST_SERIES], drawing), caption, heads, rows
    )


def reference(sweep: SweepFigures) -> Configuration | None:
    """The choice, or the best that has chunks where the choice has none."""
    candidates = [sweep.chosen] if sweep.chosen else []
    for each in [*candidates, *sweep.best_first()]:
        if each.configuration.strategy and not each.error:
            return each.configuration
    return None


def fixed_settings(sweep: SweepFigures) -> str:
    """ "hybrid, late vectors, headings beside the text, neighbors 1": what is the same in all charts."""
    like = reference(sweep)
    if like is None:
        return ""
    settings = [
        like.retriever,
        "no vectors" if like.vectors == "none" else f"{like.vectors} vectors",
    ]
    settings += ["headings beside the text"] if like.context == "headings" else []
    settings += [f"neighbors {like.neighbors}"] if like.neighbors else []
    return ", ".join(settings)


def _alike(configuration: Configuration, like: Configuration) -> bool:
    return bool(configuration.strategy) and (
        (
            configuration.retriever,
            configuration.context,
            configuration.neighbors,
            configuration.vectors,
        )
        == (like.retriever, like.context, like.neighbors, like.vectors)
    )


def _point(configuration: Configuration) -> tuple[str, str]:
    return configuration.levers.get("size", ""), configuration.levers.get("overlap", "")


def _panels(found: BySize, sizes: list[str], overlaps: list[str], drawing: Drawing) -> None:
    # Sizes of one unit need not say it; those of several are different places.
    short = len({size.partition(" ")[2] for size in sizes}) == 1
    shown = [one_line(size.partition(" ")[0] if short else size, 16) for size in sizes]
    columns = 1 if drawing.narrow else _COLUMNS[min(len(found), len(_COLUMNS)) - 1]
    height, step = 140 if drawing.narrow else 170, drawing.width / columns
    for place, name in enumerate(sorted(found)):
        curves = [found[name].get(overlap, {}) for overlap in overlaps]
        y = scale_of([figure.mean for curve in curves for figure in curve.values()], 4)
        row, column = divmod(place, columns)
        left = label_room(y)
        panel = Panel(
            drawing, column * step + left, 28 + row * (height + 64), step - left - 16, height,
            span(0, len(sizes)), y,
        )  # fmt: skip
        drawing.text(panel.left, panel.top - 12, one_line(name or "chunks", 24), size=14, bold=True)
        panel.y_axis()
        panel.x_axis([(at + 0.5, label) for at, label in enumerate(shown)])
        for at, (overlap, curve) in enumerate(zip(overlaps, curves, strict=True)):
            places = [
                (panel.x(sizes.index(size) + 0.5), panel.y(figure.mean), _tooltip(name, overlap, size, figure))
                for size, figure in sorted(curve.items(), key=lambda item: sizes.index(item[0]))
                if figure.mean is not None
            ]  # fmt: skip
            if places:
                _curve_with_signs(drawing, places, series_look(at))
    names = [f"overlap {overlap or 'none'}" for overlap in overlaps]
    drawing.legend([(name, series_look(at)) for at, name in enumerate(names)])


def _tooltip(name: str, overlap: str, size: str, figure: Figure) -> str:
    return (
        f"{name}, size {size}, overlap {overlap}: {mean_words(figure)} ({interval_words(figure)})"
    )


def value_order(value: str) -> tuple[float, str]:
    """Numbers by their size, none before them, words behind them."""
    digits = "0" if value == "none" else value.split(" ", 1)[0].replace(",", "").rstrip("%")
    return (
        (float(digits), value) if digits.isascii() and digits.isdigit() else (float("inf"), value)
    )


def weight_chart(fit: WeightFit, objective: str) -> Chart:
    """The weights of several sizes that were tried; its table is the page's own, which marks what was kept."""
    caption = f"Mean {one_line(objective, 40)} on the questions that choose"
    rows = [(one_line(label, 120), score(mean)) for label, mean in fit.tried]
    return chart(
        lambda drawing: _weights(fit, caption, drawing),
        caption,
        ("weights", "mean"),
        rows,
        is_half=True,
    )


def _weights(fit: WeightFit, title: str, drawing: Drawing) -> None:
    """The one that was kept is full."""
    x = scale_of((mean for _, mean in fit.tried), 4)
    panel = rows_panel(drawing, [label for label, _ in fit.tried], 26, 26, x)
    panel.x_axis(x.labels(), title, grid=True)
    for at, (label, mean) in enumerate(fit.tried):
        look = _FULL if label == fit.kept else _HOLLOW
        drawing.sign(panel.x(mean), panel.y(-at - 0.5), look, f"{label}: {score(mean)}")
    drawing.legend([("kept", _FULL), ("tried", _HOLLOW)])
