"""Whether an answer answers its question, right or wrong: one call a question."""

from __future__ import annotations

from functools import partial

from chunkwise.core import Score
from chunkwise.judges.llm.judge_model import JudgeModel, labels_schema
from chunkwise.judges.llm.relevance import take_labels
from chunkwise.judges.llm.tasks import Task
from chunkwise.models.llm.prompt import fenced, load_prompt

PROMPT = "judge_answer"
WORTH = {"yes": 1.0, "partly": 0.5, "no": 0.0}


class AnswerRelevancy:
    """Three labels: it answers the question, a part of it, or something else."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(PROMPT)

    def tasks(self, question: str, answer: str) -> list[Task]:
        """What is to be asked: nothing, or one thing."""
        key = self._key(question, answer)
        if not answer.strip() or self._model.too_long(answer, question):
            return []
        if not self._model.verdicts.plan([key]):
            return []
        request = self._model.request(
            self.prompt, labels_schema(1, tuple(WORTH)), 1,
            question=fenced(question, "question"), answer=fenced(answer, "answer"),
        )  # fmt: skip
        return [Task(request, partial(take_labels, self._model, [key]))]

    def score(self, question: str, answer: str) -> Score:
        """1, 0.5 or 0, or why there is no verdict."""
        if not answer.strip():
            return Score(0.0)
        if why := self._model.too_long(answer, question):
            return Score(None, why)
        key = self._key(question, answer)
        label = self._model.verdicts.label(key)
        if label not in WORTH:
            return Score(None, self._model.verdicts.reason(key))
        return Score(WORTH[label])

    def _key(self, question: str, answer: str) -> bytes:
        return self._model.verdicts.key(self.prompt.version, [question], answer)
