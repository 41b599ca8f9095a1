"""A document with its chunks and summaries, turned into what an index keeps of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.user_warning import warn_user
from chunkwise.chunkers.checked_pieces import check_order
from chunkwise.chunkers.chunk import Chunked
from chunkwise.chunkers.contextual import with_headings
from chunkwise.core import Chunk
from chunkwise.models.embed.embedder import Embedder, TokenEmbedder, TokenEncoder, normalized
from chunkwise.retrieval.indexed_document import (
    IndexedDocument,
    SpanRows,
    StatedRelations,
    Summaries,
)
from chunkwise.retrieval.indexing.features import (
    DocumentFeatures,
    OnDone,
    SectionPaths,
    embed_atoms,
    encode_tokens,
)
from chunkwise.retrieval.indexing.vectors import late_vectors, own_vectors
from chunkwise.retrieval.settings import Settings
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.sections import SectionTree
from chunkwise.text.terms import TermCounts, add_counts, counts_in_spans, join_counts, text_terms
from chunkwise.text.tokens.tokenizers import get_tokenizer


def with_summaries(
    part: IndexedDocument,
    summaries: Sequence[Chunk],
    features: DocumentFeatures,
    own: NDArray[np.float32] | None,
) -> IndexedDocument:
    """The part of a document's chunks with its summaries behind them.

    A summary is no span of the document: its terms and its vector are always those of its own text.
    """
    before, language = len(part.chunks), features.terms.language
    tokens = get_tokenizer(features.tokenizer).count
    paths = SectionPaths(part.paths)
    spans = np.array([(chunk.start, chunk.end) for chunk in summaries], np.int64)
    added = SpanRows(
        spans[:, 0],
        spans[:, 1],
        np.array([tokens(chunk.summary) for chunk in summaries], np.int32),
        np.array([paths.number(chunk.section) for chunk in summaries], np.int32),
        join_counts([_terms(chunk.index_text, language) for chunk in summaries]),
    )
    vectors = part.chunk_vectors
    if vectors is not None:
        assert own is not None
        vectors = np.concatenate((vectors, own))
    known = Summaries.none(before)
    return replace(
        part,
        paths=tuple(paths.numbers),
        chunks=_together(part.chunks, added),
        contexts=(*part.contexts, *(chunk.context for chunk in summaries)),
        parents=np.concatenate((part.parents, spans)),
        chunk_vectors=vectors,
        summaries=Summaries(
            np.append(known.level, np.array([chunk.level for chunk in summaries], np.int8)),
            (*known.texts, *(chunk.summary for chunk in summaries)),
            np.array(
                [
                    (before + at, start, end, features.measure.count(start, end))
                    for at, chunk in enumerate(summaries)
                    for start, end in chunk.spans
                ],
                np.int64,
            ),
        ),
    )


def _terms(text: str, language: str) -> TermCounts:
    return counts_in_spans(
        text_terms(text, language), np.zeros(1, np.int64), np.full(1, len(text), np.int64)
    )


def _together(chunks: SpanRows, summaries: SpanRows) -> SpanRows:
    start, end, tokens, section = (
        np.concatenate((getattr(chunks, name), getattr(summaries, name)))
        for name in ("start", "end", "tokens", "section")
    )
    return SpanRows(start, end, tokens, section, join_counts([chunks.terms, summaries.terms]))


class BuiltDocument(NamedTuple):
    """A part, and the language its terms were found by."""

    part: IndexedDocument
    language: str


def build_documents(
    documents: Sequence[Chunked],
    settings: Settings,
    embedder: Embedder | None,
    on_done: OnDone | None = None,
    token_encoder: TokenEncoder | None = None,
    relations: Sequence[StatedRelations] = (),
) -> list[BuiltDocument]:
    """All rows of some documents: short ones are read together, so that every core has work.

    The embedder is wanted where `settings.vectors` says so, the token encoder where `settings.maxsim` does, relations
    of each document where `settings.graph` does.
    """
    all_features = [DocumentFeatures(each.analyzed, settings) for each in documents]
    if settings.graph == "relations":
        for features, own in zip(all_features, relations, strict=True):
            features.relations = own
    if settings.maxsim:
        assert token_encoder is not None
        encode_tokens(all_features, token_encoder, on_done)
        on_done = None  # It is the slowest by far: its pass over the text tells the work.
    if settings.vectors in ("late", "both"):
        assert isinstance(embedder, TokenEmbedder)
        embed_atoms(all_features, embedder, on_done)
        on_done = None  # With both, the work is told by the pass over the text.
    chunks = [each.chunks for each in documents]
    return list(build_on_features(chunks, all_features, settings, embedder, on_done))


def build_on_features(
    documents: Sequence[Sequence[Chunk]],
    all_features: Sequence[DocumentFeatures],
    settings: Settings,
    embedder: Embedder | None,
    on_done: OnDone | None = None,
    *,
    counted: bool = False,
) -> Iterator[BuiltDocument]:
    """The rows of each document's chunks; `counted`: they know their size in tokens of the index."""
    both = zip(documents, all_features, strict=True)
    parted = [_parted(chunks, features, settings) for chunks, features in both]
    own: Iterator[NDArray[np.float32] | None] = repeat(None, len(parted))
    late = settings.vectors == "late"
    if settings.vectors != "none":
        assert embedder is not None
        # A summary is no span of the text: it is always read by itself.
        alone = [summaries if late else [*chunks, *summaries] for chunks, summaries in parted]
        own = own_vectors(alone, embedder, on_done)
    for features, (chunks, summaries), vectors in zip(all_features, parted, own, strict=True):
        _check_vectors(settings, features, vectors)
        vectors = None if vectors is None else normalized(vectors)
        read = vectors[: len(chunks)] if vectors is not None and not late else None
        part = _part(chunks, features, settings, embedder, read, counted)
        if summaries:
            its = vectors[-len(summaries) :] if vectors is not None else None
            part = with_summaries(part, summaries, features, its)
        yield BuiltDocument(part, features.terms.language)


