"""Ask every question, score every answer, and say how sure the figures are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.progress import Stages, Stopwatch, unwatched
from chunkwise.core import Document, Hit, HitPlace, Passage, Query, Score
from chunkwise.documents.document_hash import documents_data
from chunkwise.evaluation.cost import cost_of
from chunkwise.evaluation.judge_calibrations import calibrations_told
from chunkwise.evaluation.judging import (
    JudgeVerdicts,
    LlmJudging,
    agreement_of,
    judge_of,
    judged,
    judges_of,
    judges_told,
    with_unjudged,
)
from chunkwise.evaluation.results import (
    Figure,
    FoundSpan,
    Json,
    Missed,
    QuestionResult,
    Results,
    positions_by,
    versions,
)
from chunkwise.evaluation.scoring import Measures, OnEstimate
from chunkwise.evaluation.system_under_test import EvaluatedSystem, Hits, SearchRun
from chunkwise.evaluation.verdicts_and_advice import advice, verdict
from chunkwise.metrics.evidence import Answer, Evidence
from chunkwise.metrics.judges.judge import LLM
from chunkwise.metrics.metric import CutCounts
from chunkwise.metrics.registry import MetricAt, described, lower_is_better
from chunkwise.metrics.scorer import ScoreColumn, Scorer
from chunkwise.models.llm.client import LlmClient
from chunkwise.stats.intervals import Interval, intervals
from chunkwise.stats.paired import detectable_by
from chunkwise.testsets.testset import hash_of

Columns = Mapping[str, ScoreColumn]


def figures(columns: Columns) -> dict[str, Figure]:
    """One figure a metric, over all questions."""
    count = len(next(iter(columns.values())).values) if columns else 0
    return by_group(columns, {"": range(count)})[""]


def by_group(columns: Columns, groups: Mapping[str, Sequence[int]]) -> dict[str, dict[str, Figure]]:
    """The same for every group of questions, in the order of their names."""
    result: dict[str, dict[str, Figure]] = {name: {} for name in sorted(groups)}
    if not columns:
        return result
    table = np.column_stack([column.values for column in columns.values()])
    # Groups of one size are looked at together: their columns stand side by side.
    alike: dict[int, list[str]] = {}
    for name in result:
        alike.setdefault(len(groups[name]), []).append(name)
    for names in alike.values():
        rows = np.array([list(groups[name]) for name in names])
        beside = np.hstack(list(table[rows]))
        every = iter(zip(intervals(beside), beside.T, strict=True))
        for name, (metric, column) in product(names, columns.items()):
            interval, values = next(every)
            result[name][metric] = _figure(metric, column, groups[name], interval, values)
    return result


def _figure(
    metric: str,
    column: ScoreColumn,
    rows: Sequence[int],
    interval: Interval | None,
    values: NDArray[np.float64],
) -> Figure:
    missing = np.isnan(values).tolist()
    why = Counter(column.reasons[row] for row, gone in zip(rows, missing, strict=True) if gone)
    unscored = dict(sorted(why.items()))
    if interval is None:
        return Figure(None, scored=0, unscored=unscored)
    scored = len(missing) - sum(missing)
    word = verdict(metric, interval.mean)
    # Of what could not be scored most may be wrong.
    if word == "excellent" and 2 * scored < len(missing):
        word = "good"
    return Figure(*interval, scored, unscored, word)


def types_of(queries: Sequence[Query]) -> dict[str, list[int]]:
    """The questions of every type; one of several types counts in each."""
    return positions_by(query.types for query in queries)


_DIGITS = 6
"""Of a hit's score: the last ones depend on the machine."""


