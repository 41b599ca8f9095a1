"""A language model as a judge: whether hits are relevant, what it can read at once, and what it said before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from random import Random

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted, main_reason, thousands
from chunkwise.core import Hit, OnProgress, Query, Score
from chunkwise.models.cache import CachedTexts, ModelCache
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.models.llm.language_model import Reply, Request, Schema
from chunkwise.models.llm.prompt import Prompt, fenced, load_prompt
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One request, and who takes the reply."""

    request: Request
    take: Callable[[Reply], None]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What asking a language model left without an answer."""

    error: str = ""
    """What every further request would have met; empty: the asking came to its end."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why requests have no answer, and how many."""
    asked: int = 0

    def __add__(self, other: Unanswered) -> Unanswered:
        return Unanswered(
            self.error or other.error, self.reasons + other.reasons, self.asked + other.asked
        )

    def __str__(self) -> str:
        """One line; empty where every request has an answer."""
        if not self.reasons:
            return ""
        requests = counted(self.asked, "request")
        return (
            f"{thousands(self.reasons.total())} of {requests} failed: {main_reason(self.reasons)}"
        )


def work_through(
    client: LlmClient, tasks: Sequence[JudgeTask], advance: OnProgress | None = None
) -> Unanswered:
    """Asks all of it; an error that every request would meet is the reason of those that are left."""
    waiting = dict.fromkeys(range(len(tasks)))
    reasons: Counter[str] = Counter()

    def took(at: int, reply: Reply) -> None:
        del waiting[at]
        tasks[at].take(reply)
        if reply.reason:
            reasons[reply.reason] += 1
        if advance is not None:
            advance(1, f"{thousands(len(tasks) - len(waiting))} of {counted(len(tasks), 'call')}")

    try:
        with closing(client.ask_each([task.request for task in tasks])) as replies:
            for at, reply in replies:
                took(at, reply)
    except ChunkwiseError as error:
        for at in list(waiting):
            took(at, Reply(reason=str(error)))
        return Unanswered(str(error), reasons, len(tasks))
    return Unanswered("", reasons, len(tasks))


NOT_ASKED = "the language model was not called"


