"""A client that asks nobody any more: its model is gone, and everything is told so."""

from __future__ import annotations

from threading import Event

from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Request
from chunkwise.models.llm.reply import Reply


class SilentClient(LlmClient):
    """Of the same model and with the same cache as the one it takes the place of."""

    def __init__(self, client: LlmClient, reason: str) -> None:
        super().__init__(client.model, cache=client.cache, price=client.price, concurrency=1)
        self._reason = reason

    def ask(self, request: Request, stop: Event | None = None) -> Reply:
        return self._kept([request]).get(self._key(request)) or Reply(reason=self._reason)
