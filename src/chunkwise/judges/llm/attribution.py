"""Which passage each statement of a reference can be attributed to: all statements of a question in one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chunkwise.core import Score
from chunkwise.judges.llm.judge_model import JudgeModel
from chunkwise.judges.llm.relevance import NO_WORDS
from chunkwise.judges.llm.tasks import Task
from chunkwise.models.llm.language_model import Reply, Schema
from chunkwise.models.llm.prompt import fenced, load_prompt

PROMPT = "judge_attribution"
YES, NO = "yes", "no"


class Attribution:
    """A verdict is about one statement and one passage; a statement whose passage is known is not asked about again."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(PROMPT)

    def tasks(
        self, question: str, statements: Sequence[str], passages: Sequence[str]
    ) -> list[Task]:
        """What is to be asked: the statements that are not attributed yet, the passages nobody held against them."""
        verdicts, readable = self._model.verdicts, self._readable(question, passages)
        open_statements: list[str] = []
        new: dict[str, None] = {}
        for statement in dict.fromkeys(statements):
            if self._model.claim_too_long(statement):
                continue
            keys = {self._key(question, statement, text): text for text in readable}
            verdicts.look_up(keys)
            if any(verdicts.label(key) == YES for key in keys):
                continue
            unknown = verdicts.plan(list(keys))
            if unknown:
                open_statements.append(statement)
                new.update(dict.fromkeys(keys[key] for key in unknown))
        shuffled = self._model.shuffled(list(new), question)
        return [
            self._task(question, some, group)
            for group in self._model.groups(shuffled, question)
            for some in self._model.claim_groups(open_statements, len(group))
        ]

    def score(self, question: str, statement: str, passages: Sequence[str]) -> Score:
        """1 where a passage says it, 0 where none does, or why that is not known."""
        verdicts = self._model.verdicts
        missing, long_claim = "", self._model.claim_too_long(statement)
        for text in dict.fromkeys(passages):
            if not text.strip():
                continue
            key = self._key(question, statement, text)
            label = verdicts.label(key)
            if label == YES:
                return Score(1.0)
            if label != NO:
                too_long = self._model.too_long(text, question)
                missing = missing or too_long or long_claim or verdicts.reason(key)
        if missing:
            return Score(None, missing)
        if passages and not any(text.strip() for text in passages):
            return Score(None, NO_WORDS)
        return Score(0.0)

    def _readable(self, question: str, passages: Sequence[str]) -> list[str]:
        every = dict.fromkeys(text for text in passages if text.strip())
        return [text for text in every if not self._model.too_long(text, question)]

    def _task(self, question: str, statements: Sequence[str], group: Sequence[str]) -> Task:
        shown = (fenced(text, "passage", number) for number, text in enumerate(group, 1))
        told = (fenced(text, "statement", number) for number, text in enumerate(statements, 1))
        request = self._model.request(
            self.prompt, _numbers_schema(len(statements), len(group)), len(statements),
            question=fenced(question, "question"), passages="\n\n".join(shown),
            statements="\n".join(told), count=str(len(statements)),
        )  # fmt: skip
        return Task(request, partial(self._take, question, list(statements), list(group)))

    def _take(
        self, question: str, statements: Sequence[str], group: Sequence[str], reply: Reply
    ) -> None:
        labels: dict[bytes, str] = {}
        for number, statement in enumerate(statements, 1):
            keys = [self._key(question, statement, text) for text in group]
            if not reply.is_answered:
                self._model.verdicts.fail(keys, reply.reason)
            elif named := int(reply.value[str(number)]):  # 2.0 is a whole number of JSON, too
                labels[keys[named - 1]] = YES
                # Of the others nothing was said: a question that was shown others alone has to ask about them.
                self._model.verdicts.unplan(keys)
            else:
                labels |= dict.fromkeys(keys, NO)
        if labels:
            self._model.verdicts.keep(labels)

    def _key(self, question: str, statement: str, passage: str) -> bytes:
        return self._model.verdicts.key(self.prompt.version, [question, statement], passage)


def _numbers_schema(statements: int, passages: int) -> Schema:
    """For each statement the number of a passage, or 0."""
    names = [str(number) for number in range(1, statements + 1)]
    one = {"type": "integer", "enum": list(range(passages + 1))}
    return {
        "type": "object",
        "properties": dict.fromkeys(names, one),
        "required": names,
        "additionalProperties": False,
    }
