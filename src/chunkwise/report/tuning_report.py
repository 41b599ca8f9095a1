"""The report of a sweep: what to use and what it gains, the leaders and the defaults; then all it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from chunkwise.base.wording import counted
from chunkwise.evaluation.results import Figure
from chunkwise.metrics.registry import lower_is_better
from chunkwise.report.evaluation_report import estimate_of
from chunkwise.report.format_values import format_value
from chunkwise.report.report import (
    Code,
    Column,
    Estimate,
    Headline,
    Next,
    Note,
    Report,
    ReportPart,
    Section,
    Value,
    ValueTable,
)
from chunkwise.report.side_by_side import SideBySide, question_section
from chunkwise.report.tuning_charts import (
    budget_section,
    cost_section,
    lever_section,
    size_section,
    vector_section,
)
from chunkwise.report.tuning_details import (
    LEVELS,
    boundary_section,
    default_section,
    gain_section,
    made_with,
    method_section,
    nested_section,
    not_tried,
    part_section,
    price_section,
    prior_section,
    type_section,
)
from chunkwise.report.tuning_figures import SweepFigures, cost_of, short_names
from chunkwise.testsets.testset import GRADES, QuestionCounts
from chunkwise.tuning.sweep_result import BaselineComparison, Standing, SweepResult

_LEADERS = 5
"""Beside the choice and the defaults."""
_LINES, _LINE = 8, 78
"""Of caveats that a terminal shows."""
_CHUNKINGS = 7
"""Rows that a terminal shows of those without questions."""
_MOST = 1000
"""Rows of the leaderboard."""


def tuning_report(
    tuning: SweepResult,
    side_by_side: SideBySide | None = None,
    code: Mapping[str, str] | None = None,
    next_command: str = "",
) -> Report:
    """Build the report of a sweep.

    Args:
        tuning: What the sweep found.
        side_by_side: The choice and a default, evaluated with their hits.
        code: Code that uses the choice, by its language or framework.
        next_command: What to run next.
    """
    figures = SweepFigures(tuning)
    parts: list[ReportPart] = [
        _headline(figures),
        *gain_section(figures),
        *_leaders(figures),
        *_chunkings(figures),
        *_caveats(tuning.caveats),
        *_use(code or {}),
        *default_section(figures),
        *_leaderboard(figures),
        *budget_section(figures),
        *lever_section(figures),
        *size_section(figures),
        *cost_section(figures),
        *part_section(figures),
        *type_section(figures),
        *nested_section(figures),
        *prior_section(figures),
        *vector_section(figures),
        *boundary_section(figures, side_by_side.cuts if side_by_side else {}),
        *(question_section(side_by_side, figures) if side_by_side else ()),
        *price_section(figures),
        method_section(figures),
        *not_tried(figures),
        made_with(figures),
        *([Next(next_command)] if next_command else []),
    ]
    entrants = sum(not standing.aside for standing in tuning.standings)
    title = f"{GRADES[tuning.grade]}: {counted(entrants, 'configuration')} compared"
    return Report(title, tuple(parts), "tuning", _subtitle(tuning))


def _subtitle(tuning: SweepResult) -> str:
    known = tuning.data.get("documents")
    count = known.get("count") if isinstance(known, Mapping) else None
    splits = Counter(tuning.splits)
    by_use = (
        f" ({splits['validation']:,} choose, {splits['test']:,} test)" if splits["test"] else ""
    )
    shown = [
        counted(len(tuning.questions), "question") + _generated(tuning) + by_use,
        counted(count, "document") if isinstance(count, int) else "",
    ]
    return " · ".join(filter(None, shown))


def _generated(tuning: SweepResult) -> str:
    counts = QuestionCounts.of(tuning.data.get("questions"))
    if not counts.generated:
        return ""
    reviewed = f", {counts.reviewed:,} reviewed" if counts.reviewed else ""
    return f" ({'all' if counts.generated == counts.total else f'{counts.generated:,}'} generated{reviewed})"


def _headline(figures: SweepFigures) -> Headline:
    """What to use and what it gains over the strongest default; or why nothing can be recommended."""
    tuning = figures.tuning
    if figures.chosen is None:
        return Headline(tuning.sentence, "bad")
    configuration = figures.chosen.configuration
    strongest = _strongest(figures)
    text = f"Use {configuration.label}"
    if not figures.questions_decide:
        return Headline(
            f"{tuning.sentence.partition('. ')[0].partition('; scores')[0].rstrip('.')}."
        )
    if configuration.baseline:
        text = f"Keep your default: nothing is significantly better than {configuration.label}"
    elif strongest is not None and strongest.words != "better":
        text = (
            f"Keep your default: nothing is significantly better than {strongest.baseline}. "
            f"If you have none, use {configuration.label}"
        )
    reached = figures.reached
    if reached is not None and reached.mean is not None:
        value = format_value(estimate_of(reached), figures.kind)
        text += f", {figures.objective} {value} {_judged_on(figures)}"
    if strongest is None:
        return Headline(f"{text}.")
    gain = format_value(difference_of(strongest), figures.change)
    against = f"{gain} against {strongest.baseline}" if strongest.words == "better" else gain
    return Headline(f"{text}; {against}.", LEVELS.get(strongest.words, ""))


def _judged_on(figures: SweepFigures) -> str:
    nested = figures.tuning.nested
    if nested is None:
        return figures.reported_on
    return f"in nested cross-validation ({counted(nested.figure.scored, 'question')})"


def _strongest(figures: SweepFigures) -> BaselineComparison | None:
    """The default that the choice gains least on."""
    sign = -1 if lower_is_better(figures.objective) else 1
    return min(
        figures.tuning.against, key=lambda compared: sign * compared.difference, default=None
    )


def difference_of(compared: BaselineComparison) -> Estimate:
    return Estimate(compared.difference, compared.low, compared.high)


def _leaders(figures: SweepFigures) -> Iterator[ValueTable]:
    """The choice, the first of the others, the defaults."""
    if not figures.has_scores:
        return
    chosen = figures.tuning.chosen
    defaults = {outcome.configuration.key for outcome in figures.baselines()}
    entrants = [
        standing
        for standing in figures.tuning.standings
        if not standing.aside and standing.key in figures.outcomes
    ]
    first = [standing for standing in entrants if standing.key not in {chosen, *defaults}]
    keys = {chosen, *defaults, *(standing.key for standing in first[:_LEADERS])}
    shown = sorted(
        (standing for standing in figures.tuning.standings if standing.key in keys),
        key=lambda standing: (standing.key != chosen, _worst_last(figures, standing)),
    )
    rows = tuple(_leader(figures, standing) for standing in shown)
    columns = (
        Column("chunking", "code"), Column("retriever", "code"), Column(figures.objective, figures.kind), Column(""),
    )  # fmt: skip
    yield ValueTable(columns, rows, "Leaders and defaults")


def _worst_last(figures: SweepFigures, standing: Standing) -> float:
    figure = figures.quality(standing.key)
    sign = 1 if lower_is_better(figures.objective) else -1
    return float("inf") if figure is None or figure.mean is None else sign * figure.mean


def _leader(figures: SweepFigures, standing: Standing) -> tuple[Value, ...]:
    configuration = figures.outcomes[standing.key].configuration
    chunking, search = short_names(configuration)
    remark = "default" if configuration.baseline else "tied" if standing.tied else ""
    if standing.key == figures.tuning.chosen:
        remark = "chosen"
    chunking = configuration.baseline or chunking
    # Without spaces it fits a line of a terminal, and can be pasted back.
    score = _estimate(figures.quality(standing.key))
    return chunking.replace(", ", ","), search, score, remark


def _estimate(figure: Figure | None) -> Estimate | None:
    return estimate_of(figure) if figure and figure.mean is not None else None


def _chunkings(figures: SweepFigures) -> Iterator[ValueTable]:
    """Without questions: each chunking once, with its cuts and what it costs."""
    if figures.has_scores:
        return
    rows: dict[str, tuple[Value, ...]] = {}
    for outcome in figures.best_first():
        configuration = outcome.configuration
        if not configuration.strategy:
            continue
        chunks = cost_of(outcome, "chunks")
        hurt = outcome.boundary_issues.get("chunks_with_issues")
        name = configuration.strategy.replace(", ", ",")
        name += " · headings" if configuration.context == "headings" else ""
        row = (
            name, hurt / chunks if chunks and hurt is not None else None, chunks, cost_of(outcome, "storage"),
            cost_of(outcome, "median_tokens"),
        )  # fmt: skip
        rows.setdefault(name, row)
    if rows:
        columns = (
            Column("chunking", "code"), Column("with issues", "share"), Column("chunks", "count"),
            Column("storage", "number"), Column("median tokens", "count", detail=True),
        )  # fmt: skip
        yield ValueTable(
            columns, tuple(rows.values()), "Chunkings", "chunking", brief_rows=_CHUNKINGS
        )


def _caveats(caveats: Sequence[str]) -> Iterator[Note]:
    """What weighs most comes first; what has no room in a terminal is a detail."""
    used = 0
    for caveat in caveats:
        used += ceil(len(caveat) / _LINE)
        yield Note(caveat, detail=used > _LINES)


def _use(code: Mapping[str, str]) -> Iterator[Section]:
    if code:
        parts = tuple(
            Section(name, (Code(text),), is_folded=at > 0)
            for at, (name, text) in enumerate(code.items())
        )
        yield Section("Use it", parts, detail=True)


def _leaderboard(figures: SweepFigures) -> Iterator[Section]:
    """Everything that has scores, the best on validation first."""
    if not figures.has_scores:
        return
    is_tested = figures.split == "test"
    standings = figures.tuning.standings[:_MOST]
    rows = tuple(_standing(figures, standing, is_tested=is_tested) for standing in standings)
    kind = figures.kind
    columns = (
        Column("chunking", "code"), Column("retriever", "code", is_filter=True), Column("status", is_filter=True),
        Column("validation", kind, detail=is_tested), Column("test" if is_tested else "expected", kind),
        Column("best in", "share", detail=True), Column("storage", "number", detail=True),
        *([] if figures.budget else [Column("context", "count", detail=True)]),
    )  # fmt: skip
    lead = (
        f"{figures.objective}. Tied: not significantly worse than the best. Best in: share of "
        "resamples where it is first. Storage: indexed tokens per document token."
    )
    if not figures.budget:
        lead += " Context: tokens per question."
    if not is_tested:
        lead += " Expected: shrunken estimate for new questions, which decides."
    more = len(figures.tuning.standings) - len(standings)
    note = [Note(f"{counted(more, 'more configuration')} in results.json, all worse.")] if more else []  # fmt: skip
    table = ValueTable(columns, rows, noun="configuration")
    yield Section("All configurations", (table, *note), lead, detail=True)


def _standing(figures: SweepFigures, standing: Standing, *, is_tested: bool) -> tuple[Value, ...]:
    outcome = figures.outcomes.get(standing.key)
    configuration = outcome.configuration if outcome else None
    names = short_names(configuration) if configuration else (standing.label, "")
    status = (
        "chosen" if standing.key == figures.tuning.chosen else "",
        "tied" if standing.tied else "",
        "default" if configuration and configuration.baseline else "",
        "front" if standing.pareto else "",
        "listed only" if standing.aside else "",
    )
    return (
        *names, tuple(filter(None, status)), standing.validation.mean if is_tested else _estimate(standing.validation),
        _estimate(standing.test) if is_tested else standing.expected, standing.best_share,
        cost_of(outcome, "storage"), *([] if figures.budget else [cost_of(outcome, "context_tokens")]),
    )  # fmt: skip
