"""What a process needs to run configurations by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chunkwise.core import Document, Query
from chunkwise.experiments.outcome import Outcome
from chunkwise.experiments.running.one_chunking import Group, outcomes_of
from chunkwise.experiments.running.wanted_scores import wanted_scores
from chunkwise.experiments.running.workshop import Sums, Workshop
from chunkwise.experiments.swept_model import named_model


@dataclass(frozen=True, slots=True)
class Bench:
    """Can be sent to another process."""

    documents: Sequence[Document]
    queries: Sequence[Query]
    objective: str
    k: int
    model: str
    """By name; empty: none."""
    sums: Sums | None
    """What the model made of the documents, where it has read them."""

    def workshop(self) -> Workshop:
        model = named_model(self.model) if self.model else None
        return Workshop(self.documents, self.queries, model, self.sums)

    def outcomes(self, workshop: Workshop, group: Group) -> Iterator[Outcome]:
        return outcomes_of(workshop, group, wanted_scores(self.objective, self.k), self.k)
