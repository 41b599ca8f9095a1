"""A text too long to lie in memory on its way into an index: read, cut and turned into rows segment by segment.

Its rows are those it has as a whole, but for an atom that is parted where a segment ends within it, and for what
`chunkers.chunk_long_texts` says of headings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import UnreadableDocument
from chunkwise.chunkers import Strategy
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.chunk_long_texts import in_segments
from chunkwise.core import Document
from chunkwise.documents import LoadOptions
from chunkwise.documents.long_texts import LongText, long_text
from chunkwise.documents.reading import EMPTY
from chunkwise.documents.source import Source
from chunkwise.models.embed.quantized_vectors import TokenCodes
from chunkwise.retrieval.indexed_document import IndexedDocument, SpanRows
from chunkwise.retrieval.indexing.build import (
    BuiltDocument,
    Models,
    OnDone,
    SectionPaths,
    build_segment,
    join_rows,
)
from chunkwise.retrieval.indexing.fingerprint import OnlyNew, RunningFingerprint
from chunkwise.retrieval.settings import Settings
from chunkwise.text.terms import TermCounts


class ReadLater(Chunked):
    """A document without its text, whose rows come some at a time."""

    fingerprint: str
    """What it is for the same document as a whole."""
    length: int
    """In characters."""

    def segments(
        self, settings: Settings, models: Models, on_done: OnDone | None = None
    ) -> Iterator[BuiltDocument]:
        """Its rows; `paths` has those that are new.

        An `UnreadableDocument` where it is another text by now than the one whose fingerprint is known, or none.
        """
        raise NotImplementedError


class DocumentOfRows(ReadLater):
    """One whose rows were made by a worker, and follow it."""

    def __init__(
        self,
        document: Document,
        fingerprint: str,
        length: int,
        rows: Iterator[object] | None = None,
    ) -> None:
        super().__init__(document, [])
        self.fingerprint, self.length, self._rows = fingerprint, length, rows

    def __reduce__(self) -> tuple[object, ...]:
        return DocumentOfRows, (self.document, self.fingerprint, self.length)

    def with_pieces(self, pieces: Iterator[object]) -> DocumentOfRows:
        return DocumentOfRows(self.document, self.fingerprint, self.length, pieces)

    def under_id(self, id: str) -> DocumentOfRows:
        document = replace(self.document, id=id)
        return DocumentOfRows(document, self.fingerprint, self.length, self._rows)

    def segments(
        self, settings: Settings, models: Models, on_done: OnDone | None = None
    ) -> Iterator[BuiltDocument]:
        assert self._rows is not None
        for built in self._rows:
            if isinstance(built, UnreadableDocument):
                raise built
            if not isinstance(built, BuiltDocument):
                return
            document = replace(built.part.document, id=self.document.id)
            yield built._replace(part=replace(built.part, document=document))
            del built  # before the next ones are read


class LongDocument(ReadLater):
    """A document without its text, which is read when it is needed: once for its fingerprint, once to be cut.

    Another process is sent what is known of it; there, its file is opened again if it is to be read.
    """

    def __init__(
        self, text: LongText, strategy: Strategy, again: _ReadAgain, fingerprint: str = ""
    ) -> None:
        super().__init__(text.document, [])
        self._text, self._strategy, self._again = text, strategy, again
        self._known = fingerprint
        self.length = text.size.characters

    def __reduce__(self) -> tuple[object, ...]:
        text = self._text._replace(document=self.document, read=self._again)
        return LongDocument, (text, _of_all(self._strategy), self._again, self.fingerprint)

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        if not self._known:
            self._known = self._read_fingerprint()
        return self._known

    def _read_fingerprint(self) -> str:
        running = self._running()
        for _ in running.over(self._text.read()):
            pass
        result = running.found()
        if result is None:
            raise self._changed()
        return result

    def _running(self) -> RunningFingerprint:
        return RunningFingerprint(self.document, self._text.size.bytes)

    def _changed(self) -> UnreadableDocument:
        return UnreadableDocument(self.document.source, "changed while it was read")

    @property
    def is_known(self) -> bool:
        """Whether the strategy passes over it: an index may have it."""
        return isinstance(self._strategy, OnlyNew) and self._strategy.knows(self.fingerprint)

    def under_id(self, id: str) -> LongDocument:
        text = self._text._replace(document=replace(self.document, id=id))
        return LongDocument(text, self._strategy, self._again, self._known)  # no id is in it

    def segments(
        self, settings: Settings, models: Models, on_done: OnDone | None = None
    ) -> Iterator[BuiltDocument]:
        # Whether the index has it is asked of the whole document, not of its segments.
        paths, reached, chunks, running = SectionPaths(), dict[int, int](), 0, self._running()
        text = running.over(self._text.read())
        for segment in in_segments(self.document, text, _of_all(self._strategy)):
            built = build_segment(segment, self.fingerprint, settings, models, on_done)
            # The language is told by the beginning.
            settings = replace(settings, language=built.language)
            chunks += len(segment.chunks)
            begin, until = segment.place.characters, segment.until
            del segment  # the analysis, before the next one is made
            yield built._replace(part=_placed(built.part, begin, until, paths, reached))
        if not chunks:
            raise UnreadableDocument(self.document.source, EMPTY)
        if running.found() != self.fingerprint:
            raise self._changed()


def _of_all(strategy: Strategy) -> Strategy:
    """For any document, whether an index has it or not."""
    return strategy.of_all if isinstance(strategy, OnlyNew) else strategy


@dataclass(frozen=True)
class _ReadAgain:
    """Reads a file from its beginning to its end, wherever it is sent."""

    options: LoadOptions
    source: Source

    def __call__(self) -> Iterator[str]:
        with long_text(self.source, self.options) as texts:
            if texts is None:
                raise UnreadableDocument(self.source.origin, "changed while it was read")
            yield from texts.read()


def long_document(
    strategy: Strategy, options: LoadOptions, source: Source
) -> Iterator[LongDocument | UnreadableDocument]:
    """The document of a large file; nothing: it is to be read as a whole."""
    if not strategy.in_segments:
        return
    try:
        with long_text(source, options) as texts:
            if texts is not None:
                yield LongDocument(texts, strategy, _ReadAgain(options, source))
    except UnreadableDocument as problem:
        yield problem


def _placed(
    part: IndexedDocument, begin: int, until: int, paths: SectionPaths, reached: dict[int, int]
) -> IndexedDocument:
    """The rows of a segment as those of the document: what is read again with the next one is left out.

    `reached` has the end of the last block of each kind so far.
    """
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
        blocks=_moved_blocks(part.blocks, begin, until, reached),
        atoms=_moved(part.atoms, atoms, begin, number),
        atom_flags=part.atom_flags[:atoms],
        atom_sums=None if part.atom_sums is None else part.atom_sums[:atoms],
        token_codes=codes,
    )


def _moved_blocks(
    rows: NDArray[np.int64], begin: int, until: int, reached: dict[int, int]
) -> NDArray[np.int64]:
    """Without the rest of a block in which the segment begins: the one before has it whole."""
    values = rows[rows[:, 2] < until]
    values[:, 1:] += begin
    kinds, ends = values[:, 0].tolist(), values[:, -1].tolist()
    new = [end > reached.get(kind, 0) for kind, end in zip(kinds, ends, strict=True)]
    reached |= dict(zip(kinds, ends, strict=True))
    return values[new]


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
    parts = [row.part for row in built]
    codes = [part.token_codes for part in parts if part.token_codes is not None]
    whole = replace(
        parts[0],
        document=replace(parts[0].document, text="".join(part.document.text for part in parts)),
        paths=tuple(path for part in parts for path in part.paths),
        chunks=join_rows([part.chunks for part in parts]),
        contexts=tuple(context for part in parts for context in part.contexts),
        parents=np.concatenate([part.parents for part in parts]),
        chunk_vectors=_rows([part.chunk_vectors for part in parts]),
        blocks=np.concatenate([part.blocks for part in parts]),
        atoms=join_rows([part.atoms for part in parts]),
        atom_flags=np.concatenate([part.atom_flags for part in parts]),
        atom_sums=_rows([part.atom_sums for part in parts]),
        token_codes=TokenCodes(*map(np.concatenate, zip(*codes, strict=True))) if codes else None,
    )
    return BuiltDocument(whole, built[0].language)


def _rows(vectors: Sequence[NDArray[np.float32] | None]) -> NDArray[np.float32] | None:
    there = [vector for vector in vectors if vector is not None]
    return np.concatenate(there) if there else None
