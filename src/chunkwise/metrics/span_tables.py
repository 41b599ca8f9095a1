"""Questions, hits and chunks as arrays: what every metric over spans is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Hit, Passage, Query

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """The references of many questions; a question without references has no rows."""

    questions: int
    question: Numbers
    """Of each reference, in order."""
    reference: Numbers
    """Of each place, in order; the first place of a reference is the reference itself, the others alternatives."""
    document: Numbers
    """Of each place, as are the two below. A document that is not there has a negative number of its own and
    meets no hit."""
    start: Numbers
    end: Numbers

    @classmethod
    def of(
        cls,
        queries: Sequence[Query],
        numbers: Mapping[str, int],
        texts: Mapping[str, str] = MappingProxyType({}),
    ) -> Gold:
        """`numbers` gives a document's number by its id. Where its text is known, too, white space at the edges of a
        place does not count: no chunk has it, and no reader misses it."""
        unknown: dict[str, int] = {}

        def missing(doc_id: str) -> int:
            return unknown.setdefault(doc_id, -1 - len(unknown))

        references = [(q, item) for q, query in enumerate(queries) for item in query.references]
        solid: dict[Passage, Passage] = {}
        for _, reference in references:
            for place in reference.places:
                if place not in solid:
                    solid[place] = _without_edges(place, texts.get(place.doc_id, ""))
        places = [(r, solid[p]) for r, (_, item) in enumerate(references) for p in item.places]
        return cls(
            len(queries),
            _array([q for q, _ in references]),
            _array([r for r, _ in places]),
            _array([numbers.get(place.doc_id, missing(place.doc_id)) for _, place in places]),
            _array([place.start for _, place in places]),
            _array([place.end for _, place in places]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class HitTable:
    """The hits of many questions, best first. A hit is one place; a summary is all the places it stands for."""

    first: Numbers
    """Where the hits of each question begin, and one more: where the last ones end."""
    document: Numbers
    """Of each place, as are the three below."""
    start: Numbers
    end: Numbers
    tokens: Numbers
    """What the reader of a hit pays; for a summary, what the text it stands for has."""
    hits_of: Numbers | None = None
    """Which hit each place belongs to, in order; None: every hit is one place."""
    summary: NDArray[np.bool_] | None = None
    """Of each hit, whether it is a summary; None: none is."""

    @classmethod
    def of(cls, hits: Sequence[Sequence[Hit]], numbers: Mapping[str, int]) -> HitTable:
        """Hits in the order of their ranks, whatever order they are handed out in."""
        ranked = [sorted(group, key=lambda hit: hit.rank) for group in hits]
        flat = [hit for group in ranked for hit in group]
        sizes = [len(hit.places) for hit in flat]
        places = [place for hit in flat for place in hit.places]
        return cls(
            np.concatenate(([0], np.cumsum([len(group) for group in ranked], dtype=np.int64))),
            _array([numbers[place.doc_id] for place in places]),
            _array([place.start for place in places]),
            _array([place.end for place in places]),
            _array([place.tokens for place in places]),
            None if len(flat) == sum(sizes) else np.repeat(np.arange(len(flat)), sizes),
            np.array([hit.level > 0 for hit in flat]) if any(hit.level for hit in flat) else None,
        )

    @property
    def hit(self) -> Numbers:
        """Of each place."""
        return np.arange(len(self.start)) if self.hits_of is None else self.hits_of

    @property
    def question(self) -> Numbers:
        """Of each place."""
        return self.hit_question if self.hits_of is None else self.hit_question[self.hits_of]

    @property
    def rank(self) -> Numbers:
        """Of each place, from 0."""
        return self.hit_rank if self.hits_of is None else self.hit_rank[self.hits_of]

    @property
    def hit_question(self) -> Numbers:
        """Of each hit."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @property
    def hit_rank(self) -> Numbers:
        """Of each hit, from 0."""
        return np.arange(int(self.first[-1])) - self.first[self.hit_question]


@dataclass(frozen=True, slots=True, eq=False)
class Chunking:
    """Every chunk of an index, by document; summaries behind the chunks of their document."""

    document: Numbers
    start: Numbers
    """Of the first place of a summary; `end` is that of the last."""
    end: Numbers
    tokens: Numbers
    """Of its text, or of the summary."""
    level: Numbers | None = None
    """0: a chunk, above it a summary; None: there are no summaries."""
    stood_for: Numbers | None = None
    """A row each place that a summary stands for, in order: which chunk the summary is, start, end, tokens."""

    @property
    def is_chunk(self) -> NDArray[np.bool_]:
        """Of each row, whether it is a place and no summary."""
        return np.ones(len(self.start), np.bool_) if self.level is None else self.level == 0

    @property
    def without_summaries(self) -> Chunking:
        """The chunks alone."""
        if self.level is None:
            return self
        columns = (self.document, self.start, self.end, self.tokens)
        return Chunking(*(column[self.is_chunk] for column in columns))

    @property
    def chunks_of(self) -> Numbers | None:
        """Which chunk each of `places` belongs to; None: every chunk is one place."""
        return None if self.stood_for is None else self.places.chunk

    @property
    def places(self) -> ChunkPlaces:
        """All places of all chunks, by chunk."""
        chunk, start, end, tokens = np.arange(len(self.start)), self.start, self.end, self.tokens
        if self.stood_for is None:
            return ChunkPlaces(chunk, self.document, start, end, tokens)
        own = np.column_stack((chunk, start, end, tokens))[self.is_chunk]
        rows = np.concatenate((own, self.stood_for))
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        return ChunkPlaces(rows[:, 0], self.document[rows[:, 0]], *rows.T[1:])


class ChunkPlaces(NamedTuple):
    """The places that chunks are or stand for."""

    chunk: Numbers
    """Its number."""
    document: Numbers
    start: Numbers
    end: Numbers
    tokens: Numbers


def _without_edges(place: Passage, text: str) -> Passage:
    """Without white space at its edges; a place that has nothing else, or lies outside, stays as it is."""
    start, end = place.start, place.end
    if not 0 <= start < end <= len(text):
        return place
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return Passage(place.doc_id, start, end) if start < end else place


def _array(values: list[int]) -> Numbers:
    return np.array(values, dtype=np.int64)
