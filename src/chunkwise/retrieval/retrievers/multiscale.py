"""The search at several sizes, run on an index that knows its atoms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Document
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.headings_ahead import is_table_header
from chunkwise.retrieval.multiscale import Multiscale, PreparedWindows, ScoredSpan
from chunkwise.retrieval.retrievers.query_batch import QueryBatch
from chunkwise.retrieval.searchable import AtomSource, AtomTable, CandidateSpan, Searchable
from chunkwise.retrieval.whole_blocks import whole_blocks
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
        texts = _Texts(atoms, source.document, source.section_path, allowed)
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

    allowed: NDArray[np.bool_] | None = None

    def heads_next(self, atom: int) -> bool:
        """The heading a document begins with changes no section; lead-ins, fences and headers have none."""
        start, end = int(self.atoms.start[atom]), int(self.atoms.end[atom])
        if not start and self.section_path(int(self.atoms.section[atom])):
            return True
        document = self.document(int(self.atoms.document[atom]))
        return is_table_header(document, start, end) or whole_blocks(document).heads(start, end)

    def says(self, atom: int) -> bool:
        start, end = int(self.atoms.start[atom]), int(self.atoms.end[atom])
        document = self.document(int(self.atoms.document[atom]))
        return any(map(str.isalnum, document.text[start:end])) and not self.is_hidden(atom)

    def is_hidden(self, atom: int) -> bool:
        document = self.document(int(self.atoms.document[atom]))
        blocks = whole_blocks(document)
        return bool(blocks.comments) and blocks.is_hidden(
            int(self.atoms.start[atom]), int(self.atoms.end[atom])
        )

    def block(self, atom: int) -> range | None:
        number = int(self.atoms.document[atom])
        document = self.document(number)
        low, high = self.atoms.document.searchsorted([number, number + 1]).tolist()
        found = whole_blocks(document).around(
            int(self.atoms.start[atom]), int(self.atoms.end[atom])
        )
        if found is None:
            return None
        starts = self.atoms.start[low:high]
        first = low + int(starts.searchsorted(found.start, "right")) - 1
        stop = low + int(starts.searchsorted(found.end))
        if self.allowed is None:
            return range(first, stop)
        # What a filter keeps out parts a block.
        barred = np.flatnonzero(~self.allowed[first:stop]) + first
        at = int(barred.searchsorted(atom))
        first = int(barred[at - 1]) + 1 if at else first
        return range(first, int(barred[at]) if at < len(barred) else stop)


def _candidate_spans(source: AtomSource, spans: Sequence[ScoredSpan]) -> list[CandidateSpan]:
    return [
        CandidateSpan(
            span.document, span.start, span.end, span.score, source.section_path(span.section)
        )
        for span in spans
    ]
