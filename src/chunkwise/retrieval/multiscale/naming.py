"""Documents that a question names, by title, file name or first lines, and the words that are left to be asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.retrieval.bm25 import TermTable, inverse_document_frequency
from chunkwise.retrieval.ranking import best
from chunkwise.retrieval.searchable import AtomTable
from chunkwise.text.terms import (
    NONE,
    QueryWord,
    TermCounts,
    add_counts,
    count_terms,
    counts_in_spans,
    text_terms,
)

SHARE = 0.8
"""Of a budget, for passages of a document that is surely named: a wrong guess costs no more."""
_OPENING = 120
"""Tokens of a document's first lines: they name parties, places and dates."""
_NEEDED = 4.0
"""Log odds against a name, besides those of choosing one of the documents by chance."""
_WHOLE = 6.0
"""Log odds for a phrase that has every word of a title or of a file name."""
_GAP = 1.0
"""Log odds against a phrase for each of its words that the document's names do not have."""
_SURE = 0.5
"""A phrase names something from this probability on."""
_RIVAL = 0.25
"""Of the probability of the best: documents that fit a phrase less well are not meant."""
_BY_NAME = 0.4
"""Of a named document's share, what it has by its name; the rest by how much it has of the rest of the question."""
_PHRASES = 2
_COMPARED = 8
"""Documents that share most words with a question, whose phrases are looked for."""


class NamedDocument(NamedTuple):
    """A document that a question names."""

    document: int
    """Its number in the index."""
    probability: float
    start: int
    """Of the naming phrase in the question."""
    end: int


class Naming(NamedTuple):
    """What a question names, and what else it asks."""

    documents: tuple[NamedDocument, ...]
    """By phrase, the likeliest first."""
    rest: NDArray[np.uint64]
    """Terms of the words that name nothing: they alone score passages of the documents, where these have any."""

    def shares(self) -> dict[int, float]:
        """Of the budget for each document, more for surer names; together no more than `SHARE`."""
        phrases: dict[int, float] = {}
        for document in self.documents:
            phrases[document.start] = phrases.get(document.start, 0.0) + document.probability
        certainty = SHARE * max(phrases.values()) / sum(phrases.values())
        shares: dict[int, float] = {}
        for row in self.documents:
            shares[row.document] = shares.get(row.document, 0.0) + certainty * row.probability
        return shares


class _Phrase(NamedTuple):
    """Consecutive words of a question, and the log odds that they name a document."""

    odds: float
    first: int
    stop: int
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class NameTable:
    """Which documents have a term in their names: title, file name and first lines. Rows are documents."""

    documents: NDArray[np.int64]
    """Their numbers in the index, increasing."""
    names: TermTable
    wholes: tuple[tuple[TermTable, NDArray[np.int64]], ...]
    """Titles and file names by themselves, with the number of distinct terms of each."""

    @classmethod
    def of(
        cls,
        atoms: AtomTable,
        documents: Sequence[int],
        ids: Sequence[str],
        titles: Sequence[str],
        languages: Sequence[str],
    ) -> NameTable:
        """Of all documents of an index; their first lines are its atoms."""
        numbers = np.asarray(documents, np.int64)
        files = [id.replace("\\", "/").rpartition("/")[2] for id in ids]
        wholes = [_counts_of_lines(lines, languages) for lines in (titles, files)]
        parts = [*map(_entries, wholes), _openings(atoms, numbers)]
        row, term = map(np.concatenate, zip(*parts, strict=True))
        vocabulary, code = np.unique(term, return_inverse=True)
        names = TermTable.of(count_terms(row, code, vocabulary, len(numbers)))
        sizes = ((TermTable.of(counts), np.diff(counts.first)) for counts in wholes)
        return cls(numbers, names, tuple(sizes))

    def naming(
        self, words: Sequence[QueryWord], atoms: AtomTable, allowed: NDArray[np.bool_] | None = None
    ) -> Naming | None:
        """What a question names of the documents that have allowed atoms; None: nothing."""
        hashes = np.array(sorted({term for word in words for term in word.terms}), np.uint64)
        if not len(hashes) or not len(self.documents):
            return None
        question = _NamingQuestion(self, words, hashes, atoms, allowed)
        free, result = np.ones(len(words), np.bool_), list[NamedDocument]()
        for _ in range(_PHRASES):
            phrases = question.phrases(free)
            if not phrases:
                break
            _, first, stop, _ = phrases[0]
            rivals = [phrase for phrase in phrases if phrase.first < stop and first < phrase.stop]
            odds = np.array([question.needed, *(rival.odds for rival in rivals)])
            likely = np.exp(odds - odds.max())
            likely /= likely.sum()
            if likely[0] > 1 - _SURE:
                break
            free[first:stop] = False
            start, end = words[first].start, words[stop - 1].end
            result += [
                NamedDocument(int(self.documents[row.row]), probability, start, end)
                for row, probability in zip(rivals, likely[1:].tolist(), strict=True)
                if probability >= _RIVAL * likely[1]
            ]
        left = question.terms(free)
        if not result or not len(left):
            return None
        meant = _BY_NAME + (1 - _BY_NAME) * question.answers(left)
        weight = meant[self.documents.searchsorted([row.document for row in result])]
        named = zip(result, weight.tolist(), strict=True)
        return Naming(
            tuple(row._replace(probability=row.probability * part) for row, part in named),
            hashes[left],
        )


