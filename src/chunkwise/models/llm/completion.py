"""A chat completion as servers send it, read with distrust."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chunkwise.models.endpoint.error import EndpointError, excerpt
from chunkwise.models.llm.language_model import Completion

_ADVICE = "is it a chat endpoint, and is the model one that chats?"
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
                place, f"answered JSON without a message: {said}", _ADVICE, _ANSWERED
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
    return "a content filter stopped it" if choice.get("finish_reason") == "content_filter" else ""


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if type(value) is int and value >= 0 else None
