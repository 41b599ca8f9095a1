"""The recipe that several sizes at once started from, written down literally: none of the retriever's code is used.

1. Atoms are sentences within lines or blocks; longer than 80 tokens: cut at spaces (those of an index: at full stops
   first).
2. Windows of up to 40, 100, 200, 400 and 800 tokens of consecutive atoms, starting every half window, and whole
   documents.
3. BM25 at each size, with its own idf and lengths (k1 1.5, b 0.75); a word that a question says twice counts once.
4. A window's score is divided by the best of its size; an atom gets the best window over it from each size, added up.
5. Atoms in order of score, of equals the earlier; the first that does not fit ends the list. An atom's tokens are those
   that start in it where it stands; handed out by itself it may have one more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from chunkwise.core import Document
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.terms import document_terms, query_terms, stemmer, stop_words

SIZES = (40, 100, 200, 400, 800, None)
"""Tokens of a window; None: the whole document."""
K1, B = 1.5, 0.75

LONGEST = 80
"""Tokens of an atom."""

_RUN = re.compile(r"[^\W_]+")
_GAP = re.compile(r"(?:\n|(?<=[.!?])\s)\s*(?=\S)")
_SPACE = re.compile(r"\s+(?=\S)")


class Span(NamedTuple):
    doc_id: str
    start: int
    end: int


class Signal(NamedTuple):
    """The windows of one size; window `i` holds the atoms `first[i]` to `behind[i] - 1`."""

    first: NDArray[np.int64]
    behind: NDArray[np.int64]
    scores: Any
    """A `scipy.sparse.csr_matrix`, questions × windows."""
    over: NDArray[np.int64]
    """For each atom the first window that holds it and the one behind the last, all in one row."""

    def of_atoms(self, question: int) -> NDArray[np.float64]:
        """The best window over each, as a share of the best of all."""
        own = slice(*self.scores.indptr[question : question + 2].tolist())
        found = np.zeros(len(self.first) + 1)  # one more: the end of the last range
        found[self.scores.indices[own]] = self.scores.data[own]
        return np.maximum.reduceat(found, self.over)[::2] / (found.max() or 1.0)


@dataclass(frozen=True, eq=False)
class Atoms:
    """Those of all documents, in order."""

    ids: list[str]
    document: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int64]
    counts: Any
    """A `scipy.sparse.csr_matrix`, atoms × terms."""
    terms_of: Callable[[str], list[int]]
    """Numbers of a question's terms that the documents hold."""

    @classmethod
    def of(cls, documents: Sequence[Document], simple: bool = False) -> Atoms:
        """With the sentences and the terms of an index, or with `simple` ones, as one writes them in ten minutes."""
        numbers: dict[str | int, int] = {}
        languages: set[str] = set()
        columns: list[tuple[NDArray[np.int64], ...]] = []
        row, terms, before = [], [], 0
        for number, document in enumerate(documents):
            analyzed = Analyzed(document)
            tokens = analyzed.measure().starts
            start = _simple_atoms(document.text, tokens) if simple else analyzed.atoms()
            bounds = np.append(start, len(document.text))
            edges = tokens.searchsorted(bounds)
            columns.append((np.full(len(start), number), start, bounds[1:], np.diff(edges)))
            if simple:
                said = _simple_terms(document.text)
            else:
                found = document_terms(analyzed)
                languages.add(found.language)
                said = list(zip(found.start.tolist(), found.hash.tolist(), strict=True))
            places = np.array([place for place, _ in said], dtype=np.int64)
            row.append(before + start.searchsorted(places, "right") - 1)
            terms += [numbers.setdefault(term, len(numbers)) for _, term in said]
            before += len(start)
        shape = (before, len(numbers))
        counts = sparse.csr_matrix((np.ones(len(terms)), (np.concatenate(row), terms)), shape)

        def holds(terms: NDArray[np.uint64]) -> NDArray[np.bool_]:
            return np.array([term in numbers for term in terms.tolist()])

        def terms_of(text: str) -> list[int]:
            asked: Iterable[str | int] = (
                (term for _, term in _simple_terms(text))
                if simple
                else query_terms(text, sorted(languages), holds).tolist()
            )
            return sorted({numbers[term] for term in asked if term in numbers})

        ids = [document.id for document in documents]
        owner, start, end, sizes = map(np.concatenate, zip(*columns, strict=True))
        return cls(ids, owner, start, end, sizes, counts, terms_of)

    def windows(self, size: int | None) -> Iterator[tuple[int, int]]:
        """Each window's first atom and the one behind its last."""
        before = np.append(0, np.cumsum(self.tokens))
        for number in range(len(self.ids)):
            at, stop = self.document.searchsorted([number, number + 1]).tolist()
            while at < stop:
                limit = np.inf if size is None else before[at] + size
                behind = min(max(int(before.searchsorted(limit, "right")) - 1, at + 1), stop)
                yield at, behind
                if behind == stop:
                    break
                half = int(before.searchsorted(before[at] + -(-(size or 0) // 2)))
                at = min(max(half, at + 1), behind)

    def signal(self, questions: Sequence[str], size: int | None) -> Signal:
        """BM25 of all windows of one size."""
        first, behind = np.array(list(self.windows(size)), dtype=np.int64).reshape(-1, 2).T
        edges = np.append(0, np.cumsum(behind - first))
        held = np.arange(edges[-1]) + np.repeat(first - edges[:-1], behind - first)
        shape = (len(first), len(self.tokens))
        worth = sparse.csr_matrix((np.ones(len(held)), held, edges), shape) @ self.counts
        length = np.asarray(worth.sum(axis=1)).ravel()
        holding = np.bincount(worth.indices, minlength=worth.shape[1])
        rarity = np.log1p((len(first) - holding + 0.5) / (holding + 0.5))
        damp = K1 * (1 - B + B * length / (length.mean() or 1.0))
        worth.data *= rarity[worth.indices] / (worth.data + np.repeat(damp, np.diff(worth.indptr)))

        asked = [self.terms_of(question) for question in questions]
        edges = np.append(0, np.cumsum([len(own) for own in asked]))
        terms = np.array([term for own in asked for term in own], dtype=np.int64)
        shape = (len(questions), worth.shape[1])
        scores = sparse.csr_matrix((np.ones(len(terms)), terms, edges), shape) @ worth.T

        atom = np.arange(len(self.tokens))
        over = np.stack([behind.searchsorted(atom, "right"), first.searchsorted(atom, "right")])
        return Signal(first, behind, scores, over.T.ravel())

    def spans(self, chosen: Iterable[int]) -> list[Span]:
        return [
            Span(self.ids[self.document[atom]], int(self.start[atom]), int(self.end[atom]))
            for atom in chosen
        ]


def _simple_atoms(text: str, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
    """Starts: every line, and whatever follows a full stop and a space."""
    bounds = [0, *(gap.end() for gap in _GAP.finditer(text)), len(text)]
    found = []
    for low, high in pairwise(sorted(set(bounds))):
        found.append(low)
        if tokens.searchsorted(high) - tokens.searchsorted(low) <= LONGEST:
            continue
        places = [*(space.end() for space in _SPACE.finditer(text, low, high)), high]
        for place, following in pairwise(places):
            if tokens.searchsorted(following) - tokens.searchsorted(found[-1]) > LONGEST:
                found.append(place)
    return np.array(found, dtype=np.int64)


def _simple_terms(text: str) -> list[tuple[int, str | int]]:
    """Places of runs of letters and digits, and their stems; no stop words."""
    stop, stem = stop_words("en"), stemmer("en")
    words = ((found.start(), found[0].lower()) for found in _RUN.finditer(text))
    return [(place, stem(word)) for place, word in words if word not in stop]


def search(
    atoms: Atoms, questions: Sequence[str], budgets: Sequence[int]
) -> Iterator[list[list[Span]]]:
    """The recipe: for every question what is handed out within each budget."""
    signals = [atoms.signal(questions, size) for size in SIZES]
    for question in range(len(questions)):
        points = np.sum([signal.of_atoms(question) for signal in signals], axis=0)
        order = np.argsort(-points, kind="stable")[: np.count_nonzero(points)]
        held = np.cumsum(atoms.tokens[order])
        yield [
            atoms.spans(order[: held.searchsorted(budget, "right")].tolist()) for budget in budgets
        ]