def _check_vectors(
    settings: Settings, features: DocumentFeatures, own: NDArray[np.float32] | None
) -> None:
    given = [each for each in (own, features.sums) if each is not None and each.size]
    for vectors in given:
        if not np.isfinite(vectors).all():
            raise ChunkwiseError(
                f"{settings.embedder} gives vectors with numbers that are not finite: no index can be made of them; "
                "choose another model, or mend this one"
            )
    if given and len(features.terms.start) and not any(each.any() for each in given):
        warn_user(
            f"{settings.embedder} gives nothing but zeros for documents with words in them: they are not found by "
            "vectors; choose another model, or mend this one"
        )


def _parted(
    chunks: Sequence[Chunk], features: DocumentFeatures, settings: Settings
) -> tuple[Sequence[Chunk], Sequence[Chunk]]:
    """The chunks as they are indexed, and the summaries among them."""
    summaries = [chunk for chunk in chunks if chunk.level]
    if summaries:
        check_order(chunks)
        chunks = [chunk for chunk in chunks if not chunk.level]
    if settings.context == "headings":
        chunks = with_headings(chunks, features.analyzed)
    return chunks, summaries


def _part(
    chunks: Sequence[Chunk],
    features: DocumentFeatures,
    settings: Settings,
    embedder: Embedder | None,
    vectors: NDArray[np.float32] | None,
    counted: bool,
) -> IndexedDocument:
    analyzed, terms = features.analyzed, features.terms
    paths = SectionPaths(features.paths)
    spans = _spans(chunks)
    contexts = tuple(chunk.context for chunk in chunks)
    chunk_rows = SpanRows(
        spans[:, 0],
        spans[:, 1],
        _chunk_tokens(chunks, analyzed, settings.tokenizer, counted),
        _section_numbers(spans, analyzed.sections, paths),
        _with_contexts(counts_in_spans(terms, spans[:, 0], spans[:, 1]), contexts, terms.language),
    )
    if settings.vectors == "late":
        assert isinstance(embedder, TokenEmbedder)
        assert features.sums is not None
        vectors = late_vectors(
            embedder, analyzed.text, features.starts, features.sums, spans, contexts
        )
    parents = spans.copy()
    for at, chunk in enumerate(chunks):
        if chunk.parent is not None:
            parents[at] = chunk.parent
    return IndexedDocument(
        document=analyzed.document,
        fingerprint=features.fingerprint,
        paths=tuple(paths.numbers),
        chunks=chunk_rows,
        contexts=contexts,
        parents=parents,
        chunk_vectors=vectors,
        atoms=features.atoms,
        atom_sums=features.sums if settings.vectors in ("late", "both") else None,
        token_codes=features.token_codes if settings.maxsim else None,
        mentions=features.mentions if settings.graph else None,
        relations=features.relations,
    )


def _spans(chunks: Sequence[Chunk]) -> NDArray[np.int64]:
    return np.array([(chunk.start, chunk.end) for chunk in chunks], np.int64).reshape(-1, 2)


def _section_numbers(
    spans: NDArray[np.int64], sections: SectionTree, paths: SectionPaths
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
            made[context] = counts_in_spans(text_terms(context, language), *ends)
    return add_counts(own, join_counts([made[context] for context in contexts]))
