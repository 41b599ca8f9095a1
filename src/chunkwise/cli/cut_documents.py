"""Documents cut into chunks, for the commands that cut some: counted, drawn on a page; what cannot be read is told."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.atomic_files import replacing
from chunkwise.base.wording import counted, format_number, thousands
from chunkwise.chunkers.chunk import Chunked, ChunkOutcome
from chunkwise.chunkers.packing.overlap import MissingOverlaps
from chunkwise.cli.streams import SkippedInputs, say
from chunkwise.core import Chunk, Document, OnProgress
from chunkwise.records.json import json_text
from chunkwise.text.tokens.tokenizers import TokenizerLike

_CHARACTERS_AT_MOST = 20_000_000
"""Of a page: beyond this no browser shows it in good time."""


class Cutter(Protocol):
    """What made the chunks: a strategy, or whatever is known of it where the chunks were there before."""

    @property
    def label(self) -> str: ...
    @property
    def limit(self) -> tuple[TokenizerLike, int] | None: ...
    @property
    def unit(self) -> str: ...


class ChunkSummary:
    """Kept small whatever the corpus size: one number a chunk."""

    def __init__(self, strategy: Cutter, strict: bool = False) -> None:
        self.strategy = strategy
        self.skip = SkippedInputs(strict)
        self.documents = 0
        self._sizes: list[NDArray[np.int32]] = []
        self._chunks = 0
        self._began = time.monotonic()
        asked = getattr(strategy, "asks_for_overlap", False)
        amount = getattr(strategy, "overlap_asked", 0)
        limit = strategy.limit
        self._missing = MissingOverlaps(limit, amount) if asked and limit else None

    def add(self, chunked: Chunked) -> None:
        """A document, or a segment of one."""
        self.documents += chunked.is_first
        self._sizes.append(
            np.array([chunk.token_count for chunk in chunked.chunks], dtype=np.int32)
        )
        self._chunks += len(chunked.chunks)
        if self._missing:
            self._missing.add(chunked)

    @property
    def missing_overlaps(self) -> str:
        """At how many boundaries nothing is repeated although an overlap is asked for, and why; else nothing."""
        return self._missing.in_words() if self._missing else ""

    @property
    def note(self) -> str:
        return f"{counted(self.documents, 'document')}, {counted(self._chunks, 'chunk')}"

    def line(self) -> str:
        """Everything in one line."""
        parts = [self.note]
        if self._chunks:
            sizes = np.concatenate(self._sizes)
            low, middle, high = sizes.min(), np.median(sizes), sizes.max()
            parts.append(
                f"{self.strategy.unit} {thousands(low)} least, {thousands(middle)} median, "
                f"{thousands(high)} most"
            )
        if self.missing_overlaps:
            parts.append(self.missing_overlaps)
        if self.skip.count:
            parts.append(f"{thousands(self.skip.count)} skipped")
        seconds = format_number(time.monotonic() - self._began, "seconds")
        return f"{self.strategy.label}: {'; '.join([*parts, seconds])}"


def readable(
    outcomes: Iterable[ChunkOutcome], summary: ChunkSummary, advance: OnProgress
) -> Iterator[Chunked]:
    """Counts as it goes."""
    for outcome in outcomes:
        if isinstance(outcome, Chunked):
            summary.add(outcome)
            size = outcome.until
            yield outcome
            del outcome  # before the next one is made
            advance(size, summary.note)
        else:
            summary.skip(outcome)


class CutsPage:
    """Collects documents; writes the page when the run ends well."""

    def __init__(
        self, path: Path, strategy: Cutter, *, shows_worst: bool = False, quiet: bool = False
    ) -> None:
        """`shows_worst` opens it on the document with the most issues; `quiet`: nothing is said of those left out."""
        self._path, self._strategy, self._shows_worst = path, strategy, shows_worst
        self._documents: list[tuple[Document, list[Chunk]]] = []
        self._size = self._left_out = 0
        self._quiet = quiet

    def add(self, chunked: Chunked) -> None:
        self._size += len(chunked.document.text)
        if self._size > _CHARACTERS_AT_MOST and self._documents:
            self._left_out += 1
        else:
            # Without its analysis: what is kept of a document is its text and its chunks.
            self._documents.append((chunked.document, chunked.chunks))

    def __enter__(self) -> CutsPage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            return
        if self._left_out and not self._quiet:
            say(
                f"the page shows the first {counted(len(self._documents), 'document')}; "
                f"{thousands(self._left_out)} more would make it too large for a browser"
            )
        from chunkwise.report.cuts_page import ChunksView
        from chunkwise.text.analyzed import Analyzed

        pairs = ((Analyzed(document), chunks) for document, chunks in self._documents)
        limit = self._strategy.limit
        view = ChunksView(
            pairs,
            self._strategy.label,
            limit[1] if limit else None,
            self._strategy.unit,
            shows_worst=self._shows_worst,
        )

        with (
            replacing(self._path) as temporary,
            temporary.open("w", encoding="utf-8", errors="replace") as out,
        ):
            if self._path.suffix.lower() == ".json":
                out.write(json_text(view.to_page_dict(), indent=1) + "\n")
            else:
                view.write(out)
