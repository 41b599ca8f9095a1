"""Vectors from any server that speaks the `/v1/embeddings` protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import InvalidParameter
from chunkwise.models.embedder import Kind
from chunkwise.models.embedding_answer import unit_rows
from chunkwise.models.endpoint_error import EndpointError
from chunkwise.models.http import Endpoint, JsonClient, split_url
from chunkwise.models.key_variables import key_variable_for
from chunkwise.models.refusals import halved_when_refused
from chunkwise.models.threads import in_order

_ENCODINGS = ("float", "base64")


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
        encoding: str = "float",
        query_prefix: str = "",
        passage_prefix: str = "",
        timeout: float = 60.0,
        attempts: int = 5,
        backoff: float = 0.5,
        longest_wait: float = 60.0,
    ) -> None:
        for name, value, least in (
            ("batch", batch, 1), ("batch_characters", batch_characters, 1),
            ("concurrency", concurrency, 1), ("dimensions", dimensions or 1, 1),
        ):  # fmt: skip
            if value < least:
                raise InvalidParameter(f"{name} is {value}; the least allowed is {least}")
        if encoding not in _ENCODINGS:
            raise InvalidParameter(f"encoding is {encoding!r}; allowed: {', '.join(_ENCODINGS)}")
        if not model:
            raise InvalidParameter("an endpoint needs the name of a model, as the server calls it")
        self.model = model
        self.batch = batch
        self.batch_characters = batch_characters
        self.concurrency = concurrency
        self.encoding = encoding
        self.prefix = {"query": query_prefix, "passage": passage_prefix}
        self.slice_size = batch * concurrency
        """Texts a caller who keeps results should hand over at once: all requests busy, little lost."""
        self._asked = dimensions
        self._known = dimensions
        self._client = JsonClient(
            Endpoint(
                embeddings_url(url), model, key_variable or key_variable_for(url), timeout=timeout, attempts=attempts,
                backoff=backoff, longest_wait=longest_wait,
            )
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.identity!r})"

    @property
    def identity(self) -> str:
        """Where, which model, how many numbers, what is put before a text; never the key."""
        named = f"endpoint:{self._client.endpoint.place}#{self.model}"
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
        worded = [place for place, text in enumerate(texts) if text.strip()]
        prefix = self.prefix[kind]
        batches = list(self._batches([prefix + texts[place] for place in worded]))
        answered = in_order(self._vectors, batches, self.concurrency)
        rows = [row for answer in answered for row in answer]
        for row in rows:
            if self._known is None:
                self._known = len(row)
            if len(row) != self._known:
                raise EndpointError(
                    self._client.endpoint.place,
                    f"gave a vector of {len(row)} numbers where {self._known} were expected",
                    f"check the model name ({self.model!r}) and whether it has `dimensions`",
                )
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        if rows:
            vectors[worded] = np.stack(rows)
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Bounded by count and by characters; a text over the bound goes alone."""
        batch: list[str] = []
        size = 0
        for text in texts:
            if batch and (len(batch) == self.batch or size + len(text) > self.batch_characters):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        if batch:
            yield batch

    def _vectors(self, texts: Sequence[str], stop: Event) -> list[NDArray[np.float32]]:
        return halved_when_refused(lambda some: self._request(some, stop), texts)

    def _request(self, texts: Sequence[str], stop: Event) -> list[NDArray[np.float32]]:
        payload: dict[str, Any] = {
            "model": self.model,
            "input": list(texts),
            "encoding_format": self.encoding,
        }
        if self._asked is not None:
            payload["dimensions"] = self._asked
        place = self._client.endpoint.place
        return self._client.ask(payload, lambda said: unit_rows(said, len(texts), place), stop)


def embeddings_url(url: str) -> str:
    """The full address from what people write: a host, `…/v1`, or the address itself."""
    return with_path(url, "/embeddings", bare="/v1/embeddings")


def with_path(url: str, ending: str, bare: str) -> str:
    """`url` with `ending` behind its path unless it is there; a host alone gets `bare`; a query stays."""
    parts = split_url(url)
    path = parts.path.rstrip("/")
    if not path:
        path = bare
    elif not path.endswith(ending):
        path += ending
    return parts._replace(path=path, fragment="").geturl()
