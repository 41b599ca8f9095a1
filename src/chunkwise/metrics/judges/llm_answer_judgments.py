"""What a language model is asked about answers, a class each: attribution, support, completeness, relevancy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from chunkwise.core import Score
from chunkwise.metrics.judges.llm_judge import (
    NO_WORDS,
    JudgeModel,
    JudgeTask,
    fenced_all,
    numbered_schema,
    shuffled,
)
from chunkwise.models.llm.language_model import Reply
from chunkwise.models.llm.prompt import fenced, load_prompt

YES, NO = "yes", "no"
BETWEEN = "\n\n"


class Judgment(ABC):
    """A question to a language model about claims and texts; requests are planned before anything is sent."""

    prompt_name: str

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(self.prompt_name)

    @abstractmethod
    def tasks(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> list[JudgeTask]:
        """Plan the requests; what was judged before is not asked again."""

    @abstractmethod
    def score(self, question: str, claim: str, texts: Sequence[str]) -> Score:
        """Score from the verdicts so far, or the reason why there is none."""

    def _key(self, question: str, claim: str, text: str) -> bytes:
        return self._model.verdicts.key(self.prompt.version, [question, claim], text)

    def _readable(self, question: str, texts: Sequence[str]) -> list[str]:
        return [text for text in with_words(texts) if not self._model.too_long(text, question)]


def with_words(texts: Sequence[str]) -> list[str]:
    """Return the texts that are not blank, each once."""
    return list(dict.fromkeys(text for text in texts if text.strip()))


class Attribution(Judgment):
    """A verdict is about one statement and one passage; a statement whose passage is known is not asked about again."""

    prompt_name = "judge_attribution"

    def tasks(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> list[JudgeTask]:
        """Ask about statements that are not attributed yet and passages nobody compared with them."""
        verdicts, readable = self._model.verdicts, self._readable(question, texts)
        open_statements: list[str] = []
        new: dict[str, None] = {}
        for statement in dict.fromkeys(claims):
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

    def score(self, question: str, claim: str, texts: Sequence[str]) -> Score:
        """1 where a passage says it, 0 where none does, or why that is not known."""
        verdicts = self._model.verdicts
        missing, long_claim = "", self._model.claim_too_long(claim)
        for text in with_words(texts):
            key = self._key(question, claim, text)
            label = verdicts.label(key)
            if label == YES:
                return Score(1.0)
            if label != NO:
                too_long = self._model.too_long(text, question)
                missing = missing or too_long or long_claim or verdicts.reason(key)
        if missing:
            return Score(None, missing)
        if texts and not with_words(texts):
            return Score(None, NO_WORDS)
        return Score(0.0)

    def _task(self, question: str, statements: Sequence[str], group: Sequence[str]) -> JudgeTask:
        count = len(statements)
        request = self._model.request(
            self.prompt, numbered_schema(count, range(len(group) + 1)), count,
            question=fenced(question, "question"), passages=fenced_all(group, "passage"),
            statements=fenced_all(statements, "statement", "\n"), count=str(count),
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


class Support(Judgment):
    """The texts are read together: a claim may rest on two of them. Where they are too long, in groups of them."""

    prompt_name = "judge_support"

    def tasks(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> list[JudgeTask]:
        """Ask about claims that were not compared with these very texts before."""
        requests = []
        short = [claim for claim in claims if not self._model.claim_too_long(claim)]
        for group in self._groups(question, texts):
            by_key = {self._key(question, claim, BETWEEN.join(group)): claim for claim in short}
            new = [by_key[key] for key in self._model.verdicts.plan(list(by_key))]
            requests += [
                self._task(question, some, group) for some in self._model.claim_groups(new)
            ]
        return requests

    def score(self, question: str, claim: str, texts: Sequence[str]) -> Score:
        """1 where the texts support it, 0 where they do not, or why that is not known."""
        verdicts = self._model.verdicts
        too_long = (why for text in texts if (why := self._model.too_long(text, question)))
        missing = next(too_long, "")
        for group in self._groups(question, texts):
            key = self._key(question, claim, BETWEEN.join(group))
            label = verdicts.label(key)
            if label == YES:
                return Score(1.0)
            if label != NO:
                missing = missing or self._model.claim_too_long(claim) or verdicts.reason(key)
        return Score(None, missing) if missing else Score(0.0)

    def _groups(self, question: str, texts: Sequence[str]) -> list[list[str]]:
        return self._model.groups(self._readable(question, texts), question)

    def _task(self, question: str, claims: Sequence[str], group: Sequence[str]) -> JudgeTask:
        keys = [self._key(question, claim, BETWEEN.join(group)) for claim in claims]
        return self._model.label_task(
            self.prompt, (YES, NO), keys,
            question=fenced(question, "question"), passages=fenced_all(group, "passage"),
            claims=fenced_all(claims, "claim", "\n"), count=str(len(claims)),
        )  # fmt: skip


class _OneLabel(Judgment):
    """An answer has one label; one that the model cannot read at once, with the texts, has none."""

    worth: Mapping[str, float]

    @abstractmethod
    def _too_long(self, question: str, answer: str, texts: Sequence[str]) -> str: ...

    def tasks(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> list[JudgeTask]:
        """Ask once per answer; nothing is asked about one without words."""
        return [task for answer in claims for task in self._tasks(question, answer, texts)]

    def _tasks(self, question: str, answer: str, texts: Sequence[str]) -> list[JudgeTask]:
        shown = with_words(texts)
        if not shown or self._too_long(question, answer, shown):
            return []
        keys = self._model.verdicts.plan([self._key(question, answer, BETWEEN.join(shown))])
        if not keys:
            return []
        task = self._model.label_task(
            self.prompt, tuple(self.worth), keys, question=fenced(question, "question"),
            answer=fenced(answer, "answer"), passages=fenced_all(shown, "passage"),
        )  # fmt: skip
        return [task]

    def score(self, question: str, claim: str, texts: Sequence[str]) -> Score:
        """The worth of the label; 0 without words, or why there is no verdict."""
        shown = with_words(texts)
        if not shown:
            return Score(0.0)
        if why := self._too_long(question, claim, shown):
            return Score(None, why)
        key = self._key(question, claim, BETWEEN.join(shown))
        worth = self.worth.get(self._model.verdicts.label(key) or "")
        return Score(worth, self._model.verdicts.reason(key) if worth is None else "")


class Completeness(_OneLabel):
    """Whether the texts together hold all that an answer says."""

    prompt_name = "judge_completeness"
    worth = MappingProxyType({"complete": 1.0, "incomplete": 0.0})

    def _too_long(self, question: str, answer: str, texts: Sequence[str]) -> str:
        return self._model.too_long(BETWEEN.join(texts), question, answer, passages=len(texts))


class AnswerRelevancy(_OneLabel):
    """Whether an answer, which is its own text, answers the question, a part of it, or something else."""

    prompt_name = "judge_answer"
    worth = MappingProxyType({"yes": 1.0, "partly": 0.5, "no": 0.0})

    def _too_long(self, question: str, answer: str, texts: Sequence[str]) -> str:
        return self._model.too_long(answer, question)
