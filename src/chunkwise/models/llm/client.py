"""Asks a language model many things: what is kept is not asked again, the rest is counted and within a limit."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from threading import Event, Lock

from chunkwise.core import Advance
from chunkwise.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.endpoint.error import EndpointError
from chunkwise.models.endpoint.threads import as_done
from chunkwise.models.kept.vector_cache import VectorCache, key_of
from chunkwise.models.llm.budget import Budget, LimitReached
from chunkwise.models.llm.estimate import Estimate
from chunkwise.models.llm.failures import Failures
from chunkwise.models.llm.language_model import Completion, LanguageModel, Request
from chunkwise.models.llm.one_at_a_time import OneAtATime
from chunkwise.models.llm.prices import Price, price_of
from chunkwise.models.llm.reply import Reply
from chunkwise.models.llm.spent import Spent
from chunkwise.models.llm.steering import not_steering
from chunkwise.models.llm.structured import NotOfThisForm, read_structured
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

_KIND = "answer"
_TEMPLATE = 128
"""Tokens that come around a question: roles, beginnings, ends, the sentence before a schema."""


class LlmClient:
    """One model with its cache of answers, its price and what was spent; safe to use from several threads."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        cache: VectorCache | None = None,
        price: Price | None = None,
        max_cost: float | None = None,
        budget: Budget | None = None,
        concurrency: int | None = None,
    ) -> None:
        """`budget` instead of `max_cost`: one limit for several clients."""
        self.model = model
        if budget is not None:
            max_cost = budget.limit
        self.price = price or price_of(model.price_name)
        if max_cost is not None and not max_cost >= 0:
            raise InvalidParameter(f"max_cost is {max_cost!r}; dollars are needed, 0 or more")
        if max_cost is not None and self.price is None:
            raise InvalidParameter(
                f"max_cost is {max_cost:g}, and what {model.price_name} costs is not known; give its price for a "
                "million tokens of question and of answer: --price 0.15/0.60"
            )
        if concurrency is not None and concurrency < 1:
            raise InvalidParameter(f"concurrency is {concurrency}; the least allowed is 1")
        self.max_cost = max_cost
        self.concurrency = concurrency or model.concurrency
        if most := getattr(model, "most_at_once", None):
            self.concurrency = min(self.concurrency, most)
        self.spent = Spent()
        self.cache = cache or VectorCache()
        self._budget = budget or Budget(max_cost)
        self._failures = Failures()
        self._asking = OneAtATime()
        self._lock = Lock()

    @property
    def identity(self) -> str:
        """Of the model: what its answers depend on."""
        return self.model.identity

    def ask(self, request: Request, stop: Event | None = None) -> Reply:
        """The answer, from the cache where it is known; a reason where there is none.

        What every other request would meet as well (no key, no such model, nobody there) is raised.
        """
        with self._asking.holding(key := self._key(request)):
            if (kept := self._kept([request]).get(key)) is not None:
                with self._lock:
                    self.spent = replace(self.spent, kept=self.spent.kept + 1)
                return kept
            try:
                return self._asked(request, stop)
            except LimitReached as error:
                with self._lock:
                    self.spent = replace(self.spent, unasked=self.spent.unasked + 1)
                return Reply(reason=str(error))

    def ask_each(
        self, requests: Sequence[Request], stop: Event | None = None
    ) -> Generator[tuple[int, Reply], None, None]:
        """Replies with the number of their request, as they come; several requests are under way at once."""

        def work(at: int, stop: Event) -> tuple[int, Reply]:
            return at, self.ask(requests[at], stop)

        yield from as_done(work, range(len(requests)), self.concurrency, stop or Event())

    def ask_all(self, requests: Sequence[Request], advance: Advance | None = None) -> list[Reply]:
        """One reply a request, in their order."""
        found = [Reply(reason="it was not asked")] * len(requests)
        with closing(self.ask_each(requests)) as replies:
            for done, (at, reply) in enumerate(replies, 1):
                found[at] = reply
                if advance:
                    advance(1, f"{done:,} of {len(requests):,} answers")
        return found

    def estimate(self, requests: Sequence[Request], at_once: int | None = None) -> Estimate:
        """What these would take; nothing is sent. `at_once`: no more of them will be under way together."""
        asked = {self._key(each): each for each in requests}
        kept = self._kept(list(asked.values()))
        new = [each for key, each in asked.items() if key not in kept]
        prompt = sum(map(prompt_tokens, new))
        output = sum(each.max_tokens for each in new)
        found = self.estimate_of(len(new), prompt, output, at_once)
        return replace(found, kept=len(requests) - len(new))

    def estimate_of(
        self, calls: int, prompt: int, output: int, at_once: int | None = None
    ) -> Estimate:
        """What so many calls with so many tokens of question and of answer would take."""
        money = None if self.price is None else self.price.of(prompt, output)
        speed: tuple[float, float] | None = getattr(self.model, "speed", None)
        seconds = None
        if speed is not None:
            side_by_side = max(1, min(self.concurrency, at_once or self.concurrency))
            seconds = (prompt / speed[0] + output / speed[1]) / side_by_side
        return Estimate(calls, 0, prompt, output, money, seconds)

    def _asked(self, request: Request, stop: Event | None) -> Reply:
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
            except NotOfThisForm as error:
                wrong = str(error)
        self._count_failure()
        return Reply(
            reason=f"the model's answer was not of the form asked for, twice ({wrong[:120]})"
        )

    def _complete(self, request: Request, stop: Event | None) -> Completion:
        worst = self._worst(request)

        def lost(again: bool, usage: tuple[int, int] | None) -> None:
            """Somebody may have worked on it, and will want to be paid."""
            prompt, output = usage or (prompt_tokens(request), request.max_tokens)
            money = self.price and self.price.of(prompt, output)
            self._budget.pay(worst if usage is None else money or 0.0)
            with self._lock:
                self.spent = self.spent.with_lost(money)
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
                self.spent = self.spent.with_call(
                    prompt, output, money, took, is_counted=done.is_counted
                )
        return done

    def _count_failure(self) -> None:
        with self._lock:
            self.spent = replace(self.spent, failed=self.spent.failed + 1)

    def _worst(self, request: Request) -> float:
        """Dollars this may cost at most: no tokenizer makes more tokens of a text than it has bytes."""
        if self.max_cost is None or self.price is None:
            return 0.0
        longest = len(not_steering(_all_text(request)).encode("utf-8", "replace")) + _TEMPLATE
        return self.price.of(longest, request.max_tokens)

    def _key(self, request: Request) -> bytes:
        how = {
            "system": request.system,
            "schema": request.schema,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "version": request.version,
        }
        more = json.dumps(how, sort_keys=True).encode("utf-8", "surrogatepass")
        return key_of(self.identity, _KIND, request.user, more)

    def _kept(self, requests: Sequence[Request]) -> dict[bytes, Reply]:
        """Of those whose answer is known."""
        keys = {self._key(each): each for each in requests}
        found: dict[bytes, Reply] = {}
        for key, kept in self.cache.get(list(keys)).items():
            text, schema = kept.decode("utf-8", "surrogatepass"), keys[key].schema
            try:
                value = text if schema is None else read_structured(text, schema)
            except NotOfThisForm:  # kept by a version that looked less closely
                continue
            found[key] = Reply(value, is_kept=True)
        return found

    def _keep(self, request: Request, text: str, value: object) -> Reply:
        self.cache.put(self.identity, {self._key(request): text.encode("utf-8", "surrogatepass")})
        return Reply(value)


