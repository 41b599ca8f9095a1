"""Which passages help to answer a question: all of them in one call, one label each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chunkwise.core import Score
from chunkwise.judges.llm.judge_model import JudgeModel, labels_schema
from chunkwise.judges.llm.tasks import Task
from chunkwise.models.llm.language_model import Reply
from chunkwise.models.llm.prompt import fenced, load_prompt

PROMPT = "judge_relevance"
RELEVANT, IRRELEVANT = "relevant", "irrelevant"
NO_WORDS = "an empty passage"


class Relevance:
    """Passages are shown in an order that says nothing of their ranks, in groups where they are too many."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(PROMPT)

    def tasks(self, question: str, passages: Sequence[str]) -> list[Task]:
        """What is to be asked; passages that were judged before are not shown again."""
        by_key = {self._key(question, text): text for text in passages if text.strip()}
        verdicts = self._model.verdicts
        new = []
        for key in verdicts.plan(list(by_key)):
            if why := self._model.too_long(by_key[key], question):
                verdicts.fail([key], why)
            else:
                new.append(by_key[key])
        groups = self._model.groups(self._model.shuffled(new, question), question)
        return [self._task(question, group) for group in groups]

    def score(self, question: str, passage: str) -> Score:
        """1 or 0, or why there is no verdict."""
        if not passage.strip():
            return Score(None, NO_WORDS)
        key = self._key(question, passage)
        label = self._model.verdicts.label(key)
        if label not in (RELEVANT, IRRELEVANT):
            return Score(None, self._model.verdicts.reason(key))
        return Score(float(label == RELEVANT))

    def _task(self, question: str, group: Sequence[str]) -> Task:
        shown = (fenced(text, "passage", number) for number, text in enumerate(group, 1))
        request = self._model.request(
            self.prompt, labels_schema(len(group), (RELEVANT, IRRELEVANT)), len(group),
            question=fenced(question, "question"), passages="\n\n".join(shown), count=str(len(group)),
        )  # fmt: skip
        keys = [self._key(question, text) for text in group]
        return Task(request, partial(take_labels, self._model, keys))

    def _key(self, question: str, passage: str) -> bytes:
        return self._model.verdicts.key(self.prompt.version, [question], passage)


def take_labels(model: JudgeModel, keys: Sequence[bytes], reply: Reply) -> None:
    """Keeps the labels of an answer that has one for each number from 1 on."""
    if reply.is_answered:
        model.verdicts.keep({key: reply.value[str(at)] for at, key in enumerate(keys, 1)})
    else:
        model.verdicts.fail(keys, reply.reason)
