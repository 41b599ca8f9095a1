"""A graph of names and passages: who and what is spoken of where, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.bm25 import inverse_document_frequency
from chunkwise.retrieval.errors import no_graph_error
from chunkwise.retrieval.searchable import AtomTable, MentionTable, Searchable
from chunkwise.text.names import HEADING, MENTION, TITLE, is_short_title
from chunkwise.text.terms import ranges

PASSAGE_TOKENS = 200
"""A passage is a stretch of atoms of one document of about this size, whole documents where they are shorter."""


class Edges(NamedTuple):
    """Row `i` has the entries `first[i]` to `first[i + 1]`."""

    first: NDArray[np.int64]
    other: NDArray[np.int64]
    """What each leads to, increasing within a row."""
    subject: NDArray[np.bool_]
    """Whether the passage is about the name, as its title or heading says."""

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of the entries of some rows, and which of the rows each belongs to."""
        low, high = self.first[rows], self.first[rows + 1]
        return ranges(low, high), np.repeat(np.arange(len(rows)), high - low)


class EdgeAtoms(NamedTuple):
    """Where the edges of a graph come from: of entry `i` of `of_name` the rows `first[i]` to `first[i + 1]`."""

    first: NDArray[np.int64]
    atom: NDArray[np.int64]
    """One that mentions the name, or is below it as its title or heading."""
    subject: NDArray[np.bool_]
    by_passage: NDArray[np.int64]
    """The entry of `of_name` that each entry of `of_passage` is."""


@dataclass(frozen=True, eq=False)
class NameGraph:
    """Names on one side, passages on the other; an edge is a mention."""

    atoms: AtomTable
    passage: NDArray[np.int64]
    """Of each atom."""
    passages: int
    names: NDArray[np.uint64]
    """Increasing."""
    rarity: NDArray[np.float64]
    """Of each name, 0 to 1: a name that stands everywhere leads nowhere."""
    of_passage: Edges
    of_name: Edges

    @cached_property
    def edge_atoms(self) -> EdgeAtoms:
        """Made for the first question with a filter: without one, no edge is looked behind."""
        atom, hashes, kind = _about(self.atoms)
        _, key, order = _by_edge(atom, hashes, kind, self.passage, self.passages)
        first = np.append(np.flatnonzero(_opens(key)), len(key))
        owner = np.repeat(np.arange(self.passages), np.diff(self.of_passage.first))
        edge = self.of_passage.other * max(self.passages, 1) + owner
        by_passage = key[first[:-1]].searchsorted(edge)
        return EdgeAtoms(first, atom[order], kind[order] != MENTION, by_passage)