def prompt_tokens(request: Request) -> int:
    """About: every model has a tokenizer of its own."""
    return _tokens(_all_text(request))


def _all_text(request: Request) -> str:
    schema = json.dumps(request.schema) if request.schema else ""
    return f"{request.system}\n{request.user}\n{schema}"


def _tokens(text: str) -> int:
    return get_tokenizer(DEFAULT).count(text)


def _value(completion: Completion, request: Request) -> object:
    """What was asked for: the text, or the JSON in it."""
    text = completion.text
    if request.schema is None:
        if not text.strip():
            raise NotOfThisForm("it is empty")
        return text
    if not completion.is_whole:
        raise NotOfThisForm(f"it did not end within {request.max_tokens} tokens")
    try:
        return read_structured(text, request.schema)
    except NotOfThisForm as error:
        raise NotOfThisForm(f"{error}: {text[:500]!r}") from None


def _corrected(request: Request, wrong: str) -> Request:
    """The same with what was wrong; a server that took the schema without heeding it is told it in words."""
    said = f"Your last answer could not be used: {wrong}."
    if request.schema is None:
        return replace(request, user=f"{request.user}\n\n{said} Answer again.")
    form = json.dumps(request.schema, ensure_ascii=False)
    more = f"{said} Answer again, with JSON of this schema alone:\n{form}"
    return replace(request, user=f"{request.user}\n\n{more}")


def check_window(model: LanguageModel, request: Request) -> None:
    """A request the model cannot hold is an error before it is sent."""
    if model.window is not None:
        needed = prompt_tokens(request) + request.max_tokens
        if needed > model.window:
            raise ChunkwiseError(
                f"{needed:,} tokens are asked of {model.identity}, which holds {model.window:,}; "
                "give it less text at once, or take another model"
            )
