"""What a retriever is asked: several questions at once, with their vectors where the index has some."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.models.embed.embedder import Embedder, TokenEncoder, normalized
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
        token_encoder: Callable[[], TokenEncoder] | None = None,
    ) -> None:
        # Half a surrogate pair has no UTF-8 form, which tokenizers and databases insist on.
        self.texts = tuple(_SURROGATE.sub("\ufffd", text) for text in texts)
        self.settings = settings
        self._embedder = embedder or (lambda: _embedder_of(settings))
        self._token_encoder = token_encoder or (lambda: _token_encoder_of(settings))

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
        made = normalized(np.asarray(embedder.embed(different, "query"), np.float32))
        return made[[row[text] for text in self.texts]]

    @cached_property
    def token_vectors(self) -> list[NDArray[np.float32]]:
        """Of every question those of its tokens, a row each."""
        encoder = self._token_encoder()
        if encoder.identity != self.settings.maxsim_identity:
            raise wrong_model_error(
                self.settings.maxsim_identity, self.settings.maxsim, encoder.identity
            )
        different = list(dict.fromkeys(self.texts))
        made = dict(zip(different, encoder.query_vectors(different), strict=True))
        return [made[text] for text in self.texts]

    def some(self, positions: Sequence[int]) -> QueryBatch:
        """A part of the batch; vectors that are there already come along."""
        texts = [self.texts[at] for at in positions]
        part = QueryBatch(texts, self.settings, self._embedder, self._token_encoder)
        if "vectors" in self.__dict__:
            part.__dict__["vectors"] = self.vectors[list(positions)]
        if "token_vectors" in self.__dict__:
            part.__dict__["token_vectors"] = [self.token_vectors[at] for at in positions]
        return part


def _embedder_of(settings: Settings) -> Embedder:
    from chunkwise.models import get_embedder

    return get_embedder(settings.embedder)


def _token_encoder_of(settings: Settings) -> TokenEncoder:
    from chunkwise.models import get_token_encoder

    return get_token_encoder(settings.maxsim)
