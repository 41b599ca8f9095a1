"""All documents as passages to ask about, with their terms and how much each has to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Advance, Document, Span
from chunkwise.generating.boilerplate import REPEATED, Sentences, is_boilerplate
from chunkwise.generating.importance import importance, looks_defining, number_count
from chunkwise.generating.source_passages import source_passages
from chunkwise.text.analysis import Analyzed
from chunkwise.text.term_counts import TermCounts, joined, ranges
from chunkwise.text.terms import document_terms, rows

_FEW = 4
"""Passages that a rare term stands in, where there are not many of them."""


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A place that a question can be asked about."""

    number: int
    at: int
    """Which document it is in."""
    document: Document
    start: int
    end: int
    section: int
    """Which section of the document it is in."""
    path: tuple[str, ...]
    language: str
    """What the document's terms are read in."""
    weight: float = 0.0
    has_numbers: bool = False
    has_list: bool = False

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]


@dataclass(frozen=True, eq=False)
class Ground:
    """Passages in document order; row `i` of the terms is that of passage `i`."""

    documents: Sequence[Document]
    passages: Sequence[SourcePassage]
    terms: TermCounts
    vocabulary: NDArray[np.uint64]
    frequency: NDArray[np.int64]
    """Of each term of the vocabulary, the passages that have it."""

    def terms_of(self, passage: SourcePassage) -> NDArray[np.uint64]:
        first, last = self.terms.first[passage.number : passage.number + 2].tolist()
        return self.terms.term[first:last]

    def frequencies(self, terms: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Passages that have each of these terms."""
        if not len(self.vocabulary):
            return np.zeros(len(terms), dtype=np.int64)
        at = np.minimum(self.vocabulary.searchsorted(terms), len(self.vocabulary) - 1)
        return np.where(self.vocabulary[at] == terms, self.frequency[at], 0)

    def is_rare(self, terms: frozenset[int]) -> bool:
        """Whether one of these terms stands in few passages only, and so says what is meant."""
        if not terms:
            return False
        frequency = self.frequencies(np.array(sorted(terms), dtype=np.uint64))
        return bool(frequency.min() <= max(_FEW, len(self.passages) // 25))


def ground_of(documents: Sequence[Document], advance: Advance | None = None) -> Ground:
    """Reads every document once."""
    sentences = Sentences()
    spans: list[list[Span]] = []
    counts: list[TermCounts] = []
    found: list[list[SourcePassage]] = []
    for at, document in enumerate(documents):
        analyzed = Analyzed(document)
        sentences.add(analyzed)
        own = source_passages(analyzed)
        terms = document_terms(analyzed)
        bounds = np.array(own, dtype=np.int64).reshape(-1, 2)
        counts.append(rows(terms, bounds[:, 0], bounds[:, 1]))
        spans.append(own)
        found.append(_passages(analyzed, own, at, terms.language))
        if advance is not None:
            advance(len(document.text), f"{at + 1:,} documents looked at")
    repeated = sentences.repeated(spans)
    every = [passage for of_document in found for passage in of_document]
    shares = np.concatenate(repeated) if repeated else np.zeros(0)
    return _weighed(documents, every, joined(counts), shares)


def _passages(
    analyzed: Analyzed, spans: Sequence[Span], at: int, language: str
) -> list[SourcePassage]:
    starts = np.array([span.start for span in spans], dtype=np.int64)
    sections = analyzed.sections.at(starts).tolist()
    items = analyzed.blocks.spans("item")[:, 0]
    listed = np.diff(items.searchsorted(np.array(spans, dtype=np.int64).reshape(-1, 2)), axis=1)[
        :, 0
    ].tolist()
    return [
        SourcePassage(
            -1, at, analyzed.document, span.start, span.end, section,
            analyzed.section(span.start, span.end), language,
            has_numbers=number_count(analyzed.text[span.start : span.end]) > 0,
            has_list=items_here > 1,
        )
        for span, section, items_here in zip(spans, sections, listed, strict=True)
    ]  # fmt: skip


def _weighed(
    documents: Sequence[Document],
    passages: Sequence[SourcePassage],
    terms: TermCounts,
    repeated: NDArray[np.float64],
) -> Ground:
    """Those worth asking about, numbered anew."""
    vocabulary, frequency = np.unique(terms.term, return_counts=True)
    row = np.repeat(np.arange(len(passages)), np.diff(terms.first))
    rare = np.log1p(len(passages) / frequency)[vocabulary.searchsorted(terms.term)]
    total = np.bincount(row, weights=rare, minlength=len(passages))
    distinct = np.diff(terms.first)
    kept: list[SourcePassage] = []
    parts: list[int] = []
    for number, passage in enumerate(passages):
        text = passage.text
        if repeated[number] >= REPEATED or is_boilerplate(text, passage.path):
            continue
        weight = importance(
            float(total[number]), int(distinct[number]), number_count(text), looks_defining(text)
        )
        if weight > 0:
            kept.append(replace(passage, number=len(kept), weight=weight))
            parts.append(number)
    return Ground(documents, kept, _chosen(terms, parts), vocabulary, frequency)


def _chosen(terms: TermCounts, numbers: Sequence[int]) -> TermCounts:
    at = np.array(numbers, dtype=np.int64)
    low, high = terms.first[at], terms.first[at + 1]
    entries = ranges(low, high)
    first = np.append(0, np.cumsum(high - low)).astype(np.int64)
    return TermCounts(first, terms.term[entries], terms.times[entries])
