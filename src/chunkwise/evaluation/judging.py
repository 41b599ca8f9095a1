"""What judges say about the hits a user gets, and what a language model is asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from chunkwise.base.errors import ChunkwiseError, error_words
from chunkwise.base.wording import counted, thousands
from chunkwise.core import Hit, OnProgress, Query, Score
from chunkwise.evaluation.judge_calibrations import AskedJudge, similarity_identity
from chunkwise.evaluation.results import Agreement, Figure, Json, Results
from chunkwise.evaluation.scoring import Measures
from chunkwise.evaluation.system_under_test import Hits
from chunkwise.metrics.answers.question_evidence import CitedTexts, LlmMetric, QuestionEvidence
from chunkwise.metrics.evidence import Answer
from chunkwise.metrics.judges.judge import LLM, Judge, judge_identity
from chunkwise.metrics.judges.llm_judge import (
    JudgeModel,
    JudgeTask,
    LlmJudge,
    Unanswered,
    work_through,
)
from chunkwise.metrics.judges.relevance_judges import LabelJudge, SimilarityJudge, SpanJudge
from chunkwise.metrics.judges.retrieval_precision import agreements, unjudged_hits
from chunkwise.metrics.metric import Metric
from chunkwise.metrics.registry import MetricAt
from chunkwise.models import DEFAULT, get_embedder
from chunkwise.models.llm.client import CacheOnlyClient, LlmClient
from chunkwise.models.llm.cost import LlmEstimate, LlmUsage

JudgeVerdicts = dict[str, list[list[Score]]]
"""By judge: a score a hit, by question."""

_AT_ONCE = 32


def judged(
    queries: Sequence[Query], hits: Hits, rules: Measures, advance: OnProgress
) -> JudgeVerdicts:
    """Of every judge among the metrics but the language model, which is asked about more than hits (`LlmJudging`);
    gold spans are always asked, since they cost nothing."""
    asked = [at.metric.judge for at in rules.wanted if at.metric.judge]
    names = [name for name in asked if name != LLM]
    if SpanJudge.name not in names and any(query.references for query in queries):
        names.append(SpanJudge.name)
    judges = {name: judge_of(name, rules) for name in names}
    result: JudgeVerdicts = {name: [] for name in names}
    for low in range(0, len(queries), _AT_ONCE):
        block = slice(low, low + _AT_ONCE)
        for name, judge in judges.items():
            result[name] += judge.judge(queries[block], hits[block])
        advance(
            len(queries[block]),
            f"{thousands(min(low + _AT_ONCE, len(queries)))} of "
            f"{counted(len(queries), 'question')}",
        )
    return result


def with_unjudged(
    summary: Mapping[str, Figure], verdicts: JudgeVerdicts, wanted: Sequence[MetricAt]
) -> dict[str, Figure]:
    """A share of the judged hits says nothing about the others: they are counted beside it."""
    result = dict(summary)
    for at in wanted:
        figure = result.get(at.label)
        own = verdicts.get(at.metric.judge)
        if own is None or figure is None or figure.mean is None:
            continue
        if reasons := unjudged_hits(own).reasons:
            result[at.label] = replace(figure, unjudged_hits=reasons)
    return result


def agreement_of(verdicts: JudgeVerdicts, wanted: Sequence[MetricAt]) -> tuple[Agreement, ...]:
    """Every two judges that were asked for and gave a verdict somewhere."""
    asked = {at.metric.judge for at in wanted}
    told = {
        name: own
        for name, own in verdicts.items()
        if name in asked and any(score.value is not None for score in chain.from_iterable(own))
    }
    return tuple(Agreement(*pair) for pair in agreements(told))


def judge_of(name: str, rules: Measures) -> Judge:
    """The judge of this name as the rules of a run make it."""
    if name in rules.judges:
        return _Guarded(rules.judges[name])
    if name == LabelJudge.name:
        return LabelJudge()
    if name == SpanJudge.name:
        return SpanJudge(rules.score.relevance_threshold)
    if name != SimilarityJudge.name:
        return _Absent(name, f"the judge {name} was not used")
    try:
        embedder = get_embedder(rules.judge_model or DEFAULT)
    except ChunkwiseError as error:
        # Figures that need no model are there all the same.
        return _Absent(name, str(error))
    return SimilarityJudge(embedder, rules.score.similarity_threshold)


class _Absent:
    """A judge that cannot be had: it says why about every hit."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self._reason = reason

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        return [[Score(None, self._reason) for _ in hit] for hit in hits]


