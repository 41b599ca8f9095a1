"""Several sizes and votes once more, with lists and loops and nothing of the product."""

from __future__ import annotations

import math
from typing import NamedTuple


class Atom(NamedTuple):
    document: int
    start: int
    end: int
    tokens: int
    terms: tuple[int, ...]
    vector: tuple[float, ...]
    section: int = 0
    lead: bool = False
    """The header of a table."""


def windows(atoms: list[Atom], size: int | None) -> list[list[int]]:
    """Numbers of the atoms of every window; None: whole documents."""
    found = []
    for document in sorted({atom.document for atom in atoms}):
        own = [i for i, atom in enumerate(atoms) if atom.document == document]
        if size is None:
            found.append(own)
            continue
        at = 0
        while at < len(own):
            stop, held = at + 1, atoms[own[at]].tokens
            while stop < len(own) and held + atoms[own[stop]].tokens <= size:
                held += atoms[own[stop]].tokens
                stop += 1
            found.append(own[at:stop])
            if stop == len(own):
                break
            step, passed = at + 1, atoms[own[at]].tokens
            while step < stop and passed < size / 2:
                passed += atoms[own[step]].tokens
                step += 1
            at = step
    return found


def bm25(atoms: list[Atom], held: list[list[int]], terms: set[int]) -> list[float]:
    texts = [[term for i in window for term in atoms[i].terms] for window in held]
    mean = sum(map(len, texts)) / len(texts) or 1.0
    scores = []
    for text in texts:
        score = 0.0
        for term in terms:
            holding = sum(term in other for other in texts)
            rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            times = text.count(term)
            if times:
                score += rarity * times / (times + 1.5 * (1 - 0.75 + 0.75 * len(text) / mean))
        scores.append(score)
    return scores


def cosine(
    atoms: list[Atom], held: list[list[int]], question: tuple[float, ...]
) -> list[float | None]:
    scores: list[float | None] = []
    for window in held:
        total = [sum(atoms[i].vector[d] for i in window) for d in range(len(question))]
        length = math.sqrt(sum(x * x for x in total))
        dot = sum(x * y for x, y in zip(total, question, strict=True))
        scores.append(dot / length if length else None)
    return scores


def atom_votes(
    atoms: list[Atom],
    sizes: tuple[int, ...],
    terms: set[int],
    question: tuple[float, ...] | None,
    dense: float,
    allowed: list[bool],
) -> list[float]:
    """With a depth so large that every window votes."""
    total = [0.0] * len(atoms)
    signals = 0.0
    for size in (*sizes, None):
        held = windows(atoms, size)
        open_ = [any(allowed[i] for i in window) for window in held]
        sides: list[tuple[float, float | None, list[float | None]]] = []
        sides.append((1.0, 0.0, [score or None for score in bm25(atoms, held, terms)]))
        if question is not None:
            near = cosine(atoms, held, question) if any(question) else [None] * len(held)
            sides.append((dense, None, near))
        for weight, floor, scores in sides:
            signals += weight
            known = [s for s, o in zip(scores, open_, strict=True) if s is not None and o]
            if not known:
                continue
            low = min(known) if floor is None else floor
            spread = max(known) - low
            best = [0.0] * len(atoms)
            for window, score, o in zip(held, scores, open_, strict=True):
                if score is None or not o:
                    continue
                share = (score - low) / spread if spread > 0 else 1.0
                for i in window:
                    best[i] = max(best[i], weight * share)
            total = [a + b for a, b in zip(total, best, strict=True)]
    return [vote / signals if ok else 0.0 for vote, ok in zip(total, allowed, strict=True)]


def cost(atoms: list[Atom], taken: set[int]) -> int:
    """Tokens of the atoms, and one for every run that starts inside its document."""
    openings = 0
    for i in taken:
        follows = i - 1 in taken and atoms[i - 1].document == atoms[i].document
        openings += not follows and atoms[i].start > 0
    return sum(atoms[i].tokens for i in taken) + openings


def heads_next(atoms: list[Atom], i: int) -> bool:
    """Whether an atom heads what follows it in its document."""
    own = [j for j, atom in enumerate(atoms) if atom.document == atoms[i].document]
    opens = i - 1 in own and atoms[i - 1].section != atoms[i].section
    return i + 1 in own and (opens or atoms[i].lead)


def fill(atoms: list[Atom], votes: list[float], budget: int, alone: bool = False) -> set[int]:
    taken: set[int] = set()
    waiting: set[int] = set()
    for i in sorted(range(len(atoms)), key=lambda i: (-votes[i], i)):
        if votes[i] <= 0 or cost(atoms, {*taken, i}) > budget:
            continue
        if heads_next(atoms, i) and i + 1 not in taken and not alone:
            waiting.add(i)
            continue
        taken.add(i)
        while i - 1 in waiting and cost(atoms, {*taken, i - 1}) <= budget:
            i -= 1
            taken.add(i)
    return taken


def runs(atoms: list[Atom], taken: set[int]) -> list[list[int]]:
    """Neighbors of one document together."""
    found: list[list[int]] = []
    for i in sorted(taken):
        if found and found[-1][-1] == i - 1 and atoms[i].document == atoms[i - 1].document:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def fragments(atoms: list[Atom], taken: set[int], least: int) -> set[int]:
    """Runs that are too short and not their whole document."""
    found: set[int] = set()
    for run in runs(atoms, taken):
        document = [i for i, atom in enumerate(atoms) if atom.document == atoms[run[0]].document]
        if sum(atoms[i].tokens for i in run) < least and run != document:
            found.update(run)
    return found


def worth_reading(atoms: list[Atom], votes: list[float], budget: int, least: int) -> set[int]:
    least = min(least, budget // 4)
    best = max(range(len(atoms)), key=lambda i: votes[i])  # the first of equals
    equal = [atom for atom, vote in zip(atoms, votes, strict=True) if vote == votes[best]]
    too_long = votes[best] > 0 and budget > 0 and all(atom.tokens > budget for atom in equal)
    if too_long and atoms[best].terms:
        return {best}
    first = taken = fill(atoms, votes, budget)
    if not any(atoms[i].terms for i in taken):
        return fill(atoms, votes, budget, alone=True) or ({best} if too_long else set())
    for _ in range(2):
        dropped = fragments(atoms, taken, least)
        votes = [0.0 if i in dropped else vote for i, vote in enumerate(votes)]
        taken = fill(atoms, votes, budget)
    return taken - fragments(atoms, taken, least) or first


def section(atoms: list[Atom], votes: list[float], run: list[int]) -> int:
    """That of the best atom; of several, the one with most tokens, the first of equals."""
    best = [i for i in run if votes[i] == max(votes[j] for j in run)]
    of_each = {atoms[i].section: 0 for i in best}
    for i in best:
        of_each[atoms[i].section] += atoms[i].tokens
    return max(of_each, key=lambda section: of_each[section])
