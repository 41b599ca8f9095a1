"""From votes for atoms to spans: the best atoms until the budget is full, neighbours as one span."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.ranking import best

_SPARE = 100
"""Atoms that are tried once the next one does not fit any more."""
_REFILLS = 2
"""How often the room that crumbs leave is filled again."""


class ScoredSpan(NamedTuple):
    """A stretch of one document, of whatever length the question needs."""

    document: int
    start: int
    end: int
    tokens: int
    score: float
    """Of its best atom."""


class Atoms(Protocol):
    """Where atoms lie: those of an index, or only those that got a vote, in order."""

    @property
    def document(self) -> NDArray[np.int32]: ...
    @property
    def start(self) -> NDArray[np.int64]: ...
    @property
    def end(self) -> NDArray[np.int64]: ...
    @property
    def tokens(self) -> NDArray[np.int32]: ...
    @property
    def section(self) -> NDArray[np.int32]: ...


def assemble(
    atoms: Atoms, votes: NDArray[np.float64], budget: int, least: int = 0
) -> list[ScoredSpan]:
    """The best document's spans first, each document's in its own order; no more than `budget` tokens by themselves.

    A budget too small for any atom that got a vote gives nothing: atoms are not cut. Spans of fewer than
    `least` tokens (of a quarter of a small budget) are left out.
    """
    taken = _worth_reading(atoms, votes, budget, min(least, budget // 4))
    if not len(taken):
        return []
    document, start, end = atoms.document[taken], atoms.start[taken], atoms.end[taken]
    head, tail = _runs(atoms, taken)
    score = np.maximum.reduceat(votes[taken], head)
    tokens = np.add.reduceat(atoms.tokens[taken], head)
    owner = document[head]
    best_of_document = np.maximum.reduceat(
        score, opening := np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    )
    rank = np.repeat(best_of_document, np.diff(np.append(opening, len(owner))))
    return [
        ScoredSpan(int(owner[i]), int(start[head[i]]), int(end[tail[i]]), int(tokens[i]), float(score[i]))
        for i in np.lexsort((start[head], owner, -rank)).tolist()
    ]  # fmt: skip


def _worth_reading(
    atoms: Atoms, votes: NDArray[np.float64], budget: int, least: int
) -> NDArray[np.int64]:
    """Atoms that fill the budget, in order; without crumbs, unless there is nothing else."""
    votes = votes.copy()
    first = taken = _fill(atoms, votes, budget)
    for _ in range(_REFILLS):
        crumb = _crumbs(atoms, taken, least)
        if not crumb.any():
            break
        votes[taken[crumb]] = 0
        taken = _fill(atoms, votes, budget)
    kept = taken[~_crumbs(atoms, taken, least)]
    return kept if len(kept) else first


def _crumbs(atoms: Atoms, taken: NDArray[np.int64], least: int) -> NDArray[np.bool_]:
    """Atoms of runs too short to say anything, and headings at the end of a run, their text not taken."""
    if not least or not len(taken):
        return np.zeros(len(taken), np.bool_)
    head, tail = _runs(atoms, taken)
    last, size = taken[tail], np.diff(np.append(head, len(taken)))
    before, after = np.maximum(last - 1, 0), np.minimum(last + 1, len(atoms.document) - 1)
    goes_on = _join(atoms, last, after)
    short = np.add.reduceat(atoms.tokens[taken], head) < least
    short &= (atoms.start[taken[head]] > 0) | goes_on  # a whole document is short and no crumb
    crumb = np.repeat(short, size)
    opens = _join(atoms, before, last) & (atoms.section[before] != atoms.section[last])
    crumb[tail[opens & goes_on]] = True  # what opens a section is its heading
    return crumb


def _runs(atoms: Atoms, taken: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the first and of the last atom of each stretch without a gap."""
    head = np.flatnonzero(np.append(True, ~_join(atoms, taken[:-1], taken[1:])))
    return head, np.append(head[1:], len(taken)) - 1


def _fill(atoms: Atoms, votes: NDArray[np.float64], budget: int) -> NDArray[np.int64]:
    """Atoms by votes while they fit; where one does not, shorter ones behind it may."""
    # No more than one atom a token can fit, so not many more are looked at.
    points = np.where(votes > 0, votes, -np.inf).astype(np.float32)
    order = best(points, budget + _SPARE).numbers
    before, after = np.maximum(order - 1, 0), np.minimum(order + 1, len(votes) - 1)
    columns = (
        order,
        atoms.tokens[order],
        atoms.start[order] > 0,
        _join(atoms, before, order),
        _join(atoms, order, after),
    )
    taken: set[int] = set()
    left, missed = budget, 0
    for atom, tokens, inside, joins_before, joins_after in zip(
        *(each.tolist() for each in columns), strict=True
    ):
        # A span that starts inside a text may have one token more by itself: that of its first word began before it.
        cost = tokens + inside
        if joins_before and atom - 1 in taken:
            cost -= inside
        if joins_after and atom + 1 in taken:
            cost -= 1
        if cost <= left:
            taken.add(atom)
            left -= cost
        else:
            missed += 1
        # No sooner: what joins two spans may cost nothing, even when the budget is full.
        if missed > _SPARE:
            break
    return np.array(sorted(taken), dtype=np.int64)


def _join(atoms: Atoms, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where the second of two different atoms begins right behind the first.

    By offsets, not by numbers: atoms without a vote may have been left out of the arrays.
    """
    same = (one != other) & (atoms.document[one] == atoms.document[other])
    return np.asarray(same & (atoms.end[one] == atoms.start[other]))
