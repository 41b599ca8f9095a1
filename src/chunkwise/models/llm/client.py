"""Asks a language model many things: what is kept is not asked again, the rest is counted, limited and checked."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import lru_cache
from threading import Event, Lock
from typing import Any

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, MissingExtra
from chunkwise.base.wording import as_set, counted, thousands
from chunkwise.models.cache import CachedTexts, ModelCache
from chunkwise.models.http_batches import as_done
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm.cost import (
    LimitReached,
    LlmBudget,
    LlmEstimate,
    LlmUsage,
    Price,
    price_of,
)
from chunkwise.models.llm.language_model import Completion, LanguageModel, Reply, Request, Schema
from chunkwise.models.llm.prompt import without_special_tokens
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer

# Thoughts that some models write before they answer; a mark that echoes a fence of the prompt; a fence of code.
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_ECHO = re.compile(
    r"</?(?:document|passage|place|before|after|context)(?: \d{1,6})?(?: [0-9a-f]{8,64})?>", re.IGNORECASE
)  # fmt: skip
_CODE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$|```", re.MULTILINE)
_ESCAPES = re.compile("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b.?")
# Control characters, those that reorder a line or show nothing, and halves of surrogate pairs.
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)

# A preamble speaks of the answer and of what was asked in these words alone: one word more, and it says something.
_KIND = r"(?:contexts?|sentences?|notes?|summary|summaries|overview|description|answer)"
_TALK = (
    r"(?:a|an|the|my|your|our|one|two|three|\d+(?:[-–]\d+)?|or|to|and|of|for|in|with|within|about|that|which|it|its|"
    r"this|these|those|you|i|we|is|are|was|as|by|at|most|no|more|than|under|words?|tokens?|short|brief|concise|plain|"
    r"added|contextual|combined|single|together|requested|required|asked|given|provided|above|below|following|"
    r"passages?|chunks?|texts?|excerpts?|documents?|sections?|parts?|plac(?:es?|ing)|situat(?:es?|ing)|"
    r"describ(?:es?|ing)|summari[sz](?:es?|ing)|explain(?:s|ing)?|giv(?:es?|ing)|surrounding|larger|overall|whole|"
    rf"{_KIND})"
)
_GAP = r"(?:[ ,\n]+)"
_YES = r"(?:sure|certainly|of course|okay|ok|absolutely)"
_HELP = (
    r"(?:thing|here|here(?:'s|’s)|goes|go|are|is|it|you|i|i(?:'ll|’ll)|i(?:'d|’d)|can|will|would|be|happy|glad|to|do|"
    r"help|that|this|with|so|the|my|answer|summari[sz]e|write|for)"
)
_PREAMBLE = re.compile(
    rf"(?:{_YES}(?:{_GAP}{_HELP}){{0,10}}\s*[.!:,]\s*)?"
    r"(?:(?:here(?:'s|’s| is| are)|this is|below (?:is|are)|the "
    rf"following)(?:{_GAP}{_TALK}){{0,12}}?{_GAP}{_KIND}"
    rf"(?:{_GAP}{_TALK}){{0,16}}\s*:"
    rf"|[*_\W]{{0,5}}(?:(?:short|brief|contextual|the|added) "
    rf")*{_KIND}[*_\"']{{0,3}}:[*_]{{0,3}})\s*"
    rf"|{_YES}(?:{_GAP}{_HELP}){{0,10}}\s*[:!]\s+",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’", "`": "`", "*": "*", "_": "_"}
_ROUNDS = 4


def cleaned_answer(answer: str) -> str:
    """The lines that are left; an answer is as untrusted as any text."""
    text = _ECHO.sub(" ", _CODE.sub(" ", _THOUGHTS.sub(" ", answer)))
    text = _CONTROL.sub("", _ESCAPES.sub("", text)).strip()
    for _ in range(_ROUNDS):  # a preamble may stand inside quotes, and quotes behind a preamble
        text = _unquoted(_PREAMBLE.sub("", text, count=1) if _PREAMBLE.match(text) else text)
    return text


def _unquoted(text: str) -> str:
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)


class SchemaMismatch(ChunkwiseError):
    """What a model wrote is not JSON, or JSON of another form; says what is wrong."""


def read_structured(text: str, schema: Schema) -> Any:
    """The JSON in the text, of the form the schema tells."""
    value = _json(text)
    wrong = _checker(json.dumps(schema, sort_keys=True))(value)
    if wrong:
        raise SchemaMismatch(wrong)
    return value


def _json(text: str) -> Any:
    """The text itself, what stands in a code fence, or from the first bracket to the last."""
    tries = [text, *_FENCE.findall(text)]
    opened = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    closed = max(text.rfind("}"), text.rfind("]"))
    if 0 <= opened < closed:
        tries.append(text[opened : closed + 1])
    for each in tries:
        try:
            return json.loads(each, parse_constant=_no_number)
        except (ValueError, RecursionError):
            continue
    raise SchemaMismatch("it is not JSON")


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


@lru_cache(maxsize=64)
def _checker(schema: str) -> Any:
    """What says of a value how it breaks the schema; empty: not at all."""
    try:
        import fastjsonschema
    except ImportError:
        raise MissingExtra("a language model", "llm") from None
    validate = fastjsonschema.compile(json.loads(schema))

    def check(value: Any) -> str:
        try:
            validate(value)
        except fastjsonschema.JsonSchemaValueException as error:
            return str(error.message)
        return ""

    return check


_ALWAYS = frozenset({401, 402})
"""No key, no money."""
_AT_FIRST = frozenset({403, 404})
"""No such model; after an answer it is about one request, as a filter in front of a server has it."""
_IN_A_ROW = 5
"""Requests one after the other, each tried several times, after which nothing is to be expected."""


class FailureStreak:
    """What was met since the last answer."""

    def __init__(self) -> None:
        self._row = 0
        self._has_answered = False
        self._lock = Lock()

    def answered(self) -> None:
        with self._lock:
            self._row, self._has_answered = 0, True

    def met(self, error: EndpointError) -> None:
        """Raises it where the others need not be tried."""
        status = error.status
        nobody = status is None
        with self._lock:
            self._row += 1
            at_first = not self._has_answered
            lasting = nobody or status == 429 or (status or 0) >= 500
            hopeless = self._row >= _IN_A_ROW and (at_first or lasting)
        spent_out = status == 429 and "insufficient_quota" in error.reason
        if (
            status in _ALWAYS
            or spent_out
            or hopeless
            or (at_first and (nobody or status in _AT_FIRST))
        ):
            raise error


_TEMPLATE = 128
"""Tokens that come around a question: roles, beginnings, ends, the sentence before a schema."""


class LlmClient:
    """One model with its cache of answers, its price and what was spent; safe to use from several threads."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        cache: ModelCache | None = None,
        price: Price | None = None,
        max_cost: float | None = None,
        budget: LlmBudget | None = None,
        concurrency: int | None = None,
    ) -> None:
        """`budget` instead of `max_cost`: one limit for several clients."""
        self.model = model
        if budget is not None:
            max_cost = budget.limit
        self.price = price or price_of(model.price_name)
        if max_cost is not None and not max_cost >= 0:
            raise InvalidParameter(f"max_cost is {max_cost!r}; expected dollars, 0 or more")
        if max_cost is not None and self.price is None:
            raise InvalidParameter(
                f"max_cost is {as_set(max_cost)}, but the price of {model.price_name} is "
                f"unknown; give dollars per million input/output tokens: --price 0.15/0.60"
            )
        if concurrency is not None and concurrency < 1:
            raise InvalidParameter(f"concurrency is {concurrency}; the minimum is 1")
        self.max_cost = max_cost
        self.concurrency = concurrency or model.concurrency
        if most := getattr(model, "most_at_once", None):
            self.concurrency = min(self.concurrency, most)
        self.spent = LlmUsage()
        self.cache = cache or ModelCache()
        self._budget = budget or LlmBudget(max_cost)
        self._failures = FailureStreak()
        self._lock = Lock()

    @property
    def identity(self) -> str:
        """Of the model: what its answers depend on."""
        return self.model.identity

    def stop_after(self, seconds: float) -> None:
        """Ask nothing more when this time is over."""
        self._budget.ends = time.monotonic() + seconds

    @property
    def time_is_up(self) -> bool:
        return time.monotonic() >= self._budget.ends

    @property
    def _answers(self) -> CachedTexts:
        """Not before it is needed: some models are read to be told apart."""
        return CachedTexts(self.cache, self.identity, "answer")

    def ask(self, request: Request, stop: Event | None = None) -> Reply:
        """The answer, from the cache where it is known; a reason where there is none.

        What every other request would meet as well (no key, no such model, nobody there) is raised.
        """
        if (kept := self._kept([request]).get(self._key(request))) is not None:
            with self._lock:
                self.spent += LlmUsage(kept=1)
            return kept
        try:
            return self._ask_twice(request, stop)
        except LimitReached as error:
            with self._lock:
                self.spent += LlmUsage(unasked=1)
            return Reply(reason=str(error))

    def ask_each(self, requests: Sequence[Request]) -> Generator[tuple[int, Reply], None, None]:
        """Replies with the number of their request, as they come; several requests are under way at once."""

        same: defaultdict[bytes, list[int]] = defaultdict(list)
        for at, request in enumerate(requests):
            same[self._key(request)].append(at)

        def work(places: list[int], stop: Event) -> list[tuple[int, Reply]]:
            return [(at, self.ask(requests[at], stop)) for at in places]

        for replies in as_done(work, list(same.values()), self.concurrency, Event()):
            yield from replies

    def ask_all(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply a request, in their order."""
        result = [Reply(reason="it was not called")] * len(requests)
        with closing(self.ask_each(requests)) as replies:
            for at, reply in replies:
                result[at] = reply
        return result

    def estimate(self, requests: Sequence[Request], at_once: int | None = None) -> LlmEstimate:
        """What these would take; nothing is sent. `at_once`: no more of them will be under way together."""
        asked = {self._key(request): request for request in requests}
        kept = self._kept(list(asked.values()))
        new = [request for key, request in asked.items() if key not in kept]
        prompt = sum(map(prompt_tokens, new))
        output = sum(request.max_tokens for request in new)
        llm_estimate = self.estimate_of(len(new), prompt, output, at_once)
        return replace(llm_estimate, kept=len(requests) - len(new))

    def estimate_of(
        self, calls: int, prompt: int, output: int, at_once: int | None = None
    ) -> LlmEstimate:
        """What so many calls with so many tokens of question and of answer would take."""
        money = None if self.price is None else self.price.of(prompt, output)
        speed: tuple[float, float] | None = getattr(self.model, "speed", None)
        seconds = None
        if speed is not None:
            side_by_side = max(1, min(self.concurrency, at_once or self.concurrency))
            seconds = (prompt / speed[0] + output / speed[1]) / side_by_side
        return LlmEstimate(calls, 0, prompt, output, money, seconds)

    def _ask_twice(self, request: Request, stop: Event | None) -> Reply:
        """Once, and once more with what was wrong where the answer is not of the form asked for."""
        wrong = ""
        for attempt in range(2):
            asked = request if not attempt else _corrected(request, wrong)
            try:
                completion = self._complete(asked, stop)
            except EndpointError as error:
                self._count_failure()
                self._failures.met(error)
                return Reply(reason=str(error))
            if completion.refusal:
                self._count_failure()
                return Reply(reason=f"the model refused to answer: {completion.refusal}")
            try:
                return self._keep(request, completion.text, _value(completion, request))
            except SchemaMismatch as error:
                wrong = str(error)
        self._count_failure()
        return Reply(reason=f"the model's answer had the wrong format, twice ({wrong[:120]})")

    def _complete(self, request: Request, stop: Event | None) -> Completion:
        worst = self._worst(request)

        def lost(again: bool, usage: tuple[int, int] | None) -> None:
            """Somebody may have worked on it, and will want to be paid."""
            prompt, output = usage or (prompt_tokens(request), request.max_tokens)
            money = self.price and self.price.of(prompt, output)
            self._budget.pay(worst if usage is None else money or 0.0)
            with self._lock:
                self.spent += LlmUsage(money=money, is_estimated=True, lost=1)
            if again:
                self._budget.check()

        with self._budget.aside(worst):
            began = time.monotonic()
            told = getattr(self.model, "complete_told", None)
            done: Completion = (
                told(request, stop, lost) if told else self.model.complete(request, stop)
            )
            took = time.monotonic() - began
            self._failures.answered()
            prompt, output = done.prompt_tokens, done.output_tokens
            if not done.is_counted:
                prompt, output = prompt_tokens(request), _tokens(done.text)
            money = self.price and self.price.of(prompt, output)
            self._budget.pay(money or 0.0)
            with self._lock:
                self.spent += LlmUsage(
                    1, 0, 0, prompt, output, money, took, is_estimated=not done.is_counted
                )
        return done

    def _count_failure(self) -> None:
        with self._lock:
            self.spent += LlmUsage(failed=1)

    def _worst(self, request: Request) -> float:
        """Dollars this may cost at most: no tokenizer makes more tokens of a text than it has bytes."""
        if self.max_cost is None or self.price is None:
            return 0.0
        longest = (
            len(without_special_tokens(_all_text(request)).encode("utf-8", "replace")) + _TEMPLATE
        )
        return self.price.of(longest, request.max_tokens)

    def _key(self, request: Request) -> bytes:
        how = {
            "system": request.system,
            "schema": request.schema,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "version": request.version,
        }
        return self._answers.key(request.user, how)

    def _kept(self, requests: Sequence[Request]) -> dict[bytes, Reply]:
        """Of those whose answer is known."""
        keys = {self._key(request): request for request in requests}
        result: dict[bytes, Reply] = {}
        for key, text in self._answers.get(keys).items():
            schema = keys[key].schema
            # What was kept by a version that looked less closely is asked for again.
            with suppress(SchemaMismatch):
                value = text if schema is None else read_structured(text, schema)
                result[key] = Reply(value, is_kept=True)
        return result

    def _keep(self, request: Request, text: str, value: object) -> Reply:
        self._answers.put({self._key(request): text})
        return Reply(value)


def prompt_tokens(request: Request) -> int:
    """About: every model has a tokenizer of its own."""
    return _tokens(_all_text(request))


def _all_text(request: Request) -> str:
    schema = json.dumps(request.schema) if request.schema else ""
    return f"{request.system}\n{request.user}\n{schema}"


def _tokens(text: str) -> int:
    return get_tokenizer(DEFAULT_TOKENIZER).count(text)


def _value(completion: Completion, request: Request) -> object:
    """What was asked for: the text, or the JSON in it."""
    text = completion.text
    if request.schema is None:
        if not text.strip():
            raise SchemaMismatch("it is empty")
        return text
    if not completion.is_whole:
        raise SchemaMismatch(f"it exceeded {counted(request.max_tokens, 'token')}")
    try:
        return read_structured(text, request.schema)
    except SchemaMismatch as error:
        raise SchemaMismatch(f"{error}: {text[:500]!r}") from None


def _corrected(request: Request, wrong: str) -> Request:
    """The same with what was wrong; a server that took the schema without heeding it is told it in words."""
    text = f"Your last answer could not be used: {wrong}."
    if request.schema is None:
        return replace(request, user=f"{request.user}\n\n{text} Answer again.")
    form = json.dumps(request.schema, ensure_ascii=False)
    more = f"{text} Answer again, with JSON of this schema alone:\n{form}"
    return replace(request, user=f"{request.user}\n\n{more}")


def check_window(model: LanguageModel, request: Request) -> None:
    """A request the model cannot hold is an error before it is sent."""
    if model.window is not None:
        needed = prompt_tokens(request) + request.max_tokens
        if needed > model.window:
            raise ChunkwiseError(
                f"{counted(needed, 'token')} exceed the context window of {model.identity} "
                f"({thousands(model.window)}); send less text at once, or use another model"
            )


class CacheOnlyClient(LlmClient):
    """Of the same model and with the same cache as the one it takes the place of."""

    def __init__(self, client: LlmClient, reason: str) -> None:
        super().__init__(client.model, cache=client.cache, price=client.price, concurrency=1)
        self._reason = reason

    def ask(self, request: Request, stop: Event | None = None) -> Reply:
        return self._kept([request]).get(self._key(request)) or Reply(reason=self._reason)


class DegradingClient(CacheOnlyClient):
    """Asks a client until it fails for good, and from then on only the cache."""

    def __init__(self, client: LlmClient) -> None:
        super().__init__(client, "")
        self._client = client
        self.concurrency = client.concurrency

    def ask(self, request: Request, stop: Event | None = None) -> Reply:
        if not self._reason:
            try:
                return self._client.ask(request, stop)
            except InvalidParameter:
                raise
            except ChunkwiseError as error:
                self._reason = str(error)
        return super().ask(request, stop)
