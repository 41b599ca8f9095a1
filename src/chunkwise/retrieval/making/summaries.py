"""Summaries among the chunks of a document: found by what they say, handed out for what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Chunk
from chunkwise.retrieval.making.ground import Ground, Paths
from chunkwise.retrieval.part import Part, Rows, Summaries
from chunkwise.text.term_counts import TermCounts, joined
from chunkwise.text.terms import rows, text_terms
from chunkwise.text.tokenizers import get_tokenizer


def with_summaries(
    part: Part, summaries: Sequence[Chunk], ground: Ground, own: NDArray[np.float32] | None
) -> Part:
    """The part of a document's chunks with its summaries behind them.

    A summary is no span of the document: its terms and its vector are always those of its own text.
    """
    before, language = len(part.chunks), ground.terms.language
    tokens = get_tokenizer(ground.tokenizer).count
    paths = Paths(part.paths)
    spans = np.array([(chunk.start, chunk.end) for chunk in summaries], np.int64)
    added = Rows(
        spans[:, 0],
        spans[:, 1],
        np.array([tokens(chunk.summary) for chunk in summaries], np.int32),
        np.array([paths.number(chunk.section) for chunk in summaries], np.int32),
        joined([_terms(chunk.index_text, language) for chunk in summaries]),
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
                    (before + at, start, end, ground.measure.count(start, end))
                    for at, chunk in enumerate(summaries)
                    for start, end in chunk.spans
                ],
                np.int64,
            ),
        ),
    )


def _terms(text: str, language: str) -> TermCounts:
    return rows(text_terms(text, language), np.zeros(1, np.int64), np.full(1, len(text), np.int64))


def _together(chunks: Rows, summaries: Rows) -> Rows:
    start, end, tokens, section = (
        np.concatenate((getattr(chunks, name), getattr(summaries, name)))
        for name in ("start", "end", "tokens", "section")
    )
    return Rows(start, end, tokens, section, joined([chunks.terms, summaries.terms]))
