"""The search at several sizes, run on an index that knows its atoms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.headings_ahead import is_table_header
from chunkwise.retrieval.multiscale import Multiscale, PreparedWindows, ScoredSpan
from chunkwise.retrieval.retrievers.query_batch import QueryBatch
from chunkwise.retrieval.searchable import AtomSource, AtomTable, CandidateSpan, Searchable
from chunkwise.text.terms.terms import query_terms

_prepared: WeakKeyDictionary[AtomSource, dict[tuple[int, ...], PreparedWindows]] = (
    WeakKeyDictionary()
)
"""Windows of the indexes that are open, by their sizes: the same for every search, gone with the index."""
_KEPT = 4
"""Choices of sizes an index keeps windows of."""


@dataclass(frozen=True, kw_only=True)
class MultiscaleRetriever(Multiscale):
    __doc__ = Multiscale.__doc__

    def spans(
        self, source: Searchable, questions: QueryBatch, budget: int, only: Filter
    ) -> list[list[CandidateSpan]]:
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
        allowed = source.allowed("atom", only)
        holds = partial(atoms.terms.holds, allowed=allowed)
        terms = [query_terms(text, source.languages, holds) for text in questions.texts]
        vectors = questions.vectors if atoms.vectors is not None and self.dense else None
        texts = _Texts(atoms, source.document, source.section_path)
        windows = self._windows(source, atoms)
        found = self.search(windows, terms, vectors, budget, allowed, texts)
        return [_candidate_spans(source, spans) for spans in found]

    def _windows(self, source: AtomSource, atoms: AtomTable) -> PreparedWindows:
        known = _prepared.get(source, {})
        windows = known.get(self.sizes)
        if windows is None or windows.atoms is not atoms:
            windows = self.prepare(atoms)
            # What was made of atoms that have changed since is of no use any more.
            current = [(sizes, old) for sizes, old in known.items() if old.atoms is atoms]
            _prepared[source] = dict([*current[1 - _KEPT :], (self.sizes, windows)])
        return windows


@dataclass(frozen=True, slots=True)
class _Texts:
    atoms: AtomTable
    document: Callable[[int], Document]
    section_path: Callable[[int], tuple[str, ...]]

    def heads_next(self, atom: int) -> bool:
        """The heading a document begins with changes no section; a header of a table has none."""
        start, end = int(self.atoms.start[atom]), int(self.atoms.end[atom])
        if not start and self.section_path(int(self.atoms.section[atom])):
            return True
        return is_table_header(self.document(int(self.atoms.document[atom])), start, end)

    def says(self, atom: int) -> bool:
        text = self.document(int(self.atoms.document[atom])).text
        return any(map(str.isalnum, text[self.atoms.start[atom] : self.atoms.end[atom]]))


def _candidate_spans(source: AtomSource, spans: Sequence[ScoredSpan]) -> list[CandidateSpan]:
    return [
        CandidateSpan(
            span.document, span.start, span.end, span.score, source.section_path(span.section)
        )
        for span in spans
    ]
