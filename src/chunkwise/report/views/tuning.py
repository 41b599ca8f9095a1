"""What is shown of a sweep: what to do first, then all that it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import (
    counted,
    one_or_many,
    plural,
    points,
    points_between,
    seconds_taken,
    thousands,
)
from chunkwise.evaluation.cost import cost_label, cost_words
from chunkwise.evaluation.results import Figure, Json
from chunkwise.metrics.registry import lower_is_better
from chunkwise.report.charts import Chart, Scale, scale_of
from chunkwise.report.sanitize import one_line
from chunkwise.report.views.leaderboard import ChunkingRow, Leaderboard, chunkings, leaderboard
from chunkwise.report.views.pareto import pareto_chart
from chunkwise.report.views.side_by_side import (
    IssueTable,
    SideBySide,
    SideBySideView,
    issue_table,
    side_by_side_view,
)
from chunkwise.report.views.sweep_charts import (
    SweepFigures,
    budget_chart,
    cost_of,
    fixed_settings,
    interval_words,
    lever_chart,
    mean_words,
    size_chart,
    weight_chart,
)
from chunkwise.report.views.view import NamedValue, Tile, ValueTable, View, value_tables
from chunkwise.tuning.choose.corpus_parts import FEWEST_QUERIES
from chunkwise.tuning.choose.score_table import TWIN
from chunkwise.tuning.plan.sweep_file import sweep_text
from chunkwise.tuning.sweep import Sweep
from chunkwise.tuning.sweep_result import (
    CorpusPart,
    Lever,
    MethodByType,
    NestedJudgment,
    Outcome,
    SweepResult,
    WeightFit,
)

_MOST_REASONS = 200
_COSTS = (
    "chunks", "mean_tokens", "median_tokens", "p95_tokens", "max_tokens", "storage", "tokens_embedded",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DefaultComparison:
    """The choice against one common default, question by question."""

    baseline: str
    label: str
    retriever: str
    figure: Figure | None
    """What the default reaches."""
    difference: float
    low: float
    high: float
    p: float
    verdict: str
    """better, worse, or no difference shown."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """Configurations that were not tried for one and the same reason."""

    why: str
    names: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True)
class UntriedGroup:
    """What failed, waits, or was left out."""

    title: str
    count: int
    head: str
    reasons: tuple[Reasons, ...]


@dataclass(frozen=True, slots=True)
class CostRow:
    """One cost of the choice and of each default."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CostTable:
    """A column a configuration."""

    columns: tuple[str, ...]
    rows: tuple[CostRow, ...]


@dataclass(frozen=True, slots=True)
class SweepCounts:
    """How many were planned, run and chosen from."""

    planned: int | None
    failed: int
    not_run: int
    with_figures: int
    listed_only: tuple[NamedCount, ...]
    """By the reason."""
    chosen_from: int