class VerdictStore:
    """The verdicts of one model: on disk as they arrive, and why there is none where there is none.

    A passage is known by its text alone: the same words in another chunking, found by another search or with another
    k, are the same passage.
    """

    def __init__(self, identity: str, cache: ModelCache | None = None) -> None:
        self._texts = CachedTexts(cache, identity, "verdict")
        self._labels: dict[bytes, str] = {}
        self._reasons: dict[bytes, str] = {}
        self._looked_up: set[bytes] = set()
        self._planned: set[bytes] = set()
        self._kept = 0

    def anew(self) -> VerdictStore:
        """The same store, with nothing planned yet."""
        return VerdictStore(self._texts.identity, self._texts.cache)

    def key(self, version: str, asked: Sequence[str], text: str) -> bytes:
        """`version` is the prompt's; `asked` are the question, the statement … that the text is compared with."""
        return self._texts.key(text, [version, *asked])

    def look_up(self, keys: Iterable[bytes]) -> None:
        """Reads what is kept, all at once."""
        new = [key for key in dict.fromkeys(keys) if key not in self._looked_up]
        self._looked_up.update(new)
        known = self._texts.get(new)
        self._labels.update(known)
        self._kept += len(known)

    def label(self, key: bytes) -> str | None:
        """None: there is no verdict (yet), see `reason`."""
        if key not in self._looked_up:
            self.look_up([key])
        return self._labels.get(key)

    def reason(self, key: bytes) -> str:
        """Why there is no label."""
        return self._reasons.get(key, NOT_ASKED)

    def plan(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those that nobody has asked about yet; from now on they count as asked about."""
        self.look_up(keys)
        new = [
            key
            for key in dict.fromkeys(keys)
            if key not in self._labels and key not in self._planned
        ]
        self._planned.update(new)
        return new

    def unplan(self, keys: Iterable[bytes]) -> None:
        """They were shown, and nothing was said of them: whoever needs a verdict may plan them again."""
        self._planned.difference_update(keys)

    def keep(self, labels: Mapping[bytes, str]) -> None:
        """On disk before the next is asked for."""
        self._labels.update(labels)
        self._looked_up.update(labels)
        self._texts.put(labels)

    def fail(self, keys: Iterable[bytes], reason: str) -> None:
        """Not kept: another run asks again."""
        for key in keys:
            self._reasons.setdefault(key, reason)

    @property
    def kept(self) -> int:
        """How many verdicts of earlier runs were found."""
        return self._kept


_FOR_TEXT = 0.55
"""Of a model's window, for passages and the question; its own tokenizer may count a third more than ours."""
_FOR_CLAIMS = 0.15
MOST = 50
"""Labels in one answer: longer lists lose count."""
_LABEL_TOKENS = 12
_AROUND = 26 + _LABEL_TOKENS + 24
"""Tokens that come with each text: the marks around it, its label in the answer, its line in the schema."""


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """Shared by all judgments of one evaluation."""

    client: LlmClient
    verdicts: VerdictStore
    seed: int = 0

    @classmethod
    def of(cls, client: LlmClient, cache: ModelCache | None = None, seed: int = 0) -> JudgeModel:
        return cls(client, VerdictStore(client.identity, cache or client.cache), seed)

    def anew(self) -> JudgeModel:
        """The same model, with nothing planned yet."""
        return JudgeModel(self.client, self.verdicts.anew(), self.seed)

    def request(self, prompt: Prompt, schema: Schema, labels: int, **values: str) -> Request:
        """A filled prompt that is answered with so many labels."""
        system, user = prompt.filled(**values)
        return Request(
            system, user, schema, max_tokens=16 + _LABEL_TOKENS * labels, version=prompt.version
        )

    def label_task(
        self, prompt: Prompt, labels: Sequence[str], keys: Sequence[bytes], **values: str
    ) -> JudgeTask:
        """Ask for one of the labels for each key, numbered from 1 on, and keep them."""

        def take(reply: Reply) -> None:
            if reply.is_answered:
                self.verdicts.keep({key: reply.value[str(at)] for at, key in enumerate(keys, 1)})
            else:
                self.verdicts.fail(keys, reply.reason)

        schema = numbered_schema(len(keys), labels)
        return JudgeTask(self.request(prompt, schema, len(keys), **values), take)

    def groups(self, texts: Sequence[str], question: str) -> list[list[str]]:
        """Passages in their order, as many together as the model can read at once, beside the question."""
        window = self.client.model.window
        room = None if window is None else _FOR_TEXT * window - _tokens(question)
        return _groups(texts, room, _AROUND)

    def claim_groups(self, claims: Sequence[str], passages: int = 0) -> list[list[str]]:
        """The same of what is compared with passages; `passages`: how many each may be answered with the number of."""
        window = self.client.model.window
        room = None if window is None else _FOR_CLAIMS * window
        return _groups(claims, room, _AROUND + 3 * passages)

    def too_long(self, text: str, *asked: str, passages: int = 1) -> str:
        """Why a text of so many passages cannot be read even alone, beside what is asked about it; empty: it can."""
        window = self.client.model.window
        if window is None:
            return ""
        size, beside = _tokens(text), sum(map(_tokens, asked))
        if size + passages * _AROUND + beside <= _FOR_TEXT * window:
            return ""
        with_it = f", plus {counted(beside, 'token')} to judge it," if beside > size else ""
        return (
            f"a text of {counted(size, 'token')}{with_it} "
            f"is too long for the model's context window of {thousands(window)}"
        )

    def claim_too_long(self, claim: str) -> str:
        """Why a claim cannot be compared with anything; empty: it can."""
        window = self.client.model.window
        if window is None or (size := _tokens(claim)) + _AROUND <= _FOR_CLAIMS * window:
            return ""
        return f"a claim of {counted(size, 'token')} is too long for the model's context window of {thousands(window)}"


def _groups(texts: Sequence[str], room: float | None, around: int) -> list[list[str]]:
    """In their order, so many together as there is room for; None: for any number up to `MOST`."""
    groups: list[list[str]] = []
    used = 0
    for text in texts:
        size = 0 if room is None else _tokens(text) + around
        if not groups or len(groups[-1]) == MOST or (room is not None and used + size > room):
            groups.append([])
            used = 0
        groups[-1].append(text)
        used += size
    return groups


def fenced_all(texts: Sequence[str], name: str, between: str = "\n\n") -> str:
    """Fence texts under a name and a number from 1 on."""
    return between.join(fenced(text, name, number) for number, text in enumerate(texts, 1))


def numbered_schema(count: int, allowed: Sequence[str] | range) -> Schema:
    """Exactly one of the allowed labels or numbers for each number from 1 on, and nothing else."""
    names = [str(number) for number in range(1, count + 1)]
    kind = "integer" if isinstance(allowed, range) else "string"
    one = {"type": kind, "enum": list(allowed)}
    return {
        "type": "object",
        "properties": dict.fromkeys(names, one),
        "required": names,
        "additionalProperties": False,
    }


def _tokens(text: str) -> int:
    return get_tokenizer(DEFAULT_TOKENIZER).count(text)


RELEVANCE_PROMPT = "judge_relevance"
RELEVANT, IRRELEVANT = "relevant", "irrelevant"
NO_WORDS = "an empty passage"


def shuffled(texts: Sequence[str], seed: int, asked: str) -> list[str]:
    """In an order that says nothing of their ranks; the same for the same seed and question."""
    result = list(texts)
    Random(f"{seed}\n{asked}").shuffle(result)
    return result


class LlmJudge:
    """Asks about all hits of a question in one call; what it said before of a passage it is not asked again.

    Passages are shown in an order that says nothing of their ranks, in groups where they are too many.
    """

    name = "llm"

    def __init__(
        self,
        client: LlmClient,
        *,
        cache: ModelCache | None = None,
        seed: int = 0,
        model: JudgeModel | None = None,
    ) -> None:
        """`model` instead of cache and seed: it is shared with other judgments."""
        self.model = model or JudgeModel.of(client, cache, seed)
        self._prompt = load_prompt(RELEVANCE_PROMPT)
        self.error = ""
        """Why the asking ended early; empty: it did not."""

    @property
    def identity(self) -> str:
        """All that its verdicts depend on: the model and the wording of the prompt."""
        return f"{self.model.client.identity} {self.prompt_version}"

    @property
    def prompt_version(self) -> str:
        return self._prompt.version

    def tasks(self, queries: Sequence[Query], hits: Sequence[Sequence[Hit]]) -> list[JudgeTask]:
        """What is to be asked about these hits; passages that were judged before are not shown again."""
        return [
            self._task(query.text, group)
            for query, own in zip(queries, hits, strict=True)
            for group in self._new_groups(query.text, [hit.text for hit in own])
        ]

    def _new_groups(self, question: str, passages: Sequence[str]) -> list[list[str]]:
        by_key = {self._key(question, text): text for text in passages if text.strip()}
        verdicts = self.model.verdicts
        new = []
        for key in verdicts.plan(list(by_key)):
            if why := self.model.too_long(by_key[key], question):
                verdicts.fail([key], why)
            else:
                new.append(by_key[key])
        return self.model.groups(shuffled(new, self.model.seed, question), question)

    def _task(self, question: str, group: Sequence[str]) -> JudgeTask:
        keys = [self._key(question, text) for text in group]
        return self.model.label_task(
            self._prompt, (RELEVANT, IRRELEVANT), keys, question=fenced(question, "question"),
            passages=fenced_all(group, "passage"), count=str(len(group)),
        )  # fmt: skip

    def _key(self, question: str, passage: str) -> bytes:
        return self.model.verdicts.key(self.prompt_version, [question], passage)

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
        return [
            [self._score(query.text, hit.text) for hit in own]
            for query, own in zip(queries, hits, strict=True)
        ]

    def _score(self, question: str, passage: str) -> Score:
        """1 or 0, or why there is no verdict."""
        if not passage.strip():
            return Score(None, NO_WORDS)
        key = self._key(question, passage)
        label = self.model.verdicts.label(key)
        if label not in (RELEVANT, IRRELEVANT):
            return Score(None, self.model.verdicts.reason(key))
        return Score(float(label == RELEVANT))

    def judge(
        self,
        queries: Sequence[Query],
        hits: Sequence[Sequence[Hit]],
        advance: OnProgress | None = None,
    ) -> list[list[Score]]:
        """One score a hit, in the order of the hits; without a verdict, why."""
        self.error = work_through(self.model.client, self.tasks(queries, hits), advance).error
        return self.scores(queries, hits)
