"""Whether everything the reference answer says is in the context: one call a question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chunkwise.core import Score
from chunkwise.judges.llm.judge_model import JudgeModel, labels_schema
from chunkwise.judges.llm.relevance import take_labels
from chunkwise.judges.llm.support import BETWEEN
from chunkwise.judges.llm.tasks import Task
from chunkwise.models.llm.prompt import fenced, load_prompt

PROMPT = "judge_completeness"
COMPLETE, INCOMPLETE = "complete", "incomplete"


class Completeness:
    """The context is judged as a whole: one that the model cannot read at once has no verdict."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(PROMPT)

    def tasks(self, question: str, answer: str, texts: Sequence[str]) -> list[Task]:
        """What is to be asked: nothing, or one thing. An empty context needs no judge."""
        shown = _shown(texts)
        if not shown or self._too_long(shown, question, answer):
            return []
        key = self._key(question, answer, shown)
        if not self._model.verdicts.plan([key]):
            return []
        passages = (fenced(text, "passage", number) for number, text in enumerate(shown, 1))
        request = self._model.request(
            self.prompt, labels_schema(1, (COMPLETE, INCOMPLETE)), 1,
            question=fenced(question, "question"), answer=fenced(answer, "answer"),
            passages="\n\n".join(passages),
        )  # fmt: skip
        return [Task(request, partial(take_labels, self._model, [key]))]

    def score(self, question: str, answer: str, texts: Sequence[str]) -> Score:
        """1 or 0, or why there is no verdict."""
        shown = _shown(texts)
        if not shown:
            return Score(0.0)
        if why := self._too_long(shown, question, answer):
            return Score(None, why)
        key = self._key(question, answer, shown)
        label = self._model.verdicts.label(key)
        if label not in (COMPLETE, INCOMPLETE):
            return Score(None, self._model.verdicts.reason(key))
        return Score(float(label == COMPLETE))

    def _too_long(self, shown: Sequence[str], *asked: str) -> str:
        return self._model.too_long(BETWEEN.join(shown), *asked, passages=len(shown))

    def _key(self, question: str, answer: str, shown: Sequence[str]) -> bytes:
        asked = [question, answer]
        return self._model.verdicts.key(self.prompt.version, asked, BETWEEN.join(shown))


def _shown(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text.strip()))