class _Guarded:
    """Somebody else's judge: what it raises, or gives too much or too little of, is why there is no verdict."""

    def __init__(self, judge: Judge) -> None:
        self.name = judge.name
        self._judge = judge

    def judge(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        try:
            result = [list(scores) for scores in self._judge.judge(queries, hits)]
            if [len(scores) for scores in result] != [len(hit) for hit in hits]:
                raise ChunkwiseError(f"the judge {self.name} didn't return one score per hit")
        except Exception as error:  # somebody else's judge: its figure is unscored, the others stay
            return _Absent(self.name, error_words(error)).judge(queries, hits)
        return result


class LlmJudging:
    """The metrics of one evaluation that need a language model; nothing is sent before `ask`."""

    def __init__(
        self,
        client: LlmClient,
        metrics: Sequence[Metric],
        queries: Sequence[Query],
        shown: Hits,
        answers: Mapping[str, Answer],
        texts: Mapping[str, str],
        seed: int,
    ) -> None:
        self._client = client
        self._model = JudgeModel.of(client, seed=seed)
        self._queries, self._shown = queries, shown
        is_judge = any(metric.judge == LlmJudge.name for metric in metrics)
        self.judge = LlmJudge(client, model=self._model) if is_judge else None
        self._metrics = {
            metric: metric.judgment(self._model)
            for metric in metrics
            if isinstance(metric, LlmMetric)
        }
        cited = CitedTexts(texts)
        self._material = [
            QuestionEvidence(query, hits, answers.get(query.id), texts, cited)
            for query, hits in zip(queries, shown, strict=True)
        ]
        self._before = client.spent
        self._relevance_metrics = [
            metric.name for metric in metrics if metric.judge == LlmJudge.name
        ]
        self._spent_by: dict[str, LlmUsage] = {}
        self._planned_by = self._planned()
        self.unanswered = Unanswered()
        """What could not be judged for want of an answer, and why."""

    @property
    def tasks(self) -> list[JudgeTask]:
        """What is to be asked next."""
        return list(chain.from_iterable(self._planned_by.values()))

    @property
    def model_identity(self) -> str:
        return self._client.identity

    @property
    def judge_identity(self) -> str:
        """Of the model as a judge of relevance, by which it is calibrated."""
        return (self.judge or LlmJudge(self._client, model=self._model)).identity

    def estimate(self) -> LlmEstimate:
        """What `ask` will take; verdicts of earlier runs count as kept."""
        llm_estimate = self._client.estimate([task.request for task in self.tasks])
        return replace(llm_estimate, kept=llm_estimate.kept + self._model.verdicts.kept)

    def ask(self, advance: OnProgress) -> None:
        """All of `tasks`; afterwards they are what the answers have left open, mostly nothing."""
        total, done = len(self.tasks), 0

        def tell(amount: int, note: str) -> None:
            nonlocal done
            done += amount
            advance(amount, f"{thousands(done)} of {counted(total, 'call')}")

        error = ""
        # One metric after the other, so that it is known which of them spent what.
        for name, tasks in self._planned_by.items():
            before = self._client.spent
            client = CacheOnlyClient(self._client, error) if error else self._client
            ended = work_through(client, tasks, tell)
            error = error or ended.error
            self.unanswered += ended
            spent = self._client.spent.since(before)
            self._spent_by[name] = self._spent_by.get(name, LlmUsage()) + spent
        self._planned_by = {} if error else self._planned()

    def relevance(self) -> list[list[Score]] | None:
        """A score a hit, by question; None: it is not among the metrics."""
        return None if self.judge is None else self.judge.scores(self._queries, self._shown)

    def scores(self) -> dict[str, list[Score]]:
        """Of the metrics that look at a question as a whole."""
        return {
            metric.name: [metric.score_question(judgment, given) for given in self._material]
            for metric, judgment in self._metrics.items()
        }

    def configuration(self) -> dict[str, Json]:
        """Who judged, and by which wording."""
        versions = {judgment.prompt.version for judgment in self._metrics.values()}
        if self.judge is not None:
            versions.add(self.judge.prompt_version)
        prompts: list[Json] = [*sorted(versions)]
        return {"judge": "llm", "llm": self._client.identity, "judge_prompts": prompts}

    def spent(self) -> dict[str, float]:
        """What asking took: another run finds most of it kept, so that this is no part of the result."""
        took = self._client.spent.since(self._before)
        result: dict[str, float] = {
            "llm_calls": took.calls,
            "llm_kept": took.kept + self._model.verdicts.kept,
            "llm_failed": took.failed,
            "llm_prompt_tokens": took.prompt_tokens,
            "llm_output_tokens": took.output_tokens,
        }
        if took.money is not None:
            result["llm_money"] = took.money
            result["llm_money_per_100_questions"] = 100 * took.money / max(len(self._queries), 1)
        for name, usage in self._spent_by.items():
            if usage.calls:
                result[f"llm_calls.{name}"] = usage.calls
                result[f"llm_tokens.{name}"] = usage.prompt_tokens + usage.output_tokens
                if usage.money is not None:
                    result[f"llm_money.{name}"] = usage.money
        return result

    def _planned(self) -> dict[str, list[JudgeTask]]:
        """By metric; what two of them need is asked for the first."""
        result: dict[str, list[JudgeTask]] = {}
        if self.judge is not None:
            name = ", ".join(self._relevance_metrics)
            result[name] = self.judge.tasks(self._queries, self._shown)
        for metric, judgment in self._metrics.items():
            result[metric.name] = [
                task for given in self._material for task in metric.plan_tasks(judgment, given)
            ]
        return {name: tasks for name, tasks in result.items() if tasks}


def judge_error(results: Results) -> str:
    """Why the language model could not be asked everything; empty: it was, or none judged."""
    judges = results.data.get("judges")
    told = judges.get("llm") if isinstance(judges, dict) else None
    return str(told.get("error", "")) if isinstance(told, dict) else ""


def judges_of(measuring: Measures, judging: LlmJudging | None) -> dict[str, AskedJudge]:
    """By the method that asked them; empty: nobody's opinion was asked."""
    judges: dict[str, AskedJudge] = {}
    asked = {at.metric.judge for at in measuring.wanted}
    if SimilarityJudge.name in asked:
        try:
            model = get_embedder(measuring.judge_model or DEFAULT).identity
        except ChunkwiseError:
            pass  # it judged nothing; the figure says why
        else:
            identity = similarity_identity(model, measuring.score.similarity_threshold)
            judges[SimilarityJudge.name] = AskedJudge(model, identity)
    for name in measuring.judges:
        judges[name] = AskedJudge(name, judge_identity(measuring.judges[name]))
    if judging is not None:
        judges["llm"] = AskedJudge(judging.model_identity, judging.judge_identity)
    return judges


def judges_told(judges: Mapping[str, AskedJudge], judging: LlmJudging | None) -> dict[str, Json]:
    """Who judged, as part of the results."""
    result: dict[str, dict[str, Json]] = {name: {**row._asdict()} for name, row in judges.items()}
    if judging is not None and (unanswered := str(judging.unanswered)):
        result["llm"]["error"] = unanswered
    return {"judges": {**result}} if result else {}
