"""What the studio says of questions: each with its scores, and one with gold and retrieved spans in the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Passage, Query
from chunkwise.evaluation.evaluate import evaluate
from chunkwise.evaluation.results import Missed, QuestionResult, Results
from chunkwise.evaluation.scoring import Listeners
from chunkwise.metrics.registry import lower_is_better
from chunkwise.report.view import View
from chunkwise.studio.corpus import words_around
from chunkwise.studio.project import Project
from chunkwise.studio.read_request import ApiRequest, NotFound

_AROUND = 400
"""Characters shown before and behind what is gold."""
_MOST_PASSAGES = 12
_METRICS = ("recall", "precision")
_LONGEST = 6_000
"""Characters of one passage that are shown."""


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A run whose scores are shown."""

    number: int | None
    """None: the index as it is now, not a saved run."""
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """A question with its score in every run."""

    id: str
    text: str
    types: tuple[str, ...]
    scores: tuple[float | None, ...]
    """In the order of the runs; None: unscored, or not asked."""
    state: str = ""
    """accepted, edited or unreviewed; empty: it is of a run alone, or of a file of another form."""
    has_gold: bool = False

    def shades(self, *, is_lower_better: bool) -> tuple[int | None, ...]:
        """How good each score is, from 0 to 4; None: it has no score, or one that is no share."""
        shown = (1 - item if is_lower_better and item is not None else item for item in self.scores)
        return tuple(
            None if item is None or not 0 <= item <= 1 else min(4, int(5 * item)) for item in shown
        )


@dataclass(frozen=True, slots=True)
class QuestionsView(View):
    """The questions of all runs and of the test set."""

    metric: str
    is_lower_better: bool
    metrics: tuple[str, ...]
    """Those that can be shown."""
    runs: tuple[RunColumn, ...]
    types: tuple[str, ...]
    rows: tuple[QuestionScores, ...]
    problems: tuple[str, ...]
    """Why questions of the file cannot be used."""


class QuestionsParameters(ApiRequest, frozen=True):
    """By which metric."""

    metric: Annotated[str, Meta(description="metric; empty: the first run's")] = ""


def questions(project: Project, request: QuestionsParameters) -> QuestionsView:
    runs = _evaluations(project)
    columns = [
        *((column, {item.id: item.scores for item in results.questions}) for column, results in runs),
        *_of_sweeps(project),
    ]  # fmt: skip
    first = [next(iter(scores.values())) for _, scores in columns if scores]
    per_question = tuple(dict.fromkeys(name for scores in first for name in scores))
    sweeps = [run.sweep.objective for run in list(project.runs) if run.sweep is not None]
    metric = request.metric or next(iter([results.objective for _, results in runs] + sweeps), "")
    if metric and metric not in per_question:
        raise NotFound(
            f"no run has scores of {metric!r} per question; known: "
            f"{', '.join(per_question) or 'none'}"
        )
    rows = []
    states = project.question_states()
    for id, text, types in _known(project, runs):
        scores = tuple(own.get(id, {}).get(metric) for _, own in columns)
        query = project.queries.get(id)
        has_gold = query is not None and bool(query.references)
        rows.append(QuestionScores(id, text, types, scores, states.get(id, ""), has_gold))
    return QuestionsView(
        metric,
        bool(metric) and lower_is_better(metric),
        per_question,
        tuple(column for column, _ in columns),
        tuple(sorted({type for row in rows for type in row.types})),
        tuple(rows),
        tuple(project.question_problems),
    )


QuestionRow = Mapping[str, float | None]
"""The scores of one question by metric."""


def _evaluations(project: Project) -> list[tuple[RunColumn, Results]]:
    return [
        (RunColumn(run.number, Path(run.name).name, run.results.label), run.results)
        for run in list(project.runs)
        if run.results is not None
    ]


