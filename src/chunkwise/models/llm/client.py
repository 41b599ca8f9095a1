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
from chunkwise.models.llm.estimate import Estimate
from chunkwise.models.llm.language_model import LanguageModel, Request
from chunkwise.models.llm.prices import Price, price_of
from chunkwise.models.llm.reply import Reply
from chunkwise.models.llm.spent import Spent
from chunkwise.models.llm.structured import NotOfThisForm, read_structured
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

_KIND = "answer"
_FATAL = frozenset({401, 403, 404})
"""Refusals that every other request would meet, too."""
_HOPELESS = 5
"""Failures with not one answer between them after which nothing is to be expected."""


class LlmClient:
    """One model with its cache of answers, its price and what was spent; safe to use from several threads."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        cache: VectorCache | None = None,
        price: Price | None = None,
        max_cost: float | None = None,
        concurrency: int | None = None,
    ) -> None:
        self.model = model
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
        self.spent = Spent()
        self._cache = cache or VectorCache()
        self._reserved = 0.0
        self._failures = 0
        self._lock = Lock()

    @property
    def identity(self) -> str:
        """Of the model: what its answers depend on."""
        return self.model.identity

    def ask(self, request: Request, stop: Event | None = None) -> Reply:
        """The answer, from the cache where it is known; a reason where there is none."""
        if (kept := self._kept(request)) is not None:
            with self._lock:
                self.spent = replace(self.spent, kept=self.spent.kept + 1)
            return kept
        worst = self._worst(request)
        if not self._reserve(worst):
            return Reply(reason=f"the limit of ${self.max_cost:.2f} would be passed")
        try:
            return self._asked(request, stop)
        finally:
            with self._lock:
                self._reserved -= worst

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

    def estimate(self, requests: Sequence[Request]) -> Estimate:
        """What these would take; nothing is sent."""
        new = [each for each in requests if self._kept(each) is None]
        prompt = sum(map(_prompt_tokens, new))
        output = sum(each.max_tokens for each in new)
        money = None if self.price is None else self.price.of(prompt, output)
        speed: tuple[float, float] | None = getattr(self.model, "speed", None)
        seconds = None
        if speed is not None:
            seconds = (prompt / speed[0] + output / speed[1]) / self.concurrency
        return Estimate(len(new), len(requests) - len(new), prompt, output, money, seconds)

    def _asked(self, request: Request, stop: Event | None) -> Reply:
        """Once, and once more with what was wrong where the answer is not of the form asked for."""
        wrong = ""
        for attempt in range(2):
            asked = request if not attempt else _corrected(request, wrong)
            try:
                text = self._complete(asked, stop)
            except NotOfThisForm as error:
                wrong = str(error)
                continue
            except EndpointError as error:
                return self._failed(error)
            if request.schema is None:
                return self._keep(request, text, text)
            try:
                value = read_structured(text, request.schema)
            except NotOfThisForm as error:
                wrong = f"{error}: {text[:500]!r}"
                continue
            return self._keep(request, text, value)
        with self._lock:
            self.spent = replace(self.spent, failed=self.spent.failed + 1)
        return Reply(
            reason=f"the model's answer was not of the form asked for, twice ({wrong[:120]})"
        )

    def _complete(self, request: Request, stop: Event | None) -> str:
        began = time.monotonic()
        completion = self.model.complete(request, stop)
        took = time.monotonic() - began
        money = self.price and self.price.of(completion.prompt_tokens, completion.output_tokens)
        with self._lock:
            self.spent = self.spent.with_call(
                completion.prompt_tokens, completion.output_tokens, money, took
            )
        if not completion.is_whole and request.schema is not None:
            raise NotOfThisForm(f"it did not end within {request.max_tokens} tokens")
        return completion.text

    def _failed(self, error: EndpointError) -> Reply:
        """The reason; an error that all others would meet as well is raised."""
        with self._lock:
            self.spent = replace(self.spent, failed=self.spent.failed + 1)
            self._failures += 1
            hopeless = self._failures >= _HOPELESS and not self.spent.calls
        if error.status in _FATAL or hopeless:
            raise error
        return Reply(reason=str(error))

    def _worst(self, request: Request) -> float:
        """Dollars this may cost at most, asked twice."""
        if self.max_cost is None or self.price is None:
            return 0.0
        return 2 * self.price.of(_prompt_tokens(request), request.max_tokens)

    def _reserve(self, worst: float) -> bool:
        with self._lock:
            if self.max_cost is not None:
                if (self.spent.money or 0.0) + self._reserved + worst > self.max_cost:
                    return False
                self._reserved += worst
            return True

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

    def _kept(self, request: Request) -> Reply | None:
        key = self._key(request)
        kept = self._cache.get([key]).get(key)
        if kept is None:
            return None
        text = kept.decode("utf-8", "surrogatepass")
        if request.schema is None:
            return Reply(text, is_kept=True)
        try:
            return Reply(read_structured(text, request.schema), is_kept=True)
        except NotOfThisForm:
            return None

    def _keep(self, request: Request, text: str, value: object) -> Reply:
        self._cache.put(self.identity, {self._key(request): text.encode("utf-8", "surrogatepass")})
        return Reply(value)


def _prompt_tokens(request: Request) -> int:
    """About: every model has a tokenizer of its own."""
    schema = json.dumps(request.schema) if request.schema else ""
    return get_tokenizer(DEFAULT).count(f"{request.system}\n{request.user}\n{schema}")


def _corrected(request: Request, wrong: str) -> Request:
    said = f"Your last answer could not be used: {wrong}. Answer again, with JSON of the form asked for alone."
    return replace(request, user=f"{request.user}\n\n{said}")


def check_window(model: LanguageModel, request: Request) -> None:
    """A request the model cannot hold is an error before it is sent."""
    if model.window is not None:
        needed = _prompt_tokens(request) + request.max_tokens
        if needed > model.window:
            raise ChunkwiseError(
                f"{needed:,} tokens are asked of {model.identity}, which holds {model.window:,}; "
                "give it less text at once, or take another model"
            )
