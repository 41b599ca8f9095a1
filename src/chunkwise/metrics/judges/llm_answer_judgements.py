"""What a language model is asked about answers, a class each: attribution, support, completeness, relevancy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chunkwise.core import Score
from chunkwise.metrics.judges.llm_judge import (
    NO_WORDS,
    JudgeModel,
    JudgeTask,
    labels_schema,
    shuffled,
    take_labels,
)
from chunkwise.models.llm.language_model import Reply, Schema
from chunkwise.models.llm.prompt import fenced, load_prompt

ATTRIBUTION_PROMPT = "judge_attribution"
YES, NO = "yes", "no"


class Attribution:
    """A verdict is about one statement and one passage; a statement whose passage is known is not asked about again."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(ATTRIBUTION_PROMPT)

    def tasks(
        self, question: str, statements: Sequence[str], passages: Sequence[str]
    ) -> list[JudgeTask]:
        """What is to be asked: the statements that are not attributed yet, the passages nobody compared with them."""
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
        mixed = shuffled(list(new), self._model.seed, question)
        return [
            self._task(question, some, group)
            for group in self._model.groups(mixed, question)
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

    def _task(self, question: str, statements: Sequence[str], group: Sequence[str]) -> JudgeTask:
        shown = (fenced(text, "passage", number) for number, text in enumerate(group, 1))
        told = (fenced(text, "statement", number) for number, text in enumerate(statements, 1))
        request = self._model.request(
            self.prompt, _numbers_schema(len(statements), len(group)), len(statements),
            question=fenced(question, "question"), passages="\n\n".join(shown),
            statements="\n".join(told), count=str(len(statements)),
        )  # fmt: skip
        return JudgeTask(request, partial(self._take, question, list(statements), list(group)))

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


SUPPORT_PROMPT = "judge_support"
BETWEEN = "\n\n"


class Support:
    """The texts are read together: a claim may rest on two of them. Where they are too long, in groups of them."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(SUPPORT_PROMPT)

    def tasks(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> list[JudgeTask]:
        """What is to be asked; claims that were compared with these very texts before are not."""
        found = []
        short = [claim for claim in claims if not self._model.claim_too_long(claim)]
        for group in self._readable(question, texts):
            by_key = {self._key(question, claim, group): claim for claim in short}
            new = [by_key[key] for key in self._model.verdicts.plan(list(by_key))]
            found += [self._task(question, some, group) for some in self._model.claim_groups(new)]
        return found

    def score(self, question: str, claim: str, texts: Sequence[str]) -> Score:
        """1 where the texts support it, 0 where they do not, or why that is not known."""
        verdicts = self._model.verdicts
        too_long = (why for text in texts if (why := self._model.too_long(text, question)))
        missing = next(too_long, "")
        for group in self._readable(question, texts):
            key = self._key(question, claim, group)
            label = verdicts.label(key)
            if label == YES:
                return Score(1.0)
            if label != NO:
                missing = missing or self._model.claim_too_long(claim) or verdicts.reason(key)
        return Score(None, missing) if missing else Score(0.0)

    def _readable(self, question: str, texts: Sequence[str]) -> list[list[str]]:
        every = dict.fromkeys(text for text in texts if text.strip())
        short = [text for text in every if not self._model.too_long(text, question)]
        return self._model.groups(short, question)

    def _task(self, question: str, claims: Sequence[str], group: Sequence[str]) -> JudgeTask:
        shown = (fenced(text, "passage", number) for number, text in enumerate(group, 1))
        told = (fenced(text, "claim", number) for number, text in enumerate(claims, 1))
        request = self._model.request(
            self.prompt, labels_schema(len(claims), (YES, NO)), len(claims),
            question=fenced(question, "question"), passages="\n\n".join(shown),
            claims="\n".join(told), count=str(len(claims)),
        )  # fmt: skip
        keys = [self._key(question, claim, group) for claim in claims]
        return JudgeTask(request, partial(take_labels, self._model, keys))

    def _key(self, question: str, claim: str, group: Sequence[str]) -> bytes:
        asked = [question, claim]
        return self._model.verdicts.key(self.prompt.version, asked, BETWEEN.join(group))


COMPLETENESS_PROMPT = "judge_completeness"
COMPLETE, INCOMPLETE = "complete", "incomplete"


class Completeness:
    """The context is judged as a whole: one that the model cannot read at once has no verdict."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(COMPLETENESS_PROMPT)

    def tasks(self, question: str, answer: str, texts: Sequence[str]) -> list[JudgeTask]:
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
        return [JudgeTask(request, partial(take_labels, self._model, [key]))]

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


ANSWER_PROMPT = "judge_answer"
WORTH = {"yes": 1.0, "partly": 0.5, "no": 0.0}


class AnswerRelevancy:
    """Three labels: it answers the question, a part of it, or something else."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(ANSWER_PROMPT)

    def tasks(self, question: str, answer: str) -> list[JudgeTask]:
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
        return [JudgeTask(request, partial(take_labels, self._model, [key]))]

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
