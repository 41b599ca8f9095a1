"""Of the statements of the reference, those that can be attributed to a retrieved chunk."""

from __future__ import annotations

from chunkwise.core import Score
from chunkwise.evaluation.scores.llm.material import Material, claims_of, share
from chunkwise.judges.llm.attribution import Attribution
from chunkwise.judges.llm.judge_model import JudgeModel
from chunkwise.judges.llm.tasks import Task

NOTHING_EXPECTED = "no reference answer and no references"


class ContextRecall:
    """`context_recall.llm`."""

    def __init__(self, model: JudgeModel) -> None:
        self._attribution = Attribution(model)

    @property
    def versions(self) -> tuple[str, ...]:
        return (self._attribution.prompt.version,)

    def tasks(self, given: Material) -> list[Task]:
        return self._attribution.tasks(given.query.text, claims_of(given.expected), given.passages)

    def score(self, given: Material) -> Score:
        statements = claims_of(given.expected)
        if not statements:
            return Score(None, NOTHING_EXPECTED)
        question, passages = given.query.text, given.passages
        return share([self._attribution.score(question, each, passages) for each in statements])
