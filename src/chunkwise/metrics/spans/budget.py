"""Hits cut to what a reader takes in: the first k, or as many as fit into a number of tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.metrics.spans.overlaps import Numbers
from chunkwise.metrics.spans.tables import Found


class Cut(Protocol):
    """Knows where a text ends after so many tokens."""

    def ends(self, document: Numbers, start: Numbers, end: Numbers, tokens: Numbers) -> Numbers:
        """Of each place: the end of its first so many tokens, never behind its own end."""
        ...


def first_hits(found: Found, k: int) -> Found:
    """The best k of each question."""
    return _kept(found, found.rank < k)


def within(found: Found, budget: int, cut: Cut) -> Found:
    """Hits in rank order while they fit; the place that crosses the budget is cut, the rest dropped."""
    spent = np.cumsum(found.tokens)
    begins = found.hit.searchsorted(found.first)
    paid = spent - np.concatenate(([0], spent))[begins[found.question]]
    left = budget - (paid - found.tokens)
    crossing = np.flatnonzero((left > 0) & (found.tokens > left))
    end, tokens = found.end.copy(), found.tokens.copy()
    tokens[crossing] = left[crossing]
    places = (column[crossing] for column in (found.document, found.start, found.end, left))
    end[crossing] = cut.ends(*places)
    fits = paid <= budget
    fits[crossing] = end[crossing] > found.start[crossing]
    return _kept(replace(found, end=end, tokens=tokens), fits)


def _kept(found: Found, which: NDArray[np.bool_]) -> Found:
    """A hit none of whose places is kept is gone."""
    hits = np.flatnonzero(which)
    if found.hits_of is not None:
        hits, numbers = np.unique(found.hits_of[which], return_inverse=True)
    counts = np.bincount(found.hit_question[hits], minlength=len(found.first) - 1)
    return Found(
        np.concatenate(([0], np.cumsum(counts))),
        found.document[which],
        found.start[which],
        found.end[which],
        found.tokens[which],
        None if found.hits_of is None else numbers.reshape(-1),
    )