def _of_sweeps(project: Project) -> Iterable[tuple[RunColumn, Mapping[str, QuestionRow]]]:
    """Of each sweep the recommendation beside the first common default."""
    for run in list(project.runs):
        if run.sweep is None:
            continue
        sweep, name = run.sweep, Path(run.name).parent.name
        default = next((item.key for item in sweep.against), "")
        for outcome in sweep.outcomes:
            key, label = outcome.configuration.key, outcome.configuration.label
            if key in (sweep.chosen, default):
                values = zip(*outcome.scores.values(), strict=True)
                rows = (dict(zip(outcome.scores, row, strict=True)) for row in values)
                what = "recommended" if key == sweep.chosen else "default"
                yield (
                    RunColumn(run.number, f"{name} {what}", label),
                    dict(zip(sweep.questions, rows, strict=True)),
                )


def _known(
    project: Project, runs: Sequence[tuple[RunColumn, Results]]
) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    """Each question once, by its id: those of the test set, then others that runs have."""
    result: dict[str, tuple[str, str, tuple[str, ...]]] = {
        query.id: (query.id, query.text, query.types) for query in project.queries.values()
    }
    for _, results in runs:
        for question in results.questions:
            result.setdefault(question.id, (question.id, question.text, question.types))
    return result.values()


class QuestionParameters(ApiRequest, frozen=True):
    """Which question."""

    id: Annotated[str, Meta(description="of the question")] = ""


