"""A text too long to lie in memory on its way into an index: read, cut and turned into rows segment by segment.

Its rows are those it has as a whole, but for an atom that is parted where a segment ends within it, and for what
`chunkers.long_text_segments` says of headings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import UnreadableDocument
from chunkwise.chunkers import Strategy
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.long_text_segments import in_segments
from chunkwise.core import Document
from chunkwise.documents import LoadOptions
from chunkwise.documents.reading import EMPTY
from chunkwise.documents.source import Source
from chunkwise.documents.streamed_text import long_text
from chunkwise.models.embed.embedder import Embedder, TokenEncoder
from chunkwise.models.embed.quantized_token_vectors import TokenCodes
from chunkwise.retrieval.indexed_document import IndexedDocument, SpanRows
from chunkwise.retrieval.indexing.build import (
    BuiltDocument,
    OnDone,
    SectionPaths,
    SegmentEnds,
    build_segment,
    join_rows,
)
from chunkwise.retrieval.indexing.fingerprint import OnlyNew, fingerprint_of_pieces
from chunkwise.retrieval.settings import Settings
from chunkwise.text.terms import TermCounts


class LongDocument(Chunked):
    """A document without its text, which is read when it is needed, as often as it is."""

    is_read_later = True

    def __init__(
        self, document: Document, read: Callable[[], Iterator[str]], strategy: Strategy
    ) -> None:
        super().__init__(document, [])
        self._read, self._strategy = read, strategy

    @cached_property
    def fingerprint(self) -> str:
        """What it is for the same document as a whole."""
        return fingerprint_of_pieces(self.document, self._read)

    @property
    def length(self) -> int:
        """In characters."""
        return sum(map(len, self._read()))

    @property
    def is_known(self) -> bool:
        """Whether the strategy passes over it: an index may have it."""
        return isinstance(self._strategy, OnlyNew) and self._strategy.knows(self.fingerprint)

    def whole(self) -> Document:
        """With its text."""
        return replace(self.document, text="".join(self._read()))

    def under_id(self, id: str) -> LongDocument:
        return LongDocument(replace(self.document, id=id), self._read, self._strategy)

    def segments(
        self,
        settings: Settings,
        embedder: Embedder | None,
        on_done: OnDone | None,
        token_encoder: TokenEncoder | None,
    ) -> Iterator[BuiltDocument]:
        """Its rows, some at a time; `paths` has those that are new.

        An `UnreadableDocument` where it is another text by now than the one whose fingerprint is known, or none.
        """
        # Whether the index has it is asked of the whole document, not of its segments.
        strategy = self._strategy
        strategy = strategy.of_all if isinstance(strategy, OnlyNew) else strategy
        paths, chunks = SectionPaths(), 0
        for found in in_segments(self.document, self._read(), strategy):
            last = max((chunk.end for chunk in found.chunks), default=0)
            ends = SegmentEnds(found.until, last)
            cut = Chunked(found.analyzed.document, found.chunks, found.analyzed)
            built = build_segment(cut, ends, settings, embedder, on_done, token_encoder)
            # The language is told by the beginning.
            settings = replace(settings, language=built.language)
            chunks += len(found.chunks)
            begin, until = found.place.characters, found.until
            del found, cut  # the analysis, before the next one is made
            part = _placed(built.part, begin, until, paths)
            yield built._replace(part=replace(part, fingerprint=self.fingerprint))
        if not chunks:
            raise UnreadableDocument(self.document.source, EMPTY)
        if fingerprint_of_pieces(self.document, self._read) != self.fingerprint:
            raise UnreadableDocument(self.document.source, "written to while it was read")


@contextmanager
def long_document(
    strategy: Strategy, options: LoadOptions, source: Source
) -> Iterator[LongDocument | None]:
    """The document of a large file; None: it is to be read as a whole."""
    if not strategy.in_segments:
        yield None
        return
    with long_text(source, options) as found:
        yield LongDocument(found.document, found.read, strategy) if found is not None else None


def _placed(part: IndexedDocument, begin: int, until: int, paths: SectionPaths) -> IndexedDocument:
    """The rows of a segment as those of the document: what is read again with the next one is left out."""
    before = len(paths.numbers)
    number = np.array([paths.number(path) for path in part.paths], np.int32)
    atoms = int(part.atoms.start.searchsorted(until))
    codes = part.token_codes
    if codes is not None:
        sizes = codes.sizes[:atoms]
        codes = TokenCodes(sizes, codes.packed[: int(sizes.sum())])
    return replace(
        part,
        document=replace(part.document, text=part.document.text[:until]),
        paths=tuple(paths.numbers)[before:],
        chunks=_moved(part.chunks, len(part.chunks), begin, number),
        parents=part.parents + begin,
        atoms=_moved(part.atoms, atoms, begin, number),
        atom_sums=None if part.atom_sums is None else part.atom_sums[:atoms],
        token_codes=codes,
    )


def _moved(rows: SpanRows, count: int, begin: int, section: NDArray[np.int32]) -> SpanRows:
    entries = int(rows.terms.first[count])
    return SpanRows(
        rows.start[:count] + begin,
        rows.end[:count] + begin,
        rows.tokens[:count],
        section[rows.section[:count]],
        TermCounts(
            rows.terms.first[: count + 1], rows.terms.term[:entries], rows.terms.times[:entries]
        ),
    )


def as_a_whole(segments: Iterator[BuiltDocument]) -> BuiltDocument:
    """One document, where rows cannot be taken some at a time."""
    built = list(segments)
    parts = [each.part for each in built]
    codes = [each.token_codes for each in parts if each.token_codes is not None]
    whole = replace(
        parts[0],
        document=replace(parts[0].document, text="".join(each.document.text for each in parts)),
        paths=tuple(path for each in parts for path in each.paths),
        chunks=join_rows([each.chunks for each in parts]),
        contexts=tuple(context for each in parts for context in each.contexts),
        parents=np.concatenate([each.parents for each in parts]),
        chunk_vectors=_rows([each.chunk_vectors for each in parts]),
        atoms=join_rows([each.atoms for each in parts]),
        atom_sums=_rows([each.atom_sums for each in parts]),
        token_codes=TokenCodes(*map(np.concatenate, zip(*codes, strict=True))) if codes else None,
    )
    return BuiltDocument(whole, built[0].language)


def _rows(vectors: Sequence[NDArray[np.float32] | None]) -> NDArray[np.float32] | None:
    there = [each for each in vectors if each is not None]
    return np.concatenate(there) if there else None
