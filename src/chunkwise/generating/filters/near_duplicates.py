"""Questions that were asked before in almost the same words, or about the same place in similar ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from chunkwise.core import Reference
from chunkwise.generating.candidate import words_in

ALIKE = 0.85
"""Share of the terms of two questions that both have, from which they are one."""
ALIKE_HERE = 0.6
"""The same where their references overlap."""


class Asked:
    """Questions so far; a new one is compared with those it shares a term with."""

    def __init__(self) -> None:
        self._terms: list[frozenset[int]] = []
        self._references: list[tuple[Reference, ...]] = []
        self._having: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, question: str, references: tuple[Reference, ...], language: str) -> None:
        terms = words_in(question, language)
        for term in terms:
            self._having[term].append(len(self._terms))
        self._terms.append(terms)
        self._references.append(references)

    def has(self, question: str, references: tuple[Reference, ...], language: str) -> bool:
        """Whether one like it was asked."""
        terms = words_in(question, language)
        shared = Counter(number for term in terms for number in self._having.get(term, ()))
        return any(
            count >= self._least(number, references) * len(terms | self._terms[number])
            for number, count in shared.items()
        )

    def _least(self, number: int, references: tuple[Reference, ...]) -> float:
        return ALIKE_HERE if overlap(references, self._references[number]) else ALIKE


def overlap(some: Iterable[Reference], others: Iterable[Reference]) -> bool:
    """Whether half of a reference, the smaller one, lies in one of the others."""
    known = list(others)
    return any(
        one.doc_id == other.doc_id
        and 2 * (min(one.end, other.end) - max(one.start, other.start))
        >= min(one.end - one.start, other.end - other.start)
        for one in some
        for other in known
    )
