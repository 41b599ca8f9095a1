"""A real HTTP server on loopback that answers `/v1/chat/completions` by a Python function.

From any folder of tests: `from models.chat_server import asked, chat_server`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from models.endpoint_server import Answer, Seen, Server, serving

Rule = Callable[[dict[str, Any]], "str | tuple[int, Any] | Answer"]
"""From what was asked to the text of the answer, to (status, body), or to an `Answer` with headers and all."""


class ChatServer:
    """Where it listens, and what it was asked."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.url = f"{server.url}/v1"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The payloads, in the order they came."""
        return [seen.body for seen in self.server.seen]

    @property
    def seen(self) -> list[Seen]:
        """The same with path and headers."""
        return self.server.seen

    @property
    def most_at_once(self) -> int:
        return self.server.most_at_once

    def name(self, model: str = "tester") -> str:
        """As `--llm` takes it."""
        return f"{self.url}#{model}"


@contextmanager
def chat_server(rule: Rule) -> Iterator[ChatServer]:
    """Answers every request by the rule; tokens are counted as words."""

    def answer(number: int, seen: Seen) -> Answer:
        given = rule(seen.body)
        if isinstance(given, Answer):
            return given
        if isinstance(given, tuple):
            status, body = given
            return Answer(body.encode() if isinstance(body, str) else body, status)
        return Answer(completion(given, seen.body))

    with serving(answer) as server:
        yield ChatServer(server)


def completion(text: str | None, payload: dict[str, Any], **message: Any) -> dict[str, Any]:
    """A chat completion as servers send it."""
    read = sum(len(str(each["content"]).split()) for each in payload["messages"])
    return {
        "object": "chat.completion",
        "model": payload["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": read, "completion_tokens": len((text or "").split())},
    }


def asked(payload: dict[str, Any]) -> str:
    """All that was said to the model, for rules that look at it."""
    return "\n".join(str(each["content"]) for each in payload["messages"])
