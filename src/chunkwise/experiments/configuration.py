"""One way to cut and to search, with everything that decides its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

from chunkwise.retrieval.settings import Context

Kind = Literal["late", "own", "none"]
"""Of vectors: from one pass over the documents, from a pass over every chunk, or none."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Two with the same key give the same figures."""

    strategy: str
    """The label of the strategy, which makes it again; empty: no chunks are needed (several sizes at once)."""
    retriever: str
    """The label of the retriever."""
    context: Context = "none"
    neighbours: int = 0
    vectors: Kind = "late"
    levers: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    """What was varied, in words for tables: boundaries, size, overlap, context, neighbours, sizes, retriever."""
    baseline: str = field(default="", compare=False)
    """What it is known as, where it is a common default everything is held against."""

    @property
    def label(self) -> str:
        """What a table calls it."""
        parts = [self.strategy, "headings" if self.context == "headings" else "", self.retriever]
        if self.neighbours:
            parts.append(f"neighbours {self.neighbours}")
        if self.vectors == "own":
            parts.append("own vectors")
        return " · ".join(part for part in parts if part)

    @property
    def key(self) -> str:
        """The name of its file."""
        said = [self.strategy, self.retriever, self.context, str(self.neighbours), self.vectors]
        return blake2b("\0".join(said).encode(), digest_size=8).hexdigest()
