"""Paragraphs and sentences that occur more than once: a fingerprint of each is kept, not its text."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.profiling.results import PassagePlace, Repeat, Repeats, preview
from chunkwise.text.analyzed import Analyzed


def fingerprints(text: str, spans: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Equal for spans that differ in white space at most."""
    solid = ("".join(text[start:end].split()) for start, end in spans.tolist())
    hashes = (
        blake2b(item.encode("utf-8", "surrogatepass"), digest_size=8).digest() for item in solid
    )
    return np.frombuffer(b"".join(hashes), np.uint64)


_EXAMPLES = 5
_PLACES = 3


@dataclass(frozen=True, slots=True)
class RepeatedPassages:
    """Rows are occurrences of repeated passages, in the order they were met."""

    passage: NDArray[np.int64]
    count: NDArray[np.int64]
    """Of each passage, in the whole corpus."""
    tokens: NDArray[np.int64]
    cell: NDArray[np.int64]
    document: NDArray[np.int64]
    start: NDArray[np.int64]
    documents: Sequence[str]
    previews: Sequence[str]
    """Of each passage."""
    complete: bool

    def of(self, cells: Collection[int], total_tokens: int) -> Repeats:
        """What one group has of them."""
        rows = np.flatnonzero(np.isin(self.cell, list(cells)))
        values, first = np.unique(self.passage[rows], return_index=True)
        tokens = int(self.tokens[rows].sum())
        # Most tokens spent on copies first.
        weight = self.count[values] * self.tokens[rows[first]]
        top = np.argsort(-weight, kind="stable")[:_EXAMPLES].tolist()
        examples = tuple(self._example(int(values[index]), rows) for index in top)
        share = tokens / total_tokens if total_tokens else 0.0
        return Repeats(len(values), len(rows), share, examples, self.complete)

    def _example(self, passage: int, rows: NDArray[np.int64]) -> Repeat:
        here = rows[self.passage[rows] == passage]
        places = tuple(
            PassagePlace(
                self.documents[self.document[row]], int(self.start[row]), int(self.tokens[row])
            )
            for row in here[:_PLACES].tolist()
        )
        return Repeat(int(self.count[passage]), places[0].tokens, self.previews[passage], places)


def repeated_passages(
    columns: Mapping[str, NDArray[np.generic]],
    documents: Sequence[str],
    previews: Mapping[int, str],
    *,
    complete: bool,
) -> RepeatedPassages:
    """Occurrences of what stands there twice; those inside a repeated paragraph are told by it alone."""
    own = columns["own"]
    values, count = np.unique(own, return_counts=True)
    many = values[count > 1]
    rows = np.isin(own, many) & ~np.isin(columns["parent"], many)
    passage = many.searchsorted(own[rows])
    tokens, cell, document, start = (
        columns[name][rows].astype(np.int64) for name in ("tokens", "cell", "document", "start")
    )
    texts = [previews.get(value, "") for value in many.tolist()]
    return RepeatedPassages(
        passage, count[count > 1], tokens, cell, document, start, documents, texts, complete
    )


LEAST_WORDS = 8
MOST_PASSAGES = 3_000_000
"""Compared at most, about 85 MB; later documents' passages are not."""
_MOST_PREVIEWS = 50_000
_SLOT_BITS = 22

_TYPES = {"own": "Q", "parent": "Q", "tokens": "I", "document": "I", "start": "I"}


class DocumentPassages(NamedTuple):
    """What a document has that may stand elsewhere, too."""

    own: NDArray[np.uint64]
    parent: NDArray[np.uint64]
    """Fingerprint of the paragraph that a sentence stands in; 0: it is one."""
    tokens: NDArray[np.int64]
    spans: NDArray[np.int64]
    found: int
    """With those that say the same as their paragraph."""


def document_passages(document: Analyzed, tokens: NDArray[np.int64]) -> DocumentPassages | None:
    """Its paragraphs and sentences that are long enough; None: there are none."""
    if len(document.characters.word_starts) < LEAST_WORDS:
        return None
    spans, parents = _passages(document)
    if not len(spans):
        return None
    own = fingerprints(document.text, spans)
    parent = np.where(parents >= 0, own[parents], 0).astype(np.uint64)
    # A line of code and the blank one below it are a paragraph: the same passage once more.
    other = own != parent
    result, own, parent, spans = len(own), own[other], parent[other], spans[other]
    bounds = tokens.searchsorted(spans)
    return DocumentPassages(own, parent, bounds[:, 1] - bounds[:, 0], spans, result)


class RepeatFinder:
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

    def add(self, document: Document, passages: DocumentPassages | None, cell: int) -> None:
        if passages is None:
            return
        if len(self._columns["own"]) + passages.found > self._most:
            self.complete = False
            return
        own, spans = passages.own, passages.spans
        number = len(self._documents)
        self._documents.append(document.id)
        self._cells.append(cell)
        self._extend("own", own)
        self._extend("parent", passages.parent)
        self._extend("tokens", passages.tokens)
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

    def repeated(self) -> RepeatedPassages:
        """All passages that occur more than once."""
        columns = {name: self._column(name) for name in _TYPES}
        columns["cell"] = np.array(self._cells, dtype=np.int64)[columns["document"]]
        return repeated_passages(columns, self._documents, self._previews, complete=self.complete)


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
