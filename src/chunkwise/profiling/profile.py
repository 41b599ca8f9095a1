"""A corpus looked at once, document by document, in bounded memory: sizes counted in histograms, by group."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.runner import Jobs, check_jobs
from chunkwise.base.wording import counted
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.chunkers.chunk import Chunked, Outcome, chunk_changed
from chunkwise.core import BLOCK_KINDS, SECTION_SEPARATOR, Chunk, Document, OnProgress
from chunkwise.documents import (
    Inputs,
    LoadOptions,
    UnchangedSource,
    Unreadables,
    read,
)
from chunkwise.profiling.notes import notes
from chunkwise.profiling.repeats import (
    DocumentPassages,
    RepeatedPassages,
    RepeatFinder,
    document_passages,
)
from chunkwise.profiling.results import (
    FITS,
    OVERSIZED,
    DocumentGroup,
    Oversized,
    PassagePlace,
    Profile,
    SizeBin,
    SizeSummary,
    preview,
)
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import language_of
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

MOST_FOLDERS = 100
"""Told apart; documents of further ones are counted together."""
OTHER_FOLDERS = "(other folders)"

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")

Cell = tuple[str, str]
"""A folder and a format."""


class MeasuredDocument(Chunked):
    """A document with its own figures."""

    def __init__(
        self, document: Document, tally: GroupTally, passages: DocumentPassages | None
    ) -> None:
        super().__init__(document, [])
        self.tally, self.passages = tally, passages

    def __reduce__(self) -> tuple[object, ...]:
        return MeasuredDocument, (self.document, self.tally, self.passages)


class _Uncut(Strategy):
    """Documents are only read."""

    def __init__(self) -> None:
        super().__init__("structure", get_strategy("structure").chunker)

    def chunks(self, document: Document | Analyzed) -> Iterator[Chunk]:
        return iter(())


@dataclass(frozen=True)
class _DocumentMeasurer:
    """Looks at documents wherever it is sent."""

    tokenizer: TokenizerLike
    stage = "profile"
    accelerated = False

    def __call__(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        for outcome in outcomes:
            yield (
                measured(outcome.document, self.tokenizer)
                if isinstance(outcome, Chunked)
                else outcome
            )


def measured(document: Document, tokenizer: TokenizerLike) -> MeasuredDocument:
    """A document with its sizes and passages."""
    analyzed, tally = Analyzed(document), GroupTally()
    tokens = analyzed.measure(tokenizer).starts
    tally.add(analyzed, tokens)
    return MeasuredDocument(document, tally, document_passages(analyzed, tokens))


class Profiler:
    """Takes documents one by one; texts are not kept."""

    def __init__(self, tokenizer: TokenizerLike = DEFAULT_TOKENIZER) -> None:
        self._tokenizer = get_tokenizer(tokenizer)
        self._cells: dict[Cell, GroupTally] = {}
        self._numbers: dict[Cell, int] = {}
        self._folders: set[str] = set()
        self._passages = RepeatFinder()

    def add(self, document: Document) -> None:
        self.take(measured(document, self._tokenizer))

    def take(self, measured: MeasuredDocument) -> None:
        """One that was looked at, here or by another process."""
        document = measured.document
        cell = self._cell(folder_of(document.id), document.format)
        self._cells[cell].merge(measured.tally)
        self._passages.add(document, measured.passages, self._numbers[cell])

    def _cell(self, folder: str, format: str) -> Cell:
        if folder not in self._folders and len(self._folders) >= MOST_FOLDERS:
            folder = OTHER_FOLDERS
        self._folders.add(folder)
        cell = folder, format
        if cell not in self._cells:
            self._cells[cell] = GroupTally()
            self._numbers[cell] = len(self._numbers)
        return cell

    def result(self) -> Profile:
        repeated = self._passages.repeated()
        total = self._group("all", list(self._cells), repeated)
        folders = self._groups(0, repeated)
        formats = self._groups(1, repeated)
        return Profile(self._tokenizer.name, total, folders, formats, notes(total, folders))

    def _groups(self, part: int, repeated: RepeatedPassages) -> tuple[DocumentGroup, ...]:
        names = dict.fromkeys(cell[part] for cell in self._cells)
        groups = [
            self._group(name, [cell for cell in self._cells if cell[part] == name], repeated)
            for name in names
        ]
        return tuple(sorted(groups, key=lambda group: (-group.tokens, group.name)))

    def _group(self, name: str, cells: list[Cell], repeated: RepeatedPassages) -> DocumentGroup:
        sum_of = GroupTally()
        formats: Counter[str] = Counter()
        for cell in cells:
            sum_of.merge(self._cells[cell])
            formats[cell[1]] += self._cells[cell].documents
        tokens = sum_of.lengths.total
        sections = sum_of.sections
        return DocumentGroup(
            name=name,
            documents=sum_of.documents,
            empty_documents=sum_of.empty,
            documents_with_headings=sum_of.headed,
            characters=sum_of.characters,
            tokens=tokens,
            languages=dict(sum_of.languages.most_common()),
            formats=dict(formats.most_common()),
            lengths=sum_of.lengths.summary(histogram=True),
            sections=sections.summary(histogram=True),
            longest_section=sum_of.longest_section,
            fits={size: _share(sections.at_most(size), sections.count) for size in FITS},
            sentences=sum_of.sentences.summary(),
            paragraphs=sum_of.paragraphs.summary(),
            lists=sum_of.lists.summary(),
            tables=sum_of.tables.summary(),
            code=sum_of.code.summary(),
            oversized=_oversized(sum_of),
            repeats=repeated.of([self._numbers[cell] for cell in cells], tokens),
        )


def _oversized(tally: GroupTally) -> Oversized:
    count = tally.sentences.count
    over, far_over = (count - tally.sentences.at_most(size) for size in OVERSIZED)
    examples = tuple(tally.oversized)
    return Oversized(over, far_over, _share(over, count), _share(far_over, count), examples)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def folder_of(doc_id: str) -> str:
    """The top-level folder of a document id; of an address its host; "." for none."""
    path = _SCHEME.sub("", doc_id).lstrip("/")
    first, slash, _ = path.partition("/")
    return first if slash and first not in ("", "..") else "."


def profile(
    source: Inputs,
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER,
    *,
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
    advance: OnProgress | None = None,
    on_document: Callable[[Document], None] | None = None,
) -> Profile:
    """Summarize a corpus: sizes, sections, languages, duplicates, and a first configuration.

    Args:
        source: Files, folders, globs, archives or `Document`s.
        tokenizer: Tokenizer for sizes.
        options: How to read files.
        jobs: Number of processes, or a `RayCluster`.
        advance: Progress callback, in characters.
        on_document: Called with each document.

    Returns:
        The profile.

    Raises:
        ChunkwiseError: No readable documents.

    Example:
        >>> print(chunkwise.profile("handbook/"))
    """
    trust_caller(tokenizer, options)
    check_jobs(jobs)
    tell = on_document or (lambda document: None)
    if jobs == 1:
        documents = _each_told(read(source, options), tell)
        return profile_documents(documents, tokenizer, advance)
    profiler, unreadables = Profiler(tokenizer), Unreadables(options.on_unreadable)
    outcomes = chunk_changed(
        source, _Uncut(), lambda source: False, options, jobs, _DocumentMeasurer(tokenizer)
    )
    result = (
        outcome for outcome in outcomes if not isinstance(outcome, UnchangedSource)
    )  # none is known
    for done, chunked in enumerate(unreadables.of(result), start=1):
        tell(chunked.document)
        if isinstance(chunked, MeasuredDocument):
            profiler.take(chunked)
        else:  # the only one, or known by another id than where it was read
            profiler.add(chunked.document)
        if advance is not None:
            advance(len(chunked.document.text), counted(done, "document"))
    return profiler.result()


def _each_told(
    documents: Iterable[Document], tell: Callable[[Document], None]
) -> Iterator[Document]:
    for document in documents:
        tell(document)
        yield document


def profile_documents(
    documents: Iterable[Document],
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER,
    advance: OnProgress | None = None,
) -> Profile:
    """The same of documents as they come; none is held."""
    profiler = Profiler(tokenizer)
    for done, document in enumerate(documents, start=1):
        profiler.add(document)
        if advance is not None:
            advance(len(document.text), counted(done, "document"))
    return profiler.result()


EDGES = (25, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1200, 1600, 3200, 6400, 12800)
"""Of the histogram shown; the sizes whose fit is told are among them."""


class SizeDistribution:
    """How often each size occurs: sizes repeat, so it grows with their differences, not with their number."""

    def __init__(self) -> None:
        self._times: Counter[int] = Counter()

    def add(self, values: NDArray[np.int64]) -> None:
        self._times.update(values.tolist())

    def merge(self, other: SizeDistribution) -> None:
        self._times.update(other._times)

    @property
    def count(self) -> int:
        return self._times.total()

    @property
    def total(self) -> int:
        return sum(size * times for size, times in self._times.items())

    def at_most(self, limit: int) -> int:
        """How many values are no larger."""
        return sum(times for size, times in self._times.items() if size <= limit)

    def quantile(self, share: float) -> int:
        """The smallest value that at least this share of all values do not exceed; 0 without values."""
        # Rounded first: 0.95 * 20 is a hair above 19 in binary.
        rank = max(math.ceil(round(share * self.count, 6)), 1)
        sizes = sorted(self._times)
        seen = accumulate(self._times[size] for size in sizes)
        return next((size for size, met in zip(sizes, seen, strict=True) if met >= rank), 0)

    def summary(self, *, histogram: bool = False) -> SizeSummary:
        count, total = self.count, self.total
        bins = self._histogram() if histogram and count else ()
        return SizeSummary(
            count, total, total / count if count else 0.0, self.quantile(0.5), self.quantile(0.95),
            max(self._times, default=0), bins,
        )  # fmt: skip

    def _histogram(self) -> tuple[SizeBin, ...]:
        below = [self.at_most(edge) for edge in EDGES]
        lows, highs = (0, *EDGES), (*EDGES, None)
        counts = np.diff([0, *below, self.count]).tolist()
        return tuple(SizeBin(*values) for values in zip(lows, highs, counts, strict=True))


_EXAMPLES = 3


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
        passage_places = sorted([*self.oversized, *places], key=lambda place: -place.tokens)
        self.oversized = passage_places[:_EXAMPLES]

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
    """Tokens that start inside each span: sums of neighbors are exact, a count alone may differ by one."""
    bounds = tokens.searchsorted(spans)
    return bounds[:, 1] - bounds[:, 0]


def _place(document: Analyzed, span: NDArray[np.int64], tokens: int) -> PassagePlace:
    start, end = int(span[0]), int(span[1])
    path = SECTION_SEPARATOR.join(document.section(start, end))
    return PassagePlace(
        document.document.id, start, int(tokens), path, preview(document.text, start, end)
    )
