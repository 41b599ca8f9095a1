"""A language model of the simplest kind: it repeats the first sentence of each passage it is shown."""

from __future__ import annotations

import re
from threading import Event

from chunkwise.base.errors import ChunkwiseError
from chunkwise.models.http_client import EndpointError
from chunkwise.models.llm.language_model import Completion, Request

_PASSAGE = re.compile(r"<passage \d+ (\w+)>\n(.*?)\n</passage \d+ \1>", re.S)


class FirstSentences:
    """Answers by rule, counts what it is asked, and fails where the text has a word it was told to stumble over."""

    price_name = "local"
    window: int | None = None
    concurrency = 2

    def __init__(
        self, stumble: str = "", name: str = "first-sentences", most: int | None = None
    ) -> None:
        self.identity = name if most is None else f"{name} {most}"
        self.most = most
        """Characters it writes."""
        self.asked: list[Request] = []
        self.stumble = stumble
        self.stop_after: int | None = None

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise ChunkwiseError("the machine was switched off")
        self.asked.append(request)
        if self.stumble and self.stumble in request.user:
            raise EndpointError("rule", "stumbled")
        passages = [match[2] for match in _PASSAGE.finditer(request.user)]
        first = [passage.strip().partition(". ")[0].rstrip(".") for passage in passages]
        text = " ".join(f"{' '.join(each.split())}." for each in first)
        text = text if self.most is None else text[: self.most]
        return Completion(text, len(request.user) // 4, len(text) // 4)
