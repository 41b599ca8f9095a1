"""What a profile says, as frozen values (the keys of its JSON), and how it is counted document by document."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.repr_html import drawn
from chunkwise.core import BLOCK_KINDS, SECTION_SEPARATOR
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import language_of

VERSION = 1
"""Of the JSON: goes up when a key changes its meaning or disappears."""

FITS = (100, 200, 400, 800)
"""Chunk sizes, in tokens, whose fit is told."""

OVERSIZED = (100, 200)
"""A sentence with more tokens than this is oversized, or very much so."""


@dataclass(frozen=True, slots=True)
class SizeBin:
    """How many sizes lie above `above` and at or below `up_to` tokens; None: no upper end."""

    above: int
    up_to: int | None
    count: int


@dataclass(frozen=True, slots=True)
class SizeSummary:
    """Sizes in tokens; median and p95 are exact up to 4,096 and within 0.3 % above."""

    count: int
    total: int
    mean: float
    median: int
    p95: int
    longest: int
    histogram: tuple[SizeBin, ...] = ()


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """A passage by name: where it stands and how it starts."""

    document: str
    start: int
    """Offset in code points."""
    tokens: int
    section: str = ""
    """Path of headings; empty: outside any section."""
    text: str = ""
    """Its first 80 characters, white space collapsed."""


@dataclass(frozen=True, slots=True)
class Oversized:
    """Sentences too long for small chunks."""

    over_100: int
    over_200: int
    share_over_100: float
    """Of all sentences."""
    share_over_200: float
    examples: tuple[PassagePlace, ...]
    """The three longest."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """One passage that stands in the corpus more than once."""

    count: int
    tokens: int
    """Of one copy."""
    text: str
    places: tuple[PassagePlace, ...]
    """The first three."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """Paragraphs and sentences of at least 8 words that occur more than once in the whole corpus."""

    passages: int
    """Distinct passages; a sentence of a repeated paragraph is not told again."""
    copies: int
    """Their occurrences in this group."""
    token_share: float
    """Tokens of these occurrences among the tokens of the group."""
    examples: tuple[Repeat, ...]
    complete: bool = True
    """False: the corpus has more passages than are compared, the first ones were."""


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """Documents that share a folder or a format, or all of them."""

    name: str
    documents: int
    empty_documents: int
    documents_with_headings: int
    characters: int
    tokens: int
    languages: dict[str, int]
    """Documents by language, most frequent first; source code is "code: python"."""
    formats: dict[str, int]
    """Documents by format."""
    lengths: SizeSummary
    """Documents."""
    sections: SizeSummary
    """From one heading to the next; text without headings is one section."""
    longest_section: PassagePlace | None
    fits: dict[int, float]
    """Share of sections that fit whole into so many tokens."""
    sentences: SizeSummary
    """Of prose: paragraphs and list items."""
    paragraphs: SizeSummary
    lists: SizeSummary
    tables: SizeSummary
    code: SizeSummary
    """Blocks of code, and source files."""
    oversized: Oversized
    repeats: Repeats

    @property
    def spoken(self) -> dict[str, int]:
        """Documents by the languages of people: without source code."""
        return {name: n for name, n in self.languages.items() if name.split(":")[0] != "code"}

    def share(self, sizes: SizeSummary) -> float:
        """Tokens in blocks of one kind among all tokens."""
        return sizes.total / self.tokens if self.tokens else 0.0


@dataclass(frozen=True, slots=True)
class ProfileAdvice:
    """Where to start, or something to know before starting."""

    scope: str
    """"corpus", "folder NAME" or "format NAME"."""
    kind: Literal["start", "note"]
    strategy_spec: str
    """What `chunkwise.get_strategy` takes; empty for a note."""
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """What a corpus looks like."""

    tokenizer: str
    total: DocumentGroup
    folders: tuple[DocumentGroup, ...]
    """By top-level folder of the document id, "." for none; most tokens first."""
    formats: tuple[DocumentGroup, ...]
    advice: tuple[ProfileAdvice, ...]

    def to_dict(self) -> dict[str, object]:
        """JSON-ready: the fields' names, and the version of this form."""
        return {"kind": "chunkwise profile", "version": VERSION, **_plain(asdict(self))}

    def __repr__(self) -> str:
        """Its size, and where to start."""
        start = next((each.strategy_spec for each in self.advice if each.kind == "start"), "")
        total = self.total
        told = f"{total.documents:,} documents, {total.tokens:,} tokens"
        return f"<Profile {told}{f'; start with {start}' if start else ''}>"

    def _repr_html_(self) -> str:
        return drawn(self)


