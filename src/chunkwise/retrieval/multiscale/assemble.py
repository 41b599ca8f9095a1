"""From votes for atoms to spans: the best atoms until the budget is full, neighbours as one span."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.multiscale.select import (
    AtomCandidates,
    Atoms,
    AtomTexts,
    are_adjacent,
    select_atoms,
)
from chunkwise.text.analysis import ATOM_TOKENS

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
    min_tokens: int = 0,
    texts: AtomTexts | None = None,
) -> list[ScoredSpan]:
    """The best document's spans first, each document's in its own order; no more than `budget` tokens by themselves.

    Atoms are not cut: where the budget is too small for any that got a vote, or is less than a long sentence and the
    best is one, that atom is the only span, longer than the budget. Spans of fewer than `min_tokens` (of a quarter of
    a small budget) are left out. None ends with a heading or with a table's header whose text did not come along,
    unless nothing else fits.
    """
    selected = _worth_reading(atoms, candidates, budget, min(min_tokens, budget // 4), texts)
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
    section = [
        _section(atoms, selected[low : high + 1][points[low : high + 1] == top])
        for low, high, top in zip(head.tolist(), tail.tolist(), score.tolist(), strict=True)
    ]
    return [
        ScoredSpan(
            int(owner[i]), int(start[head[i]]), int(end[tail[i]]), int(tokens[i]), float(score[i]), section[i]
        )
        for i in np.lexsort((start[head], owner, -rank)).tolist()
    ]  # fmt: skip


def _section(atoms: Atoms, best: NDArray[np.int64]) -> int:
    """The section that holds most of these atoms' tokens; of equals the first."""
    held: dict[int, int] = {}
    for section, tokens in zip(
        atoms.section[best].tolist(), atoms.tokens[best].tolist(), strict=True
    ):
        held[section] = held.get(section, 0) + tokens
    return max(held, key=lambda section: held[section])


def _worth_reading(
    atoms: Atoms, candidates: AtomCandidates, budget: int, min_tokens: int, texts: AtomTexts | None
) -> NDArray[np.int64]:
    """Atoms that fill the budget, in order; without fragments, unless there is nothing else."""
    best = candidates.numbers[:1]
    equal = candidates.numbers[candidates.points == candidates.points[:1]]
    too_long = len(best) > 0 and bool((atoms.tokens[equal] > budget).all())
    if too_long and budget < ATOM_TOKENS and _say(best, texts):
        return best
    first = selected = select_atoms(atoms, candidates, budget, texts)
    if not _say(selected, texts):
        alone = select_atoms(atoms, candidates, budget, texts, alone=True)
        return alone if len(alone) or not too_long else best
    for _ in range(_REFILLS):
        fragment = _fragments(atoms, selected, min_tokens)
        if not fragment.any():
            break
        candidates = candidates.without(selected[fragment])
        selected = select_atoms(atoms, candidates, budget, texts)
    kept = selected[~_fragments(atoms, selected, min_tokens)]
    return kept if len(kept) else first


def _say(selected: NDArray[np.int64], texts: AtomTexts | None) -> bool:
    """Whether one at least has something to read."""
    return bool(len(selected)) if texts is None else any(map(texts.says, selected.tolist()))


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
