"""A batch of queries: their texts, and their vectors, made once and only when a retriever wants them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.embedder import Embedder
from chunkwise.retrieval.errors import no_vectors_error, wrong_model_error
from chunkwise.retrieval.settings import Settings

_SURROGATE = re.compile("[\ud800-\udfff]")


class QueryBatch:
    """What is asked, for one index: its vectors come from the model the index was made with."""

    def __init__(
        self,
        texts: Sequence[str],
        settings: Settings,
        embedder: Callable[[], Embedder] | None = None,
    ) -> None:
        # Half a surrogate pair has no UTF-8 form, which tokenizers and databases insist on.
        self.texts = tuple(_SURROGATE.sub("\ufffd", text) for text in texts)
        self.settings = settings
        self._embedder = embedder or (lambda: _embedder_of(settings))

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def have_vectors(self) -> bool:
        """Whether the index has vectors to compare theirs with."""
        return self.settings.vectors != "none"

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """One row a question."""
        if not self.have_vectors:
            raise no_vectors_error()
        embedder = self._embedder()
        if self.settings.identity and embedder.identity != self.settings.identity:
            raise wrong_model_error(
                self.settings.identity, self.settings.embedder, embedder.identity
            )
        different = list(dict.fromkeys(self.texts))
        row = {text: number for number, text in enumerate(different)}
        made = np.asarray(embedder.embed(different, "query"), np.float32)
        return made[[row[text] for text in self.texts]]

    def some(self, positions: Sequence[int]) -> QueryBatch:
        """A part of the batch; vectors that are there already come along."""
        part = QueryBatch([self.texts[at] for at in positions], self.settings, self._embedder)
        if "vectors" in self.__dict__:
            part.__dict__["vectors"] = self.vectors[list(positions)]
        return part


def _embedder_of(settings: Settings) -> Embedder:
    from chunkwise.models import get_embedder

    return get_embedder(settings.embedder)