def _by_edge(
    atom: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    kind: NDArray[np.uint16],
    passage: NDArray[np.int64],
    passages: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """The names, and the places sorted by name and passage: the number of the pair, and the order."""
    names, name = np.unique(hashes, return_inverse=True)
    key = name.reshape(-1).astype(np.int64) * max(passages, 1) + passage[atom]
    order = np.lexsort((kind == MENTION, key))
    return names, key[order], order


def _opens(key: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where another one begins."""
    return np.append(True, key[1:] != key[:-1])[: len(key)]


def name_graph(atoms: AtomTable) -> NameGraph:
    """Linear in the atoms and the mentions."""
    assert atoms.mentions is not None
    passage, passages = passages_of(atoms)
    atom, hashes, kind = _about(atoms)
    names, key, order = _by_edge(atom, hashes, kind, passage, passages)
    kind, once = kind[order], _opens(key)
    key, subject = key[once], kind[once] != MENTION
    name, where = key // max(passages, 1), key % max(passages, 1)
    by_name = Edges(name.searchsorted(np.arange(len(names) + 1)), where, subject)
    turned = np.lexsort((name, where))
    by_passage = Edges(
        where[turned].searchsorted(np.arange(passages + 1)), name[turned], subject[turned]
    )
    spread = np.diff(by_name.first)
    rarity = inverse_document_frequency(spread, max(passages, 1))
    return NameGraph(
        atoms,
        passage,
        passages,
        names,
        rarity / (rarity.max(initial=0) or 1.0),
        by_passage,
        by_name,
    )


def passages_of(atoms: AtomTable) -> tuple[NDArray[np.int64], int]:
    """The passage of each atom, and how many there are: what its document has before it in tokens tells which."""
    if not len(atoms):
        return np.empty(0, np.int64), 0
    before = np.cumsum(atoms.tokens, dtype=np.int64) - atoms.tokens
    opens = np.append(True, atoms.document[1:] != atoms.document[:-1])
    begin = np.maximum.accumulate(np.where(opens, np.arange(len(atoms)), 0))
    step = (before - before[begin]) // PASSAGE_TOKENS
    new = opens | np.append(False, step[1:] != step[:-1])
    values = np.cumsum(new) - 1
    return values, int(values[-1]) + 1


def _about(
    atoms: AtomTable,
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint16]]:
    """Every mention, and a title or a heading once for each atom that it is about."""
    table = atoms.mentions
    assert table is not None
    atom = np.repeat(np.arange(len(atoms)), np.diff(table.first))
    kinds = _with_short_titles(table, atoms.document[atom])
    result = [(atom, np.asarray(table.name), kinds)]
    for kind, owner in ((TITLE, atoms.document), (HEADING, atoms.section)):
        rows = np.flatnonzero(kinds == kind)
        if not len(rows):
            continue
        of = owner[atom[rows]].astype(np.int64)
        once = _first_of_each(of, _MOST_OF_A_KIND[kind])
        rows, of = rows[once], of[once]
        order = np.argsort(owner, kind="stable")
        sorted_owner = owner[order]
        low, high = sorted_owner.searchsorted(of), sorted_owner.searchsorted(of, "right")
        spread = high - low
        result.append(
            (
                order[ranges(low, high)],
                np.repeat(table.name[rows], spread),
                np.full(int(spread.sum()), kind, np.uint16),
            )
        )
    atoms_of, names, kinds = (np.concatenate(group) for group in zip(*result, strict=True))
    return atoms_of, names, kinds


def _with_short_titles(table: MentionTable, document: NDArray[np.int32]) -> NDArray[np.uint16]:
    """The kinds; what a title is without its brackets is a title too, where it is that of one document alone."""
    kinds = table.kind
    short = np.flatnonzero(is_short_title(kinds, table.length))
    if not len(short):
        return kinds
    titles = np.append(np.flatnonzero(kinds == TITLE), short)
    names, name = np.unique(table.name[titles], return_inverse=True)
    name = name.reshape(-1).astype(np.int64)
    last = int(document.max()) + 1
    owners = np.bincount(np.unique(name * last + document[titles]) // last, minlength=len(names))
    is_sole = owners[name[-len(short) :]] == 1
    kinds[short] = np.where(is_sole, TITLE, MENTION)
    return kinds


_MOST_OF_A_KIND = {TITLE: 3, HEADING: 1}
"""A document has its title in full and short and the name of its file, a section one heading: the work is a few passes
over the atoms."""


def _first_of_each(owner: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Positions of the first few of each owner, by owner."""
    order = np.argsort(owner, kind="stable")
    own = owner[order]
    before: NDArray[np.int64] = np.arange(len(own)) - own.searchsorted(own)
    return order[before < most]


_graphs: WeakKeyDictionary[Searchable, tuple[AtomTable, NameGraph]] = WeakKeyDictionary()
"""Of the indexes that are open."""


def graph_of(source: Searchable) -> NameGraph:
    """The graph of an index's names, made once."""
    atoms = source.atom_table()
    if atoms.mentions is None:
        raise no_graph_error()
    known = _graphs.get(source)
    if known is None or known[0] is not atoms:
        known = _graphs[source] = atoms, name_graph(atoms)
    return known[1]
