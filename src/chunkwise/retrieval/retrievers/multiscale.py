"""The search at several sizes, run on an index that knows its atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import InvalidParameter
from chunkwise.retrieval.atom_table import AtomTable
from chunkwise.retrieval.embedded.masks import Table
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.multiscale import Multiscale, Prepared, ScoredSpan
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.retrievers.questions import Questions
from chunkwise.retrieval.searchable import Searchable
from chunkwise.text.terms import query_terms


@runtime_checkable
class AtomSource(Protocol):
    """What an index offers beside `Searchable` when it can be searched at several sizes."""

    @property
    def languages(self) -> Sequence[str]: ...

    def atom_table(self) -> AtomTable: ...

    def allowed(self, table: Table, only: Filter) -> NDArray[np.bool_] | None: ...

    def section_path(self, number: int) -> tuple[str, ...]:
        """The path behind a section number of the atom table."""


_prepared: WeakKeyDictionary[AtomSource, dict[Multiscale, Prepared]] = WeakKeyDictionary()
"""Windows of the indexes that are open: the same for every search, gone with the index."""


@dataclass(frozen=True, kw_only=True)
class MultiscaleRetriever(Multiscale):
    __doc__ = Multiscale.__doc__

    def spans(
        self, source: Searchable, questions: Questions, budget: int, only: Filter
    ) -> list[list[Place]]:
        if not isinstance(source, AtomSource):
            raise InvalidParameter(
                "multiscale needs an index that knows its sentences, and this one does not; choose hybrid"
            )
        atoms = source.atom_table()
        terms = [query_terms(text, source.languages) for text in questions.texts]
        vectors = questions.vectors if atoms.vectors is not None and self.dense else None
        allowed = source.allowed("atom", only)
        found = self.search(self._windows(source, atoms), terms, vectors, budget, allowed)
        return [[_place(source, atoms, span) for span in spans] for spans in found]

    def _windows(self, source: AtomSource, atoms: AtomTable) -> Prepared:
        known = _prepared.setdefault(source, {})
        made = known.get(self)
        if made is None or made.atoms is not atoms:
            made = known[self] = self.prepare(atoms)
        return made


def _place(source: AtomSource, atoms: AtomTable, span: ScoredSpan) -> Place:
    """With the section its first atom is in."""
    low, high = atoms.document.searchsorted([span.document, span.document + 1]).tolist()
    first = low + int(atoms.start[low:high].searchsorted(span.start))
    section = source.section_path(int(atoms.section[first]))
    return Place(span.document, span.start, span.end, span.score, section)
