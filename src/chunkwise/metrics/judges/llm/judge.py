"""Relevance by a language model's opinion, as every judge gives it."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core import Hit, OnProgress, Query, Score
from chunkwise.metrics.judges.llm.judgements import Relevance
from chunkwise.metrics.judges.llm.model import JudgeModel, JudgeTask, work_through
from chunkwise.models.cache import ModelCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate


class LlmJudge:
    """Asks about all hits of a question in one call; what it said before of a passage it is not asked again."""

    name = "llm"

    def __init__(
        self,
        client: LlmClient,
        *,
        cache: ModelCache | None = None,
        seed: int = 0,
        model: JudgeModel | None = None,
    ) -> None:
        """`model` instead of cache and seed: it is shared with other judgements."""
        self.model = model or JudgeModel.of(client, cache, seed)
        self._relevance = Relevance(self.model)
        self.error = ""
        """Why the asking ended early; empty: it did not."""

    @property
    def identity(self) -> str:
        """All that its verdicts depend on: the model and the wording of the prompt."""
        return f"{self.model.client.identity} {self._relevance.prompt.version}"

    @property
    def prompt_version(self) -> str:
        return self._relevance.prompt.version

    def tasks(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[JudgeTask]:
        """What is to be asked about these hits."""
        relevance = self._relevance
        return [
            task
            for query, own in zip(queries, hits, strict=True)
            for task in relevance.tasks(query.text, [hit.text for hit in own])
        ]

    def calls(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> int:
        """How many requests `judge` would make; nothing is sent."""
        return len(self._anew().tasks(queries, hits))

    def estimate(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> LlmEstimate:
        """What `judge` would take; nothing is sent."""
        tasks = self._anew().tasks(queries, hits)
        return self.model.client.estimate([task.request for task in tasks])

    def _anew(self) -> LlmJudge:
        """With a plan of its own: what is only counted must still be asked afterwards."""
        return LlmJudge(self.model.client, model=self.model.anew())

    def scores(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[list[Score]]:
        """From what is known by now; one score a hit, in the order of the hits."""
        relevance = self._relevance
        return [
            [relevance.score(query.text, hit.text) for hit in own]
            for query, own in zip(queries, hits, strict=True)
        ]

    def judge(
        self,
        queries: Sequence[Query],
        hits: Sequence[Sequence[Hit]],
        advance: OnProgress | None = None,
    ) -> list[list[Score]]:
        """One score a hit, in the order of the hits; without a verdict, why."""
        self.error = work_through(self.model.client, self.tasks(queries, hits), advance)
        return self.scores(queries, hits)
