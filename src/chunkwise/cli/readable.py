"""The documents of a run that could be read; each of the others is a line on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chunkwise.chunkers.chunk import Chunked, ChunkOutcome
from chunkwise.cli.chunk_summary import ChunkSummary
from chunkwise.cli.messages import say_skipped
from chunkwise.core import OnProgress


def readable(
    outcomes: Iterable[ChunkOutcome], strict: bool, summary: ChunkSummary, advance: OnProgress
) -> Iterator[Chunked]:
    """Counts as it goes; `strict`: the first that cannot be read is raised."""
    for outcome in outcomes:
        if isinstance(outcome, Chunked):
            summary.add(outcome)
            yield outcome
            advance(len(outcome.document.text), summary.note)
        elif strict:
            raise outcome
        else:
            summary.skipped += 1
            say_skipped(outcome)
