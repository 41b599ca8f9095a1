"""The report of a comparison: whether one run is better, by how much and how surely; then every metric and cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from chunkwise.base.wording import Kind, counted, format_interval, format_number, listed, shortened
from chunkwise.evaluation.comparison_result import (
    CONTEXT,
    Best,
    Comparison,
    Contrast,
    MetricDifference,
    Run,
    Tested,
)
from chunkwise.evaluation.cost import COSTS, cost_label
from chunkwise.evaluation.verdicts_and_advice import question_of
from chunkwise.metrics.registry import kind_of, metric_of
from chunkwise.report.evaluation_report import directed
from chunkwise.report.format_values import format_value
from chunkwise.report.report import (
    Axis,
    Badge,
    Chart,
    Column,
    Estimate,
    Headline,
    Next,
    Note,
    Point,
    Report,
    ReportPart,
    Section,
    Series,
    Value,
    ValueTable,
)
from chunkwise.stats.intervals import Interval
from chunkwise.stats.paired import FEWEST, SIGNIFICANCE

_KEY_METRICS = 6
_KEY_COSTS = ("chunks", CONTEXT)
_NAMED = 3
_MOST_QUESTIONS = 100_000
"""Nobody writes more of them: the number would say no more than that."""


def comparison_report(comparison: Comparison, next_command: str = "") -> Report:
    """Build the report of a comparison: of two runs, or of several against the first."""
    contrasts = comparison.contrasts
    if len(contrasts) == 1:
        parts = [*_headline(contrasts[0]), *_legend(comparison), *_two(contrasts[0])]
    else:
        parts = [_best_headline(comparison), *_warnings(comparison), *_several(comparison)]
    parts += [
        *_costs(comparison),
        Note(_method(comparison.tests), detail=True),
        *([Next(next_command)] if next_command else []),
    ]
    title = f"Comparison of {counted(len(comparison.runs), 'run')}"
    asked = _questions(contrasts[0]) if len(contrasts) == 1 else ""
    return Report(title, tuple(parts), "comparison", asked)


def verdict_of(contrast: Contrast, tested: Tested) -> Badge:
    """Of the second run; probably, where only the interval of this metric alone leaves out 0."""
    if tested.verdict == f"{contrast.second} is better":
        return Badge("better", "good")
    if tested.verdict == f"{contrast.first} is better":
        return Badge("worse", "bad")
    if tested.pairs >= FEWEST and tested.p < SIGNIFICANCE:
        is_better = (tested.difference.mean > 0) != tested.lower_is_better
        return Badge("probably better", "good") if is_better else Badge("probably worse", "bad")
    return Badge("inconclusive", "tie")


def _headline(contrast: Contrast) -> Iterator[ReportPart]:
    first, second = contrast.first, contrast.second
    tested = contrast.metrics.get(contrast.objective)
    if tested is None:
        yield Headline(f"{first} and {second} have no scored metric in common.", "bad")
        return
    verdict = verdict_of(contrast, tested)
    what = (
        f"No evidence that {second} differs from {first}"
        if verdict.level == "tie"
        else f"{second} is {verdict.text} than {first}"
    )
    difference = change_of(contrast.objective, tested.corrected)
    shown = format_value(difference, "change")
    yield Headline(f"{what}: {directed(contrast.objective)} {shown}.", verdict.level)


def change_of(metric: str, difference: Interval | float) -> Value:
    """A difference in points, or in the unit of the metric."""
    estimate = Estimate(*difference) if isinstance(difference, Interval) else Estimate(difference)
    if kind_of(metric) == "score":
        return estimate
    return f"{'+' if (estimate.value or 0) > 0 else ''}{format_value(estimate, 'number')}"


def _interval(metric: str, difference: Interval) -> str:
    kind: Kind = "change" if kind_of(metric) == "score" else "number"
    return format_interval(difference.low, difference.high, kind)


def score_of(metric: str, value: float) -> Value:
    """In per cent, or in the unit of the metric."""
    return value if kind_of(metric) == "score" else format_number(value, "number")


def _questions(contrast: Contrast) -> str:
    only = ((contrast.first, contrast.only_first), (contrast.second, contrast.only_second))
    parts = [
        f"{counted(contrast.questions, 'question')} in both {contrast.first} and {contrast.second}"
    ]
    parts += [f"{count:,} only in {name}" for name, count in only if count]
    if contrast.other_text:
        parts.append(f"{len(contrast.other_text):,} skipped, as their texts differ")
    return ", ".join(parts)


def _legend(comparison: Comparison) -> Iterator[Note]:
    for run in comparison.runs:
        yield Note(_run_words(run))
    yield from _warnings(comparison)


def _run_words(run: Run) -> str:
    return f"{run.name}: {' · '.join(filter(None, (run.label, run.source)))}"


def _warnings(comparison: Comparison) -> Iterator[Note]:
    for warning in comparison.warnings:
        yield Note(warning, is_warning=True)


def _two(contrast: Contrast, *, is_brief: bool = True) -> Iterator[ReportPart]:
    yield from _differences(contrast)
    key = _key_metrics(contrast)
    if key:
        yield _table(contrast, key)
    yield from _caveats(contrast, key)
    yield from _changed_questions(contrast)
    every = Section("All metrics", tuple(_all_metrics(contrast)), detail=is_brief)
    if contrast.metrics:
        yield every
    yield from _types(contrast)


def _key_metrics(contrast: Contrast) -> list[str]:
    """The objective, then what answers the four questions, then the others."""
    names = list(contrast.metrics)
    first = [name for name in names if name == contrast.objective]
    first += [name for name in names if question_of(name)]
    return list(dict.fromkeys([*first, *names]))[:_KEY_METRICS]


def _table(contrast: Contrast, names: Iterable[str]) -> ValueTable:
    first, second = contrast.first, contrast.second
    columns = (
        Column("metric", "code"), Column(first, "score"), Column(second, "score"),
        Column(f"{second} − {first}", "change"), Column("verdict"),
    )  # fmt: skip
    rows = tuple(
        (
            directed(name),
            score_of(name, tested.first),
            score_of(name, tested.second),
            change_of(name, tested.corrected),
            verdict_of(contrast, tested),
        )
        for name in names
        if (tested := contrast.metrics.get(name))
    )
    return ValueTable(columns, rows)


def _caveats(contrast: Contrast, shown: Sequence[str]) -> Iterator[Note]:
    """What the rest says, what is missing, and what so many questions cannot show."""
    rest: dict[str, list[str]] = {}
    for name, tested in contrast.metrics.items():
        if name not in shown:
            rest.setdefault(verdict_of(contrast, tested).text, []).append(name)
    messages = [
        f"{len(names)} {verdict}"
        + (f" ({listed(names, _NAMED)})" if verdict != "inconclusive" else "")
        for verdict, names in sorted(rest.items())
    ]  # fmt: skip
    if messages:
        yield Note(f"Other metrics: {', '.join(messages)}.")
    if contrast.unpaired:
        yield Note(f"Not scored in both: {listed(contrast.unpaired)}.", detail=True)
    objective = contrast.metrics.get(contrast.objective)
    if objective is None:
        return
    if objective.unscored:
        gone = counted(objective.unscored, "question")
        yield Note(f"{gone} skipped: {contrast.objective} is missing in one run.")
    verdict = verdict_of(contrast, objective).text
    if verdict.startswith("probably"):
        yield Note(
            "“Probably”: significant for this metric only, not after correction for all metrics."
        )
    if verdict == "inconclusive":
        yield from _not_shown(contrast, objective)


def _not_shown(contrast: Contrast, tested: Tested) -> Iterator[Note]:
    """That nothing is shown does not mean that nothing is there."""
    asked = counted(contrast.questions, "question")
    if contrast.questions < FEWEST:
        yield Note(f"{asked} are too few to detect a difference; use {FEWEST} or more.")
        return
    if tested.detectable is not None:
        kind: Kind = "change" if kind_of(contrast.objective) == "score" else "number"
        least = format_number(tested.detectable, kind).removeprefix("+")
        yield Note(f"With {asked}, the minimum detectable difference is {least}.")
    if tested.needed is not None and tested.needed > tested.pairs:
        yield Note(
            f"{_many(tested.needed)} questions would make a difference of this size significant."
        )


def _many(questions: int) -> str:
    over = questions > _MOST_QUESTIONS
    return f"More than {_MOST_QUESTIONS:,}" if over else f"About {questions:,}"


def _changed_questions(contrast: Contrast) -> Iterator[ValueTable]:
    changed = sorted(
        (*contrast.first_better, *contrast.second_better),
        key=lambda change: (-abs(change.second - change.first), change.id),
    )
    if not changed:
        return
    kind = kind_of(contrast.objective)
    columns = (
        Column(contrast.first, kind), Column(contrast.second, kind), Column("question"), Column("id", "code"),
    )  # fmt: skip
    rows = tuple((item.first, item.second, item.text, shortened(item.id, 40)) for item in changed)
    yield ValueTable(columns, rows, "Largest changes by question", "question", brief_rows=3)


def _differences(contrast: Contrast) -> Iterator[Section]:
    """The verdicts as a picture; a terminal has them in its table."""
    scores = [name for name in contrast.metrics if kind_of(name) == "score"]
    if scores:
        points = tuple(
            _difference_point(
                directed(name),
                contrast.metrics[name].corrected,
                verdict_of(contrast, contrast.metrics[name]),
            )
            for name in scores
        )
        chart = Chart(
            "", "rows", Axis("metric"),
            Axis(f"{contrast.second} − {contrast.first}, points, with corrected intervals", "change"),
            (Series("", points),),
        )  # fmt: skip
        yield Section("Differences", (chart,), detail=True)


def _all_metrics(contrast: Contrast) -> Iterator[ReportPart]:
    first, second = contrast.first, contrast.second
    columns = (
        Column("metric", "code"), Column(first, "score"), Column(second, "score"),
        Column(f"{second} − {first}, corrected", "change"), Column("95% alone"), Column("p", 'p'),
        Column("questions", 'count'), Column("verdict", is_filter=True),
    )  # fmt: skip
    rows = tuple(
        (
            directed(name),
            score_of(name, tested.first),
            score_of(name, tested.second),
            change_of(name, tested.corrected),
            _interval(name, tested.difference),
            tested.adjusted,
            tested.pairs,
            verdict_of(contrast, tested),
        )
        for name, tested in contrast.metrics.items()
    )
    yield ValueTable(columns, rows, noun="metric")


def _difference_point(name: str, interval: Interval, verdict: Badge) -> Point:
    return Point(
        name, Estimate(interval.mean, interval.low, interval.high), verdict.text, verdict.level
    )


def _types(contrast: Contrast) -> Iterator[Section]:
    objective = contrast.objective
    typed: Mapping[str, MetricDifference] = {
        type: found[objective] for type, found in contrast.by_type.items() if objective in found
    }
    if len(typed) < 2:
        return
    first, second = contrast.first, contrast.second
    columns = (
        Column("question type"), Column("questions", 'count'), Column(first, "score"), Column(second, "score"),
        Column(f"{second} − {first}", "change"),
    )  # fmt: skip
    rows = tuple(
        (
            type or "(none)",
            difference.pairs,
            score_of(objective, difference.first),
            score_of(objective, difference.second),
            change_of(objective, difference.difference),
        )
        for type, difference in typed.items()
    )
    lead = f"{objective} by type, with 95% intervals: not tested, not corrected."
    yield Section("Question types", (ValueTable(columns, rows),), lead, detail=True)


def _best_headline(comparison: Comparison) -> Headline:
    objective = comparison.contrasts[0].objective
    best = comparison.best.get(objective)
    if best is None:
        return Headline(
            f"No question has a score for {objective or 'a metric'} in all runs.", "bad"
        )
    shares = best.best_share
    if max(shares.values()) == min(shares.values()):
        return Headline(f"All runs have the same {objective}.", "tie")
    others = [name for name in best.tied if name != best.best]
    if not others:
        return Headline(f"{best.best} is the best by {objective}; all others are worse.", "good")
    return Headline(
        f"{best.best} has the highest {objective}, but {_tied(best, others)} may be as good.",
        "tie",
    )


def _tied(best: Best, others: Sequence[str]) -> str:
    likeliest = sorted(others, key=lambda name: -best.best_share[name])
    return listed(likeliest, 6)


def _several(comparison: Comparison) -> Iterator[ReportPart]:
    """The runs by the objective, then each against the first."""
    contrasts = comparison.contrasts
    objective = contrasts[0].objective
    first = comparison.runs[0].name
    best = comparison.best.get(objective)
    shares = best.best_share if best else {}
    by_name = {item.second: item for item in contrasts}
    rows: list[tuple[Value, ...]] = []
    points = []
    for run in comparison.runs:
        contrast = by_name.get(run.name)
        tested = (contrast or contrasts[0]).metrics.get(objective)
        what = _run_words(run)
        if tested is None:
            score, difference, verdict = None, None, Badge("unscored")
        elif contrast is None:
            score, difference, verdict = score_of(objective, tested.first), None, Badge("baseline")
        else:
            score, difference = (
                score_of(objective, tested.second),
                change_of(objective, tested.corrected),
            )
            verdict = verdict_of(contrast, tested)
            points.append(_difference_point(run.name, tested.corrected, verdict))
        rows.append((what, score, difference, verdict, shares.get(run.name)))
    columns = (
        Column("run"), Column(objective, "score"), Column(f"− {first}", "change"), Column("verdict"),
        Column("best in", 'share'),
    )  # fmt: skip
    yield ValueTable(columns, tuple(rows), brief_rows=12)
    if shares:
        yield Note(
            "“best in”: the share of 10,000 resamples of the questions in which a run is best.",
            detail=True,
        )
    if best and best.needed and best.needed > best.questions:
        yield Note(f"{_many(best.needed)} questions would separate the best two.")
    if points and kind_of(objective) == "score":
        yield Chart(
            f"{objective} against {first}, with corrected intervals", "rows", Axis("run"),
            Axis(f"difference to {first}, points", "change"), (Series("", tuple(points)),),
        )  # fmt: skip
    yield from _best_of_all(comparison)
    for contrast in contrasts:
        title = f"{contrast.second} against {contrast.first}"
        parts = tuple(_two(contrast, is_brief=False))
        yield Section(title, parts, f"{_questions(contrast)}.", detail=True)


def _best_of_all(comparison: Comparison) -> Iterator[Section]:
    columns = (
        Column("metric", "code"), Column("best"), Column("not significantly worse"), Column("best in", 'share'),
    )  # fmt: skip
    rows = tuple(
        (
            directed(metric),
            best.best,
            ", ".join(name for name in best.tied if name != best.best) or "none",
            best.best_share[best.best],
        )
        for metric, best in comparison.best.items()
    )
    if rows:
        lead = "By metric, on the questions in all runs."
        yield Section("Best runs", (ValueTable(columns, rows, noun="metric"),), lead, detail=True)


def _costs(comparison: Comparison) -> Iterator[ReportPart]:
    """The main ones in a line, all in a table; they are no samples, so nothing is tested."""
    figures = comparison.figures
    messages = [
        f"{_cost_label(name)} {' → '.join(_cost(name, value) for value in figures[name])}"
        for name in _KEY_COSTS
        if name in figures and len(comparison.runs) == 2
    ]
    if messages:
        yield Note(f"{'; '.join(messages)}.")
    if figures:
        columns = (Column("what"), *(Column(run.name, "number") for run in comparison.runs))
        rows = tuple(
            (_cost_label(name), *(_cost(name, value) for value in values))
            for name, values in figures.items()
        )
        lead = "Metrics of a whole run, not means over questions: not tested."
        yield Section("Whole runs", (ValueTable(columns, rows),), lead, detail=True)


def _cost_label(name: str) -> str:
    return name if metric_of(name) else cost_label("context_tokens" if name == CONTEXT else name)


def _cost(name: str, value: float | None) -> str:
    known = COSTS.get("context_tokens" if name == CONTEXT else name)
    metric = metric_of(name)
    kind: Kind = known.kind if known else "share" if metric and metric.as_percent else "number"
    return format_value(value, kind)


def _method(tests: int) -> str:
    corrected = (
        f"Intervals and p-values are Holm-corrected over {counted(tests, 'test')}. A run is "
        f"better if the interval excludes 0 (for binary metrics, by the exact sign test). "
        if tests > 1
        else "A run is better if the 95% interval excludes 0 (for binary metrics, by the exact "
        "sign test). "
    )
    return (
        f"Runs are compared question by question. {corrected}Intervals allow for one unseen "
        f"question, so they have a width even if all questions are equal."
    )
