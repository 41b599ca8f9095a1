"""What is evaluated: documents that can be asked, or answers that somebody else gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from chunkwise.core import Document, Hit, OnProgress, Query
from chunkwise.evaluation.results import Json
from chunkwise.metrics.citations.position import Position
from chunkwise.metrics.spans.tables import Chunking
from chunkwise.retrieval.indexes import Index
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER


class Ask(Protocol):
    """Answers questions; at most `k` hits, at most `budget` tokens."""

    def __call__(
        self,
        queries: Sequence[Query],
        *,
        k: int | None,
        budget: int | None,
        advance: OnProgress | None = None,
    ) -> list[list[Hit]]: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """Documents in a fixed order, their chunks where they are known, and who answers."""

    documents: Sequence[Document]
    ask: Ask
    chunking: Chunking | None = None
    """None: answers without an index behind them."""
    deeper: bool = True
    """Whether more hits can be had than were asked for first; the first ones stay the same then."""
    configuration: Mapping[str, Json] = field(default_factory=dict)
    index: Index | None = None
    """What is asked, where it is an index."""
    position: Position | None = None
    """How exact the offsets of chunks from a file are."""

    @property
    def numbers(self) -> dict[str, int]:
        """A document's position by its id."""
        return {document.id: number for number, document in enumerate(self.documents)}

    @property
    def texts(self) -> dict[str, str]:
        """A document's text by its id."""
        return {document.id: document.text for document in self.documents}

    @property
    def tokenizer(self) -> str:
        """What hits are counted by."""
        return str(self.configuration.get("tokenizer") or DEFAULT_TOKENIZER)
