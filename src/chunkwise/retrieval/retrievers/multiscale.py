"""The search at several sizes, run on an index that knows its atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from chunkwise.errors import InvalidParameter
from chunkwise.retrieval.atom_table import AtomTable
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.multiscale import Multiscale, Prepared, ScoredSpan
from chunkwise.retrieval.place import Place
from chunkwise.retrieval.retrievers.questions import Questions
from chunkwise.retrieval.searchable import AtomSource, Searchable
from chunkwise.text.terms import query_terms

_prepared: WeakKeyDictionary[AtomSource, dict[tuple[int, ...], Prepared]] = WeakKeyDictionary()
"""Windows of the indexes that are open, by their sizes: the same for every search, gone with the index."""
_KEPT = 4
"""Choices of sizes an index keeps windows of."""


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
        if not self.words and atoms.vectors is None:
            raise InvalidParameter(
                "words is 0, and the index has no vectors of its sentences; let words count (words=1), "
                "or make the index again with vectors ('late' or 'both')"
            )
        terms = [query_terms(text, source.languages) for text in questions.texts]
        vectors = questions.vectors if atoms.vectors is not None and self.dense else None
        allowed = source.allowed("atom", only)
        found = self.search(self._windows(source, atoms), terms, vectors, budget, allowed)
        return [_places(source, atoms, spans) for spans in found]

    def _windows(self, source: AtomSource, atoms: AtomTable) -> Prepared:
        known = _prepared.get(source, {})
        made = known.get(self.sizes)
        if made is None or made.atoms is not atoms:
            made = self.prepare(atoms)
            # What was made of atoms that have changed since is of no use any more.
            current = [(sizes, old) for sizes, old in known.items() if old.atoms is atoms]
            _prepared[source] = dict([*current[1 - _KEPT :], (self.sizes, made)])
        return made


def _places(source: AtomSource, atoms: AtomTable, spans: Sequence[ScoredSpan]) -> list[Place]:
    """Each with the section its first atom is in."""
    places = []
    for document, start, end, _, score in spans:
        # A key of the column's own type: for any other the whole column would be copied.
        key = atoms.document.dtype.type
        low = int(atoms.document.searchsorted(key(document)))
        high = int(atoms.document.searchsorted(key(document), "right"))
        first = low + int(atoms.start[low:high].searchsorted(start))
        section = source.section_path(int(atoms.section[first]))
        places.append(Place(document, start, end, score, section))
    return places