def question_results(
    system: EvaluatedSystem,
    queries: Sequence[Query],
    shown: Hits,
    further: Mapping[int, Sequence[Hit]],
    columns: Mapping[str, ScoreColumn],
    verdicts: JudgeVerdicts,
) -> tuple[QuestionResult, ...]:
    """`further` are the hits of a question down to where was searched, by its number."""
    documents = {document.id: document for document in system.documents}
    return tuple(
        QuestionResult(
            query.id,
            query.text,
            query.types,
            tuple(dict.fromkeys(reference.doc_id for reference in query.references)),
            {name: _value(column, number) for name, column in columns.items()},
            {name: why for name, column in columns.items() if (why := column.reasons[number])},
            tuple(
                _found_span(hit, {judge: _verdict(own[number][at].value) for judge, own in verdicts.items()})
                for at, hit in enumerate(hits)
            ),
            missed(query, hits, further.get(number, hits), documents),
            sum(hit.token_count for hit in hits),
        )
        for number, (query, hits) in enumerate(zip(queries, shown, strict=True))
    )  # fmt: skip


def worst_of(columns: Mapping[str, ScoreColumn], objective: str, most: int) -> list[int]:
    """The questions with the worst scores, the worst first; those with a full score are not bad."""
    if objective not in columns:
        return []
    lower = lower_is_better(objective)
    # From 1, which is best, down.
    scores = [1 - value if lower else value for value in columns[objective].values.tolist()]
    bad = [number for number, score in enumerate(scores) if score < 1]
    return sorted(bad, key=lambda number: (scores[number], number))[:most]


def _value(column: ScoreColumn, number: int) -> float | None:
    value = float(column.values[number])
    return None if math.isnan(value) else value


def _verdict(value: float | None) -> bool | None:
    return None if value is None else value >= 0.5


def _found_span(hit: Hit, relevant: Mapping[str, bool | None]) -> FoundSpan:
    score = float(f"{hit.score:.{_DIGITS}g}")
    place = hit.doc_id, hit.start, hit.end
    stands_for = tuple((row.doc_id, row.start, row.end) for row in hit.places) if hit.level else ()
    return FoundSpan(*place, hit.rank, score, hit.token_count, relevant, hit.summary, stands_for)


@dataclass(frozen=True, slots=True)
class Scoring:
    """What scores are made of."""

    system: EvaluatedSystem
    queries: Sequence[Query]
    asking: SearchRun
    rules: Measures
    verdicts: JudgeVerdicts = field(default_factory=dict)
    """Of judges that were asked already; of another, they are asked for when a metric needs them."""
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """Answers by question id."""
    by_llm: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    """Scores that a language model's verdicts gave, by metric."""

    @property
    def evidence(self) -> Evidence:
        """All that a metric may look at."""
        system, rules = self.system, self.rules
        return Evidence(
            self.queries, self.asking.shown, system.documents, self.answers, system.index,
            system.chunking, system.position, rules.score.relevance_threshold, rules.score.unit,
            system.tokenizer, rules.judge_model, self._ask_judge,
        )  # fmt: skip

    def columns(self) -> dict[str, ScoreColumn]:
        """One column a metric that scores questions, in the order they were asked for."""
        result = self._scorer.columns(self.rules.wanted)
        failed = [self.system.failed.get(query.id, "") for query in self.queries]
        return {name: _without(column, failed) for name, column in result.items()}

    def whole(self) -> tuple[dict[str, Figure], CutCounts | None]:
        """The figures of the whole chunking, which have no interval, and what is wrong at the cuts."""
        scores = self._scorer.whole(self.rules.wanted)
        cuts = next((score.cuts for score in scores.values() if score.cuts is not None), None)
        result: dict[str, Figure] = {}
        for name, score in scores.items():
            value, reason = score.score.value, score.score.reason
            unscored = dict(score.unscored) or ({reason: 1} if value is None else {})
            scored = 0 if value is None else score.count
            result[name] = Figure(
                value, scored=scored, unscored=unscored, verdict=verdict(name, value)
            )
        return result, cuts

    def reachable(self) -> dict[str, float]:
        """By metric, the most that any ranking of the same chunks could reach, where that is known."""
        result = {
            at.label: at.metric.reachable(self.evidence)
            for at in self.rules.wanted
            if at.metric.reachable is not None
        }
        return {name: most for name, most in result.items() if most is not None}

    @property
    def _scorer(self) -> Scorer:
        return Scorer(self.evidence, self.asking, self.by_llm)

    def _ask_judge(
        self, name: str, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]
    ) -> list[list[Score]]:
        if name in self.verdicts and hits is self.asking.shown:
            return self.verdicts[name]
        return judge_of(name, self.rules).judge(queries, hits)