@dataclass(frozen=True, slots=True)
class NamedCount:
    """So many of something."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class PriorRow:
    """What was expected of a lever beforehand."""

    lever: str
    values: tuple[tuple[str, float], ...]
    """The best first; what each adds to the objective."""

    @property
    def words(self) -> str:
        """All of them on a line, in points."""
        said = (f"{one_line(value, 40)} {points(effect)}" for value, effect in self.values)
        return f"{one_line(self.lever, 40)}: {', '.join(said)}"


@dataclass(frozen=True, slots=True)
class MethodTable:
    """One metric of the methods that were compared, a column a type of question."""

    metric: str
    types: tuple[str, ...]
    """All questions first, then from the easiest type to the hardest."""
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    """Each method with its means, and how much worse the hardest type is than the easiest."""


def method_tables(methods: Sequence[MethodByType]) -> tuple[MethodTable, ...]:
    """A table for each metric; empty where no methods were compared."""
    if not methods:
        return ()
    tables = []
    for metric in methods[0].figures["all"]:
        sign = 1.0 if lower_is_better(metric) else -1.0
        means = {
            (each.name, type): figures[metric].mean
            for each in methods
            for type, figures in each.figures.items()
        }
        ease = {}
        for type in methods[0].figures.keys() - {"all"}:
            known = [
                means[each.name, type] or 0.0
                for each in methods
                if means[each.name, type] is not None
            ]
            if known:
                ease[type] = sign * sum(known) / len(known)
        types = sorted(ease, key=lambda type: (ease[type], type))
        rows = []
        for each in methods:
            own = [means[each.name, type] for type in types]
            drop = None
            if len(own) > 1 and own[0] is not None and own[-1] is not None:
                drop = sign * (own[-1] - own[0])
            rows.append((each.name, (means[each.name, "all"], *own, drop)))
        tables.append(MethodTable(metric, ("all", *types, "drop"), tuple(rows)))
    return tuple(tables)


@dataclass(frozen=True, slots=True)
class TuningView(View):
    """The whole of a sweep, as page, notebook and terminal show it."""

    page_template: ClassVar[str] = "tuning.html.j2"
    fragment_template: ClassVar[str] = "fragment_tuning.html.j2"

    chosen: str
    """Label of the choice; empty: none could be made."""
    chosen_key: str
    """Empty: no choice could be made."""
    sentence: str
    objective: str
    lower_is_better: bool
    figure: Figure | None
    """What the choice reaches on the questions that count; without test questions, what choosing like this does."""
    figure_of: str
    """Which questions these are, in words."""
    split: str
    """Those questions: test, or validation where there are no others."""
    split_count: int
    question_count: int
    validation_count: int
    test_count: int
    budget: int | None
    """Tokens that the objective allows a question."""
    context_words: str
    tiles: tuple[Tile, ...]
    code: tuple[NamedValue, ...]
    """What does the same, by what it is for."""
    defaults: tuple[DefaultComparison, ...]
    default_scale: Scale
    nested: NestedJudgment | None
    """What choosing like this is worth on questions that had no part in it; None: test questions tell, or nothing."""
    chose: Figure | None
    """What the choice reaches on the questions that chose it, which flatters."""
    prior: tuple[PriorRow, ...]
    prior_questions: float | None
    """As many questions as the prior counts for."""
    leaderboard: Leaderboard | None
    chunkings: tuple[ChunkingRow, ...]
    """What can be compared without questions."""
    budgets: Chart | None
    levers: tuple[Lever, ...]
    lever_scale: Scale
    lever_chart: Chart | None
    sizes: Chart | None
    fixed_settings: str
    """What is the same in all charts of sizes."""
    pareto: Chart | None
    parts: tuple[CorpusPart, ...]
    part_scale: Scale
    small_parts: tuple[NamedCount, ...]
    """Parts of the corpus with too few questions to be looked at."""
    fewest_questions: int
    """That a part must have."""
    fit: WeightFit | None
    fit_chart: Chart | None
    agreement: Mapping[str, float]
    issues: IssueTable | None
    side_by_side: SideBySideView | None
    costs: CostTable | None
    sweep_tiles: tuple[Tile, ...]
    counts: SweepCounts
    detectable: float | None
    needed: int | None
    methods: tuple[MethodTable, ...]
    caveats: tuple[str, ...]
    untried: tuple[UntriedGroup, ...]
    sweep_file: str
    """The sweep as the file that asks for it again; empty where the plan holds none."""
    made_with: tuple[ValueTable, ...]

    @property
    def strongest_levers(self) -> list[Lever]:
        """The strongest first."""
        return sorted(self.levers, key=lambda lever: (-abs(lever.effect), lever.name))

    @property
    def reported_on(self) -> str:
        """The questions that figures are of, in words."""
        if self.split == "test":
            return f"on the {counted(self.split_count, 'test question')}"
        return f"on the {counted(self.split_count, 'question')} that choose"

    def levers_that(self, moves: bool) -> list[Lever]:
        """Those that move the objective, or do not; the strongest first."""
        strongest = sorted(self.levers, key=lambda lever: -abs(lever.effect))
        return [lever for lever in strongest if lever.moves is moves]


def tuning_view(
    tuning: SweepResult,
    *,
    side_by_side: SideBySide | None = None,
    code: Mapping[str, str] | None = None,
) -> TuningView:
    """`side_by_side` gives it texts, `code` what does the same, by what it is for."""
    figures = SweepFigures(tuning)
    chosen = figures.chosen.configuration if figures.chosen else None
    text = _sweep_file(tuning.plan)
    defaults = _defaults(figures)
    levers = sorted(tuning.levers, key=lambda lever: (-abs(lever.effect), lever.name))
    return TuningView(
        chosen=chosen.label if chosen else "",
        chosen_key=tuning.chosen,
        sentence=tuning.sentence,
        objective=tuning.objective,
        lower_is_better=lower_is_better(tuning.objective),
        figure=tuning.nested.figure if tuning.nested else figures.quality(tuning.chosen),
        figure_of=_figure_of(figures),
        split=figures.split,
        split_count=figures.split_count,
        question_count=len(tuning.questions),
        validation_count=sum(split == "validation" for split in tuning.splits),
        test_count=sum(split == "test" for split in tuning.splits),
        budget=figures.budget,
        context_words=figures.context_words,
        tiles=_tiles(figures),
        code=tuple(NamedValue(name, own) for name, own in (code or {}).items()),
        defaults=defaults,
        default_scale=_interval_scale(defaults, [each.difference for each in defaults]),
        nested=tuning.nested,
        chose=figures.standings[tuning.chosen].validation if tuning.nested else None,
        prior=tuple(
            PriorRow(name, tuple(sorted(values.items(), key=lambda each: -each[1])))
            for name, values in tuning.prior.items()
        ),
        prior_questions=tuning.prior_questions,
        leaderboard=leaderboard(figures),
        chunkings=chunkings(figures),
        budgets=budget_chart(figures),
        levers=tuning.levers,
        lever_scale=scale_of((level.mean for lever in levers for level in lever.levels), 4),
        lever_chart=lever_chart(levers, tuning.objective),
        sizes=size_chart(figures),
        fixed_settings=fixed_settings(figures),
        pareto=pareto_chart(figures),
        parts=tuning.parts,
        part_scale=_interval_scale(tuning.parts, [each.gain for each in tuning.parts]),
        small_parts=tuple(NamedCount(*each) for each in tuning.small_parts.items()),
        fewest_questions=FEWEST_QUERIES,
        fit=tuning.fit,
        fit_chart=weight_chart(tuning.fit, tuning.objective) if tuning.fit else None,
        agreement=dict(tuning.agreement),
        issues=issue_table(figures),
        side_by_side=side_by_side_view(side_by_side) if side_by_side else None,
        costs=_costs(figures),
        sweep_tiles=_sweep_tiles(figures),
        counts=_counts(tuning),
        detectable=tuning.detectable,
        needed=tuning.needed,
        methods=method_tables(tuning.methods),
        caveats=tuning.caveats,
        untried=_untried(tuning),
        sweep_file=text,
        made_with=_made_with(figures, text),
    )


def _interval_scale(
    rows: Sequence[DefaultComparison | CorpusPart], means: Sequence[float]
) -> Scale:
    ends = [end for row in rows for end in (row.low, row.high)]
    return scale_of([*means, *ends], 6, zero=True)


def _figure_of(figures: SweepFigures) -> str:
    if figures.split == "test":
        return "test questions"
    return (
        "questions that had no part in choosing"
        if figures.tuning.nested
        else "questions that choose"
    )


def _tiles(figures: SweepFigures) -> tuple[Tile, ...]:
    """The figures that the recommendation rests on."""
    tuning = figures.tuning
    tiles: list[Tile] = []
    figure = tuning.nested.figure if tuning.nested else figures.quality(tuning.chosen)
    if figure and figure.mean is not None:
        sure = interval_words(figure)
        name = f"on {_figure_of(figures)}" + (f" ({sure})" if sure else "")
        tiles.append(Tile(mean_words(figure), name, tuning.objective))
    for each in tuning.against[:2]:
        between = points_between(each.low, each.high)
        name = (
            f"points against {one_line(each.baseline, 60)} ({between}): {one_line(each.words, 40)}"
        )
        tiles.append(Tile(points(each.difference), name))
    tied = sum(each.tied for each in tuning.standings)
    if tied:
        entrants = sum(not each.aside for each in tuning.standings)
        name = f"of {thousands(entrants)} that may be chosen {one_or_many(tied, 'is', 'are')} tied with the best"
        tiles.append(Tile(thousands(tied), name))
    if figures.chosen:
        for name, unit in (
            ("storage", "tokens indexed per token"),
            ("context_tokens", figures.context_words),
        ):
            value = cost_of(figures.chosen, name)
            if value is not None:
                tiles.append(Tile(cost_words(name, value), unit))
    return tuple(tiles)


def _defaults(figures: SweepFigures) -> tuple[DefaultComparison, ...]:
    rows = []
    for each in figures.tuning.against:
        outcome = figures.outcomes.get(each.key)
        rows.append(
            DefaultComparison(
                each.baseline,
                outcome.configuration.label if outcome else "",
                outcome.configuration.retriever if outcome else "",
                figures.quality(each.key),
                each.difference,
                each.low,
                each.high,
                each.p,
                each.words,
            )
        )
    return tuple(rows)


def _costs(figures: SweepFigures) -> CostTable | None:
    columns = ([figures.chosen] if figures.chosen else []) + figures.baselines()
    unique = list({each.configuration.key: each for each in columns}.values())
    kinds = {name: cost_label(name) for name in _COSTS} | {"context_tokens": figures.context_words}
    rows = []
    for name, label in kinds.items():
        values = [cost_of(each, name) for each in unique]
        if any(value is not None for value in values):
            cells = tuple("–" if value is None else cost_words(name, value) for value in values)
            rows.append(CostRow(label, cells))
    if not rows:
        return None
    return CostTable(tuple(figures.short_name(each) for each in unique), tuple(rows))


def _sweep_tiles(figures: SweepFigures) -> tuple[Tile, ...]:
    """What the sweep itself took."""
    tuning = figures.tuning
    tiles = [
        Tile(seconds_taken(seconds), one_line(f"to {stage}" if stage.islower() else stage, 60))
        for stage, seconds in tuning.timing.items()
    ]
    if done := len(tuning.outcomes):
        again = sum(each.aside.startswith(TWIN) for each in tuning.standings)
        beside = (
            f", {thousands(again)} of them once more with vectors of their own" if again else ""
        )
        tiles.insert(0, Tile(thousands(done), f"{plural(done, 'configuration')} measured{beside}"))
    return tuple(tiles)


def _counts(tuning: SweepResult) -> SweepCounts:
    planned, failed, not_run = (tuning.plan.get(name) for name in ("configurations", "failed", "not_run"))  # fmt: skip
    aside = Counter(each.aside for each in tuning.standings if each.aside)
    return SweepCounts(
        planned if isinstance(planned, int) else None,
        failed if isinstance(failed, int) else 0,
        not_run if isinstance(not_run, int) else 0,
        len(tuning.standings),
        tuple(NamedCount(*each) for each in aside.items()),
        len(tuning.standings) - aside.total(),
    )


def _untried(tuning: SweepResult) -> tuple[UntriedGroup, ...]:
    """What failed, what had no time, and what was left out of the grid, each with its reason."""
    lost = [each for each in tuning.outcomes if each.error]
    failed, waiting = (
        [(each.configuration.label, each.error) for each in lost if each.waits is waits]
        for waits in (False, True)
    )
    return tuple(
        UntriedGroup(title, len(rows), head, _by_reason(rows))
        for title, rows, head in (
            ("Failed", failed, "configuration"),
            ("Not run yet", waiting, "configuration"),
            ("Left out of the grid", _left_out(tuning.plan), "what"),
        )
        if rows
    )


def _left_out(plan: Mapping[str, Json]) -> list[tuple[str, str]]:
    listed = plan.get("left_out")
    reasons = []
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict):
            reasons.append((str(each.get("what", "")), str(each.get("why", ""))))
        elif isinstance(each, list):
            reasons.append((str(each[0]) if each else "", " ".join(str(part) for part in each[1:])))
        else:
            reasons.append((str(each), ""))
    return reasons


def _by_reason(rows: Sequence[tuple[str, str]]) -> tuple[Reasons, ...]:
    """Those with one reason together: a grid leaves many out for the same."""
    names: dict[str, list[str]] = {}
    for what, why in rows:
        names.setdefault(why, []).append(what)
    return tuple(
        Reasons(why, tuple(own[:_MOST_REASONS]), max(len(own) - _MOST_REASONS, 0))
        for why, own in names.items()
    )


def _sweep_file(plan: Mapping[str, Json]) -> str:
    try:
        return sweep_text(msgspec.convert(plan.get("sweep"), Sweep))
    except (msgspec.ValidationError, InvalidParameter):
        return ""


def _made_with(figures: SweepFigures, text: str) -> tuple[ValueTable, ...]:
    """What to run to see this again."""
    tuning = figures.tuning
    plan = {
        name: value
        for name, value in tuning.plan.items()
        if name != "left_out" and not (text and name == "sweep")
    }
    return value_tables(
        Choice=_settings(figures.chosen) if figures.chosen else {},
        Plan=plan,
        Data=tuning.data,
        Versions=tuning.versions,
    )


def _settings(outcome: Outcome) -> dict[str, Json]:
    chosen = outcome.configuration
    return {
        "key": chosen.key, "strategy": chosen.strategy or "none", "retriever": chosen.retriever,
        "context": chosen.context, "neighbors": chosen.neighbors, "vectors": chosen.vectors,
        **({"embedder": chosen.embedder} if chosen.embedder else {}),
        **({"reranker": chosen.reranker} if chosen.reranker else {}),
    }  # fmt: skip
