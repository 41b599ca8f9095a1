"""DSPy: an index as a retrieval model, for `dspy.configure(rm=…)`, `dspy.Retrieve` and modules that call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chunkwise.base.errors import MissingExtra
from chunkwise.options import SearchOptions

try:
    import dspy
except ImportError as error:
    raise MissingExtra("chunkwise.dspy", "dspy") from error

from chunkwise.core import Hit
from chunkwise.integrations import (
    IndexLike,
    IndexSearch,
    hit_metadata,
)

__all__ = ["ChunkwiseRM", "FoundPassages"]


class FoundPassages(dspy.Prediction):
    """What was found, in both forms that DSPy knows: `.passages` are texts; going through it gives `long_text`s."""

    @classmethod
    def of(cls, hits: list[Hit]) -> FoundPassages:
        """Texts, best first or in reading order as the retriever has them, with what is known of each."""
        return cls(
            passages=[hit.shown for hit in hits],
            scores=[float(hit.score) for hit in hits],
            metadata=[{**hit_metadata(hit), "start": hit.start, "end": hit.end} for hit in hits],
        )

    def __iter__(self) -> Iterator[Any]:
        result = zip(self.passages, self.scores, self.metadata, strict=True)
        for text, score, metadata in result:
            yield dspy.Example(long_text=text, score=score, metadata=metadata)

    def __len__(self) -> int:
        return len(self.passages)


class ChunkwiseRM(dspy.Retrieve):
    """An index as DSPy's retrieval model: `rm(query).passages`, or `dspy.configure(rm=rm)` and `dspy.Retrieve(k=3)`."""

    def __init__(
        self,
        index: IndexLike,
        k: int | None = None,
        *,
        callbacks: list[Any] | None = None,
        **options: Any,
    ) -> None:
        """`options` are those of `chunkwise.options.SearchOptions`."""
        super().__init__(k=k, callbacks=callbacks)
        self._search = IndexSearch(index, SearchOptions.read(options))
        self._search.opened  # noqa: B018 - a wrong place is an error now, not with the first question

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Of a saved program: how many are asked for; the index stays where it is."""
        return {"k": self.k}

    def forward(self, query: str, k: int | None = None, **changes: Any) -> FoundPassages:
        """The hits of one question; `k` and `changes` hold for it alone."""
        return FoundPassages.of(self._search.hits(query, k=self.k if k is None else k, **changes))
