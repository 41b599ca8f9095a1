"""The best atoms until a budget is full; what heads a text only with that text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.ranking import best

_SPARE = 100
"""Atoms that are tried once the next one does not fit any more."""
_TIMES = 3
"""More atoms than tokens are looked at: some are left out, or wait for what they head."""


class AtomTexts(Protocol):
    """What is asked of few atoms alone, since their document may have to be read for it."""

    def heads_next(self, atom: int) -> bool:
        """Whether it heads what follows without a section of its own: a table's header."""

    def says(self, atom: int) -> bool:
        """Whether it has a letter or a digit."""


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


class AtomCandidates(NamedTuple):
    """The atoms with most votes, best first: more than fit."""

    numbers: NDArray[np.int64]
    points: NDArray[np.float64]

    @classmethod
    def of(cls, votes: NDArray[np.float64], budget: int) -> AtomCandidates:
        # No more than one atom a token can fit, so not many more are looked at.
        points = np.where(votes > 0, votes, -np.inf).astype(np.float32)
        numbers = best(points, _TIMES * budget + _SPARE).numbers
        return cls(numbers, votes[numbers])

    def without(self, numbers: NDArray[np.int64]) -> AtomCandidates:
        kept = ~np.isin(self.numbers, numbers)
        return AtomCandidates(self.numbers[kept], self.points[kept])

    def points_of(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Votes of some of them, given in order."""
        order = np.argsort(self.numbers)
        return self.points[order[self.numbers[order].searchsorted(numbers)]]


class _Row(NamedTuple):
    atom: int
    tokens: int
    inside: bool
    joins_before: bool
    joins_after: bool
    heading: bool

    def cost(self, selected: set[int]) -> int:
        """Tokens more: a span that starts inside a text may have one more, that of a word that began before it."""
        cost = self.tokens + self.inside
        if self.joins_before and self.atom - 1 in selected:
            cost -= self.inside
        if self.joins_after and self.atom + 1 in selected:
            cost -= 1
        return cost


def select_atoms(
    atoms: Atoms,
    candidates: AtomCandidates,
    budget: int,
    texts: AtomTexts | None = None,
    *,
    alone: bool = False,
) -> NDArray[np.int64]:
    """Atoms by votes while they fit, in order; where one does not, shorter ones behind it may.

    A heading or a table's header waits until the atom behind it is taken, and comes along if it fits then; `alone`:
    it waits for nothing.
    """
    selected: set[int] = set()
    waiting: dict[int, _Row] = {}
    left, missed = budget, 0
    for row in _rows(atoms, candidates.numbers):
        cost = row.cost(selected)
        if cost > left:
            missed += 1
            # No sooner: what joins two spans may cost nothing, even when the budget is full.
            if missed > _SPARE:
                break
            continue
        if (
            not alone
            and row.joins_after
            and row.atom + 1 not in selected
            and (row.heading or (texts is not None and texts.heads_next(row.atom)))
        ):
            waiting[row.atom] = row
            continue
        selected.add(row.atom)
        left -= cost
        at = row
        while at.joins_before and (heading := waiting.get(at.atom - 1)) is not None:
            cost = heading.cost(selected)
            if cost > left:
                break
            selected.add(heading.atom)
            left -= cost
            at = heading
    return np.array(sorted(selected), dtype=np.int64)


def _rows(atoms: Atoms, numbers: NDArray[np.int64]) -> Iterator[_Row]:
    before, after = np.maximum(numbers - 1, 0), np.minimum(numbers + 1, len(atoms.document) - 1)
    follows = are_adjacent(atoms, before, numbers)
    columns = (
        numbers,
        atoms.tokens[numbers],
        atoms.start[numbers] > 0,
        follows,
        are_adjacent(atoms, numbers, after),
        follows & (atoms.section[before] != atoms.section[numbers]),  # what opens a section
    )
    return map(_Row._make, zip(*(each.tolist() for each in columns), strict=True))


def are_adjacent(
    atoms: Atoms, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Where the second of two different atoms begins right behind the first.

    By offsets, not by numbers: atoms without a vote may have been left out of the arrays.
    """
    same = (first != second) & (atoms.document[first] == atoms.document[second])
    return np.asarray(same & (atoms.end[first] == atoms.start[second]))
