"""The page of documents with every cut drawn on the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from chunkwise.base.own_files import PAGE_FORMAT
from chunkwise.core import Chunk
from chunkwise.metrics.cuts.boundary_issues import KINDS, find_issues
from chunkwise.report.page import OWN, rendered, stream
from chunkwise.report.view import View
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


@dataclass(frozen=True, slots=True)
class ChunksView(View):
    """Documents with their cuts drawn on the text."""

    strategy: str
    limit: int | None
    """The most that a chunk may have of the `unit`."""
    unit: str
    documents: tuple[DocumentChunks, ...]
    first: int = 1
    """Number of the document that is shown, where the address names none."""

    @property
    def page(self) -> str:
        """The page; nothing is fetched, and it can be read without its script."""
        return rendered(TEMPLATE, OWN, view=self)

    def to_page_dict(self) -> dict[str, Any]:
        """What the page shows, behind what it is: nobody takes such a file for a document."""
        about = {"format": PAGE_FORMAT, "version": PAGE_VERSION, "view": type(self).__name__}
        return {**about, **self.to_dict()}

    @property
    def overview(self) -> dict[str, Any]:
        """What the page's script reads first."""
        entries = [_entry(each) for each in self.documents]
        return _overview(self.strategy, self.limit, self.unit, entries, self.first)


class ChunksStream:
    """The same for as many documents as there are: each is looked at when its turn comes, and then let go."""

    def __init__(
        self,
        documents: Iterable[AnalyzedChunks],
        strategy: str,
        limit: int | None,
        unit: str,
        *,
        shows_worst: bool = False,
    ) -> None:
        """`shows_worst` opens the document with the most issues, not the first."""
        self._shows_worst = shows_worst
        self._given, self._about = documents, (strategy, limit, unit)
        self._entries: list[DocumentEntry] = []

    @property
    def documents(self) -> Iterator[DocumentChunks]:
        for document, chunks in self._given:
            shown = document_chunks(document, chunks)
            self._entries.append(_entry(shown))
            yield shown

    @property
    def overview(self) -> dict[str, Any]:
        first = _worst(self._entries) if self._shows_worst else 1
        return _overview(*self._about, self._entries, first)


def chunks_view(
    documents: Iterable[AnalyzedChunks],
    strategy: str,
    *,
    limit: int | None = None,
    unit: str = "tokens",
    shows_worst: bool = False,
) -> ChunksView:
    """`shows_worst` opens the document with the most issues, not the first."""
    shown = tuple(document_chunks(document, chunks) for document, chunks in documents)
    return ChunksView(strategy, limit, unit, shown, _worst(shown) if shows_worst else 1)


def _worst(documents: Sequence[DocumentChunks | DocumentEntry]) -> int:
    """The number of the document with the most issues; of equals the first."""
    bad_cuts = [each.bad_cuts for each in documents]
    return bad_cuts.index(max(bad_cuts)) + 1 if bad_cuts else 1


def document_chunks(document: Analyzed, every: Sequence[Chunk]) -> DocumentChunks:
    """One document; a summary has no cuts to draw."""
    chunks = [chunk for chunk in every if not chunk.level]
    number = {kind: index for index, kind in enumerate(KINDS)}
    found = find_issues(document, chunks)
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
        issues=tuple((number[issue.kind], issue.chunk, issue.offset) for issue in found),
        bad_cuts=len({issue.cut for issue in found}),
    )


def _entry(document: DocumentChunks) -> DocumentEntry:
    return DocumentEntry(
        document.title or document.id, len(document.start), document.bad_cuts
    )  # fmt: skip


def _overview(
    strategy: str, limit: int | None, unit: str, entries: Sequence[DocumentEntry], first: int
) -> dict[str, Any]:
    kinds = [list(each) for each in KINDS.items()]
    return {
        "strategy": strategy, "limit": limit, "unit": unit, "kinds": kinds, "documents": entries, "first": first,
    }  # fmt: skip


def write_chunks_page(documents: ChunksStream, out: TextIO) -> None:
    """The page of documents with their cuts, one document after the other; `ChunksView` needs all of them at once."""
    for text in stream(TEMPLATE, view=documents):
        out.write(text)
