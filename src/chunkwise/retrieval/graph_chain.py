"""How a place was found in the graph of names: name by name, from what the question says to what the place says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.graph_walk import AllowedEdges, Walked, sharpened
from chunkwise.retrieval.searchable import LONGEST_NAME, AtomTable
from chunkwise.text.names import NameSpan


class NamePlace(NamedTuple):
    """Where a name stands: its place, and the atom around it."""

    document: int
    start: int
    end: int
    """Equal to the start for a title that the text itself does not have."""
    sentence: tuple[int, int]


class ChainLink(NamedTuple):
    """One step: the name in the passage before, and in the one it leads to."""

    before: NamePlace
    after: NamePlace
    name: int
    """Its hash."""


class Chain(NamedTuple):
    """How a place was found: what the question says in the passage it begins with, then name by name."""

    asked: tuple[int, int] | None
    """Where the question says the name that the first passage has; None: that one was found by other words alone."""
    begin: NamePlace
    """That name there, or else the sentence that suits the question best."""
    links: tuple[ChainLink, ...]
    """Empty: the question finds the place by itself."""
    share: float
    """Of the walk in the score of the place, 0 to 1."""


def chain_of(
    edges: AllowedEdges,
    points: NDArray[np.float64],
    walked: Walked,
    asked: Sequence[NameSpan],
    place: tuple[int, int],
    weight: float,
) -> Chain:
    """How the atoms from `place[0]` to `place[1]` were found; `weight` is that of the walk beside the `points`."""
    graph = edges.graph
    inside = np.arange(*place)
    own, names = sharpened(points)[inside], weight * walked.score[graph.passage[inside]]
    at = int(np.argmax(own + names))
    share = float(names[at] / (own[at] + names[at])) if own[at] + names[at] > 0 else 0.0
    # Where the best atom of a place is there by its words, another one may still be there by a name.
    best = int(inside[np.argmax(names)] if names.any() else inside[at])
    target = passage = int(graph.passage[best])
    links: list[ChainLink] = []
    step = walked.steps.get(passage)
    while step is not None:
        if step.passage == target:  # there and back again: the way to it is what came before
            links = []
            passage, step = step.passage, step.before
            continue
        before = _name_place(edges, step.passage, step.name)
        after = _name_place(edges, passage, step.name)
        links.append(ChainLink(before, after, int(graph.names[step.name])))
        passage, step = step.passage, step.before
    span, begin = _begin(edges, points, asked, passage)
    return Chain(span, begin, tuple(links[::-1]), share)


def _begin(
    edges: AllowedEdges, points: NDArray[np.float64], asked: Sequence[NameSpan], passage: int
) -> tuple[tuple[int, int] | None, NamePlace]:
    """The longest name of the question that the passage says, else its best sentence."""
    graph = edges.graph
    entries, _ = edges.of_passages(np.array([passage]))
    said = {int(graph.names[name]): name for name in graph.of_passage.other[entries].tolist()}
    known = [each for each in asked if each.name in said]
    if known:
        best = max(known, key=lambda each: (each.words, each.start - each.end, -each.start))
        return (best.start, best.end), _name_place(edges, passage, said[best.name])
    own = edges.atoms_of(passage)
    return None, _whole_atom(graph.atoms, int(own[np.argmax(points[own])]))


def _whole_atom(atoms: AtomTable, atom: int) -> NamePlace:
    around = int(atoms.start[atom]), int(atoms.end[atom])
    return NamePlace(int(atoms.document[atom]), *around, around)


def _name_place(edges: AllowedEdges, passage: int, name: int) -> NamePlace:
    """Where a name stands in a passage; in its title or heading where the passage itself does not say it."""
    graph, atoms, allowed = edges.graph, edges.graph.atoms, edges.allowed
    table = atoms.mentions
    assert table is not None
    low, high = graph.passage.searchsorted([passage, passage + 1]).tolist()
    opens = int(atoms.document.searchsorted(atoms.document[low]))
    for begin in (low, opens):
        found = int(table.first[begin]) + np.flatnonzero(
            table.name[table.first[begin] : table.first[high]] == graph.names[name]
        )
        if allowed is not None:
            found = found[allowed[table.first.searchsorted(found, "right") - 1]]
        if len(found):
            break
    else:  # a title or heading that the document declares, or that stands where nothing may be shown
        place = _whole_atom(atoms, int(edges.atoms_of(passage)[0]))
        return place._replace(end=place.start)
    if begin != low:  # of a title or headings before the passage, the last
        found = found[::-1]
    # The name alone rather than the line of a heading, and that rather than a title that the text does not have.
    kind, length = table.kind[found], table.length[found]
    return place_of(atoms, int(found[np.argmin(np.where(length == 0, 3, kind))]))


def place_of(atoms: AtomTable, row: int) -> NamePlace:
    """Of one mention."""
    table = atoms.mentions
    assert table is not None
    atom = int(table.first.searchsorted(row, "right")) - 1
    start = int(atoms.start[atom]) + int(table.offset[row])
    around = int(atoms.start[atom]), int(atoms.end[atom])
    length = int(table.packed[row]) & LONGEST_NAME
    return NamePlace(int(atoms.document[atom]), start, start + length, around)
