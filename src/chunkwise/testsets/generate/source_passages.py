"""The passages of all documents that are worth asking about, with their terms and how much each has to say."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import counted
from chunkwise.core import Document, OnProgress, Span
from chunkwise.profiling.repeats import fingerprints
from chunkwise.testsets.locate import trimmed
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.terms import TermCounts, counts_in_spans, document_terms, join_counts, ranges

LEAST = 60
"""Tokens; a section that has fewer is a passage by itself."""
MOST = 250
_TINY = 10
"""Tokens under which nothing is said that could be asked for."""
_CODE = 0.5
"""Share of a passage from which it is code and no text."""


def passage_spans(analyzed: Analyzed) -> list[Span]:
    """In their order, disjoint, without white space around them; headings and code are not among them."""
    text = analyzed.text
    tokens = analyzed.measure().starts
    atoms, sections = analyzed.atoms(), analyzed.sections
    paragraphs = set(analyzed.paragraphs.tolist())
    spans: list[Span] = []
    for first, last in zip(sections.heading_end.tolist(), sections.end.tolist(), strict=True):
        inside = atoms[atoms.searchsorted(first) : atoms.searchsorted(last)].tolist()
        if first < last and (not inside or inside[0] != first):
            inside.insert(0, first)
        for span in _packed(text, [*inside, last], tokens, paragraphs):
            if not _is_code(analyzed, span):
                spans.append(span)
    return spans


def _packed(
    text: str, bounds: list[int], tokens: NDArray[np.int64], paragraphs: set[int]
) -> list[Span]:
    """Sentences together: up to the end of a paragraph where there are enough, never more than the most."""
    before = tokens.searchsorted(bounds).tolist()
    spans: list[tuple[int, int]] = []
    first = 0
    for at in range(1, len(bounds)):
        size = before[at] - before[first]
        if at - 1 > first and size > MOST:
            spans.append((first, at - 1))
            first, size = at - 1, before[at] - before[at - 1]
        # What a list is a list of stands in the line before it.
        ends = bounds[at] in paragraphs and not _announces(text, bounds[first], bounds[at])
        if ends and size >= LEAST:
            spans.append((first, at))
            first = at
    if first < len(bounds) - 1:
        tail = before[-1] - before[first]
        if spans and tail < LEAST and before[-1] - before[spans[-1][0]] <= MOST:
            spans[-1] = (spans[-1][0], len(bounds) - 1)
        else:
            spans.append((first, len(bounds) - 1))
    big = [pair for pair in spans if before[pair[1]] - before[pair[0]] >= _TINY]
    tight = (trimmed(text, bounds[low], bounds[high]) for low, high in big)
    return [span for span in tight if span.end > span.start]


def _announces(text: str, start: int, end: int) -> bool:
    return text[max(start, end - 80) : end].rstrip().endswith(":")


def _is_code(analyzed: Analyzed, span: Span) -> bool:
    code = analyzed.blocks.code
    if not len(code):
        return False
    shared = np.minimum(code[:, 1], span.end) - np.maximum(code[:, 0], span.start)
    return bool(shared.clip(0).sum() > _CODE * (span.end - span.start))


_ENTRY = re.compile(
    r"(?:\.{3,}|…|\s{3,}|\t|\s\|\s*)\s*\d+\s*\|?$|^\s*[-*\d.]*\s*\[[^\]]*\]\([^)]*\)\s*$"
)
_CONTENTS = re.compile(
    r"(?:table of )?contents|inhalt(?:sverzeichnis)?|sommaire|table des matières|índice|indice|index"
    r"|references|bibliography|further reading|literatur(?:verzeichnis)?|acknowledge?ments|imprint|impressum",
    re.IGNORECASE,
)
_ENTRIES = 3
_LETTERS = 0.45
"""Share of the characters to be seen, at least: below it is a table of figures or a drawing."""
_WORDS = 6
"""Of a sentence whose repetition tells something: "See above." stands anywhere."""
REPEATED = 0.5
"""Share of a passage that stands elsewhere, too, from which it is not asked about."""


def is_boilerplate(text: str, path: Sequence[str]) -> bool:
    """By its looks and its heading."""
    if path and _CONTENTS.fullmatch(path[-1].strip(" .:")):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    entries = sum(_ENTRY.search(line) is not None for line in lines)
    if entries >= _ENTRIES and entries * 2 >= len(lines):
        return True
    solid = [item for item in text if not item.isspace()]
    return sum(map(str.isalpha, solid)) < _LETTERS * len(solid)


class RepeatedSentences:
    """Fingerprints of the sentences of all documents, to know which of them stand there twice."""

    def __init__(self) -> None:
        self._marks: list[NDArray[np.uint64]] = []
        self._spans: list[NDArray[np.int64]] = []

    def add(self, analyzed: Analyzed) -> None:
        bounds = np.append(analyzed.sentences, len(analyzed.text))
        spans = np.stack([bounds[:-1], bounds[1:]], axis=1)
        words = np.diff(analyzed.characters.word_starts.searchsorted(spans), axis=1)[:, 0]
        spans = spans[words >= _WORDS]
        self._spans.append(spans)
        self._marks.append(fingerprints(analyzed.text, spans))

    def repeated(self, documents: Sequence[Sequence[Span]]) -> list[NDArray[np.float64]]:
        """Of every passage of every document, the share that stands elsewhere as well."""
        if not self._marks:
            return []
        marks, count = np.unique(np.concatenate(self._marks), return_counts=True)
        twice = marks[count > 1]
        return [
            _shares(spans[np.isin(own, twice)], passages)
            for own, spans, passages in zip(self._marks, self._spans, documents, strict=True)
        ]


def _shares(repeated: NDArray[np.int64], passages: Sequence[Span]) -> NDArray[np.float64]:
    bounds = np.array(passages, dtype=np.int64).reshape(-1, 2)
    if not len(repeated) or not len(bounds):
        return np.zeros(len(bounds))
    size = np.append(0, np.cumsum(repeated[:, 1] - repeated[:, 0]))
    first = repeated[:, 0].searchsorted(bounds[:, 0])
    last = np.maximum(repeated[:, 0].searchsorted(bounds[:, 1]), first)
    length = np.maximum(bounds[:, 1] - bounds[:, 0], 1)
    return np.asarray((size[last] - size[first]) / length, dtype=np.float64)


_FEW_TERMS = 5
"""Distinct terms under which nothing can be asked."""
_MOST_NUMBERS = 4
"""More are a table of figures, and no more worth asking about."""
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:/]*(?=[^\w]|$|[a-zA-Z%°])")
_LABEL = re.compile(r"^\s*(?:\d+[.)]|\d+(?:\.\d+)+\.?)(?=\s)", re.MULTILINE)
_DEFINES = re.compile(
    r"\b(?:means|is defined as|refers to|is called|are called|stands for|bedeutet|heißt|signifie|désigne|significa)\b"
    r"|^\s*(?:[-*]\s+)?\*\*[^*\n]{2,60}\*\*",
    re.MULTILINE,
)


def importance(rarity: float, distinct: int, numbers: int, defines: bool) -> float:
    """From the summed rarity of a passage's distinct terms; 0: not to be asked about."""
    if distinct < _FEW_TERMS:
        return 0.0
    # The mean says how special the words are, the logarithm that more of them say more.
    return (
        rarity
        / distinct
        * math.log1p(distinct)
        * (1 + 0.05 * min(numbers, _MOST_NUMBERS))
        * (1.15 if defines else 1.0)
    )


