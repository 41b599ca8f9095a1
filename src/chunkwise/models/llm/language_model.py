"""What a language model is asked, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, NamedTuple, Protocol, runtime_checkable

Schema = Mapping[str, Any]
"""A JSON schema."""
Lost = Callable[[bool, tuple[int, int] | None], None]
"""Told of an attempt that was sent and not answered, before the next: whether there is one, and the tokens read and
written where the server said them. It may raise, and no further attempt is made."""


@dataclass(frozen=True, slots=True)
class Request:
    """One thing to ask; the answer depends on these fields and the model alone."""

    system: str
    user: str
    schema: Schema | None = None
    """What the answer must look like, as JSON; None: plain text is wanted."""
    max_tokens: int = 512
    """Of the answer."""
    temperature: float = 0.0
    version: str = ""
    """Of the prompt this was made from: another wording is another question."""
    shares_prefix: bool = False
    """Whether others begin as this one does: a local model then keeps what it has read of it."""


class Completion(NamedTuple):
    """What a model wrote."""

    text: str
    prompt_tokens: int
    output_tokens: int
    is_whole: bool = True
    """False: it was cut off at the most tokens an answer may have."""
    refusal: str = ""
    """Why the model would not answer; empty: it did."""
    is_counted: bool = True
    """False: whoever answered did not count the tokens."""


@runtime_checkable
class LanguageModel(Protocol):
    """Any model that completes; `identity` is all its answers depend on, and holds no secret.

    It may have, too: `speed`, tokens a second read and written; `most_at_once`, requests it works on at a time at
    most; `complete_told(request, stop, lost)`, the same as `complete` where attempts can be lost on the way.
    """

    @property
    def identity(self) -> str: ...

    @property
    def price_name(self) -> str:
        """What the price table calls it; `local`: nothing is paid for."""

    @property
    def window(self) -> int | None:
        """Tokens of question and answer together that it can hold; None: not known."""

    @property
    def concurrency(self) -> int:
        """Requests that are worth having under way at once."""

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        """Raises a `ChunkwiseError` that says why nothing came."""