@dataclass(frozen=True, slots=True)
class GoldPlace:
    """A place that answers the question."""

    doc_id: str
    document: int | None
    """Its number in the list; None: it is not among the documents of this studio."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RetrievedPlace:
    """A hit of one run."""

    rank: int
    doc_id: str
    document: int | None
    start: int
    end: int
    tokens: int
    gold: int
    """Characters of it that are gold."""


@dataclass(frozen=True, slots=True)
class QuestionSide:
    """What one run found for the question."""

    run: RunColumn
    scores: Mapping[str, float | None]
    unscored: Mapping[str, str]
    hits: tuple[RetrievedPlace, ...] | None
    """None: a sweep, which stores only scores."""
    missed: tuple[Missed, ...]


@dataclass(frozen=True, slots=True)
class LayeredPart:
    """A stretch of text that is gold or not, and what runs retrieved it."""

    text: str
    is_gold: bool
    sides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LayeredPassage:
    """Text around what is gold, with gold and retrieved spans over each other."""

    doc_id: str
    title: str
    document: int
    start: int
    end: int
    parts: tuple[LayeredPart, ...]


@dataclass(frozen=True, slots=True)
class QuestionView(View):
    """One question: gold, what every run retrieved, and what each missed."""

    id: str
    text: str
    types: tuple[str, ...]
    answer: str
    gold: tuple[GoldPlace, ...]
    is_gold_whole: bool
    """False: no test set is here, and what runs missed is all that is known of the gold."""
    sides: tuple[QuestionSide, ...]
    passages: tuple[LayeredPassage, ...]


def question(project: Project, request: QuestionParameters) -> QuestionView:
    runs = _evaluations(project)
    result: list[tuple[RunColumn, QuestionResult]] = [
        (column, own)
        for column, results in runs
        for own in results.questions
        if own.id == request.id
    ]
    query = project.queries.get(request.id)
    if query is None and not result:
        raise NotFound(f"no run or test set has the question {str(request.id)!r:.80}")
    result += _searched_now(project, query)
    if query is not None:
        gold = [place for reference in query.references for place in reference.places]
    else:
        gold = sorted({piece.passage for _, own in result for piece in own.missed})
    number = project.corpus.number_of
    return QuestionView(
        request.id,
        query.text if query else result[0][1].text,
        query.types if query else result[0][1].types,
        (query.answer or "") if query else "",
        tuple(GoldPlace(item.doc_id, number(item.doc_id), item.start, item.end) for item in gold),
        query is not None,
        (
            *(_side(project, column, own, gold) for column, own in result),
            *(
                QuestionSide(column, scores[request.id], {}, None, ())
                for column, scores in _of_sweeps(project)
                if request.id in scores
            ),
        ),
        _passages(project, gold, result),
    )


def _searched_now(
    project: Project, query: Query | None
) -> Iterable[tuple[RunColumn, QuestionResult]]:
    """The hits of the index now, and of the one before a recommendation was applied."""
    now = "recommended, applied" if project.index_before else "current index"
    indexes = {now: project.index, "before": project.index_before}
    for name, index in indexes.items():
        if index is not None and query is not None and query.references:
            with suppress(ChunkwiseError), project.search_lock:
                results = evaluate(
                    index, [query], metrics=_METRICS, listeners=Listeners(on_bad=lambda _: None)
                )
                yield RunColumn(None, name, results.label), results.questions[0]


def _side(
    project: Project, column: RunColumn, own: QuestionResult, gold: Sequence[Passage]
) -> QuestionSide:
    return QuestionSide(
        column,
        dict(own.scores),
        dict(own.unscored),
        tuple(
            RetrievedPlace(
                hit.rank, hit.doc_id, project.corpus.number_of(hit.doc_id), hit.start, hit.end, hit.token_count,
                sum(
                    max(0, min(place.end, item.end) - max(place.start, item.start))
                    for place in hit.places
                    for item in gold
                    if item.doc_id == place.doc_id
                ),
            )
            for hit in sorted(own.hits, key=lambda item: item.rank)
        ),
        own.missed,
    )  # fmt: skip


def _passages(
    project: Project, gold: Sequence[Passage], result: Sequence[tuple[RunColumn, QuestionResult]]
) -> tuple[LayeredPassage, ...]:
    """Around every place that is gold; those that lie near each other are one."""
    shown = []
    for doc_id, start, end in _windows(gold):
        number = project.corpus.number_of(doc_id)
        if number is None:
            continue
        document = project.corpus.document(number)
        before, after = words_around(document.text, start, end, _AROUND)
        low, high = start - len(before), end + len(after)
        low = document.text.rfind("\n", max(0, low - _AROUND), low) + 1 or low
        high = min(high, low + _LONGEST)
        own = [(item.start, item.end) for item in gold if item.doc_id == doc_id]
        layers = [
            (
                side,
                [
                    (place.start, place.end)
                    for hit in item.hits
                    for place in hit.places
                    if place.doc_id == doc_id
                ],
            )
            for side, (_, item) in enumerate(result)
        ]
        shown.append(
            LayeredPassage(
                doc_id, document.title or doc_id, number, low, high,
                layered(document.text, low, high, own, layers),
            )
        )  # fmt: skip
    return tuple(shown[:_MOST_PASSAGES])


def _windows(gold: Sequence[Passage]) -> list[tuple[str, int, int]]:
    merged: list[tuple[str, int, int]] = []
    for doc_id, start, end in sorted(gold):
        if merged and merged[-1][0] == doc_id and start - merged[-1][2] <= 2 * _AROUND:
            merged[-1] = doc_id, merged[-1][1], max(end, merged[-1][2])
        else:
            merged.append((doc_id, start, end))
    return merged


def layered(
    text: str,
    low: int,
    high: int,
    gold: Sequence[tuple[int, int]],
    layers: Sequence[tuple[int, Sequence[tuple[int, int]]]],
) -> tuple[LayeredPart, ...]:
    """The text between two places in stretches with one and the same set of spans; joined they are that text."""
    spans = [*gold, *(span for _, own in layers for span in own)]
    edges = {edge for span in spans for edge in span if low < edge < high}
    places = sorted({low, high, *edges})
    return tuple(
        LayeredPart(
            text[start:end],
            any(first <= start and end <= last for first, last in gold),
            tuple(
                run for run, own in layers if any(first <= start and end <= last for first, last in own)
            ),
        )
        for start, end in pairwise(places)
    )  # fmt: skip
