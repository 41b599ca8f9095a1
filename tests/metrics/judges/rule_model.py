"""A language model of a simple kind: it looks at each fenced text and judges it by its words.

From any folder of tests: `from metrics.judges.rule_model import RuleModel, by_rule`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from threading import Event
from typing import Any

from chunkwise.models.llm.language_model import Completion, Request

_FENCED = re.compile(r"<(\w+)(?: (\d+))? ([0-9a-f]+)>\n(.*?)\n</\1(?: \2)? \3>", re.DOTALL)


def fenced_texts(prompt: str) -> dict[str, dict[int, str]]:
    """By name and number; a text without a number has 0."""
    found: dict[str, dict[int, str]] = {}
    for name, number, _, text in _FENCED.findall(prompt):
        found.setdefault(name, {})[int(number or 0)] = text
    return found


def words(text: str) -> set[str]:
    """Of four letters or more, and numbers."""
    return set(re.findall(r"[^\W\d_]{4,}|\d+", text.lower()))


def helps(question: str, passage: str) -> bool:
    """Two words of the question stand in it."""
    return len(words(question) & words(passage)) >= 2


def says(text: str, claim: str) -> bool:
    return words(claim) <= words(text)


def by_rule(prompt: str, schema: Mapping[str, Any]) -> str:
    """The answer, in the form that the schema asks for."""
    texts = fenced_texts(prompt)
    question, passages = texts["question"][0], texts.get("passage", {})
    labels = next(iter(schema["properties"].values()))["enum"]
    given: dict[str, Any]
    if "relevant" in labels:
        given = {n: "relevant" if helps(question, text) else "irrelevant" for n, text in passages.items()}  # fmt: skip
    elif "complete" in labels:
        every = "\n".join(passages.values())
        given = {1: "complete" if says(every, texts["answer"][0]) else "incomplete"}
    elif "partly" in labels:
        given = {1: "yes" if helps(question, texts["answer"][0]) else "no"}
    elif 0 in labels:
        given = {
            n: next((at for at, text in passages.items() if says(text, statement)), 0)
            for n, statement in texts["statement"].items()
        }
    else:
        every = "\n".join(passages.values())
        given = {n: "yes" if says(every, claim) else "no" for n, claim in texts["claim"].items()}
    return json.dumps({str(n): label for n, label in given.items()})


def by_rule_over_http(payload: dict[str, Any]) -> str:
    """The same for a chat server."""
    prompt = "\n".join(str(each["content"]) for each in payload["messages"])
    return by_rule(prompt, payload["response_format"]["json_schema"]["schema"])


class RuleModel:
    """Remembers what it was asked."""

    price_name = "local"
    concurrency = 1

    def __init__(self, window: int | None = None, identity: str = "rule:1") -> None:
        self.window = window
        self.identity = identity
        self.asked: list[Request] = []

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        self.asked.append(request)
        assert request.schema is not None
        text = by_rule(f"{request.system}\n{request.user}", request.schema)
        return Completion(text, len(request.user.split()), len(text.split()))
