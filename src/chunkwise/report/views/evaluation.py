"""What is shown of an evaluation: the four questions first, then all that they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from chunkwise.base.wording import (
    between,
    counted,
    counted_short,
    milliseconds,
    percent,
    plural,
    points_between,
    rough_dollars,
    score,
    seconds_taken,
    short_number,
    thousands,
)
from chunkwise.chunkers.chunk_offsets import EXACT, KINDS
from chunkwise.core import Document
from chunkwise.evaluation.cost import cost_label, cost_words
from chunkwise.evaluation.judge_calibrations import judged_by
from chunkwise.evaluation.results import LATENCY, Agreement, Figure, Json, Results
from chunkwise.evaluation.verdicts_and_advice import (
    AnsweredQuestion,
    four_questions,
    most_reachable,
    question_of,
    type_robustness,
)
from chunkwise.metrics.answers.citations import QUESTION as OF_OFFSETS
from chunkwise.metrics.metric import KeyQuestion
from chunkwise.metrics.registry import help_of, key_questions, lower_is_better, metric_of, title_of
from chunkwise.report.views.lint import CutsView, cuts_view
from chunkwise.report.views.questions import (
    QuestionTable,
    ScoreRanges,
    WorstQuestion,
    question_table,
    score_ranges,
    worst_questions,
)
from chunkwise.report.views.view import Tile, ValueTable, View, value_tables
from chunkwise.testsets.testset import generated_note

_GROUPS = (
    "What is retrieved",
    "As the Chroma report defines them",
    "The four questions",
    "The chunks themselves",
    "Answers",
)
"""These first, in this order; what others declare comes behind them."""
_OF_LLM = "llm_"
"""How its entries in `timing` begin: a second run finds most verdicts kept, so that they are no part of the result."""
_LLM_COUNTS = {
    "llm_calls": ("call", ""),
    "llm_kept": ("verdict", " of earlier runs"),
    "llm_failed": ("request", " without a usable answer"),
    "llm_prompt_tokens": ("token", " read"),
    "llm_output_tokens": ("token", " written"),
}
"""What is counted, and what is said of it."""


@dataclass(frozen=True, slots=True)
class MethodFigure:
    """One way to answer one of the four questions."""

    metric: str
    method: str
    """Empty: the metric has one method only."""
    figure: Figure
    """Its verdict is that of the page: a weak judge or a ceiling wins over good and below."""
    judged_by: str
    """Who judged, and what that is worth; empty: nobody did."""
    at_most: float | None
    """How far it could rise, where no ranking could make it good."""

    @property
    def name(self) -> str:
        """As tables name it."""
        return f"{self.metric}.{self.method}" if self.method else self.metric

    @property
    def row(self) -> FigureRow:
        return FigureRow(self.name, self.figure)


@dataclass(frozen=True, slots=True)
class FourCard:
    """One of the four questions about a chunking."""

    question: str
    metric: str
    methods: tuple[MethodFigure, ...]
    """Those without any score last; empty: not measured."""
    notes: tuple[str, ...]
    """What the figures rest on."""
    good: float
    excellent: float

    @property
    def lower_is_better(self) -> bool:
        return self.excellent < self.good


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A metric, or a group of questions, with its figure."""

    name: str
    figure: Figure
    help: str = ""
    judged_by: str = ""

    @property
    def value(self) -> str:
        return _value_words(self.name, self.figure.mean)

    @property
    def lower_is_better(self) -> bool:
        return lower_is_better(self.name)

    @property
    def is_of_chunking(self) -> bool:
        """One figure for all chunks, not a mean over questions."""
        metric = metric_of(self.name)
        return metric is not None and metric.per == "chunking"

    @property
    def interval(self) -> str:
        """Empty where there is none."""
        low, high = self.figure.low, self.figure.high
        if low is None or high is None:
            return ""
        return between(_value_words(self.name, low), _value_words(self.name, high))

    @property
    def question_count(self) -> int:
        """Scored or not."""
        return self.figure.questions

    @property
    def why_unscored(self) -> str:
        """Every reason with its number of questions, the most common first."""
        figure = self.figure
        reasons = [
            f"{thousands(count)} {what}: {reason}"
            for what, found in (("unscored", figure.unscored), ("hits", figure.unjudged_hits))
            for reason, count in sorted(found.items(), key=lambda item: (-item[1], item[0]))
        ]
        return "; ".join(reasons)

    @property
    def hint(self) -> str:
        """What the metric says, which way is good where it is not up, and who judged, as sentences."""
        judged = f"{self.judged_by[:1].upper()}{self.judged_by[1:]}." if self.judged_by else ""
        down = self.lower_is_better and "lower is better" not in self.help
        return " ".join(filter(None, (self.help, "Lower is better." if down else "", judged)))

    @property
    def description(self) -> str:
        """What a mark says to those who hover over it, or hear it."""
        text = f"{self.name}: {self.value}"
        if self.figure.low is not None:
            text += f", 95 % interval {self.interval}"
        of = "chunk" if self.is_of_chunking else "question"
        return text + (f", {counted(self.figure.scored, of)}" if self.figure.scored else "")


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """Metrics that belong together."""

    title: str
    rows: tuple[FigureRow, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """How much harder one type of question is than another."""

    easiest: str
    hardest: str
    drop: float
    low: float
    high: float
    pairs: int
    """Of types that the two were picked from; 1: they were named."""
    is_shown: bool

    @property
    def words(self) -> str:
        """How sure it is."""
        picked = f", corrected for {thousands(self.pairs)} pairs of types" if self.pairs > 1 else ""
        verdict = "" if self.is_shown else ", not shown to be harder"
        return f"95 % interval {points_between(self.low, self.high, plus=False)}{picked}{verdict}"


@dataclass(frozen=True, slots=True)
class AdviceCard:
    """A figure that is not good yet, and what to try."""

    metric: str
    question: str
    """The one of the four it answers; empty: none."""
    text: str


@dataclass(frozen=True, slots=True)
class EvaluationView(View):
    """The whole of an evaluation, as page and terminal show it."""

    page_template: ClassVar[str] = "evaluation.html.j2"
    fragment_template: ClassVar[str] = "fragment_evaluation.html.j2"

    label: str
    title: str
    steps: tuple[str, ...]
    """Retriever, what follows it, model."""
    k: int | None
    budget: int | None
    """Tokens a question; None: `k` hits are handed out."""
    question_count: int
    questions_left_out: int
    """That the file has, too, and that could not be used."""
    document_count: int
    character_count: int
    token_count: int
    warning: str
    """That nothing can be said of the search, and what the questions lack."""
    objective: str
    lower_is_better: bool
    summary: Figure | None
    """The objective over all questions."""
    four: tuple[FourCard, ...]
    """All four, or none where none was measured."""
    figures: tuple[FigureGroup, ...]
    figure_order: tuple[str, ...]
    """Names of all figures as the results have them."""
    types: tuple[FigureRow, ...]
    """From the easiest to the hardest; empty where there are not two."""
    spread: Spread | None
    documents: tuple[FigureRow, ...]
    """The worst first; empty where there are not two."""
    cuts: CutsView | None
    worst: tuple[WorstQuestion, ...]
    scores: ScoreRanges | None
    questions: QuestionTable | None
    advice: tuple[AdviceCard, ...]
    detectable: Mapping[str, float]
    """By metric: the least difference to another run that can be shown."""
    agreement: tuple[Agreement, ...]
    cost: Mapping[str, Json]
    cost_tiles: tuple[Tile, ...]
    latency: tuple[Tile, ...]
    """How long a question took a retriever of the user's own."""
    llm_spent: tuple[Tile, ...]
    """What asking a language model took."""
    llm_by_metric: tuple[Tile, ...]
    """The same of each metric that asked it."""
    made_with: tuple[ValueTable, ...]

    @property
    def handed_out(self) -> str:
        """Why a figure cannot rise further: how much is handed out."""
        return "here" if self.budget else f"with k={self.k}"


def evaluation_view(
    results: Results,
    documents: Mapping[str, Document] | None = None,
    types: tuple[str, str] | None = None,
) -> EvaluationView:
    """`documents`, by id, give the hits of the worst questions their text; `types`: two that are compared with each
    other, instead of the easiest and the hardest."""
    settings = results.configuration
    budget, k = settings.get("budget"), settings.get("k")
    known = results.data.get("documents")
    spread = type_robustness(results, types)
    rows = _by_group(results, results.by_type, hardest_first=False)
    return EvaluationView(
        label=results.label,
        title=str(settings.get("strategy") or "")
        or str(settings.get("hits") or "An evaluation"),
        steps=tuple(
            str(each) for each in (settings.get("retriever"), *results.steps, settings.get("embedder")) if each
        ),
        k=k if isinstance(k, int) else None,
        budget=budget if isinstance(budget, int) else None,
        question_count=len(results.questions),
        questions_left_out=_left_out(results),
        document_count=_count(known),
        character_count=_count(known.get("characters")) if isinstance(known, dict) else 0,
        token_count=_count(results.data.get("tokens")),
        warning=generated_note(results.data.get("questions")),
        objective=results.objective,
        lower_is_better=lower_is_better(results.objective),
        summary=results.summary.get(results.objective),
        four=_four(results),
        figures=_figures(results),
        figure_order=tuple(results.summary),
        types=rows,
        spread=Spread(*spread, is_shown=spread.is_shown) if spread and rows else None,
        documents=_by_group(results, results.by_document, hardest_first=True),
        cuts=cuts_view(results.cuts) if results.cuts else None,
        worst=worst_questions(results, documents or {}),
        scores=score_ranges(results),
        questions=question_table(results),
        advice=tuple(
            AdviceCard(each.metric, _question_text(each.metric), each.text) for each in results.advice
        ),
        detectable=dict(results.detectable),
        agreement=results.agreement,
        cost=dict(results.cost),
        cost_tiles=_cost_tiles(results),
        latency=_latency(results),
        llm_spent=_llm_spent(results),
        llm_by_metric=_llm_by_metric(results),
        made_with=value_tables(
            Configuration=results.configuration, Data=results.data, Versions=results.versions
        ),
    )  # fmt: skip


def _count(value: Json) -> int:
    """A number, or the one inside what else is known."""
    if isinstance(value, dict):
        value = value.get("count")
    return int(value) if isinstance(value, int | float) else 0


def _left_out(results: Results) -> int:
    known = results.data.get("questions")
    return _count(known.get("left_out")) if isinstance(known, dict) else 0


def _four(results: Results) -> tuple[FourCard, ...]:
    measured = {each.metric: each for each in four_questions(results)}
    if not measured:
        return ()
    return tuple(
        _card(results, question, measured.get(name)) for name, question in key_questions().items()
    )


def _card(results: Results, question: KeyQuestion, answered: AnsweredQuestion | None) -> FourCard:
    methods = []
    for method, figure in answered.figures.items() if answered else ():
        assert answered is not None
        name = answered.name_of(method)
        judged, most = judged_by(results, name), most_reachable(results, name)
        methods.append(MethodFigure(question.name, method, figure, judged, most))
    notes = _offsets(results) if methods and question == OF_OFFSETS else ()
    good, excellent = question.targets
    return FourCard(question.text, question.name, tuple(methods), notes, good, excellent)


def _question_text(metric: str) -> str:
    """The one of the four questions that a metric answers; empty: none."""
    question = question_of(metric)
    return question.text if question else ""


def _value_words(name: str, value: float | None) -> str:
    """A figure as it is read: in per cent where its metric says so, else with three digits."""
    metric = metric_of(name)
    return percent(value) if value is not None and metric and metric.as_percent else score(value)


def _offsets(results: Results) -> tuple[str, ...]:
    """Of chunks from a file, how many offsets are of which kind, then what each kind means that is not exact."""
    known = results.data.get("positions")
    if not isinstance(known, dict):
        return ()
    counts = {kind: count for kind in KINDS if isinstance(count := known.get(kind), int) and count}
    kinds = ", ".join(
        f"{thousands(count)} {kind.replace('_', ' ')}" for kind, count in counts.items()
    )
    meanings = [f"{kind.replace('_', ' ')}: {KINDS[kind]}" for kind in counts if kind != EXACT]
    return (f"offsets: {kinds}", *meanings)


def _figures(results: Results) -> tuple[FigureGroup, ...]:
    groups: dict[str, list[FigureRow]] = {name: [] for name in _GROUPS}
    for name, figure in results.summary.items():
        judged = judged_by(results, name) if figure.mean is not None else ""
        metric = metric_of(name)
        rows = groups.setdefault(title_of(metric) if metric else "Others", [])
        rows.append(FigureRow(name, figure, help_of(name), judged))
    return tuple(FigureGroup(title, tuple(found)) for title, found in groups.items() if found)


def _by_group(
    results: Results, groups: Mapping[str, Mapping[str, Figure]], *, hardest_first: bool
) -> tuple[FigureRow, ...]:
    """By the objective; nothing where there are not two."""
    found = {
        name: figure
        for name, figures in groups.items()
        if (figure := figures.get(results.objective)) and figure.mean is not None
    }
    if len(found) < 2:
        return ()
    sign = 1 if lower_is_better(results.objective) is not hardest_first else -1
    order = sorted(found, key=lambda name: (sign * (found[name].mean or 0.0), name))
    return tuple(FigureRow(name, found[name]) for name in order)


def _cost_tiles(results: Results) -> tuple[Tile, ...]:
    """What is known by name first; anything else as it is."""
    tiles: list[Tile] = []
    for name, value in results.cost.items():
        if isinstance(value, bool) or value is None:
            continue
        if not isinstance(value, int | float):
            tiles.append(Tile(str(value), cost_label(name)))
        else:
            tiles.append(Tile(cost_words(name, value), cost_label(name)))
    tiles += [Tile(each.value, f"language model: {each.name}") for each in _llm_spent(results)]
    tiles += [Tile(each.value, f"language model, {each.name}") for each in _llm_by_metric(results)]
    tiles += [Tile(each.value, f"retriever, {each.name}") for each in _latency(results)]
    for stage, seconds in results.timing.items():
        if not stage.startswith((_OF_LLM, LATENCY)):
            tiles.append(Tile(seconds_taken(seconds), f"to {stage}" if stage.islower() else stage))
    return tuple(tiles)


_LATENCIES = {
    "median": "median of a question",
    "p95": "95 % of questions",
    "slowest": "the slowest",
}


def _latency(results: Results) -> tuple[Tile, ...]:
    """How long a question took a retriever of the user's own; empty where none was asked."""
    return tuple(
        Tile(milliseconds(results.timing[f"{LATENCY}{key}"]), name)
        for key, name in _LATENCIES.items()
        if f"{LATENCY}{key}" in results.timing
    )


def _llm_spent(results: Results) -> tuple[Tile, ...]:
    """How much of what; empty where no language model was asked."""
    timing = results.timing
    spent = [
        Tile(short_number(timing[key]), plural(timing[key], noun) + more)
        for key, (noun, more) in _LLM_COUNTS.items()
        if key in timing and (timing[key] or key == "llm_calls")
    ]
    if money := timing.get("llm_money"):
        spent.append(Tile(rough_dollars(money), "paid"))
    if money := timing.get("llm_money_per_100_questions"):
        spent.append(Tile(rough_dollars(money), "for 100 questions"))
    return tuple(spent)


def _llm_by_metric(results: Results) -> tuple[Tile, ...]:
    """Which metric spent what; the dearest first."""
    timing, per_100 = results.timing, 100 / max(len(results.questions), 1)
    names = [key.partition(".")[2] for key in timing if key.startswith("llm_calls.")]
    found = []
    for name in sorted(names, key=lambda each: -timing.get(f"llm_tokens.{each}", 0.0)):
        calls, tokens = timing[f"llm_calls.{name}"], timing.get(f"llm_tokens.{name}", 0.0)
        said = f"{counted_short(calls, 'call')}, {counted_short(tokens, 'token')}"
        if money := timing.get(f"llm_money.{name}"):
            said += f", {rough_dollars(money)} ({rough_dollars(per_100 * money)} for 100 questions)"
        found.append(Tile(said, name))
    return tuple(found)
