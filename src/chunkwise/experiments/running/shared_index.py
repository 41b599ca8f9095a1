"""An index several retrievers of a sweep ask the same questions: each ranking is made once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.embedded.index import EmbeddedIndex
from chunkwise.retrieval.embedded.layout import Arrays
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.settings import Settings
from chunkwise.text.tokenizers import get_tokenizer

_DEPTH = 400
"""Chunks a question that are ranked at least: what fusing words and vectors looks at."""


class SharedIndex(EmbeddedIndex):
    """Remembers rankings: the first of a long one are the short one, whatever retriever asked for it."""

    def __init__(
        self,
        arrays: Arrays,
        settings: Settings,
        languages: Sequence[str],
        terms: Mapping[str, NDArray[np.uint64]],
    ) -> None:
        """`terms` are those of the questions, by their text."""
        super().__init__(arrays, settings, languages)
        self._terms = terms
        self._rankings: dict[Hashable, tuple[int, list[Ranking]]] = {}

    @cached_property
    def context_tokens(self) -> int:
        """Of all text that is indexed beside chunks."""
        if not len(self.arrays["context.bytes"]):
            return 0
        count = get_tokenizer(self.settings.tokenizer).count
        return sum(count(text) * times for text, times in Counter(self.contexts()).items() if text)

    def words(self, queries: Sequence[str], depth: int, only: Filter) -> list[Ranking]:
        asked = tuple(queries)
        ask = super().words
        return self._first(("words", asked, only), depth, lambda deep: ask(asked, deep, only))

    def nearest(self, vectors: NDArray[np.float32], depth: int, only: Filter) -> list[Ranking]:
        ask = super().nearest
        key = "nearest", vectors.shape, vectors.tobytes(), only
        return self._first(key, depth, lambda deep: ask(vectors, deep, only))

    def _query_terms(self, query: str) -> NDArray[np.uint64]:
        known = self._terms.get(query)
        return super()._query_terms(query) if known is None else known

    def _first(
        self, key: Hashable, depth: int, ask: Callable[[int], list[Ranking]]
    ) -> list[Ranking]:
        deep, found = self._rankings.get(key, (0, []))
        if deep < depth:
            # Where there are vectors, words and they will be fused.
            deep = max(depth, _DEPTH) if self.settings.vectors != "none" else depth
            found = ask(deep)
            self._rankings[key] = deep, found
        return found if deep == depth else [ranking.first(depth) for ranking in found]
