"""From votes for atoms to spans: the best atoms until the budget is full, neighbors as one span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.ranking import best
from chunkwise.retrieval.tables_lists_code import HEADS, HIDDEN, IN_BLOCK
from chunkwise.text.sentences.atoms import ATOM_TOKENS

_SPARE = 100
"""Atoms that are tried once the next one does not fit any more."""
_AT_ONCE = 256
"""Atoms that are looked at together."""
_TIMES = 3
"""More atoms than tokens are looked at: some are left out, or wait for what they head."""


class AtomTexts(Protocol):
    """What is asked of few atoms alone, since their document has to be read for it."""

    def says(self, atom: int) -> bool:
        """Whether it has a letter or a digit."""

    def blocks(self, atom: int) -> Sequence[range]:
        """The atoms of the code, table or list it is part of or leads in, those alone that may be handed out.

        Asked of those alone that are in one. With the lead-in, then without it.
        """

    def parts(self, atom: int) -> Sequence[range]:
        """The same of parts of code that can be read by themselves, the largest first."""


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
    @property
    def flags(self) -> NDArray[np.uint8]: ...


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

    def led_by(self, first: Sequence[AtomCandidates]) -> AtomCandidates:
        """With others before them, each atom once, where it comes first."""
        parts = [*first, self]
        numbers = np.concatenate([part.numbers for part in parts])
        at = np.sort(np.unique(numbers, return_index=True)[1])
        return AtomCandidates(numbers[at], np.concatenate([part.points for part in parts])[at])

    def without(self, numbers: NDArray[np.int64]) -> AtomCandidates:
        """Without some atoms, given in order."""
        _, among = self._among(numbers)
        return AtomCandidates(self.numbers[~among], self.points[~among])

    def points_of(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Votes of some atoms, given in order; 0 for one that came along without being a candidate."""
        result = np.zeros(len(numbers))
        at, among = self._among(numbers)
        result[at[among]] = self.points[among]
        return result

    def _among(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where each candidate would be in sorted numbers, and whether it is there: they are fewer than candidates."""
        at = np.minimum(numbers.searchsorted(self.numbers), len(numbers) - 1)
        return at, numbers[at] == self.numbers


class _Row(NamedTuple):
    atom: int
    tokens: int
    inside: bool
    joins_before: bool
    joins_after: bool
    heads: bool
    """Whether it is to be read with what follows: it opens a section, or is a lead-in, a fence or a header."""
    flags: int

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
    blocks: WholeBlockAtoms,
    *,
    alone: bool = False,
) -> NDArray[np.int64]:
    """Atoms by votes while they fit, in order; where one does not, shorter ones behind it may.

    An atom brings the code, table or list it is part of, without its lead-in if need be, unless that is larger than the
    whole budget; of code it then brings the lines that belong together.
    A heading or a table's header waits until the atom behind it is taken, and comes along if it fits then; `alone`:
    it waits for nothing.
    """
    selected: set[int] = set()
    waiting: dict[int, _Row] = {}
    gaps, left, missed = _Gaps(atoms), budget, 0
    for row in _rows(atoms, candidates.numbers):
        if row.atom in selected:
            continue  # it came with its block
        # One that joins two spans costs a token less than it has.
        if row.tokens > left + 1 or (cost := row.cost(selected)) > left:
            missed += 1
            # No sooner: what joins two spans may cost nothing, even when the budget is full.
            if missed > _SPARE:
                break
            continue
        if row.flags & HIDDEN:
            continue
        at = row
        wholes = blocks.that_fit(row.atom) if row.flags & IN_BLOCK else []
        if wholes:
            added, cost = _added(wholes, selected, left)
            if not added:
                missed += 1
                continue
            selected.update(row.atom for row in added)
            left -= cost
            at = added[0]
        elif not alone and row.heads and row.joins_after and gaps.after(row.atom) not in selected:
            waiting[row.atom] = row
            continue
        else:
            selected.add(row.atom)
            left -= cost
        while at.joins_before and (heading := waiting.get(gaps.before(at.atom))) is not None:
            cost = heading.cost(selected)
            if cost > left:
                break
            selected.add(heading.atom)
            left -= cost
            at = heading
    return gaps.closed(sorted(selected))


def share_budget(
    atoms: Atoms,
    candidates: AtomCandidates,
    groups: Sequence[tuple[AtomCandidates, int]],
    blocks: WholeBlockAtoms,
) -> AtomCandidates:
    """Candidates behind those of groups, each of which fills its own part of a budget, a number of tokens."""
    first = []
    for group, part in groups:
        chosen = select_atoms(atoms, group, part, blocks)
        if not len(chosen):
            continue
        points = group.points_of(chosen)
        order = np.argsort(-points, kind="stable")
        first.append(AtomCandidates(chosen[order], points[order]))
    return candidates.led_by(first)


class _Whole:
    """Consecutive atoms that come along together."""

    def __init__(self, rows: list[_Row]) -> None:
        self.rows = rows
        self._atoms = range(rows[0].atom, rows[-1].atom + 1)
        self._cost = _joint_cost(rows, set())

    def missing(self, selected: set[int]) -> tuple[list[_Row], int]:
        """What is not selected yet, and the tokens it costs."""
        if selected.isdisjoint(self._atoms):  # most are: only their ends may join something
            first, last = self.rows[0], self.rows[-1]
            joined = first.inside * (first.joins_before and first.atom - 1 in selected)
            return self.rows, self._cost - joined - (last.joins_after and last.atom + 1 in selected)
        rows = [row for row in self.rows if row.atom not in selected]
        return rows, _joint_cost(rows, selected)


def _joint_cost(rows: Sequence[_Row], selected: set[int]) -> int:
    """Tokens more of several atoms in order."""
    cost, before = 0, -1
    for row in rows:
        cost += row.cost(selected)
        if row.joins_before and before == row.atom - 1:  # the two are one span
            cost -= row.inside
        before = row.atom
    return cost


def _added(wholes: Sequence[_Whole], selected: set[int], left: int) -> tuple[list[_Row], int]:
    """What is still missing of the largest of several that fits, nothing where none does, and the tokens it costs."""
    for whole in wholes:
        missing, cost = whole.missing(selected)
        if missing and cost <= left:
            return missing, cost
    return [], 0


class WholeBlockAtoms:
    """The atoms of code, tables and lists that the budget holds: handed out whole or not at all."""

    def __init__(self, atoms: Atoms, texts: AtomTexts | None, budget: int) -> None:
        self._atoms, self._texts, self._budget = atoms, texts, budget
        self._wholes: dict[int, list[_Whole]] = {}
        self._by_block: dict[range, _Whole | None] = {}

    def that_fit(self, atom: int) -> list[_Whole]:
        """The atoms that come along, the most first; none: it stands for itself, or its block is too large."""
        if self._texts is None:
            return []
        if atom not in self._wholes:
            result = list(filter(None, map(self._that_fits, self._texts.blocks(atom))))
            result = result or list(filter(None, map(self._that_fits, self._texts.parts(atom))))
            itself = len(result) == 1 and [row.atom for row in result[0].rows] == [atom]
            self._wholes[atom] = [] if itself else result
        return self._wholes[atom]

    def say(self, selected: NDArray[np.int64]) -> bool:
        """Whether one at least of some atoms has something to read."""
        seen = selected[self._atoms.flags[selected] & HIDDEN == 0].tolist()
        return bool(seen) if self._texts is None else any(map(self._texts.says, seen))

    def _that_fits(self, block: range) -> _Whole | None:
        """None where it is empty or too large."""
        if block not in self._by_block:
            tokens = int(self._atoms.tokens[block.start : block.stop].sum())
            # One more where it starts inside a text.
            fits = block and tokens + bool(self._atoms.start[block.start]) <= self._budget
            rows = list(_rows(self._atoms, np.arange(block.start, block.stop))) if fits else []
            self._by_block[block] = _Whole(rows) if rows else None
        return self._by_block[block]


class _Gaps:
    """Atoms that no reader is to see part nothing: what stands around them is one text."""

    def __init__(self, atoms: Atoms) -> None:
        self._atoms = atoms

    def before(self, atom: int) -> int:
        """The one before it that can be seen."""
        return self._next(atom, -1)

    def after(self, atom: int) -> int:
        return self._next(atom, 1)

    def closed(self, selected: Sequence[int]) -> NDArray[np.int64]:
        """With what is hidden between two of them."""
        result = list(selected)
        for one, other in pairwise(selected):
            if one + 1 < other and self._is_hidden(one, one + 1) and self.after(one) == other:
                result.extend(range(one + 1, other))
        return np.array(sorted(result), dtype=np.int64)

    def _next(self, atom: int, step: int) -> int:
        atom += step
        while self._is_hidden(atom - step, atom):
            atom += step
        return atom

    def _is_hidden(self, one: int, other: int) -> bool:
        if not 0 <= other < len(self._atoms.flags) or not self._atoms.flags[other] & HIDDEN:
            return False
        low, high = (np.array([number]) for number in sorted((one, other)))
        return bool(are_adjacent(self._atoms, low, high)[0])


def _rows(atoms: Atoms, numbers: NDArray[np.int64]) -> Iterator[_Row]:
    """Some at a time: a budget is full long before the last of them."""
    parts = range(0, len(numbers), _AT_ONCE)
    return chain.from_iterable(_some_rows(atoms, numbers[at : at + _AT_ONCE]) for at in parts)


def _some_rows(atoms: Atoms, numbers: NDArray[np.int64]) -> Iterator[_Row]:
    before, after = np.maximum(numbers - 1, 0), np.minimum(numbers + 1, len(atoms.document) - 1)
    follows, flags = are_adjacent(atoms, before, numbers), atoms.flags[numbers]
    opens_section = follows & (atoms.section[before] != atoms.section[numbers])
    columns = (
        numbers,
        atoms.tokens[numbers],
        atoms.start[numbers] > 0,
        follows,
        are_adjacent(atoms, numbers, after),
        opens_section | (flags & HEADS > 0),
        flags,
    )
    return map(_Row._make, zip(*(column.tolist() for column in columns), strict=True))


def are_adjacent(
    atoms: Atoms, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Where the second of two different atoms begins right behind the first.

    By offsets, not by numbers: atoms without a vote may have been left out of the arrays.
    """
    same = (first != second) & (atoms.document[first] == atoms.document[second])
    return np.asarray(same & (atoms.end[first] == atoms.start[second]))


_REFILLS = 2
"""How often the room that fragments leave is filled again."""


class ScoredSpan(NamedTuple):
    """A stretch of one document, of whatever length the question needs."""

    document: int
    start: int
    end: int
    tokens: int
    score: float
    """Of its best atom."""
    section: int
    """That of its best atom; where several are best, the one that most of their tokens are in."""


def assemble(
    atoms: Atoms,
    candidates: AtomCandidates,
    budget: int,
    blocks: WholeBlockAtoms,
    min_tokens: int = 0,
) -> list[ScoredSpan]:
    """The best document's spans first, each document's in its own order; no more than `budget` tokens by themselves.

    Atoms are not cut: where the budget is too small for any that got a vote, or is less than a long sentence and the
    best is one, that atom is the only span, longer than the budget. Spans of fewer than `min_tokens` (of a quarter of
    a small budget) are left out. None ends with a heading or with a table's header whose text did not come along,
    unless nothing else fits.
    """
    selected = _worth_reading(atoms, candidates, budget, blocks, min(min_tokens, budget // 4))
    if not len(selected):
        return []
    points = candidates.points_of(selected)
    document, start, end = atoms.document[selected], atoms.start[selected], atoms.end[selected]
    head, tail = _runs(atoms, selected)
    score = np.maximum.reduceat(points, head)
    tokens = np.add.reduceat(atoms.tokens[selected], head)
    owner = document[head]
    best_of_document = np.maximum.reduceat(
        score, opening := np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    )
    rank = np.repeat(best_of_document, np.diff(np.append(opening, len(owner))))
    columns = zip(
        points.tolist(),
        atoms.section[selected].tolist(),
        atoms.tokens[selected].tolist(),
        strict=True,
    )
    section = [_section(list(islice(columns, size))) for size in (tail - head + 1).tolist()]
    return [
        ScoredSpan(
            int(owner[i]), int(start[head[i]]), int(end[tail[i]]), int(tokens[i]), float(score[i]), section[i]
        )
        for i in np.lexsort((start[head], owner, -rank)).tolist()
    ]  # fmt: skip


def _section(atoms: Sequence[tuple[float, int, int]]) -> int:
    """Of votes, section and tokens of each atom: the section that holds most of the tokens of the best.

    Of equals the first.
    """
    held: dict[int, int] = {}
    top = max(points for points, _, _ in atoms)
    for points, section, tokens in atoms:
        if points == top:
            held[section] = held.get(section, 0) + tokens
    return max(held, key=lambda section: held[section])


def _worth_reading(
    atoms: Atoms,
    candidates: AtomCandidates,
    budget: int,
    blocks: WholeBlockAtoms,
    min_tokens: int,
) -> NDArray[np.int64]:
    """Atoms that fill the budget, in order; without fragments, unless there is nothing else."""
    best = candidates.numbers[:1]
    equal = candidates.numbers[candidates.points == candidates.points[:1]]
    too_long = len(best) > 0 and bool((atoms.tokens[equal] > budget).all())
    if too_long and budget < ATOM_TOKENS and blocks.say(best):
        return best
    first = selected = select_atoms(atoms, candidates, budget, blocks)
    if not blocks.say(selected):
        alone = select_atoms(atoms, candidates, budget, blocks, alone=True)
        return alone if len(alone) or not too_long else best
    for _ in range(_REFILLS):
        fragment = _fragments(atoms, selected, min_tokens)
        if not fragment.any():
            break
        candidates = candidates.without(selected[fragment])
        selected = select_atoms(atoms, candidates, budget, blocks)
    kept = selected[~_fragments(atoms, selected, min_tokens)]
    return kept if len(kept) else first


def _fragments(atoms: Atoms, selected: NDArray[np.int64], min_tokens: int) -> NDArray[np.bool_]:
    """Atoms of runs too short to say anything."""
    if not min_tokens or not len(selected):
        return np.zeros(len(selected), np.bool_)
    head, tail = _runs(atoms, selected)
    last, size = selected[tail], np.diff(np.append(head, len(selected)))
    goes_on = are_adjacent(atoms, last, np.minimum(last + 1, len(atoms.document) - 1))
    short = np.add.reduceat(atoms.tokens[selected], head) < min_tokens
    short &= (
        atoms.start[selected[head]] > 0
    ) | goes_on  # a whole document is short and no fragment
    return np.repeat(short, size)


def _runs(atoms: Atoms, selected: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the first and of the last atom of each stretch without a gap."""
    head = np.flatnonzero(np.append(True, ~are_adjacent(atoms, selected[:-1], selected[1:])))
    return head, np.append(head[1:], len(selected)) - 1
