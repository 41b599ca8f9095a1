"""What a recommendation rests on: defaults, parts of the corpus, types of questions, cuts, costs, method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import msgspec

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import Kind, counted, format_number, listed, percent
from chunkwise.evaluation.comparison_result import NO_DIFFERENCE
from chunkwise.evaluation.cost import COSTS
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.metrics.metric import CutCounts
from chunkwise.metrics.registry import kind_of, lower_is_better
from chunkwise.report.evaluation_report import estimate_of
from chunkwise.report.lint_report import cut_excerpt
from chunkwise.report.report import (
    Axis,
    Badge,
    Chart,
    Code,
    Column,
    Estimate,
    KeyFigure,
    KeyFigures,
    Level,
    Note,
    Point,
    ReportPart,
    Section,
    Series,
    Value,
    ValueTable,
    settings_table,
)
from chunkwise.report.tuning_figures import SweepFigures, cost_of
from chunkwise.tuning.choose.corpus_parts import FEWEST_QUERIES
from chunkwise.tuning.plan.sweep_file import sweep_text
from chunkwise.tuning.sweep import Sweep
from chunkwise.tuning.sweep_result import MethodByType, Outcome

LEVELS: Mapping[str, Level] = {"better": "good", "worse": "bad", NO_DIFFERENCE: "tie"}
"""Verdicts on the choice against a default."""
_COSTS = {
    "chunks": "chunks", "mean_tokens": "mean", "median_tokens": "median", "p95_tokens": "95%",
    "max_tokens": "longest", "storage": "storage", "tokens_embedded": "embedded", "context_tokens": "context",
}  # fmt: skip


def gain_section(figures: SweepFigures) -> Iterator[Section]:
    """The verdict as a picture; a terminal has it in its table."""
    points = [
        Point(
            comparison.baseline,
            Estimate(comparison.difference, comparison.low, comparison.high),
            level=LEVELS.get(comparison.words, ""),
        )
        for comparison in figures.tuning.against
    ]
    if points:
        title = f"{figures.objective}: choice minus default"
        yield Section("Against the defaults", (_differences(figures, title, points),), detail=True)


def default_section(figures: SweepFigures) -> Iterator[Section]:
    """The choice against each common default, question by question."""
    against = figures.tuning.against
    if not against:
        return
    rows = []
    for compared in against:
        gain = Estimate(compared.difference, compared.low, compared.high)
        level = LEVELS.get(compared.words, "")
        outcome, figure = figures.outcomes.get(compared.key), figures.quality(compared.key)
        rows.append(
            (
                compared.baseline, outcome.configuration.label if outcome else "",
                estimate_of(figure) if figure else None, gain, compared.p, Badge(compared.words, level),
            )
        )  # fmt: skip
    columns = (
        Column("default"), Column("configuration", "code", detail=True), Column(figures.objective, figures.kind),
        Column("difference", figures.change), Column("p", 'p'), Column("verdict"),
    )  # fmt: skip
    yield Section(
        "Common defaults",
        (ValueTable(columns, tuple(rows)),),
        "Paired by question; 95% intervals, Holm-corrected over the defaults.",
        detail=True,
    )


def _differences(figures: SweepFigures, title: str, points: Iterable[Point]) -> Chart:
    """Rows around no difference."""
    gain = Axis("difference in points", figures.change)
    return Chart(title, "rows", Axis(""), gain, (Series("", tuple(points)),))


def part_section(figures: SweepFigures) -> Iterator[Section]:
    """What a setting of its own would gain in each part of the corpus."""
    parts, small = figures.tuning.parts, figures.tuning.small_parts
    shown: list[ReportPart] = []
    if parts:
        gains = [Estimate(part.gain, part.low, part.high) for part in parts]
        levels: list[Level] = ["good" if part.worth_it else "tie" for part in parts]
        points = [
            Point(part.name or "(no name)", gain, level=level)
            for part, gain, level in zip(parts, gains, levels, strict=True)
        ]
        rows = tuple(
            (
                part.name or "(no name)", part.questions, part.chosen_mean, part.best_mean,
                "the choice" if part.best == figures.tuning.chosen else part.best_label, gain,
                Badge("separate configuration pays" if part.worth_it else "the choice suffices", level),
            )
            for part, gain, level in zip(parts, gains, levels, strict=True)
        )  # fmt: skip
        columns = (
            Column("part"), Column("questions", 'count'), Column("the choice", figures.kind),
            Column("the best", figures.kind), Column("which is", "code", detail=True), Column("gain", figures.change),
            Column("verdict"),
        )  # fmt: skip
        title = f"Gain in {figures.objective} from a separate configuration per part of the corpus"
        shown += [_differences(figures, title, points), ValueTable(columns, rows)]
    if small:
        names = [f"{name} ({count:,})" for name, count in small.items()]
        shown.append(Note(f"Fewer than {FEWEST_QUERIES} questions: {listed(names, 12)}."))
    if shown:
        yield Section("Parts", tuple(shown), detail=True)


def type_section(figures: SweepFigures) -> Iterator[Section]:
    """Contexts and defaults by type of question."""
    tables = tuple(_method_tables(figures.tuning.methods))
    if tables:
        yield Section("Question types", tables, detail=True)


def _method_tables(methods: tuple[MethodByType, ...]) -> Iterator[ValueTable]:
    """A table for each metric: all questions, then from the easiest type to the hardest."""
    for metric in dict.fromkeys(
        name for method_by_type in methods for name in method_by_type.figures["all"]
    ):
        measured = [
            method_by_type for method_by_type in methods if metric in method_by_type.figures["all"]
        ]
        sign = 1.0 if lower_is_better(metric) else -1.0
        means: dict[str, list[float]] = {}
        for method in measured:
            for type, figures in method.figures.items():
                if type != "all" and (mean := figures[metric].mean) is not None:
                    means.setdefault(type, []).append(sign * mean)
        types = sorted(means, key=lambda type: (sum(means[type]) / len(means[type]), type))
        kind = kind_of(metric)
        heads = ("all", *types)
        columns = (
            Column("method"),
            *(Column(type, kind) for type in heads),
            Column("drop", "change"),
        )
        rows = []
        for method in measured:
            means_of = [method.figures[type][metric].mean for type in heads]
            rows.append((method.name, *means_of, _drop(means_of[1:], sign)))
        yield ValueTable(columns, tuple(rows), f"{metric} by question type")


def _drop(means: Sequence[float | None], sign: float) -> float | None:
    """How much worse the hardest type is than the easiest."""
    if len(means) < 2 or means[0] is None or means[-1] is None:
        return None
    return sign * (means[-1] - means[0])


def nested_section(figures: SweepFigures) -> Iterator[Section]:
    """What choosing like this is worth, beside what the choice has on the questions that chose it."""
    nested, standing = figures.tuning.nested, figures.standings.get(figures.tuning.chosen)
    if nested is None or standing is None:
        return
    rows = (
        ("this selection procedure, on held-out questions", estimate_of(nested.figure)),
        ("the choice, in-sample (optimistic)", estimate_of(standing.validation)),
    )
    times = f", {nested.repeats} times" if nested.repeats > 1 else ""
    shares = [f"{label} {percent(share)}" for label, share in nested.chosen]
    yield Section(
        "Nested validation",
        (
            ValueTable((Column(""), Column(figures.objective, figures.kind)), rows),
            Note(f"{counted(nested.folds, 'fold')}{times}. They chose {listed(shares, 5)}."),
        ),
        "The whole procedure selects on all folds but one, and is scored on the held-out fold.",
        detail=True,
    )


def prior_section(figures: SweepFigures) -> Iterator[Section]:
    """What was expected of each lever beforehand."""
    questions = figures.tuning.prior_questions
    if not figures.tuning.prior or questions is None:
        return
    rows = tuple(
        (lever, value, effect)
        for lever, values in figures.tuning.prior.items()
        for value, effect in sorted(values.items(), key=lambda known: -known[1])
    )
    columns = (Column("lever"), Column("value"), Column("effect", figures.change))
    lead = (
        f"From public test sets; weighs as much as {counted(round(questions), 'question')}. "
        f"Disable it with --no-prior."
    )
    yield Section("Expected beforehand", (ValueTable(columns, rows),), lead, detail=True)


def boundary_section(figures: SweepFigures, cuts: Mapping[str, CutCounts]) -> Iterator[Section]:
    """Issues of each kind as a share of the chunks, of the choice and of the defaults; rows open to examples."""
    outcomes = [outcome for outcome in figures.choice_and_defaults() if outcome.boundary_issues]
    if not outcomes:
        return
    kinds = {
        "chunks_with_issues": "Each chunk once.",
        "cuts_with_issues": "Each boundary once.",
        **KINDS,
    }
    occurring = [kind for kind in kinds if any(item.boundary_issues.get(kind) for item in outcomes)]
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (kind.replace("_", " "), *(_share(outcome, kind) for outcome in outcomes), kinds[kind])
        for kind in occurring
    )
    columns = (
        Column("kind"), *(Column(figures.name_of(item), 'share') for item in outcomes),
        Column("meaning", detail=True),
    )  # fmt: skip
    details = tuple(_examples(kind, cuts) for kind in occurring) if cuts else ()
    table = ValueTable(columns, rows, details=details)
    absent = [kind.replace("_", " ") for kind in KINDS if kind not in occurring]
    notes = [Note(f"None of: {', '.join(absent)}.")] if absent else []
    if figures.chosen and not figures.chosen.boundary_issues:
        notes.append(Note("The choice is multi-scale retrieval, which has no chunks."))
    yield Section("Boundary issues", (table, *notes), "Issues per chunk.", detail=True)


def _share(outcome: Outcome, kind: str) -> float:
    return outcome.boundary_issues.get(kind, 0) / max(cost_of(outcome, "chunks") or 0.0, 1.0)


def _examples(kind: str, cuts: Mapping[str, CutCounts]) -> tuple[ReportPart, ...]:
    sections = tuple(
        Section(name, excerpts)
        for name, counts in cuts.items()
        if (excerpts := tuple(cut_excerpt(cut) for cut in counts.examples if cut.kind == kind))
    )
    return (Section("Examples", sections, is_beside=True),) if sections else ()


def price_section(figures: SweepFigures) -> Iterator[Section]:
    """What the choice and the defaults cost, and what the sweep took."""
    outcomes = figures.choice_and_defaults()
    names = [
        name for name in _COSTS if any(cost_of(outcome, name) is not None for outcome in outcomes)
    ]
    parts: list[ReportPart] = []
    if names:
        kinds: dict[str, Kind] = {name: COSTS[name].kind for name in names}
        columns = (Column(""), *(Column(_COSTS[name], kinds[name]) for name in names))
        rows = tuple(
            (figures.name_of(outcome), *(cost_of(outcome, name) for name in names))
            for outcome in outcomes
        )
        parts.append(ValueTable(columns, rows))
    taken = tuple(
        KeyFigure(f"to {stage}" if stage.islower() else stage, seconds, "seconds")
        for stage, seconds in figures.tuning.timing.items()
    )
    if taken:
        parts.append(KeyFigures(taken))
    if parts:
        lead = (
            "Mean to longest: tokens per chunk. Storage: indexed tokens per document token. "
            "Embedded: tokens. Context: tokens per question."
        )
        yield Section("Cost", tuple(parts), lead if names else "", detail=True)


def method_section(figures: SweepFigures) -> Section:
    """How the choice was made, and how many configurations it was made from."""
    return Section("Method", tuple(map(Note, _method(figures))), detail=True)


def _method(figures: SweepFigures) -> Iterator[str]:
    tuning = figures.tuning
    yield tuning.sentence
    count = len(tuning.questions)
    if not count:
        yield "No questions: only chunk boundaries, sizes and costs are compared."
        return
    chose = sum(split == "validation" for split in tuning.splits)
    if chose < count:
        yield f"{counted(count, 'question')}: {chose:,} for validation, {count - chose:,} for the test."
    else:
        yield f"{counted(count, 'question')}, all used for selection; scored by nested cross-validation."
    yield (
        "The expected score is a shrunken mean: configurations that share settings inform each "
        "other, and public test sets add a prior. Of the configurations expected within a point "
        "of the best, with about as few boundary issues as the best of them, the cheapest is "
        "chosen. Tied: not significantly worse than the best, Holm-corrected."
    )
    aside = Counter(standing.aside for standing in tuning.standings if standing.aside)
    planned, failed, waiting = (tuning.plan.get(name) for name in ("configurations", "failed", "not_run"))  # fmt: skip
    numbers = [
        f"{planned:,} planned" if isinstance(planned, int) else "",
        f"{failed:,} failed" if isinstance(failed, int) and failed else "",
        f"{waiting:,} not run" if isinstance(waiting, int) and waiting else "",
        f"{len(tuning.standings):,} with scores",
        *(f"{number:,} only listed ({why})" for why, number in aside.items()),
        f"{len(tuning.standings) - aside.total():,} to choose from",
    ]
    yield f"Configurations: {'; '.join(filter(None, numbers))}."
    if tuning.detectable is not None:
        least = format_number(tuning.detectable, "change").removeprefix("+")
        yield f"Minimum detectable difference with {counted(chose, 'question')}: {least} (80% power, 5% level)."
    if tuning.needed and tuning.needed > chose:
        yield f"About {tuning.needed:,} questions would separate the top two."


def not_tried(figures: SweepFigures) -> Iterator[Section]:
    """What failed, what had no time, what was not in the grid; one row for a reason, which opens to the names."""
    names: dict[tuple[str, str], list[str]] = {}
    for outcome in figures.tuning.outcomes:
        if outcome.error:
            group = "not run yet" if outcome.waits else "failed"
            names.setdefault((group, outcome.error), []).append(outcome.configuration.label)
    for entry in cast(Sequence[Mapping[str, str]], figures.tuning.plan.get("left_out", ())):
        names.setdefault(("not in the grid", entry["why"]), []).append(entry["what"])
    if names:
        rows = tuple((group, len(known), listed(known, 3), why) for (group, why), known in names.items())  # fmt: skip
        columns = (
            Column("status", is_filter=True), Column("count", 'count'), Column("configurations", "code"), Column("why"),
        )  # fmt: skip
        details = tuple((Code("\n".join(known)),) for known in names.values())
        table = ValueTable(columns, rows, noun="reason", details=details)
        yield Section("Not tried", (table,), detail=True)


def made_with(figures: SweepFigures) -> Section:
    """What to run to see this again."""
    tuning = figures.tuning
    file = _sweep_file(tuning.plan.get("sweep"))
    without = {"left_out", *(["sweep"] if file else [])}
    plan = {name: value for name, value in tuning.plan.items() if name not in without}
    choice = figures.chosen.configuration if figures.chosen else None
    parts: tuple[ReportPart, ...] = (
        *([Code(file, "sweep.toml")] if file else []),
        *([settings_table("Choice", {"key": choice.key, **choice.settings})] if choice else []),
        settings_table("Plan", plan),
        settings_table("Data", tuning.data),
        settings_table("Versions", tuning.versions),
    )
    return Section("Made with", parts, is_folded=True, detail=True)


def _sweep_file(sweep: object) -> str:
    try:
        return sweep_text(msgspec.convert(sweep, Sweep))
    except (msgspec.ValidationError, InvalidParameter):
        return ""
