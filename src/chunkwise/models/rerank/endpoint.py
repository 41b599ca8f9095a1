"""Scores from any server that speaks the `/rerank` protocol, in either of its two spellings."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted
from chunkwise.models.http_batches import REFUSED, Batches, ask_in_halves, in_order
from chunkwise.models.http_client import (
    EndpointError,
    excerpt,
    model_client,
)

_ADVICE = "check that it is a /rerank endpoint with a reranker"
_LARGEST = float(np.finfo(np.float32).max)


class _Score(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None


class EndpointReranker:
    """Sends {model, query, documents, top_n}; a server that wants `texts` instead gets those."""

    def __init__(
        self,
        url: str,
        model: str,
        key_variable: str | None = None,
        *,
        batch: int = 100,
        concurrency: int = 4,
        **patience: float,
    ) -> None:
        """`patience`: what an `Endpoint` may have, such as `timeout`."""
        self.batches = Batches(batch, concurrency)
        self.model = model
        self._wants_texts = False
        self._client = model_client(url, model, key_variable, "/rerank", "/rerank", **patience)

    def __repr__(self) -> str:
        return f"EndpointReranker({self.identity!r})"

    @property
    def identity(self) -> str:
        return self._client.identity

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text, as the server gives them; batches go out at the same time."""
        batches = list(self.batches.of(texts, range(len(texts))))

        def work(places: list[int], stop: Event) -> list[float]:
            some = [texts[place] for place in places]
            return ask_in_halves(lambda few: self._request(query, few, stop), some)

        answered = in_order(work, batches, self.batches.concurrency)
        return np.array([score for answer in answered for score in answer], np.float32)

    def _request(self, query: str, texts: Sequence[str], stop: Event) -> list[float]:
        def read(answer: Any) -> list[float]:
            return self._read(answer, len(texts))

        payload: dict[str, Any]
        if not self._wants_texts:
            payload = {
                "model": self.model,
                "query": query,
                "documents": list(texts),
                "top_n": len(texts),
            }
            try:
                return self._client.ask(payload, read, stop)
            except EndpointError as error:
                if error.status not in REFUSED or "`texts`" not in error.reason:
                    raise
                self._wants_texts = True  # remembered: the next batch asks rightly at once
        payload = {"query": query, "texts": list(texts), "truncate": True}
        return self._client.ask(payload, read, stop)

    def _read(self, answer: Any, count: int) -> list[float]:
        """{"results": [{index, relevance_score}]} or [{index, score}], in any order, every text once."""
        place = self._client.endpoint.place
        results = answer.get("results") if isinstance(answer, dict) else answer
        try:
            given = msgspec.convert(results, list[_Score])
        except msgspec.ValidationError:
            text = excerpt(repr(answer), most=120)
            raise EndpointError(
                place, f"returned something other than a score: {text}", _ADVICE
            ) from None
        given.sort(key=lambda item: item.index)
        if [item.index for item in given] != list(range(count)):
            raise EndpointError(
                place,
                f"returned {counted(len(given), 'score')} for {counted(count, 'text')}",
                _ADVICE,
            )
        scores = [
            item.score if item.relevance_score is None else item.relevance_score for item in given
        ]
        if not all(score is not None and abs(score) <= _LARGEST for score in scores):
            text = excerpt(repr(scores), most=80)
            raise EndpointError(place, f"returned something other than a score: {text}", _ADVICE)
        return [score for score in scores if score is not None]
