"""Vectors from any server that speaks the `/v1/embeddings` protocol; what it answers is read with distrust."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.wording import counted, one_or_many, thousands
from chunkwise.models.embed.embedder import Kind
from chunkwise.models.http_batches import Batches, as_done, ask_in_halves
from chunkwise.models.http_client import (
    EndpointError,
    excerpt,
    model_client,
)

_ADVICE = "check that it is a /v1/embeddings endpoint with an embedding model"


def unit_rows(answer: Any, count: int, place: str) -> list[NDArray[np.float32]]:
    """`count` vectors of length 1, in the order of what was asked, from {"data": [{"embedding", "index"}]}."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        text = excerpt(repr(answer), most=120)
        raise EndpointError(place, f"returned JSON without a list of vectors: {text}", _ADVICE)
    if len(data) != count:
        raise EndpointError(
            place, f"returned {counted(len(data), 'vector')} for {counted(count, 'text')}", _ADVICE
        )
    return [_unit(item.get("embedding"), place) for item in in_asked_order(data, place)]


def in_asked_order(items: list[dict[str, Any]], place: str) -> list[dict[str, Any]]:
    """By their `index`, which has to name every place once; without any index as they came."""
    indexes: list[Any] = [item.get("index") for item in items]
    if all(index is None for index in indexes):
        return items
    whole = all(type(index) is int for index in indexes)
    if not whole or sorted(indexes) != list(range(len(items))):
        text = excerpt(repr(indexes), most=80)
        raise EndpointError(place, f"numbered its {counted(len(items), 'row')} {text}", _ADVICE)
    return sorted(items, key=lambda item: int(item["index"]))


def _unit(value: Any, place: str) -> NDArray[np.float32]:
    row = _numbers(value)
    if row is None or not row.size or not np.isfinite(row).all():
        text = excerpt(repr(value), most=80)
        raise EndpointError(place, f"returned something other than a vector: {text}", _ADVICE)
    largest = np.abs(row).max()
    if not largest:
        return np.zeros(row.size, np.float32)
    row = row / largest  # so that no square overflows or vanishes
    return (row / np.linalg.norm(row)).astype(np.float32)


def _numbers(value: Any) -> NDArray[np.float64] | None:
    """A list of numbers, or base64 of little-endian 32-bit floats."""
    try:
        if isinstance(value, str):
            row = np.frombuffer(base64.b64decode(value, validate=True), "<f4")
        else:
            row = np.array(value)
    except (ValueError, binascii.Error, OverflowError):
        return None
    if row.ndim != 1 or row.dtype.kind not in "fiu":
        return None
    return row.astype(np.float64)


_Rows = list[NDArray[np.float32]]


class EndpointEmbedder:
    """Texts in batches, several under way at once; where no `key_variable` is named, the host's usual one."""

    def __init__(
        self,
        url: str,
        model: str,
        key_variable: str | None = None,
        dimensions: int | None = None,
        *,
        batch: int = 64,
        batch_characters: int = 100_000,
        concurrency: int = 4,
        query_prefix: str = "",
        passage_prefix: str = "",
        **patience: float,
    ) -> None:
        """`patience`: what an `Endpoint` may have, such as `timeout`."""
        self.batches = Batches(batch, concurrency, batch_characters)
        if dimensions is not None and dimensions < 1:
            raise InvalidParameter(f"dimensions is {dimensions}; the minimum is 1")
        self.model = model
        self.prefix = {"query": query_prefix, "passage": passage_prefix}
        self.slice_size = batch * concurrency
        """Texts a caller who keeps results should hand over at once: all requests busy, little lost."""
        self._asked = dimensions
        self._known = dimensions
        self._client = model_client(
            url, model, key_variable, "/embeddings", "/v1/embeddings", **patience
        )

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.identity!r})"

    @property
    def identity(self) -> str:
        """Where, which model, how many numbers, what is put before a text; never the key."""
        named = self._client.identity
        if self._asked is not None:
            named += f"@{self._asked}"
        if any(self.prefix.values()):
            named += f" prefixes={self.prefix['query']!r},{self.prefix['passage']!r}"
        return named

    @property
    def dimensions(self) -> int:
        """As told to the constructor, else as the first answer has them: one short text is sent to learn it."""
        if self._known is None:
            self.embed(["dimensions"])
        assert self._known is not None
        return self._known

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One row of length 1 a text, in the order of the texts; zeros where there is only space."""
        runs = dict(self.embed_each(texts, kind))
        if not runs:
            return np.zeros((0, self.dimensions), np.float32)
        return np.concatenate([runs[first] for first in sorted(runs)])

    def embed_each(
        self, texts: Sequence[str], kind: Kind = "passage"
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Rows of texts[first : first + len(rows)] as they arrive, so that a caller can keep what was paid for.

        What goes wrong is raised when those that were under way are handed out.
        """
        asked = [self.prefix[kind] + text if text.strip() else "" for text in texts]
        worded = [place for place, text in enumerate(asked) if text]
        batches = list(self.batches.of(asked, worded))
        stop = Event()

        def work(places: list[int], stop: Event) -> tuple[list[int], _Rows | ChunkwiseError]:
            if stop.is_set():
                return [], []
            try:
                rows = ask_in_halves(
                    lambda some: self._request(some, stop), [asked[place] for place in places]
                )
            except ChunkwiseError as error:
                stop.set()  # at once: the next batch may be about to begin
                return places, error
            return places, rows

        failures: list[ChunkwiseError] = []
        for places, result in as_done(work, batches, self.batches.concurrency, stop):
            if not isinstance(result, ChunkwiseError):
                result = self._misfit(result) or result
            if isinstance(result, ChunkwiseError):
                stop.set()
                failures.append(result)
            else:
                yield from _runs(places, result)
        if failures:
            raise failures[0]
        blank = [place for place, text in enumerate(asked) if not text]
        if blank:
            yield from _runs(blank, [np.zeros(self.dimensions, np.float32)] * len(blank))

    def _misfit(self, rows: _Rows) -> EndpointError | None:
        """What is wrong with the vectors' length, if anything; the first one ever settles what is right."""
        for row in rows:
            self._known = self._known or len(row)
            if len(row) != self._known:
                were = one_or_many(self._known, "was", "were")
                expected = f"{thousands(self._known)} {were}"
                return EndpointError(
                    self._client.endpoint.place,
                    f"returned a vector of {counted(len(row), 'number')}; {expected} expected",
                    f"check the model name ({self.model!r}) and whether it has `dimensions`",
                )
        return None

    def _request(self, texts: Sequence[str], stop: Event) -> list[NDArray[np.float32]]:
        payload: dict[str, Any] = {
            "model": self.model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self._asked is not None:
            payload["dimensions"] = self._asked
        place = self._client.endpoint.place
        return self._client.ask(payload, lambda said: unit_rows(said, len(texts), place), stop)


def _runs(
    places: Sequence[int], rows: Sequence[NDArray[np.float32]]
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The rows in runs of places that follow each other, each with its first."""
    first = 0
    for index in range(1, len(places) + 1):
        if index == len(places) or places[index] != places[index - 1] + 1:
            yield places[first], np.stack(rows[first:index])
            first = index