def number_count(text: str) -> int:
    """Numbers that are said, not those that lists and headings are numbered by."""
    return len(_NUMBER.findall(_LABEL.sub("", text)))


def looks_defining(text: str) -> bool:
    """Whether a word is explained."""
    return _DEFINES.search(text) is not None


_FEW_PASSAGES = 4
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
class SourcePassages:
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
        return bool(frequency.min() <= max(_FEW_PASSAGES, len(self.passages) // 25))


def find_source_passages(
    documents: Sequence[Document], advance: OnProgress | None = None
) -> SourcePassages:
    """Reads every document once."""
    sentences = RepeatedSentences()
    spans: list[list[Span]] = []
    counts: list[TermCounts] = []
    result: list[list[SourcePassage]] = []
    seen = set[tuple[str, str]]()
    for at, document in enumerate(documents):
        # A copy says nothing new, nor does it make what it repeats boilerplate.
        known = (document.title, document.text)
        analyzed = Analyzed(Document(document.id, "") if known in seen else document)
        seen.add(known)
        sentences.add(analyzed)
        own = passage_spans(analyzed)
        terms = document_terms(analyzed)
        bounds = np.array(own, dtype=np.int64).reshape(-1, 2)
        counts.append(counts_in_spans(terms, bounds[:, 0], bounds[:, 1]))
        spans.append(own)
        result.append(_passages(analyzed, own, at, terms.language))
        if advance is not None:
            advance(len(document.text), f"{counted(at + 1, 'document')} looked at")
    repeated = sentences.repeated(spans)
    every = [passage for of_document in result for passage in of_document]
    shares = np.concatenate(repeated) if repeated else np.zeros(0)
    return _weighed(documents, every, join_counts(counts), shares)


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
) -> SourcePassages:
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
    return SourcePassages(documents, kept, _chosen(terms, parts), vocabulary, frequency)


def _chosen(terms: TermCounts, numbers: Sequence[int]) -> TermCounts:
    at = np.array(numbers, dtype=np.int64)
    low, high = terms.first[at], terms.first[at + 1]
    entries = ranges(low, high)
    first = np.append(0, np.cumsum(high - low)).astype(np.int64)
    return TermCounts(first, terms.term[entries], terms.times[entries])


_COMMON = 8
"""Passages; a term that more of them have ties nothing together."""
_SHARED = 2
"""Rare terms that two passages must share."""
_OF_ONE = 3
"""Pairs of the same two documents for each round through all."""

Pair = tuple[SourcePassage, SourcePassage]


def passage_pairs(source_passages: SourcePassages) -> list[Pair]:
    """Those that share most first, no passage twice; pairs of the same two documents are kept apart."""
    shared, rarity = _shared(source_passages)
    order = sorted(
        (key for key, count in shared.items() if count >= _SHARED),
        key=lambda key: (-rarity[key], key),
    )
    used: set[int] = set()
    times: Counter[tuple[int, int]] = Counter()
    result: list[tuple[int, Pair]] = []
    for one, other in order:
        if one in used or other in used:
            continue
        used |= {one, other}
        first, second = source_passages.passages[one], source_passages.passages[other]
        documents = (first.at, second.at)
        result.append((times[documents] // _OF_ONE, (first, second)))
        times[documents] += 1
    return [pair for _, pair in sorted(result, key=lambda pair: pair[0])]


def _shared(
    source_passages: SourcePassages,
) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]:
    """Of every two passages of different documents, the rare terms they share: how many, how rare."""
    having: defaultdict[int, list[int]] = defaultdict(list)
    for passage in source_passages.passages:
        terms = source_passages.terms_of(passage)
        frequency = source_passages.frequencies(terms)
        for term in terms[(frequency > 1) & (frequency <= _COMMON)].tolist():
            having[term].append(passage.number)
    count: Counter[tuple[int, int]] = Counter()
    rarity: Counter[tuple[int, int]] = Counter()
    for numbers in having.values():
        worth = int(1000 * np.log1p(len(source_passages.passages) / len(numbers)))
        for one, other in combinations(numbers, 2):
            if source_passages.passages[one].at != source_passages.passages[other].at:
                count[one, other] += 1
                rarity[one, other] += worth
    return count, rarity