class _NamingQuestion:
    """The terms of one question, what each says for a document, and which documents have it in their names."""

    def __init__(
        self,
        table: NameTable,
        words: Sequence[QueryWord],
        hashes: NDArray[np.uint64],
        atoms: AtomTable,
        allowed: NDArray[np.bool_] | None,
    ) -> None:
        self._names, self._rows = table.names.columns(hashes), len(table.documents)
        self._wholes = [(whole.columns(hashes), sizes) for whole, sizes in table.wholes]
        self._sizes = np.diff(self._names.first)
        self._held, document = _documents_with(atoms, hashes)
        held = np.bincount(self._held, minlength=len(hashes))
        self._worth = inverse_document_frequency(np.maximum(held, self._sizes), self._rows)
        self._row = table.documents.searchsorted(document)
        self._word = np.repeat(np.arange(len(words)), [len(word.terms) for word in words])
        self._term = hashes.searchsorted(
            np.array([term for word in words for term in word.terms], np.uint64)
        )
        self._is_small = np.array([not word.terms for word in words])
        self.needed = _NEEDED + math.log(self._rows)
        self._barred = np.zeros(self._rows, np.bool_)
        if allowed is not None:
            self._barred = ~np.isin(table.documents, atoms.document[allowed])

    def terms(self, free: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Numbers of the terms of free words."""
        return np.unique(self._term[free[self._word]])

    def answers(self, terms: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much of these terms each document has, as a share of what the best has: a wrong name has little."""
        worth = np.zeros(len(self._worth))
        worth[terms] = self._worth[terms]
        held = np.bincount(self._row, worth[self._held], self._rows)
        held[self._barred] = 0
        return held / top if (top := held.max(initial=0.0)) else np.ones(self._rows)

    def phrases(self, free: NDArray[np.bool_]) -> list[_Phrase]:
        """The best phrase of free words for each of the likeliest documents, the best of them first."""
        used = free[self._word]
        term, word = self._term[used], self._word[used]
        worth = self._worth * np.bincount(term, minlength=len(self._worth))
        total = np.bincount(self._names.row, np.repeat(worth, self._sizes), self._rows)
        # No phrase has more odds than all words together: most questions end here.
        is_in = (total > max(self.needed - _WHOLE, 0)) & ~self._barred
        if not is_in.any():
            return []
        rows = best(np.where(is_in, total, -np.inf).astype(np.float32), _COMPARED).numbers
        gains = np.zeros((len(free), len(rows)))
        np.maximum.at(gains, word, (_holds(self._names, rows) * self._worth[:, None])[term])
        gains[(gains == 0) & ~self._is_small[:, None]] = -_GAP
        gains[~free] = -np.inf
        wholes, result = [(_holds(whole, rows), sizes[rows]) for whole, sizes in self._wholes], []
        for at, (row, own) in enumerate(zip(rows.tolist(), gains.T.tolist(), strict=True)):
            odds, first, stop = _best_run(own)
            if not odds:
                continue
            low, high = self._word.searchsorted([first, stop])
            named = np.unique(self._term[low:high])
            if any(0 < sizes[at] == holds[named, at].sum() for holds, sizes in wholes):
                odds += _WHOLE
            result.append(_Phrase(odds, first, stop, row))
        return sorted(result, key=lambda row: (-row.odds, row.row))


def _best_run(gains: Sequence[float]) -> tuple[float, int, int]:
    """The largest sum of consecutive numbers, 0 at least, and where they are."""
    top, total, begin = (0.0, 0, 0), 0.0, 0
    for at, gain in enumerate(gains):
        if total <= 0:
            total, begin = 0.0, at
        total += gain
        if total > top[0]:
            top = (total, begin, at + 1)
    return top


def _holds(table: TermTable, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Terms × rows: whether the row has the term."""
    terms = np.arange(len(table.hashes))
    result = np.zeros((len(terms), len(rows)), np.bool_)
    order = np.argsort(rows)
    at = np.minimum(rows[order].searchsorted(table.row), max(len(rows) - 1, 0))
    hit = np.flatnonzero(rows[order][at] == table.row) if len(rows) else at[:0]
    result[np.repeat(terms, np.diff(table.first))[hit], order[at[hit]]] = True
    return result


def _documents_with(
    atoms: AtomTable, hashes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Numbers of terms, each with every document that has it anywhere."""
    some = atoms.terms.columns(hashes)
    document = atoms.document[some.row]
    term = np.repeat(np.arange(len(hashes)), np.diff(some.first))
    is_next = np.append(True, (np.diff(document) != 0) | (np.diff(term) != 0))[: len(term)]
    return term[is_next], document[is_next]


def _counts_of_lines(lines: Sequence[str], languages: Sequence[str]) -> TermCounts:
    """The terms of short texts, a row each, as every language has them."""
    texts = [" ".join(line.replace("_", " ").split()) for line in lines]
    ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)
    starts = np.append(0, ends)[:-1]
    whole = "\n".join(texts)
    counts = [
        counts_in_spans(text_terms(whole, language), starts, ends)
        for language in languages or (NONE,)
    ]
    return reduce(add_counts, counts)


def _entries(counts: TermCounts) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Row and term of every entry."""
    return np.repeat(np.arange(len(counts.first) - 1), np.diff(counts.first)), counts.term


def _openings(
    atoms: AtomTable, documents: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The same of the first lines of documents."""
    before = np.cumsum(atoms.tokens, dtype=np.int64) - atoms.tokens
    start = before[atoms.document.searchsorted(atoms.document)]
    entries = np.flatnonzero((before - start < _OPENING)[atoms.terms.row])
    row = documents.searchsorted(atoms.document[atoms.terms.row[entries]])
    term = atoms.terms.first.searchsorted(entries, "right") - 1
    return row, atoms.terms.hashes[term]
