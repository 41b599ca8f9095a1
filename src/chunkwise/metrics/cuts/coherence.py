"""Whether chunks hold together and neighbors differ: cosines of the vectors an index has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Score
from chunkwise.metrics.metric import NO_CHUNKS, Metric, WholeScore
from chunkwise.models.embed.late_chunking import span_vectors
from chunkwise.retrieval.indexes import Index

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]
Cosines = NDArray[np.float64]

_AT_ONCE = 8192
"""Rows multiplied at once: the vectors of a large index are not copied whole."""


class Coherence(NamedTuple):
    """None: there is nothing to take a mean of."""

    coherence: float | None
    """Mean cosine of neighboring chunks, every pair of neighbors once."""
    cohesion: float | None
    """Mean over chunks of the mean cosine of a chunk's sentences to the chunk."""

    @property
    def contrast(self) -> float | None:
        """Cohesion less coherence: a good cut has much of it."""
        if self.cohesion is None or self.coherence is None:
            return None
        return self.cohesion - self.coherence


def neighbor_cosines(chunks: Vectors, document: Numbers) -> Cosines:
    """Of each two chunks that follow each other in one document: a document of one chunk has none.

    `document` is that of each chunk; chunks stand in order.
    """
    first = np.flatnonzero(document[1:] == document[:-1])
    return _cosines(chunks, first, chunks, first + 1)


def chunk_cohesions(
    chunks: Vectors, sentences: Vectors, sentence: Numbers, chunk: Numbers
) -> Cosines:
    """One a chunk; NaN with fewer than two sentences, since a chunk of one is that sentence and always has 1.

    Sentence `sentence[i]` lies in chunk `chunk[i]`: with overlap it lies in several.
    """
    cosine = _cosines(sentences, sentence, chunks, chunk)
    known = ~np.isnan(cosine)
    count = np.bincount(chunk[known], minlength=len(chunks))
    total = np.bincount(chunk[known], cosine[known], minlength=len(chunks))
    return np.where(count > 1, total / np.maximum(count, 1), np.nan)


def mean_of(cosines: Cosines) -> float | None:
    """Of those there are."""
    known = cosines[~np.isnan(cosines)]
    return float(known.mean()) if len(known) else None


def _cosines(first: Vectors, left: Numbers, second: Vectors, right: Numbers) -> Cosines:
    """Of rows `left` of the first to rows `right` of the second; NaN where one has no length."""
    result = np.empty(len(left))
    for low in range(0, len(left), _AT_ONCE):
        a = first[left[low : low + _AT_ONCE]].astype(np.float64)
        b = second[right[low : low + _AT_ONCE]].astype(np.float64)
        size = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        dot = np.einsum("ij,ij->i", a, b)
        result[low : low + _AT_ONCE] = np.where(size > 0, dot / np.where(size > 0, size, 1), np.nan)
    return np.clip(result, -1, 1)


_NO_VECTORS = "no vectors: index with --vectors late"
_OWN = "the index has no sentence vectors; index with --vectors late or both"
_APART = "no document has two chunks"
_SINGLE = "no chunk has two sentences"


def index_coherence(index: Index) -> dict[str, Score]:
    """The three figures, or why one cannot be had."""
    kept = index.settings.vectors
    if kept == "none":
        return dict.fromkeys(("coherence", "cohesion", "contrast"), Score(None, _NO_VECTORS))
    if kept == "own":
        result = Coherence(_mean(_own_cosines(index)), None)
    else:
        pairs = list(_late_cosines(index))
        result = Coherence(_mean(near for near, _ in pairs), _mean(inside for _, inside in pairs))
    coherence = _score(result.coherence, _APART)
    cohesion = _score(result.cohesion, _OWN if kept == "own" else _SINGLE)
    why = cohesion.reason or coherence.reason
    return {
        "coherence": coherence,
        "cohesion": cohesion,
        "contrast": _score(result.contrast, why),
    }


def _score(value: float | None, reason: str) -> Score:
    return Score(value, reason if value is None else "")


def _mean(parts: Iterator[Cosines]) -> float | None:
    return mean_of(np.concatenate([np.zeros(0), *parts]))


def _own_cosines(index: Index) -> Iterator[Cosines]:
    """Of the neighbors in each document."""
    for number in index.source.document_numbers():
        numbers: Sequence[int] = range(*index.source.chunk_range(number))
        if index.source.has_summaries:
            numbers = [chunk.number for chunk in index.source.chunks(numbers) if not chunk.level]
        vectors = index.source.chunk_vectors(numbers)
        yield neighbor_cosines(vectors, np.zeros(len(vectors), np.int64))


def _late_cosines(index: Index) -> Iterator[tuple[Cosines, Cosines]]:
    """Of the neighbors in each document, and of the chunks' sentences to them.

    Vectors of chunks are made of those of their atoms, also where the index has others: both are then of one kind.
    A sentence is an atom (items, rows and lines are some, too), and lies in the chunk that holds its middle.
    """
    atoms, chunks = index.source.atom_table(), index.source.chunk_table()
    assert atoms.vectors is not None
    for position, number in enumerate(index.source.document_numbers()):
        low, high = atoms.document.searchsorted([number, number + 1])
        first, last = chunks.document.searchsorted([position, position + 1])
        if low == high or first == last:
            continue
        start, end = atoms.start[low:high], atoms.end[low:high]
        spans = np.stack([chunks.start[first:last], chunks.end[first:last]], axis=1)
        if chunks.level is not None:
            spans = spans[chunks.level[first:last] == 0]
        sums = atoms.vectors.turned(slice(low, high))
        vectors = span_vectors(start, int(end[-1]), sums, spans)
        sentence, chunk = _inside(start, end, spans)
        near = neighbor_cosines(vectors, np.zeros(len(vectors), np.int64))
        yield near, chunk_cohesions(vectors, sums, sentence, chunk)


def _inside(
    start: NDArray[np.int64], end: NDArray[np.int64], spans: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of an atom and a span that holds its middle."""
    low, high = ((start + end) / 2).searchsorted(spans.T)
    size = high - low
    span = np.repeat(np.arange(len(spans)), size)
    atom = np.arange(len(span)) - np.repeat(np.cumsum(size) - size, size) + low[span]
    return atom, span


def _figure(name: str) -> Callable[[Evidence], WholeScore]:
    def score(evidence: Evidence) -> WholeScore:
        if evidence.index is None:
            return WholeScore(Score(None, NO_CHUNKS))
        count = 0 if evidence.chunking is None else int(evidence.chunking.is_chunk.sum())
        index = evidence.index
        return WholeScore(evidence.once("coherence", lambda: index_coherence(index))[name], count)

    return score


METRICS = (
    Metric(
        "coherence", "Similarity of neighboring chunks; lower is better, since chunks then have separate topics.",
        score=_figure("coherence"),
        group="boundary_issues", better="lower", bounds=(-1.0, 1.0), needs=("vectors",), per="chunking",
    ),
    Metric(
        "cohesion", "Similarity of a chunk’s sentences to the chunk; higher is better, since it then has one topic.",
        score=_figure("cohesion"),
        group="boundary_issues", bounds=(-1.0, 1.0), needs=("vectors",), per="chunking",
    ),
    Metric(
        "contrast", "Cohesion minus coherence; higher is better, since boundaries then follow topics.",
        score=_figure("contrast"),
        group="boundary_issues", bounds=(-2.0, 2.0), needs=("vectors",), per="chunking",
    ),
)  # fmt: skip
