"""A document with its chunks, turned into what an index keeps of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.derived import check_order
from chunkwise.chunkers.headings_context import with_headings
from chunkwise.core import Chunk
from chunkwise.errors import ChunkwiseError
from chunkwise.models.embedder import Embedder, TokenEmbedder
from chunkwise.pipeline import Chunked
from chunkwise.retrieval.making.ground import Ground, OnDone, Paths, read_by_model
from chunkwise.retrieval.making.late_chunks import late_vectors
from chunkwise.retrieval.making.own_vectors import own_vectors
from chunkwise.retrieval.making.summaries import with_summaries
from chunkwise.retrieval.part import Part, Rows
from chunkwise.retrieval.settings import Settings
from chunkwise.text.analysis import Analyzed
from chunkwise.text.sections import Sections
from chunkwise.text.term_counts import TermCounts, added, joined
from chunkwise.text.terms import rows, text_terms


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
    grounds = [Ground(each.analyzed, settings) for each in documents]
    if settings.vectors in ("late", "both"):
        assert isinstance(embedder, TokenEmbedder)
        read_by_model(grounds, embedder, on_done)
        on_done = None  # With both, the work is told by the pass over the text.
    chunks = [each.chunks for each in documents]
    return list(built(chunks, grounds, settings, embedder, on_done))


def built(
    documents: Sequence[Sequence[Chunk]],
    grounds: Sequence[Ground],
    settings: Settings,
    embedder: Embedder | None,
    on_done: OnDone | None = None,
    *,
    counted: bool = False,
) -> Iterator[Built]:
    """The rows of each document's chunks; `counted`: they know their size in tokens of the index."""
    both = zip(documents, grounds, strict=True)
    parted = [_parted(chunks, ground, settings) for chunks, ground in both]
    own: Iterator[NDArray[np.float32] | None] = repeat(None, len(parted))
    late = settings.vectors == "late"
    if settings.vectors != "none":
        assert embedder is not None
        # A summary is no span of the text: it is always read by itself.
        alone = [summaries if late else [*chunks, *summaries] for chunks, summaries in parted]
        own = own_vectors(alone, embedder, on_done)
    for ground, (chunks, summaries), vectors in zip(grounds, parted, own, strict=True):
        _check_finite(settings, vectors, ground.sums)
        read = vectors[: len(chunks)] if vectors is not None and not late else None
        part = _part(chunks, ground, settings, embedder, read, counted)
        if summaries:
            its = vectors[-len(summaries) :] if vectors is not None else None
            part = with_summaries(part, summaries, ground, its)
        yield Built(part, ground.terms.language)


def _check_finite(settings: Settings, *given: NDArray[np.float32] | None) -> None:
    for vectors in given:
        if vectors is not None and not np.isfinite(vectors).all():
            raise ChunkwiseError(
                f"{settings.model} gives vectors with numbers that are not finite: no index can be made of them; "
                "choose another model, or mend this one"
            )


def _parted(
    chunks: Sequence[Chunk], ground: Ground, settings: Settings
) -> tuple[Sequence[Chunk], Sequence[Chunk]]:
    """The chunks as they are indexed, and the summaries among them."""
    summaries = [chunk for chunk in chunks if chunk.level]
    if summaries:
        check_order(chunks)
        chunks = [chunk for chunk in chunks if not chunk.level]
    if settings.context == "headings":
        chunks = with_headings(chunks, ground.analyzed)
    return chunks, summaries


def _part(
    chunks: Sequence[Chunk],
    ground: Ground,
    settings: Settings,
    embedder: Embedder | None,
    vectors: NDArray[np.float32] | None,
    counted: bool,
) -> Part:
    analyzed, terms = ground.analyzed, ground.terms
    paths = Paths(ground.paths)
    spans = _spans(chunks)
    contexts = tuple(chunk.context for chunk in chunks)
    chunk_rows = Rows(
        spans[:, 0],
        spans[:, 1],
        _chunk_tokens(chunks, analyzed, settings.tokenizer, counted),
        _section_numbers(spans, analyzed.sections, paths),
        _with_contexts(rows(terms, spans[:, 0], spans[:, 1]), contexts, terms.language),
    )
    if settings.vectors == "late":
        assert isinstance(embedder, TokenEmbedder)
        assert ground.sums is not None
        vectors = late_vectors(embedder, analyzed.text, ground.starts, ground.sums, spans, contexts)
    parents = spans.copy()
    for at, chunk in enumerate(chunks):
        if chunk.parent is not None:
            parents[at] = chunk.parent
    return Part(
        document=analyzed.document,
        fingerprint=ground.fingerprint,
        paths=tuple(paths.numbers),
        chunks=chunk_rows,
        contexts=contexts,
        parents=parents,
        chunk_vectors=vectors,
        atoms=ground.atoms,
        atom_sums=ground.sums if settings.vectors in ("late", "both") else None,
    )


def _spans(chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    return np.array([(chunk.start, chunk.end) for chunk in chunks], np.int64).reshape(-1, 2)


def _section_numbers(
    spans: NDArray[np.int64], sections: Sections, paths: Paths
) -> NDArray[np.int32]:
    """Of each chunk's section path; chunks from one section to another share it."""
    start, end = spans.T
    first, last = sections.at(start), sections.at(np.maximum(start, end - 1))
    pairs = list(zip(first.tolist(), last.tolist(), strict=True))
    number = {pair: paths.number(sections.path(*pair)) for pair in dict.fromkeys(pairs)}
    return np.array([number[pair] for pair in pairs], np.int32)


def _chunk_tokens(
    chunks: Sequence[Chunk], analyzed: Analyzed, tokenizer: str, counted: bool
) -> NDArray[np.int32]:
    """The tokens of each chunk's own text; a strategy may have counted by another tokenizer."""
    if counted:
        return np.array([chunk.token_count for chunk in chunks], np.int32)
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