def _without(column: ScoreColumn, failed: Sequence[str]) -> ScoreColumn:
    """The column with no score for questions that failed, and why."""
    if not any(failed):
        return column
    values = np.where([bool(reason) for reason in failed], np.nan, column.values)
    reasons = (new or old for new, old in zip(failed, column.reasons, strict=True))
    return ScoreColumn(values, tuple(reasons))


def depths(wanted: Iterable[MetricAt]) -> list[int]:
    """How many hits these metrics look at."""
    return [at.at for at in wanted if at.at and not at.tokens]


WORST = 20
"""Questions whose missing text is looked for further down."""
FURTHER = 1000
"""Hits a question down to which it is looked for."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """What is asked, where it came from, and what others answered."""

    queries: Sequence[Query]
    about: Mapping[str, Json] = field(default_factory=dict)
    """File, hash, and what was left out with the reason."""
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """By the id of the question."""


def evaluate_system(
    system: EvaluatedSystem,
    questions: QuestionSet,
    measuring: Measures,
    *,
    watch: Stopwatch | None = None,
    stages: Stages = unwatched,
    on_estimate: OnEstimate | None = None,
) -> Results:
    """The whole result; `watch` goes on counting where the caller began."""
    watch = watch or Stopwatch()
    queries = questions.queries
    with watch("search"), stages("searching", len(queries)) as advance:
        asking = SearchRun(system, queries, measuring.k, measuring.budget, advance)
        asking.prepare([*depths(measuring.wanted), measuring.k])
        shown = asking.shown
    with watch("judge"), stages("judging", len(queries)) as advance:
        verdicts = judged(queries, shown, measuring, advance)
    judging, by_llm = None, {}
    if measuring.llm is not None:
        with watch("call the language model"):
            judging = _by_llm(
                measuring.llm, system, questions, shown, measuring, stages, on_estimate
            )
            by_llm = judging.scores()
            if (relevance := judging.relevance()) is not None:
                verdicts[LLM] = relevance
    with watch("score"):
        scoring = Scoring(system, queries, asking, measuring, verdicts, questions.answers, by_llm)
        columns = scoring.columns()
    with watch("look further"):
        worst = worst_of(columns, measuring.objective, WORST)
        further = _further(system, asking, worst)
    with watch("chunks"):
        whole, cuts = scoring.whole()
    with watch("statistics"):
        summary = {
            **with_unjudged(figures(columns), verdicts, measuring.wanted),
            **whole,
        }
        summary = {name: summary[name] for name in measuring.metrics if name in summary}
        by_type = by_group(columns, types_of(queries))
        by_document = by_group(
            columns,
            positions_by((reference.doc_id for reference in query.references) for query in queries),
        )
        details = question_results(system, queries, shown, further, columns, verdicts)
        most = scoring.reachable()
    judges = judges_of(measuring, judging)
    configuration = {
        **system.configuration,
        **measuring.configuration(),
        **(judging.configuration() if judging else {}),
        **_other_judges(measuring),
    }
    return Results(
        configuration=configuration,
        versions=versions(),
        data={
            "documents": {**documents_data(system.documents)},
            **questions.about,
            **({"reachable": dict(most)} if most else {}),
            **({"positions": dict(system.position.counts)} if system.position else {}),
            **judges_told(judges, judging),
            **_others_metrics(measuring),
        },
        summary=summary,
        by_type=by_type,
        by_document=by_document,
        cuts=cuts,
        cost=cost_of(system.index, [detail.context_tokens for detail in details]),
        agreement=agreement_of(verdicts, measuring.wanted),
        advice=advice(summary, most, configuration),
        worst=tuple(queries[number].id for number in worst),
        objective=measuring.objective,
        detectable=_detectable(columns),
        questions=details,
        calibrations=calibrations_told(judges, hash_of(queries)),
        timing={**watch.seconds, **system.latency, **(judging.spent() if judging else {})},
    )


def _other_judges(measuring: Measures) -> dict[str, Json]:
    """Judges that others wrote, beside the language model; nothing where there are none."""
    if not measuring.judges:
        return {}
    return {"judge": ",".join([*([LLM] if measuring.llm else []), *measuring.judges])}


def _others_metrics(measuring: Measures) -> dict[str, Json]:
    """What metrics say of themselves that others wrote; nothing where there are none."""
    result = described(at.metric for at in measuring.wanted)
    return {"metrics": {name: {**record} for name, record in result.items()}} if result else {}


def _by_llm(
    client: LlmClient,
    system: EvaluatedSystem,
    questions: QuestionSet,
    shown: Hits,
    measuring: Measures,
    stages: Stages,
    on_estimate: OnEstimate | None,
) -> LlmJudging:
    """All verdicts of the language model."""
    judging = LlmJudging(
        client, [at.metric for at in measuring.wanted], questions.queries, shown, questions.answers, system.texts,
        measuring.score.seed,
    )  # fmt: skip
    if on_estimate is not None:
        on_estimate(judging.estimate())
    while judging.tasks:
        with stages("calling the language model", len(judging.tasks)) as advance:
            judging.ask(advance)
    return judging


def _further(
    system: EvaluatedSystem, asking: SearchRun, worst: Sequence[int]
) -> dict[int, Sequence[Hit]]:
    """Hits of all questions as far as they were looked at, of the worst ones much further."""
    result: dict[int, Sequence[Hit]] = dict(enumerate(asking.deepest))
    if worst and system.deeper and asking.budget is None:
        again = system.ask([asking.queries[number] for number in worst], k=FURTHER, budget=None)
        for number, hits in zip(worst, again, strict=True):
            result[number] = max(result[number], hits, key=len)
    return result


def _detectable(columns: Mapping[str, ScoreColumn]) -> dict[str, float]:
    least = {name: detectable_by(column.values) for name, column in columns.items()}
    return {name: value for name, value in least.items() if value is not None}


Spans = list[tuple[int, int]]
_SHOWN = 400
"""Characters of a missed passage that are kept."""


def missed(
    query: Query, hits: Sequence[Hit], further: Sequence[Hit], documents: dict[str, Document]
) -> tuple[Missed, ...]:
    """The parts of the references that no hit covers; `further` are hits down to where was searched, best first."""
    result: dict[Passage, Missed] = {}
    found_places = [place for hit in hits for place in hit.places]
    for reference in query.references:
        best = min(reference.places, key=lambda place: uncovered_share(place, found_places))
        for start, end in uncovered(best, found_places):
            place = Passage(best.doc_id, start, end)
            document = documents.get(place.doc_id)
            text = document.text[start : min(end, start + _SHOWN)] if document else ""
            if document is None or text.strip():
                result.setdefault(place, Missed(*place, text, _rank(place, further)))
    return tuple(result.values())


class _Located(Protocol):
    @property
    def doc_id(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def uncovered(place: _Located, others: Iterable[_Located]) -> Spans:
    """The parts of a place outside of others."""
    left: Spans = []
    at = place.start
    for start, end in sorted(
        (other.start, other.end) for other in others if other.doc_id == place.doc_id
    ):
        if at >= place.end:
            break
        if start > at:
            left.append((at, min(start, place.end)))
        at = max(at, end)
    return [*left, (at, place.end)] if at < place.end else left


def uncovered_share(place: _Located, others: Iterable[_Located]) -> float:
    """How much of a place is outside of others."""
    left = sum(end - start for start, end in uncovered(place, others))
    return left / max(place.end - place.start, 1)


def _rank(place: Passage, further: Sequence[Hit]) -> int | None:
    """The rank down to which the hits together hold half of the place."""
    seen: list[HitPlace] = []
    for hit in further:
        if any(row.touches(*place) for row in hit.places):
            seen += hit.places
            if uncovered_share(place, seen) <= 0.5:
                return hit.rank
    return None
