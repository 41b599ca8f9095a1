"""A document with its chunks, turned into what an index keeps of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.headings_context import with_headings
from chunkwise.core import Chunk
from chunkwise.models.embedder import Embedder, TokenEmbedder
from chunkwise.models.late import atom_sums_of_many
from chunkwise.pipeline import Chunked
from chunkwise.retrieval.making.fingerprint import fingerprint
from chunkwise.retrieval.making.late_chunks import late_vectors
from chunkwise.retrieval.part import Part, Rows
from chunkwise.retrieval.settings import Settings
from chunkwise.text.analysis import Analyzed
from chunkwise.text.term_counts import TermCounts, added, joined
from chunkwise.text.terms import Terms, document_terms, rows, text_terms

OnDone = Callable[[int], None]
"""Gets the number of characters read by the model since the last call."""

_TEXTS = 64
"""Chunks embedded before the work done is told."""


class Built(NamedTuple):
    """A part, and the language its terms were found by."""

    part: Part
    language: str


def build(
    documents: Sequence[Chunked],
    settings: Settings,
    embedder: Embedder | None,
    on_done: OnDone | None = None,
) -> list[Built]:
    """All rows of some documents: short ones are read together, so that every core has work.

    The embedder is wanted where `settings.vectors` says so.
    """
    if settings.vectors not in ("late", "both"):
        return [_built(chunked, settings, embedder, None, on_done) for chunked in documents]
    assert isinstance(embedder, TokenEmbedder)
    starts = [
        (chunked.analyzed, chunked.analyzed.atoms(settings.tokenizer)) for chunked in documents
    ]
    sums = atom_sums_of_many(embedder, starts, on_done)
    return [
        # With both, the work is told by the pass over the text.
        _built(chunked, settings, embedder, each, None)
        for chunked, each in zip(documents, sums, strict=True)
    ]


def _built(
    chunked: Chunked,
    settings: Settings,
    embedder: Embedder | None,
    sums: NDArray[np.float32] | None,
    on_done: OnDone | None,
) -> Built:
    document, analyzed = chunked.document, chunked.analyzed
    chunks: Sequence[Chunk] = chunked.chunks
    if settings.context == "headings":
        chunks = with_headings(chunks, analyzed)
    terms = document_terms(analyzed, settings.language)
    paths = _Paths()
    spans = _spans(chunks)
    contexts = tuple(chunk.context for chunk in chunks)
    chunk_rows = Rows(
        spans[:, 0],
        spans[:, 1],
        _chunk_tokens(chunks, analyzed, settings.tokenizer),
        np.array([paths.number(chunk.section) for chunk in chunks], np.int32),
        _with_contexts(rows(terms, spans[:, 0], spans[:, 1]), contexts, terms.language),
    )
    starts = analyzed.atoms(settings.tokenizer)
    vectors = None
    if settings.vectors == "late":
        assert isinstance(embedder, TokenEmbedder)
        assert sums is not None
        vectors = late_vectors(embedder, analyzed.text, starts, sums, spans, contexts)
    elif settings.vectors in ("own", "both"):
        assert embedder is not None
        vectors = _embedded(embedder, chunks, on_done)
    parents = [chunk.parent or chunk.span for chunk in chunks]
    atoms = _atoms(analyzed, starts, terms, paths, settings.tokenizer)
    part = Part(
        document=document,
        fingerprint=fingerprint(document),
        paths=tuple(paths.numbers),
        chunks=chunk_rows,
        contexts=contexts,
        parents=np.array(parents, np.int64).reshape(-1, 2),
        chunk_vectors=vectors,
        atoms=atoms,
        atom_sums=sums,
    )
    return Built(part, terms.language)


class _Paths:
    """Section paths in the order they are met, each once."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, ...], int] = {}

    def number(self, path: tuple[str, ...]) -> int:
        return self.numbers.setdefault(path, len(self.numbers))


def _spans(chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    return np.array([chunk.span for chunk in chunks], np.int64).reshape(-1, 2)


def _chunk_tokens(chunks: Sequence[Chunk], analyzed: Analyzed, tokenizer: str) -> NDArray[np.int32]:
    """The tokens of each chunk's own text; a strategy may have counted by another tokenizer."""
    count = analyzed.measure(tokenizer).count
    return np.array([count(chunk.start, chunk.end) for chunk in chunks], np.int32)


def _with_contexts(own: TermCounts, contexts: Sequence[str], language: str) -> TermCounts:
    if not any(contexts):
        return own
    made: dict[str, TermCounts] = {}
    for context in contexts:
        if context not in made:
            ends = np.zeros(1, np.int64), np.full(1, len(context), np.int64)
            made[context] = rows(text_terms(context, language), *ends)
    return added(own, joined([made[context] for context in contexts]))


def _embedded(
    embedder: Embedder, chunks: Sequence[Chunk], on_done: OnDone | None
) -> NDArray[np.float32]:
    vectors = np.zeros((len(chunks), embedder.dimensions), np.float32)
    told = 0
    for first in range(0, len(chunks), _TEXTS):
        some = chunks[first : first + _TEXTS]
        vectors[first : first + len(some)] = embedder.embed([each.index_text for each in some])
        if on_done and some[-1].end > told:  # chunks may overlap
            on_done(some[-1].end - told)
            told = some[-1].end
    return vectors


def _atoms(
    analyzed: Analyzed, starts: NDArray[np.int64], terms: Terms, paths: _Paths, tokenizer: str
) -> Rows:
    bounds = np.append(starts, len(analyzed.text))
    # Tokens of the whole document, so that those of neighbours add up.
    tokens = np.diff(analyzed.measure(tokenizer).starts.searchsorted(bounds))
    sections = analyzed.sections.at(starts)
    number = np.zeros(len(analyzed.sections), np.int32)
    for section in np.unique(sections).tolist():
        number[section] = paths.number(analyzed.sections.paths[section])
    return Rows(
        starts, bounds[1:], tokens.astype(np.int32), number[sections],
        rows(terms, starts, bounds[1:]),
    )  # fmt: skip
