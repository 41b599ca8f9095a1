"""What a language model is asked and what it gives back; a chat completion as servers send it, read with distrust."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, NamedTuple, Protocol, runtime_checkable

from chunkwise.models.http_client import EndpointError, excerpt

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


@dataclass(frozen=True, slots=True)
class Reply:
    """`value` is the parsed JSON where a schema was given, else the text; None: see `reason`."""

    value: Any = None
    reason: str = ""
    is_kept: bool = False
    """Whether it was known before and nobody was asked."""

    @property
    def is_answered(self) -> bool:
        return not self.reason


_ADVICE = "check that it is a chat endpoint with a chat model"
_ANSWERED = 200
_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?(?:</\1>\s*|\Z)", re.DOTALL)


def read_completion(answer: Any, place: str) -> Completion:
    """The first choice with its usage; what a model thought aloud before its answer is no part of it."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
    except (KeyError, IndexError, TypeError, AttributeError):
        choice, message, text = {}, {}, None
    refusal = _refusal(choice, message)
    if text is None and not refusal:
        if choice and "content" in message:  # all went into thinking
            text = ""
        else:
            said = excerpt(repr(answer), most=120)
            raise EndpointError(
                place, f"returned JSON without a message: {said}", _ADVICE, _ANSWERED
            )
    usage = read_usage(answer)
    prompt, output = usage or (0, 0)
    return Completion(
        _THOUGHT.sub("", text or ""),
        prompt,
        output,
        choice.get("finish_reason") != "length",
        refusal,
        usage is not None,
    )


def read_usage(answer: Any) -> tuple[int, int] | None:
    """Tokens read and written; None: whoever answered did not count them."""
    usage = answer.get("usage") if isinstance(answer, Mapping) else None
    prompt, output = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    return (prompt, output) if prompt and output is not None else None


def _text(content: Any) -> str | None:
    """A string, or the text of its parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _refusal(choice: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    """Why there is no answer, in the model's words or ours; empty: there is one."""
    said = message.get("refusal")
    if isinstance(said, str) and said.strip():
        return excerpt(said)
    return "stopped by a content filter" if choice.get("finish_reason") == "content_filter" else ""


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if type(value) is int and value >= 0 else None
