"""The model of a sweep: once it does not answer, or has cost as much as it may, no chunking asks it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import money_words
from chunkwise.models import get_embedder
from chunkwise.models.cache import CachedEmbedder
from chunkwise.models.embed.embedder import Embedder, Kind, TokenEmbedder, TokenVectors
from chunkwise.models.http.batches import REFUSED
from chunkwise.models.http.error import EndpointError
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from chunkwise.tuning.sweep import Sweep

_ENDPOINTS = ("http", "https", "openai")
_AT_ONCE = 64


class SpendLimit:
    """What may be spent on tokens; of texts whose vectors are kept nobody asks."""

    def __init__(self, money: float, price: float, currency: str) -> None:
        """`price` is that of a million tokens."""
        self._money, self._price, self._currency = money, price, currency
        self._spent = 0.0

    def pay(self, texts: Sequence[str]) -> None:
        """Before they are sent; an error where that would be too much."""
        count = get_tokenizer(DEFAULT_TOKENIZER).count
        cost = self._price * sum(map(count, texts)) / 1e6
        if self._spent + cost > self._money:
            spent, more, most = (
                money_words(each, self._currency) for each in (self._spent, cost, self._money)
            )
            raise ChunkwiseError(
                f"the model was not asked: about {spent} are spent, {more} more would be needed, and the budget of a "
                f"run is {most}; raise it in the plan, or spend as much once more: the same command goes on"
            )
        self._spent += cost


class SweepEmbedder:
    """Asks until it is told no; then the reason is the answer to everything else."""

    def __init__(self, embedder: Embedder, spend_limit: SpendLimit | None = None) -> None:
        self._embedder, self._spend_limit = embedder, spend_limit
        self._failure: ChunkwiseError | None = None

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        with self._asking(()):
            return self._embedder.dimensions

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        with self._asking(texts):
            return self._embedder.embed(texts, kind)

    def embed_each(
        self, texts: Sequence[str], kind: Kind = "passage"
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """As they come, so that what was paid for is kept."""
        each = getattr(self._embedder, "embed_each", None)
        if each is None:
            for first in range(0, len(texts), _AT_ONCE):
                yield first, self.embed(texts[first : first + _AT_ONCE], kind)
            return
        with self._asking(texts):
            yield from each(texts, kind)

    @contextmanager
    def _asking(self, texts: Sequence[str]) -> Iterator[None]:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        try:
            if self._spend_limit is not None:
                self._spend_limit.pay(texts)
        except ChunkwiseError as error:
            self._failure = error
            raise
        try:
            yield
        except EndpointError as error:
            # A text that is refused says nothing about those of another chunking.
            if error.status not in REFUSED:
                self._failure = error
            raise


class SweepTokenEmbedder(SweepEmbedder):
    """The same for a model that can look inside a text."""

    def __init__(self, embedder: TokenEmbedder, spend_limit: SpendLimit | None = None) -> None:
        super().__init__(embedder, spend_limit)
        self._tokens = embedder

    @property
    def window(self) -> int:
        return self._tokens.window

    def token_starts(self, text: str) -> NDArray[np.int64]:
        return self._tokens.token_starts(text)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        with self._asking(texts):
            return self._tokens.token_vectors(texts)


class FailFastEmbedder(LazyEmbedder):
    """A model by its name, which can travel to other processes, and remembers here that it does not answer."""

    @cached_property
    def embedder(self) -> Embedder:
        return get_embedder(SweepEmbedder(get_embedder(self.requested, cache=False)))


def named_model(name: str) -> LazyEmbedder:
    """A model as any process of a sweep makes it for itself."""
    return FailFastEmbedder(name) if _is_endpoint(name) else LazyEmbedder(name)


def _is_endpoint(name: str) -> bool:
    return name.partition(":")[0].lower() in _ENDPOINTS


def sweep_embedder(
    sweep: Sweep, embedder: Embedder | None = None
) -> Embedder | LazyEmbedder | None:
    """What asks for the vectors of a sweep; None: the sweep's model, as it is."""
    if sweep.money is not None and sweep.price is not None and (embedder or sweep.embedder):
        # One purse is in one process: the model is an object, and no other process asks for anything.
        made = get_embedder(embedder or sweep.embedder, cache=False)
        made = made.embedder if isinstance(made, CachedEmbedder) else made
        spend_limit = SpendLimit(sweep.money, sweep.price, sweep.currency)
        if hasattr(type(made), TokenEmbedder.token_vectors.__name__):
            return SweepTokenEmbedder(cast(TokenEmbedder, made), spend_limit)
        return SweepEmbedder(made, spend_limit)
    return (
        FailFastEmbedder(sweep.embedder)
        if embedder is None and _is_endpoint(sweep.embedder)
        else embedder
    )
