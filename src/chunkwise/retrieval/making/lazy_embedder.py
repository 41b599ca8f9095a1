"""A model that is loaded when it is first needed: many a run needs none."""

from __future__ import annotations

from functools import cached_property

from chunkwise.core import Advance
from chunkwise.models.embedder import Embedder
from chunkwise.retrieval.refusals import wrong_model


class LazyEmbedder:
    """An embedder by its name, or one that is there; `expected` is the identity an index was made with."""

    def __init__(
        self, model: str | Embedder, expected: str = "", advance: Advance | None = None
    ) -> None:
        self.given = model
        self._expected = expected
        self._advance = advance

    @property
    def name(self) -> str:
        """What finds it again; one that was handed over as an object goes by its identity."""
        return self.given if isinstance(self.given, str) else self.given.identity

    @cached_property
    def embedder(self) -> Embedder:
        """The model itself."""
        from chunkwise.models import get_embedder

        made = get_embedder(self.given, advance=self._advance)
        if self._expected and made.identity != self._expected:
            raise wrong_model(self._expected, self.name, made.identity)
        return made

    def __call__(self) -> Embedder:
        return self.embedder
