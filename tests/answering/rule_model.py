"""A language model of a simple kind: it answers by a Python function, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from secrets import token_hex
from threading import Event
from typing import Any

from chunkwise.core import Document, Hit
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Completion, Request

Rule = Callable[[Request], "str | dict[str, Any]"]


class RuleModel:
    """Answers by a rule; a record is written as JSON."""

    price_name = "local"
    concurrency = 2

    def __init__(self, rule: Rule, window: int | None = None) -> None:
        self.rule = rule
        self.window = window
        # Nothing that another test was answered may be kept for this one.
        self.identity = f"rule:{token_hex(8)}"
        self.asked: list[Request] = []

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        self.asked.append(request)
        answer = self.rule(request)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Completion(text, len(request.user.split()), len(text.split()))


def answers(answer: str | dict[str, Any], window: int | None = None) -> LlmClient:
    """A client whose model always says this."""
    return LlmClient(RuleModel(lambda _: answer, window))


def claims(*made: tuple[str, int, str]) -> dict[str, Any]:
    """An answer of claims: text, passage, quote."""
    rows = [{"passage": number, "quote": quote, "claim": text} for text, number, quote in made]
    return {"found": True, "claims": rows}


def hit(document: Document, start: int, end: int, chunk: int | None = None, rank: int = 1) -> Hit:
    return Hit(document, start, end, 1.0, rank, end - start, (), chunk)


def hits_of(*texts: str) -> list[Hit]:
    """Each the one chunk of a document of its own: a.md, b.md …"""
    made = []
    for number, text in enumerate(texts):
        document = Document(f"{chr(97 + number)}.md", text, format="markdown")
        made.append(hit(document, 0, len(text), 0, number + 1))
    return made
