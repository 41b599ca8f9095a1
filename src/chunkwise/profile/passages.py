"""Paragraphs and sentences met more than once: a fingerprint each is kept, not their text."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from chunkwise.profile.fingerprints import fingerprints
from chunkwise.profile.repeated import Repeated, repeated
from chunkwise.profile.tally import preview
from chunkwise.text.analysis import Analyzed

LEAST_WORDS = 8
MOST_PASSAGES = 3_000_000
"""Compared at most, about 85 MB; later documents' passages are not."""
_MOST_PREVIEWS = 50_000
_SLOT_BITS = 22

_TYPES = {"own": "Q", "parent": "Q", "tokens": "I", "document": "I", "start": "I"}


class Passages:
    """Every passage's fingerprint and place; linear in time, bounded in memory."""

    def __init__(self, most: int = MOST_PASSAGES) -> None:
        self._columns = {name: array(code) for name, code in _TYPES.items()}
        self._most = most
        self._documents: list[str] = []
        self._cells = array("I")
        """Of each document."""
        self._previews: dict[int, str] = {}
        # Tells "certainly new" from "perhaps met before": only the latter need a preview.
        self._met: NDArray[np.bool_] = np.zeros(1 << _SLOT_BITS, dtype=np.bool_)
        self.complete = True

    def add(self, document: Analyzed, tokens: NDArray[np.int64], cell: int) -> None:
        if len(document.characters.word_starts) < LEAST_WORDS:
            return
        spans, parents = _passages(document)
        if not len(spans):
            return
        if len(self._columns["own"]) + len(spans) > self._most:
            self.complete = False
            return
        own = fingerprints(document.characters, spans)
        parent = np.where(parents >= 0, own[parents], 0).astype(np.uint64)
        # A line of code and the blank one below it are a paragraph: the same passage once more.
        other = own != parent
        own, parent, spans = own[other], parent[other], spans[other]
        bounds = tokens.searchsorted(spans)
        number = len(self._documents)
        self._documents.append(document.document.id)
        self._cells.append(cell)
        self._extend("own", own)
        self._extend("parent", parent)
        self._extend("tokens", bounds[:, 1] - bounds[:, 0])
        self._extend("document", np.full(len(own), number))
        self._extend("start", spans[:, 0])
        self._remember(document.text, own, spans)

    def _extend(self, name: str, values: NDArray[np.generic]) -> None:
        self._columns[name].frombytes(values.astype(_TYPES[name]).tobytes())

    def _remember(self, text: str, own: NDArray[np.uint64], spans: NDArray[np.int64]) -> None:
        """Keep the opening words of passages met before, here or in this very document."""
        slots = own >> np.uint64(64 - _SLOT_BITS)
        met = self._met[slots]
        first = np.zeros(len(slots), dtype=np.bool_)
        first[np.unique(slots, return_index=True)[1]] = True
        self._met[slots] = True
        for index in np.flatnonzero(met | ~first).tolist():
            if len(self._previews) < _MOST_PREVIEWS:
                start, end = spans[index].tolist()
                self._previews.setdefault(int(own[index]), preview(text, start, end))

    def _column(self, name: str) -> NDArray[np.generic]:
        column = self._columns[name]
        # Copied: an array with a view on it could not grow any more.
        return np.array(column, dtype=column.typecode)

    def repeated(self) -> Repeated:
        """All passages that occur more than once."""
        columns = {name: self._column(name) for name in _TYPES}
        columns["cell"] = np.array(self._cells, dtype=np.int64)[columns["document"]]
        return repeated(columns, self._documents, self._previews, complete=self.complete)


def _passages(document: Analyzed) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Spans of paragraphs, then of sentences in longer ones; for each, its paragraph's index or -1."""
    length = len(document.text)
    paragraphs, sentences = document.paragraphs, document.sentences
    within = paragraphs.searchsorted(sentences, "right") - 1
    shared = np.bincount(within, minlength=len(paragraphs)) > 1
    whole = _spans(paragraphs, length)
    parts = _spans(sentences, length)
    keep_whole = _enough_words(document, whole)
    keep_part = _enough_words(document, parts) & shared[within]
    # A sentence with enough words stands in a paragraph with enough words.
    index = np.cumsum(keep_whole) - 1
    parents = np.concatenate((np.full(int(keep_whole.sum()), -1), index[within[keep_part]]))
    return np.concatenate((whole[keep_whole], parts[keep_part])), parents


def _spans(starts: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    return (
        np.stack([starts, np.append(starts[1:], length)], axis=1)
        if len(starts)
        else np.zeros((0, 2), np.int64)
    )


def _enough_words(document: Analyzed, spans: NDArray[np.int64]) -> NDArray[np.bool_]:
    words = document.characters.word_starts.searchsorted(spans)
    return (words[:, 1] - words[:, 0]) >= LEAST_WORDS
