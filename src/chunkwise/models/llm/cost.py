"""What asking costs: prices of models, what requests will take, what they took, and a limit that is never passed."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from threading import Condition
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import as_set, counted, format_number

PRICES_VARIABLE = "CHUNKWISE_PRICES"
"""A file of one's own, of the same form as prices.toml; its lines go before those of the package."""


_DATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")


_Dollars = Annotated[float, msgspec.Meta(ge=0, lt=1e6)]


class Price(NamedTuple):
    """US dollars for a million tokens."""

    prompt: _Dollars
    output: _Dollars

    def of(self, prompt_tokens: int, output_tokens: int) -> float:
        return (self.prompt * prompt_tokens + self.output * output_tokens) / 1e6


FREE = Price(0.0, 0.0)
FREE_NAME = "local"
"""Of models that run here, and of no other."""


def price_of(name: str) -> Price | None:
    """By the model's name, with or without the date behind it; None: not known."""
    if name == FREE_NAME:
        return FREE
    table = _table()
    return table.get(name) or table.get(_DATE.sub("", name))


def parse_price(text: str) -> Price:
    """`IN/OUT`, in dollars for a million tokens."""
    try:
        return msgspec.convert(text.split("/"), Price, strict=False)
    except msgspec.ValidationError:
        raise InvalidParameter(
            f"price is {text!r}; expected dollars per million input/output tokens: 0.15/0.60"
        ) from None


def _table() -> Mapping[str, Price]:
    packaged = (resources.files("chunkwise") / "models" / "llm" / "prices.toml").read_text("utf-8")
    result = _read(packaged, "prices.toml")
    if own := os.environ.get(PRICES_VARIABLE):
        try:
            result |= _read(Path(own).expanduser().read_text("utf-8"), own)
        except (OSError, UnicodeDecodeError) as error:
            raise ChunkwiseError(f"the price table {own} cannot be read: {error}") from error
    return result


class _PriceTable(msgspec.Struct):
    prices: dict[str, Price] = {}


def _read(text: str, where: str) -> dict[str, Price]:
    try:
        return msgspec.toml.decode(text, type=_PriceTable).prices
    except msgspec.MsgspecError as error:
        raise ChunkwiseError(
            f'the price table {where} cannot be read ({error}); a line is: "model-name" = [0.15, 0.60]'
        ) from error


@dataclass(frozen=True, slots=True)
class LlmEstimate:
    """Calls, tokens, money and time; what is kept already is not asked again and not counted."""

    calls: int = 0
    kept: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    """At most: as if every answer were as long as it may be."""
    money: float | None = 0.0
    """US dollars, about: other tokenizers count otherwise, and an answer may have to be asked for twice.
    None: the model's price is not known."""
    seconds: float | None = 0.0
    """About; None: nothing is known of the model's speed."""

    def __add__(self, other: LlmEstimate) -> LlmEstimate:
        return _total(self, other)


@dataclass(frozen=True, slots=True)
class LlmUsage:
    """Usage of one client so far."""

    calls: int = 0
    kept: int = 0
    """Answers from the cache, which are free."""
    failed: int = 0
    """Failed requests."""
    prompt_tokens: int = 0
    output_tokens: int = 0
    money: float | None = 0.0
    """US dollars; None if the price is unknown."""
    seconds: float = 0.0
    """Total duration of all calls, which may be concurrent."""
    is_estimated: bool = False
    """Whether some token counts are estimates."""
    lost: int = 0
    """Unanswered requests, counted as charged."""
    unasked: int = 0
    """Requests not sent because of the cost limit."""

    def __add__(self, other: LlmUsage) -> LlmUsage:
        return _total(self, other)

    def since(self, before: LlmUsage) -> LlmUsage:
        """Usage since `before`."""
        return _total(self, before, -1)


Amounts = TypeVar("Amounts", LlmEstimate, LlmUsage)


def _total(one: Amounts, other: Amounts, sign: int = 1) -> Amounts:
    """Field by field; what is not known of one is not known of both."""
    result: dict[str, Any] = {}
    for field in fields(one):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if first is None or second is None:
            result[field.name] = None
        else:
            is_flag = isinstance(first, bool)
            result[field.name] = first or second if is_flag else first + sign * second
    return type(one)(**result)


NO_PRICE = "unknown price"


def tokens_words(read: float, written: float) -> str:
    """What a language model reads and writes: "123k tokens read, 2,000 written"."""
    return f"{counted(read, 'token')} read, {format_number(written, 'count')} written"


class LimitReached(ChunkwiseError):
    """What is left may not be enough for one more request."""


class LlmBudget:
    """A limit in US dollars that is never passed, however many requests are under way; None: there is none."""

    ends = math.inf
    """In `time.monotonic()`: nothing is asked afterwards."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self._spent = 0.0
        self._aside = 0.0
        self._changed = Condition()

    @contextmanager
    def aside(self, most: float) -> Iterator[None]:
        """Room for a request that costs `most` at most; waits for those under way, which mostly cost less."""
        if time.monotonic() >= self.ends:
            raise LimitReached("no time left to ask")
        if self.limit is None or not most:
            yield
            return
        with self._changed:
            while self._spent + self._aside + most > self.limit:
                if not self._aside:
                    raise self._reached(self.limit)
                self._changed.wait()
            self._aside += most
        try:
            yield
        finally:
            with self._changed:
                # Sums of floats leave crumbs, and only nothing at all says that nobody is under way.
                self._aside = max(0.0, self._aside - most)
                if self._aside < most * 1e-9:
                    self._aside = 0.0
                self._changed.notify_all()

    def pay(self, money: float) -> None:
        """Within `aside`: what the request has cost in the end."""
        with self._changed:
            self._spent += money

    def check(self) -> None:
        """Within `aside`, once an attempt is paid for: whether the same may be sent again."""
        with self._changed:
            if self.limit is not None and self._spent + self._aside > self.limit:
                raise self._reached(self.limit)

    @staticmethod
    def _reached(limit: float) -> LimitReached:
        return LimitReached(f"another request could exceed the limit of ${as_set(limit)}")