def _plain(value: dict[str, object]) -> dict[str, object]:
    """Keys as texts, tuples as lists, as JSON would make them."""
    return {str(key): _plain_value(inner) for key, inner in value.items()}


def _plain_value(value: object) -> object:
    if isinstance(value, dict):
        return _plain(value)
    if isinstance(value, list | tuple):
        return [_plain_value(inner) for inner in value]
    return value


_EXACT = 4096
_STEPS = 256
"""Bins a doubling above the exact range: 0.3 % wide."""

EDGES = (25, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1200, 1600, 3200, 6400, 12800)
"""Of the histogram shown; the sizes whose fit is told are among them."""


class SizeDistribution:
    """Counts of whole numbers from 0 up; grows with the largest value's magnitude, never with their number."""

    def __init__(self) -> None:
        self._counts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.total = 0
        self.longest = 0

    def add(self, values: NDArray[np.int64]) -> None:
        if not len(values):
            return
        self.total += int(values.sum())
        self.longest = max(self.longest, int(values.max()))
        self._add_counts(np.bincount(_bins(values)))

    def merge(self, other: SizeDistribution) -> None:
        self.total += other.total
        self.longest = max(self.longest, other.longest)
        self._add_counts(other._counts)

    def _add_counts(self, counts: NDArray[np.int64]) -> None:
        if len(counts) > len(self._counts):
            self._counts = np.pad(self._counts, (0, len(counts) - len(self._counts)))
        self._counts[: len(counts)] += counts

    @property
    def count(self) -> int:
        return int(self._counts.sum())

    def at_most(self, limit: int) -> int:
        """How many values are no larger; exact for limits below the exact range."""
        return (
            int(self._counts[: limit + 1].sum()) if limit < _EXACT else self._at_most_large(limit)
        )

    def _at_most_large(self, limit: int) -> int:
        if limit >= self.longest:
            return self.count
        return int(self._counts[: int(_bins(np.array([limit]))[0]) + 1].sum())

    def quantile(self, share: float) -> int:
        """The smallest value that at least this share of all values do not exceed; 0 without values."""
        count = self.count
        if not count:
            return 0
        # Rounded first: 0.95 * 20 is a hair above 19 in binary.
        rank = max(math.ceil(round(share * count, 6)), 1)
        index = int(np.cumsum(self._counts).searchsorted(rank))
        if rank == count:
            return self.longest
        return min(_value(index), self.longest)

    def summary(self, *, histogram: bool = False) -> SizeSummary:
        count = self.count
        mean = self.total / count if count else 0.0
        bins = self._histogram() if histogram and count else ()
        return SizeSummary(
            count, self.total, mean, self.quantile(0.5), self.quantile(0.95), self.longest, bins
        )

    def _histogram(self) -> tuple[SizeBin, ...]:
        below = [self.at_most(edge) for edge in EDGES]
        lows, highs = (0, *EDGES), (*EDGES, None)
        counts = np.diff([0, *below, self.count]).tolist()
        return tuple(SizeBin(*values) for values in zip(lows, highs, counts, strict=True))


def _bins(values: NDArray[np.int64]) -> NDArray[np.int64]:
    if int(values.max()) < _EXACT:
        return values
    large = np.log2(np.maximum(values, _EXACT) / _EXACT) * _STEPS
    return np.where(values < _EXACT, values, _EXACT + large.astype(np.int64))


def _value(index: int) -> int:
    """The smallest value of a bin."""
    if index < _EXACT:
        return index
    return math.ceil(_EXACT * 2 ** ((index - _EXACT) / _STEPS))


PREVIEW = 80
_EXAMPLES = 3


def preview(text: str, start: int, end: int) -> str:
    """The first 80 characters of a passage, white space collapsed."""
    return " ".join(text[start : min(end, start + 4 * PREVIEW)].split())[:PREVIEW]


