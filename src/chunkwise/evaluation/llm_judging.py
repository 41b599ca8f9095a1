"""All that a language model is asked in one evaluation: planned first, then asked, then made into scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chunkwise.core import OnProgress, Query, Score
from chunkwise.evaluation.results import Json
from chunkwise.evaluation.subject import Hits
from chunkwise.metrics.answers.answer import Answer, CitedTexts
from chunkwise.metrics.answers.llm_material import QuestionEvidence
from chunkwise.metrics.judges.llm.judge import LlmJudge
from chunkwise.metrics.judges.llm.model import JudgeModel, JudgeTask, work_through
from chunkwise.metrics.metric import LlmMetric, Metric
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate


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
            metric.name: metric.plan(self._model)
            for metric in metrics
            if isinstance(metric, LlmMetric)
        }
        cited = CitedTexts(texts)
        self._material = [
            QuestionEvidence(query, own, answers.get(query.id), texts, cited)
            for query, own in zip(queries, shown, strict=True)
        ]
        self._before = client.spent
        self.tasks = self._planned()
        self.error = ""
        """Why the asking ended early; empty: it did not."""

    @property
    def model_identity(self) -> str:
        return self._client.identity

    @property
    def judge_identity(self) -> str:
        """Of the model as a judge of relevance, by which it is calibrated."""
        return (self.judge or LlmJudge(self._client, model=self._model)).identity

    def estimate(self) -> LlmEstimate:
        """What `ask` will take; verdicts of earlier runs count as kept."""
        found = self._client.estimate([task.request for task in self.tasks])
        return replace(found, kept=found.kept + self._model.verdicts.kept)

    def ask(self, advance: OnProgress) -> None:
        """All of `tasks`; afterwards they are what the answers have left open, mostly nothing."""
        self.error = work_through(self._client, self.tasks, advance)
        self.tasks = [] if self.error else self._planned()

    def relevance(self) -> list[list[Score]] | None:
        """A score a hit, by question; None: it is not among the metrics."""
        return None if self.judge is None else self.judge.scores(self._queries, self._shown)

    def scores(self) -> dict[str, list[Score]]:
        """Of the metrics that look at a question as a whole."""
        return {
            name: [metric.score(given) for given in self._material]
            for name, metric in self._metrics.items()
        }

    def configuration(self) -> dict[str, Json]:
        """Who judged, and by which wording."""
        versions = {version for metric in self._metrics.values() for version in metric.versions}
        if self.judge is not None:
            versions.add(self.judge.prompt_version)
        prompts: list[Json] = [*sorted(versions)]
        return {"judge": "llm", "llm": self._client.identity, "judge_prompts": prompts}

    def spent(self) -> dict[str, float]:
        """What asking took: another run finds most of it kept, so that this is no part of the result."""
        took = self._client.spent.since(self._before)
        found: dict[str, float] = {
            "llm_calls": took.calls,
            "llm_kept": took.kept + self._model.verdicts.kept,
            "llm_failed": took.failed,
            "llm_prompt_tokens": took.prompt_tokens,
            "llm_output_tokens": took.output_tokens,
        }
        if took.money is not None:
            found["llm_money"] = took.money
        return found

    def _planned(self) -> list[JudgeTask]:
        found = [] if self.judge is None else self.judge.tasks(self._queries, self._shown)
        for metric in self._metrics.values():
            for given in self._material:
                found += metric.tasks(given)
        return found
