"""The walk over names: from the passages that a question finds to what only a name leads to, and the way there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.bm25 import inverse_document_frequency
from chunkwise.retrieval.graph.build_graph import NameGraph
from chunkwise.retrieval.searchable import LONGEST_NAME, AtomTable
from chunkwise.text.names import NameSpan
from chunkwise.text.terms import ranges

_NAMES = 64
"""Names of a passage that lead on: the rarest."""
_MOST_TERMS = 64
"""Terms of a question that are looked for."""
_ENTRIES_AT_ONCE = 1 << 16
"""Edges of a hop that are weighed together, each with a number a term."""


class WalkStep(NamedTuple):
    """How a passage was reached: from which other one, by which name."""

    passage: int
    """The one before."""
    name: int
    score: float
    before: WalkStep | None
    """How that one was reached; None: by the question itself."""


class Walked(NamedTuple):
    """What a walk began with and found."""

    points: NDArray[np.float64]
    """Votes of atoms: of the best passage about each name of the question as of the best of all."""
    score: NDArray[np.float64]
    """Of each passage, 0 to 1."""
    steps: dict[int, WalkStep]
    """The last one to each passage, where steps are kept."""


_SHARPER = 4
"""Power of the votes beside the walk: of what the question finds by itself, the best stand out."""


def with_walk(graph: NameGraph, walked: Walked, weight: float) -> NDArray[np.float64]:
    """Votes of atoms and the score of a walk as one, 0 to 1."""
    score = walked.score[graph.passage]
    result: NDArray[np.float64] = (sharpened(walked.points) + weight * score) / (1 + weight)
    return result


def sharpened(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Votes as they count beside a walk."""
    top = float(points.max(initial=0)) or 1.0
    result: NDArray[np.float64] = (points / top) ** _SHARPER
    return result


@dataclass(frozen=True)
class Walk:
    """From the passages a question finds, over the names they mention, to those that hold what it asks besides."""

    hops: int = 2
    start: int = 10
    """Passages each round begins with."""
    common: int = 200
    """A name in more passages than this leads nowhere."""
    mention: float = 0.7
    """What a passage that only mentions the name is worth beside one that is about it."""
    rest: float = 0.6
    """What the name alone is worth beside the words of the question that the passages before do not have."""
    decay: float = 0.8

    def scores(
        self,
        graph: NameGraph,
        atoms: AtomTable,
        found: NDArray[np.float64],
        terms: NDArray[np.uint64],
        asked: Sequence[NameSpan],
        allowed: NDArray[np.bool_] | None = None,
        *,
        keep_steps: bool = False,
    ) -> Walked:
        """`found`: how well each atom suits the question by itself; `terms` and `asked`: its words and its names.

        What is said in no atom that is `allowed` is no step on the way, either.
        """
        score = np.zeros(graph.passages)
        steps: dict[int, WalkStep] = {}
        # Passages are runs of atoms: the first of each is where its number changes.
        first = np.flatnonzero(np.diff(graph.passage, prepend=-1))
        best = np.maximum.reduceat(found, first) if len(first) else np.zeros(0)
        top = float(best.max(initial=0))
        if not top or not len(graph.names):
            return Walked(found, score, steps)
        edges = AllowedEdges(graph, allowed)
        named = _named(edges, asked, atoms.document[first], best)
        times = np.ones(graph.passages)
        times[named] = top / best[named]
        best[named], found = top, found * times[graph.passage]
        terms_of = _terms_of_passages(graph, atoms, terms, allowed)
        begin = np.argsort(-best, kind="stable")[: self.start]
        begin = begin[best[begin] > 0]
        points, covered = best[begin] / top, terms_of.held[begin]
        skipped = _members(graph.names, np.unique([span.name for span in asked]).astype(np.uint64))
        for _ in range(self.hops):
            reached = self._hop(edges, terms_of, _Round(begin, points, covered), skipped, score)
            target, by, source, value = reached
            score[target] = value
            if keep_steps:
                known = dict(steps)
                for at, where in enumerate(target.tolist()):
                    last = int(begin[source[at]])
                    steps[where] = WalkStep(last, int(by[at]), float(value[at]), known.get(last))
            kept = np.lexsort((target, -value))[: self.start]
            covered = np.maximum(covered[source[kept]], terms_of.held[target[kept]])
            begin, points = target[kept], value[kept]
            if not len(begin):
                break
        most = float(score.max(initial=0))
        return Walked(found, score / most if most else score, steps)

    def _hop(
        self,
        edges: AllowedEdges,
        terms: _TermsOfPassages,
        begin: _Round,
        skipped: NDArray[np.bool_],
        score: NDArray[np.float64],
    ) -> _Reached:
        """The passages that are reached with a better score than before, each by the best way to it."""
        graph = edges.graph
        entry, owner = edges.of_passages(begin.passage)
        name = graph.of_passage.other[entry]
        spread = graph.of_name.first[name + 1] - graph.of_name.first[name]
        leads = ~skipped[name] & (spread <= self.common)
        name, owner = _rarest(name[leads], owner[leads], graph.rarity)
        spread = graph.of_name.first[name + 1] - graph.of_name.first[name]
        missing = (1 - begin.covered) * terms.worth
        result = _Reached.nothing()
        # As many at a time as a few megabytes hold, whatever the parameters are.
        part = np.cumsum(spread) // _ENTRIES_AT_ONCE
        for some in np.split(np.arange(len(name)), np.flatnonzero(np.diff(part)) + 1):
            entry, edge, subject = edges.of_names(name[some])
            target, by, source = graph.of_name.other[entry], name[some][edge], owner[some][edge]
            words = np.einsum("ij,ij->i", terms.held[target], missing[source])
            value = self.decay * begin.points[source] * graph.rarity[by] * (self.rest + words)
            value *= np.where(subject, 1.0, self.mention)
            value[target == begin.passage[source]] = 0
            better = np.flatnonzero(value > score[target])  # before they are sorted: mostly few
            more = _Reached(target[better], by[better], source[better], value[better])
            result = result.and_better(more)
        return result


