"""The page of documents with every cut drawn on the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from chunkwise.base.own_files import PAGE_FORMAT
from chunkwise.core import Chunk
from chunkwise.metrics.cuts.boundary_issues import KINDS, find_issues
from chunkwise.report.page import stream
from chunkwise.text.analyzed import Analyzed

TEMPLATE = "chunks.html.j2"
PAGE_VERSION = 1
"""Of the form of a page as data."""
AnalyzedChunks = tuple[Analyzed, Sequence[Chunk]]


@dataclass(frozen=True, slots=True)
class DocumentChunks:
    """A document's text, its chunks as columns, and the issues of their edges; what the page's script reads."""

    id: str
    title: str
    text: str
    astral: tuple[int, ...]
    """JavaScript counts UTF-16 units: every character listed here counts twice."""
    index: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]
    size: tuple[int, ...]
    words: tuple[int, ...]
    section: tuple[int, ...]
    """The place of each chunk's section in `paths`."""
    paths: tuple[tuple[str, ...], ...]
    pages: tuple[tuple[int | None, int | None], ...] | None
    """First and last page of each chunk; None: the format has no pages."""
    context: Mapping[str, str]
    """By the place of the chunk."""
    issues: tuple[tuple[int, int, int], ...]
    """Kind, chunk and offset of each."""
    bad_cuts: int
    """Cuts with an issue, each once."""


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """What the list of documents says of one."""

    label: str
    chunks: int
    bad_cuts: int


class ChunksView:
    """Documents with their cuts drawn on the text: each is looked at when its turn comes, and then let go."""

    def __init__(
        self,
        documents: Iterable[AnalyzedChunks],
        strategy: str,
        limit: int | None = None,
        unit: str = "tokens",
        *,
        shows_worst: bool = False,
    ) -> None:
        """`limit` is the most that a chunk may have of the `unit`; `shows_worst` opens the document with the most
        issues, not the first."""
        self._shows_worst = shows_worst
        self._given, self._about = documents, {"strategy": strategy, "limit": limit, "unit": unit}
        self._entries: list[DocumentEntry] = []

    @property
    def documents(self) -> Iterator[DocumentChunks]:
        """Can be gone through once."""
        for document, chunks in self._given:
            shown = document_chunks(document, chunks)
            label = shown.title or shown.id
            self._entries.append(DocumentEntry(label, len(shown.start), shown.bad_cuts))
            yield shown

    @property
    def first(self) -> int:
        """Number of the document that is shown, where the address names none; of equals the first."""
        bad_cuts = [entry.bad_cuts for entry in self._entries if self._shows_worst]
        return bad_cuts.index(max(bad_cuts)) + 1 if bad_cuts else 1

    @property
    def overview(self) -> dict[str, Any]:
        """What the page's script reads first: what is known once all documents were gone through."""
        kinds = [list(pair) for pair in KINDS.items()]
        return {**self._about, "kinds": kinds, "documents": self._entries, "first": self.first}

    def write(self, out: TextIO) -> None:
        """The page; nothing is fetched, and it can be read without its script."""
        for text in stream(TEMPLATE, view=self):
            out.write(text)

    def to_page_dict(self) -> dict[str, Any]:
        """What the page shows, behind what it is: nobody takes such a file for a document."""
        about = {"format": PAGE_FORMAT, "version": PAGE_VERSION, "view": type(self).__name__}
        documents = list(self.documents)
        return {**about, **self._about, "documents": documents, "first": self.first}


def document_chunks(document: Analyzed, every: Sequence[Chunk]) -> DocumentChunks:
    """One document; a summary has no cuts to draw."""
    chunks = [chunk for chunk in every if not chunk.level]
    number = {kind: index for index, kind in enumerate(KINDS)}
    issues = find_issues(document, chunks)
    paths: dict[tuple[str, ...], int] = {}
    return DocumentChunks(
        id=document.document.id,
        title=document.document.title,
        text=document.text,
        astral=tuple(np.flatnonzero(document.characters.points > 0xFFFF).tolist()),
        index=tuple(chunk.index for chunk in chunks),
        start=tuple(chunk.start for chunk in chunks),
        end=tuple(chunk.end for chunk in chunks),
        size=tuple(chunk.token_count for chunk in chunks),
        words=tuple(chunk.word_count for chunk in chunks),
        section=tuple(paths.setdefault(chunk.section, len(paths)) for chunk in chunks),
        paths=tuple(paths),
        pages=tuple((chunk.page, chunk.last_page) for chunk in chunks)
        if document.document.pages
        else None,
        context={str(at): chunk.context for at, chunk in enumerate(chunks) if chunk.context},
        issues=tuple((number[issue.kind], issue.chunk, issue.offset) for issue in issues),
        bad_cuts=len({issue.cut for issue in issues}),
    )
