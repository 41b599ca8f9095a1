"""The `--view` page of `chunkwise chunk` and `chunkwise lint`: documents are kept until the page is written."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from chunkwise.base.atomic import replacing
from chunkwise.chunkers.chunk import Chunked
from chunkwise.cli.chunk_summary import Cutter
from chunkwise.cli.messages import say
from chunkwise.core import Chunk, Document
from chunkwise.report.cuts.cuts_page import write_cuts_page
from chunkwise.text.analysis import Analyzed

_CHARACTERS_AT_MOST = 20_000_000
"""Beyond this no browser shows the page in good time."""


class ChunkView:
    """Collects documents; writes the page when the run ends well."""

    def __init__(self, path: Path, strategy: Cutter) -> None:
        self._path, self._strategy = path, strategy
        self._documents: list[tuple[Document, list[Chunk]]] = []
        self._size = self._left_out = 0

    def add(self, chunked: Chunked) -> None:
        self._size += len(chunked.document.text)
        if self._size > _CHARACTERS_AT_MOST and self._documents:
            self._left_out += 1
        else:
            # Without its analysis: what is kept of a document is its text and its chunks.
            self._documents.append((chunked.document, chunked.chunks))

    def __enter__(self) -> ChunkView:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            return
        if self._left_out:
            say(
                f"the page shows the first {len(self._documents):,} documents; "
                f"{self._left_out:,} more would make it too large for a browser"
            )
        with (
            replacing(self._path) as temporary,
            temporary.open("w", encoding="utf-8", errors="replace") as out,
        ):
            pairs = ((Analyzed(document), chunks) for document, chunks in self._documents)
            limit, unit = self._strategy.limit, self._strategy.unit
            write_cuts_page(
                out, pairs, self._strategy.label, limit=limit[1] if limit else None, unit=unit
            )
