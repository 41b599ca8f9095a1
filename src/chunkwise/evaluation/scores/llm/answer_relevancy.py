"""Whether an answer answers its question."""

from __future__ import annotations

from chunkwise.core import Score
from chunkwise.evaluation.scores.llm.material import Material
from chunkwise.judges.llm.answer_relevancy import AnswerRelevancy
from chunkwise.judges.llm.judge_model import JudgeModel
from chunkwise.judges.llm.tasks import Task
from chunkwise.metrics.claims.answers import NO_ANSWER


class AnswerRelevancyByLlm:
    """`answer_relevancy.llm`."""

    def __init__(self, model: JudgeModel) -> None:
        self._relevancy = AnswerRelevancy(model)

    @property
    def versions(self) -> tuple[str, ...]:
        return (self._relevancy.prompt.version,)

    def tasks(self, given: Material) -> list[Task]:
        if given.answer is None:
            return []
        return self._relevancy.tasks(given.query.text, given.answer.text)

    def score(self, given: Material) -> Score:
        if given.answer is None:
            return Score(None, NO_ANSWER)
        return self._relevancy.score(given.query.text, given.answer.text)
