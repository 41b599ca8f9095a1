"""The documents of a studio: rows for the list, analyses that are kept, cuts made when somebody looks at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.recently_used import RecentlyUsed
from chunkwise.base.wording import thousands
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.core import Document
from chunkwise.studio.read_request import NotFound
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import language_of

_ANALYSED_CHARACTERS = 48_000_000
"""Of documents whose analyses are kept; the last one always is."""
_KEPT_CUTS = 24
BAND = 4_000
"""Characters of text that are drawn together."""
LONGEST_BAND = 8_000
"""Of a line without an end: more would take longer to lay out than a frame has."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """What the list says of one document."""

    number: int
    id: str
    title: str
    format: str
    language: str
    characters: int
    sections: int | None
    """None: not looked at yet."""
    chunks: int | None
    bad_cuts: int | None
    """Cuts with a boundary issue by the strategy of the list."""


def words_around(text: str, start: int, end: int, most: int) -> tuple[str, str]:
    """So many characters before and after a span, without half words."""
    before, after = text[max(start - most, 0) : start], text[end : end + most]
    if start > most:
        before = before.partition(" ")[2] or before
    if end + most < len(text):
        after = after.rpartition(" ")[0] or after
    return before, after


def needs_a_model(strategy: Strategy) -> bool:
    """Whether cutting asks an embedder or a language model, so that it takes its time."""
    return strategy.asks_a_model or hasattr(strategy.chunker, "model")


class DocumentSource(Protocol):
    """Where texts are, so that not all have to be in memory."""

    def document(self, number: int) -> Document: ...


class Cuts:
    """A document cut by one strategy: its chunks and their issues as columns, in the order of the text."""

    def __init__(self, analyzed: Analyzed, strategy: Strategy) -> None:
        from chunkwise.metrics.cuts.boundary_issues import KINDS, find_issues

        self.strategy = strategy
        self.analyzed = analyzed
        chunks = [chunk for chunk in strategy.chunks(analyzed) if not chunk.level]
        self.index = np.array([chunk.index for chunk in chunks], np.int64)
        self.start = np.array([chunk.start for chunk in chunks], np.int64)
        self.end = np.array([chunk.end for chunk in chunks], np.int64)
        self.size = np.array([chunk.token_count for chunk in chunks], np.int64)
        number = {kind: at for at, kind in enumerate(KINDS)}
        issues = find_issues(analyzed, chunks)
        self.issue_kind = np.array([number[issue.kind] for issue in issues], np.int64)
        self.issue_chunk = np.array([issue.chunk for issue in issues], np.int64)
        self.issue_offset = np.array([issue.offset for issue in issues], np.int64)
        self.bad_cuts = len({issue.cut for issue in issues})
        new = np.array([not issue.again for issue in issues], np.bool_)
        # A place may be wrong in one way for the chunk that ends there and for the next: it counts once.
        self.kinds = np.bincount(self.issue_kind[new], minlength=len(KINDS))

    def __len__(self) -> int:
        return len(self.start)

    def section(self, at: int) -> tuple[str, ...]:
        return self.analyzed.section(int(self.start[at]), int(self.end[at]))

    def touching(self, start: int, end: int) -> list[int]:
        """The chunks that have a character between two places."""
        return np.flatnonzero((self.start < end) & (self.end > start)).tolist()

    def issues_within(self, start: int, end: int, *, last: bool) -> list[int]:
        """The issues of a band; the one at the end of the text belongs to the last."""
        at = self.issue_offset
        inside = (at >= start) & ((at <= end) if last else (at < end))
        return np.flatnonzero(inside).tolist()

    @cached_property
    def _issue_places(self) -> NDArray[np.int64]:
        return np.unique(self.issue_offset)

    def issues_around(self, place: int) -> tuple[int | None, int | None]:
        """The nearest places with an issue before and behind one; None where there is none."""
        places = self._issue_places
        low, high = places.searchsorted(place).item(), places.searchsorted(place, "right").item()
        before = int(places[low - 1]) if low else None
        return before, int(places[high]) if high < len(places) else None

    @cached_property
    def density(self) -> list[tuple[int, int]]:
        """Chunks that begin and issues that stand in each of a hundred equal parts of the text."""
        edges = np.linspace(0, max(len(self.analyzed.text), 1), 101)
        begin = np.histogram(self.start, edges)[0].tolist()
        wrong = np.histogram(self.issue_offset, edges)[0].tolist()
        return list(zip(begin, wrong, strict=True))


class StudioCorpus:
    """Grows while it is read; a row once there keeps its number."""

    def __init__(self, strategy: str) -> None:
        self.strategy = get_strategy(strategy)
        """By which the issues of the list are counted."""
        self.rows: list[DocumentRow] = []
        self.formats: Counter[str] = Counter()
        self.languages: Counter[str] = Counter()
        self._source: DocumentSource = _InMemory()
        self._numbers: dict[str, int] = {}
        self._analyzed: RecentlyUsed[Analyzed] = RecentlyUsed(
            _ANALYSED_CHARACTERS, lambda analyzed: len(analyzed.text)
        )
        self._cuts: RecentlyUsed[Cuts] = RecentlyUsed(_KEPT_CUTS)
        self._bands: RecentlyUsed[NDArray[np.int64]] = RecentlyUsed(_KEPT_CUTS)

    def add(self, document: Document) -> None:
        """One that was read; it stays in memory."""
        assert isinstance(self._source, _InMemory)
        self._source.documents.append(document)
        self._add_row(document)

    def use(self, source: DocumentSource, count: int) -> Iterator[int]:
        """Documents that stay where they are; each number is handed out once its row is there."""
        self._source = source
        for number in range(count):
            self._add_row(source.document(number))
            yield number

    def _add_row(self, document: Document) -> None:
        number = len(self.rows)
        self._numbers[document.id] = number
        row = DocumentRow(
            number, document.id, document.title, document.format, language_of(document),
            len(document.text), None, None, None,
        )  # fmt: skip
        self.rows.append(row)
        self.formats[row.format] += 1
        self.languages[row.language] += 1

    def look_at(self, number: int) -> None:
        """Counts sections, chunks and issues for the list."""
        from chunkwise.metrics.cuts.boundary_issues import count_issues

        document = self.document(number)
        analyzed = Analyzed(document)
        chunks = [chunk for chunk in self.strategy.chunks(analyzed) if not chunk.level]
        row = self.rows[number]
        counts = count_issues(analyzed, chunks, row.language)
        sections = max(len(analyzed.sections) - 1, 0)  # the first stands for all before any heading
        self.rows[number] = replace(
            row, sections=sections, chunks=len(chunks), bad_cuts=counts.cuts
        )

    def __len__(self) -> int:
        return len(self.rows)

    def ids(self) -> list[str]:
        return list(self._numbers)

    def number_of(self, id: str) -> int | None:
        return self._numbers.get(id)

    def document(self, number: int) -> Document:
        if not 0 <= number < len(self.rows):
            there = (
                f"there are {thousands(len(self.rows))}, counted from 0"
                if self.rows
                else "there is none"
            )
            raise NotFound(f"there is no document {number}; {there}")
        return self._source.document(number)

    def documents(self) -> list[Document]:
        return [self._source.document(number) for number in range(len(self.rows))]

    def analyzed(self, number: int) -> Analyzed:
        """Kept, so that another strategy or size is arithmetic."""
        document = self.document(number)
        return self._analyzed.get(number, lambda: Analyzed(document))

    def cuts(self, number: int, strategy: Strategy) -> Cuts:
        analyzed = self.analyzed(number)
        return self._cuts.get((number, strategy.label), lambda: Cuts(analyzed, strategy))

    def bands(self, number: int) -> NDArray[np.int64]:
        """Where the bands of a document begin, and where the last one ends."""
        text = self.document(number).text
        return self._bands.get(number, lambda: band_edges(text))


class _InMemory:
    def __init__(self) -> None:
        self.documents: list[Document] = []

    def document(self, number: int) -> Document:
        return self.documents[number]


def band_edges(text: str) -> NDArray[np.int64]:
    """Bands end behind a line, or at a space where no line ends for long; they tile the text."""
    edges = [0]
    while edges[-1] < len(text):
        last = edges[-1]
        end = text.find("\n", last + BAND, last + LONGEST_BAND) + 1
        if not end:
            end = min(last + LONGEST_BAND, len(text))
            if end < len(text):
                end = text.rfind(" ", last + BAND, end) + 1 or end
        edges.append(end)
    return np.array(edges, np.int64)
