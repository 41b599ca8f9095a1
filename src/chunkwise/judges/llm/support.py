"""Which claims a text supports, or several texts together: all claims in one call, one label each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chunkwise.core import Score
from chunkwise.judges.llm.attribution import NO, YES
from chunkwise.judges.llm.judge_model import JudgeModel, labels_schema
from chunkwise.judges.llm.relevance import take_labels
from chunkwise.judges.llm.tasks import Task
from chunkwise.models.llm.prompt import fenced, load_prompt

PROMPT = "judge_support"
BETWEEN = "\n\n"


class Support:
    """The texts are read together: a claim may rest on two of them. Where they are too long, in groups of them."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.prompt = load_prompt(PROMPT)

    def tasks(self, question: str, claims: Sequence[str], texts: Sequence[str]) -> list[Task]:
        """What is to be asked; claims that were held against these very texts before are not."""
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

    def _task(self, question: str, claims: Sequence[str], group: Sequence[str]) -> Task:
        shown = (fenced(text, "passage", number) for number, text in enumerate(group, 1))
        told = (fenced(text, "claim", number) for number, text in enumerate(claims, 1))
        request = self._model.request(
            self.prompt, labels_schema(len(claims), (YES, NO)), len(claims),
            question=fenced(question, "question"), passages="\n\n".join(shown),
            claims="\n".join(told), count=str(len(claims)),
        )  # fmt: skip
        keys = [self._key(question, claim, group) for claim in claims]
        return Task(request, partial(take_labels, self._model, keys))

    def _key(self, question: str, claim: str, group: Sequence[str]) -> bytes:
        asked = [question, claim]
        return self._model.verdicts.key(self.prompt.version, asked, BETWEEN.join(group))