class GroupTally:
    """Counts and size distributions; holds no text but a few examples."""

    def __init__(self) -> None:
        self.documents = 0
        self.empty = 0
        self.headed = 0
        self.characters = 0
        self.languages: Counter[str] = Counter()
        self.lengths = SizeDistribution()
        self.sections = SizeDistribution()
        self.sentences = SizeDistribution()
        self.paragraphs = SizeDistribution()
        self.lists = SizeDistribution()
        self.tables = SizeDistribution()
        self.code = SizeDistribution()
        self.longest_section: PassagePlace | None = None
        self.oversized: list[PassagePlace] = []

    def add(self, document: Analyzed, tokens: NDArray[np.int64]) -> None:
        """Count one document; `tokens` are the starts of its tokens."""
        self.documents += 1
        if not document.text or document.text.isspace():
            self.empty += 1
            return
        self.characters += len(document.text)
        self.languages[language_of(document.document)] += 1
        self.lengths.add(np.array([len(tokens)]))
        self.headed += document.has_headings
        self._add_sections(document, tokens)
        if document.document.format == "code":
            self.code.add(np.array([len(tokens)]))
            return
        self._add_sentences(document, tokens)
        blocks = document.blocks
        # Most short documents have paragraphs only: looking for more would take longer than these.
        kinds = {BLOCK_KINDS[kind] for kind in set(blocks.kind.tolist())}
        self.paragraphs.add(_sizes(blocks.spans("paragraph"), tokens))
        if "item" in kinds:
            self.lists.add(_sizes(blocks.lists, tokens))
        if kinds & {"header", "row"}:
            self.tables.add(_sizes(blocks.tables, tokens))
        if "code" in kinds:
            self.code.add(_sizes(blocks.code, tokens))

    def _add_sections(self, document: Analyzed, tokens: NDArray[np.int64]) -> None:
        starts = document.regions
        spans = np.stack([starts, np.append(starts[1:], len(document.text))], axis=1)
        sizes = _sizes(spans, tokens)
        self.sections.add(sizes)
        longest = int(sizes.argmax())
        if self.longest_section is None or sizes[longest] > self.longest_section.tokens:
            self.longest_section = _place(document, spans[longest], sizes[longest])

    def _add_sentences(self, document: Analyzed, tokens: NDArray[np.int64]) -> None:
        prose = document.blocks.spans("paragraph", "item")
        if not len(prose):
            return
        starts = document.sentences
        inside = prose[:, 0].searchsorted(starts, "right") - 1
        here = (inside >= 0) & (starts < prose[inside, 1])
        # A sentence ends with its block: what follows is white space or markup.
        ends = np.minimum(np.append(starts[1:], len(document.text)), prose[inside, 1])
        spans = np.stack([starts[here], ends[here]], axis=1)
        sizes = _sizes(spans, tokens)
        self.sentences.add(sizes)
        least = self.oversized[-1].tokens if len(self.oversized) == _EXAMPLES else OVERSIZED[0]
        long = np.flatnonzero(sizes > least)
        if len(long):
            top = long[np.argsort(-sizes[long], kind="stable")][:_EXAMPLES]
            self._keep([_place(document, spans[index], sizes[index]) for index in top.tolist()])

    def _keep(self, places: list[PassagePlace]) -> None:
        found = sorted([*self.oversized, *places], key=lambda place: -place.tokens)
        self.oversized = found[:_EXAMPLES]

    def merge(self, other: GroupTally) -> None:
        """Count everything the other has counted."""
        self.documents += other.documents
        self.empty += other.empty
        self.headed += other.headed
        self.characters += other.characters
        self.languages.update(other.languages)
        for name in ("lengths", "sections", "sentences", "paragraphs", "lists", "tables", "code"):
            getattr(self, name).merge(getattr(other, name))
        mine, theirs = self.longest_section, other.longest_section
        if mine is None or (theirs is not None and theirs.tokens > mine.tokens):
            self.longest_section = theirs
        self._keep(other.oversized)


def _sizes(spans: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tokens that start inside each span: sums of neighbours are exact, a count alone may differ by one."""
    bounds = tokens.searchsorted(spans)
    return bounds[:, 1] - bounds[:, 0]


def _place(document: Analyzed, span: NDArray[np.int64], tokens: int) -> PassagePlace:
    start, end = int(span[0]), int(span[1])
    path = SECTION_SEPARATOR.join(document.section(start, end))
    return PassagePlace(
        document.document.id, start, int(tokens), path, preview(document.text, start, end)
    )
