"""Ask every question, score every answer, and say how sure the figures are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from chunkwise.core import Hit, Query
from chunkwise.evaluation.cost import cost_of
from chunkwise.evaluation.figures import (
    by_group,
    documents_of,
    figures,
    question_results,
    types_of,
    worst_of,
)
from chunkwise.evaluation.judging import LlmJudging, agreement_of, judged, with_unjudged
from chunkwise.evaluation.options import ScoringOptions
from chunkwise.evaluation.progress import Stages, Stopwatch, unwatched
from chunkwise.evaluation.results import Json, Results, documents_hash, versions
from chunkwise.evaluation.scoring import Scoring, depths
from chunkwise.evaluation.subject import Hits, SearchRun, Subject
from chunkwise.evaluation.trust import calibrations_told, judges_of, judges_told
from chunkwise.evaluation.verdicts import advice
from chunkwise.metrics.answers.answer import Answer
from chunkwise.metrics.judges.judge import LLM
from chunkwise.metrics.registry import described
from chunkwise.metrics.scorer import ScoreColumn
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.stats.power import detectable_by
from chunkwise.testsets.reading import hash_of

OnEstimate = Callable[[LlmEstimate], None]
"""Gets what asking a language model will take, before anything is sent; what it raises ends the evaluation."""

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


def evaluate_subject(
    subject: Subject,
    questions: QuestionSet,
    measuring: ScoringOptions,
    *,
    watch: Stopwatch | None = None,
    stages: Stages = unwatched,
    on_estimate: OnEstimate | None = None,
) -> Results:
    """The whole result; `watch` goes on counting where the caller began."""
    watch = watch or Stopwatch()
    queries = questions.queries
    with watch("search"), stages("searching", len(queries)) as advance:
        asking = SearchRun(subject, queries, measuring.k, measuring.budget, advance)
        asking.prepare([*depths(measuring.wanted), measuring.k])
        shown = asking.shown
    with watch("judge"), stages("judging", len(queries)) as advance:
        verdicts = judged(queries, shown, measuring, advance)
    judging, by_llm = None, {}
    if measuring.llm is not None:
        with watch("ask the language model"):
            judging = _by_llm(
                measuring.llm, subject, questions, shown, measuring, stages, on_estimate
            )
            by_llm = judging.scores()
            if (relevance := judging.relevance()) is not None:
                verdicts[LLM] = relevance
    with watch("score"):
        scoring = Scoring(subject, queries, asking, measuring, verdicts, questions.answers, by_llm)
        columns = scoring.columns()
    with watch("look further"):
        worst = worst_of(columns, measuring.objective, WORST)
        further = _further(subject, asking, worst)
    with watch("chunks"):
        whole, cuts = scoring.whole()
    with watch("statistics"):
        summary = {
            **with_unjudged(figures(columns, measuring.seed), verdicts, measuring.wanted),
            **whole,
        }
        summary = {name: summary[name] for name in measuring.metrics if name in summary}
        by_type = by_group(columns, types_of(queries), measuring.seed)
        by_document = by_group(columns, documents_of(queries), measuring.seed)
        details = question_results(subject, queries, shown, further, columns, verdicts)
        most = scoring.reachable()
    judges = judges_of(measuring, judging)
    nothing_known = _nothing_known(questions) and judging is None
    configuration = {
        **subject.configuration,
        **measuring.configuration(),
        **(judging.configuration() if judging else {}),
        **_other_judges(measuring),
    }
    return Results(
        configuration=configuration,
        versions=versions(),
        data={
            "documents": {
                "count": len(subject.documents),
                "characters": sum(len(document.text) for document in subject.documents),
                "hash": documents_hash(subject.documents),
            },
            **questions.about,
            **({"nothing_known": True} if nothing_known else {}),
            **({"reachable": dict(most)} if most else {}),
            **({"positions": dict(subject.position.counts)} if subject.position else {}),
            **judges_told(judges, judging),
            **_others_metrics(measuring),
        },
        summary=summary,
        by_type=by_type,
        by_document=by_document,
        cuts=cuts,
        cost=cost_of(subject.index, [each.context_tokens for each in details]),
        agreement=agreement_of(verdicts, measuring.wanted),
        advice=() if nothing_known else advice(summary, most, configuration),
        worst=tuple(queries[number].id for number in worst),
        objective=measuring.objective,
        detectable=_detectable(columns),
        questions=details,
        calibrations=calibrations_told(judges, hash_of(queries)),
        timing={**watch.seconds, **(judging.spent() if judging else {})},
    )


def _other_judges(measuring: ScoringOptions) -> dict[str, Json]:
    """Judges that others wrote, beside the language model; nothing where there are none."""
    if not measuring.judges:
        return {}
    return {"judge": ",".join([*([LLM] if measuring.llm else []), *measuring.judges])}


def _others_metrics(measuring: ScoringOptions) -> dict[str, Json]:
    """What metrics say of themselves that others wrote; nothing where there are none."""
    found = described(each.metric for each in measuring.wanted)
    return {"metrics": {name: {**each} for name, each in found.items()}} if found else {}


def _nothing_known(questions: QuestionSet) -> bool:
    """Whether there is nothing to hold a search against; chunks have figures all the same."""
    return not questions.answers and not any(
        query.references or query.answer or query.facts or query.labels
        for query in questions.queries
    )


def _by_llm(
    client: LlmClient,
    subject: Subject,
    questions: QuestionSet,
    shown: Hits,
    measuring: ScoringOptions,
    stages: Stages,
    on_estimate: OnEstimate | None,
) -> LlmJudging:
    """All verdicts of the language model."""
    judging = LlmJudging(
        client, [each.metric for each in measuring.wanted], questions.queries, shown, questions.answers, subject.texts,
        measuring.seed,
    )  # fmt: skip
    if on_estimate is not None:
        on_estimate(judging.estimate())
    while judging.tasks:
        with stages("asking the language model", len(judging.tasks)) as advance:
            judging.ask(advance)
    return judging


def _further(subject: Subject, asking: SearchRun, worst: Sequence[int]) -> dict[int, Sequence[Hit]]:
    """Hits of all questions as far as they were looked at, of the worst ones much further."""
    found: dict[int, Sequence[Hit]] = dict(enumerate(asking.deepest))
    if worst and subject.deeper and asking.budget is None:
        again = subject.ask([asking.queries[number] for number in worst], k=FURTHER, budget=None)
        for number, own in zip(worst, again, strict=True):
            found[number] = max(found[number], own, key=len)
    return found


def _detectable(columns: Mapping[str, ScoreColumn]) -> dict[str, float]:
    least = {name: detectable_by(column.values) for name, column in columns.items()}
    return {name: value for name, value in least.items() if value is not None}
