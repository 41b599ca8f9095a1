"""Questions, hits and chunks as arrays: what every metric over spans is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Hit, Query

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
    def of(cls, queries: Sequence[Query], numbers: Mapping[str, int]) -> Gold:
        """`numbers` gives a document's number by its id."""
        unknown: dict[str, int] = {}

        def missing(doc_id: str) -> int:
            return unknown.setdefault(doc_id, -1 - len(unknown))

        references = [(q, each) for q, query in enumerate(queries) for each in query.references]
        places = [(r, p) for r, (_, each) in enumerate(references) for p in each.places]
        return cls(
            len(queries),
            _array([q for q, _ in references]),
            _array([r for r, _ in places]),
            _array([numbers.get(place.doc_id, missing(place.doc_id)) for _, place in places]),
            _array([place.start for _, place in places]),
            _array([place.end for _, place in places]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The hits of many questions, best first."""

    first: Numbers
    """Where the hits of each question begin, and one more: where the last ones end."""
    document: Numbers
    start: Numbers
    end: Numbers
    tokens: Numbers
    """What the reader of a hit pays."""

    @classmethod
    def of(cls, hits: Sequence[Sequence[Hit]], numbers: Mapping[str, int]) -> Found:
        """Hits in the order of their ranks, whatever order they are handed out in."""
        ranked = [sorted(own, key=lambda hit: hit.rank) for own in hits]
        flat = [hit for own in ranked for hit in own]
        return cls(
            np.concatenate(([0], np.cumsum([len(own) for own in ranked], dtype=np.int64))),
            _array([numbers[hit.doc_id] for hit in flat]),
            _array([hit.start for hit in flat]),
            _array([hit.end for hit in flat]),
            _array([hit.token_count for hit in flat]),
        )

    @property
    def question(self) -> Numbers:
        """Of each hit."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @property
    def rank(self) -> Numbers:
        """Of each hit, from 0."""
        return np.arange(len(self.start)) - self.first[self.question]


@dataclass(frozen=True, slots=True, eq=False)
class Chunking:
    """Every chunk of an index, by document and start."""

    document: Numbers
    start: Numbers
    end: Numbers
    tokens: Numbers


def _array(values: list[int]) -> Numbers:
    return np.array(values, dtype=np.int64)