class _Round(NamedTuple):
    """What a hop begins with."""

    passage: NDArray[np.int64]
    points: NDArray[np.float64]
    covered: NDArray[np.uint8]
    """Terms of the question that the way so far has."""


class _Reached(NamedTuple):
    """Each passage once."""

    target: NDArray[np.int64]
    by: NDArray[np.int64]
    source: NDArray[np.int64]
    value: NDArray[np.float64]

    @classmethod
    def nothing(cls) -> _Reached:
        none = np.empty(0, np.int64)
        return cls(none, none, none, np.empty(0))

    def and_better(self, more: _Reached) -> _Reached:
        """Of each passage the best of both."""
        target, by, source, value = map(np.concatenate, zip(self, more, strict=True))
        order = np.lexsort((by, source, -value, target))
        order = order[np.append(True, np.diff(target[order]) != 0)[: len(order)]]
        return _Reached(target[order], by[order], source[order], value[order])


class AllowedEdges:
    """The edges of a graph that an atom of those allowed bears out: what is barred leads nowhere, and is not shown."""

    def __init__(self, graph: NameGraph, allowed: NDArray[np.bool_] | None) -> None:
        self.graph = graph
        self.allowed = allowed

    def of_passages(
        self, passages: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Entries of `of_passage`, and which of the passages each belongs to."""
        entry, owner = self.graph.of_passage.of(passages)
        if self.allowed is None:
            return entry, owner
        kept, _ = self._borne_out(self.graph.edge_atoms.by_passage[entry])
        return entry[kept], owner[kept]

    def of_names(
        self, names: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Entries of `of_name`, which of the names each belongs to, and whether the passage is about it."""
        entry, owner = self.graph.of_name.of(names)
        if self.allowed is None:
            return entry, owner, self.graph.of_name.subject[entry]
        kept, subject = self._borne_out(entry)
        return entry[kept], owner[kept], subject[kept]

    def _borne_out(self, edge: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Of each edge whether an allowed atom mentions the name, and whether one is about it."""
        assert self.allowed is not None
        of = self.graph.edge_atoms
        low, high = of.first[edge], of.first[edge + 1]
        row = ranges(low, high)
        owner = np.repeat(np.arange(len(edge)), high - low)
        seen = self.allowed[of.atom[row]]
        values = np.bincount(owner[seen], minlength=len(edge)) > 0
        about = np.bincount(owner[seen & of.subject[row]], minlength=len(edge)) > 0
        return values, about

    def atoms_of(self, passage: int) -> NDArray[np.int64]:
        """Those of a passage that are allowed."""
        low, high = self.graph.passage.searchsorted([passage, passage + 1]).tolist()
        values = np.arange(low, high)
        return values if self.allowed is None else values[self.allowed[low:high]]


def _members(names: NDArray[np.uint64], some: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which of the increasing names are among some: a question has few, an index may have millions."""
    result = np.zeros(len(names), np.bool_)
    place = names.searchsorted(some)
    place = np.minimum(place, len(names) - 1)
    result[place[names[place] == some]] = True
    return result


def _named(
    edges: AllowedEdges,
    asked: Sequence[NameSpan],
    document: NDArray[np.int32],
    best: NDArray[np.float64],
) -> NDArray[np.int64]:
    """For each name of the question, the best passage of the documents it is the title of.

    A walk from one name would push out the other. Names of sections do not count: they are often common words.
    """
    graph = edges.graph
    entry, owner, subject = edges.of_names(_longest_known(graph.names, asked))
    about, owner = graph.of_name.other[entry[subject]], owner[subject]
    pair = owner * len(graph.atoms) + document[about]
    _, which, passages = np.unique(pair, return_inverse=True, return_counts=True)
    is_whole = passages[which.reshape(-1)] == np.bincount(document)[document[about]]
    about, owner = (array[is_whole & (best[about] > 0)] for array in (about, owner))
    order = np.lexsort((about, -best[about], owner))
    about, owner = about[order], owner[order]
    return about[np.append(True, np.diff(owner) != 0)[: len(about)]]


def _longest_known(names: NDArray[np.uint64], asked: Sequence[NameSpan]) -> NDArray[np.int64]:
    """Positions of the names that a question has, without those that are parts of longer ones."""
    wanted = np.array([name_span.name for name_span in asked], np.uint64)
    place = np.minimum(names.searchsorted(wanted), len(names) - 1)
    known = [
        (row, at) for row, at in zip(asked, place.tolist(), strict=True) if names[at] == row.name
    ]
    taken: list[NameSpan] = []
    result: set[int] = set()
    for span, at in sorted(known, key=lambda pair: pair[0].start - pair[0].end):
        if all(span.end <= other.start or other.end <= span.start for other in taken):
            taken.append(span)
            result.add(at)
    return np.array(sorted(result), np.int64)


def _rarest(
    name: NDArray[np.int64], owner: NDArray[np.int64], rarity: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rarest names of each owner, so that the work of a question is bounded."""
    order = np.lexsort((name, -rarity[name], owner))
    name, owner = name[order], owner[order]
    place = np.arange(len(owner)) - owner.searchsorted(owner)
    return name[place < _NAMES], owner[place < _NAMES]


class _TermsOfPassages(NamedTuple):
    held: NDArray[np.uint8]
    """Which passage (row) holds which term of the question (column): 1 or 0."""
    worth: NDArray[np.float64]
    """What share of the question each term is."""


def _terms_of_passages(
    graph: NameGraph,
    atoms: AtomTable,
    terms: NDArray[np.uint64],
    allowed: NDArray[np.bool_] | None,
) -> _TermsOfPassages:
    table = atoms.terms.columns(np.unique(terms)[:_MOST_TERMS])
    held = np.zeros((graph.passages, len(table.hashes)), np.uint8)
    term = np.repeat(np.arange(len(table.hashes)), np.diff(table.first))
    seen = slice(None) if allowed is None else allowed[table.row]
    held[graph.passage[table.row[seen]], term[seen]] = 1
    worth = inverse_document_frequency(held.sum(axis=0, dtype=np.int64), graph.passages)
    return _TermsOfPassages(held, worth / (worth.sum() or 1.0))


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
    walked: Walked,
    asked: Sequence[NameSpan],
    place: tuple[int, int],
    weight: float,
) -> Chain:
    """How the atoms from `place[0]` to `place[1]` were found; `weight` is that of the walk beside the votes."""
    graph, points = edges.graph, walked.points
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
    known = [span for span in asked if span.name in said]
    if known:
        best = max(known, key=lambda row: (row.words, row.start - row.end, -row.start))
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
        values = int(table.first[begin]) + np.flatnonzero(
            table.name[table.first[begin] : table.first[high]] == graph.names[name]
        )
        if allowed is not None:
            values = values[allowed[table.first.searchsorted(values, "right") - 1]]
        if len(values):
            break
    else:  # a title or heading that the document declares, or that stands where nothing may be shown
        place = _whole_atom(atoms, int(edges.atoms_of(passage)[0]))
        return place._replace(end=place.start)
    if begin != low:  # of a title or headings before the passage, the last
        values = values[::-1]
    # The name alone rather than the line of a heading, and that rather than a title that the text does not have.
    kind, length = table.kind[values], table.length[values]
    return place_of(atoms, int(values[np.argmin(np.where(length == 0, 3, kind))]))


def place_of(atoms: AtomTable, row: int) -> NamePlace:
    """Of one mention."""
    table = atoms.mentions
    assert table is not None
    atom = int(table.first.searchsorted(row, "right")) - 1
    start = int(atoms.start[atom]) + int(table.offset[row])
    around = int(atoms.start[atom]), int(atoms.end[atom])
    length = int(table.packed[row]) & LONGEST_NAME
    return NamePlace(int(atoms.document[atom]), start, start + length, around)
