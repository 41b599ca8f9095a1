"""Files in, chunks out: in order and as a stream, in one process or in several with the same result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Literal, Protocol, TypeVar

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import InvalidParameter, UnreadableDocument
from chunkwise.base.garbage_collection import uncollected
from chunkwise.base.runner import Jobs, WorkerDied, check_jobs, map_parts
from chunkwise.chunkers import Chunker, Strategy, get_strategy
from chunkwise.chunkers.context_from_headings import with_headings
from chunkwise.chunkers.write_chunks import SegmentPlace
from chunkwise.core import Chunk, Document
from chunkwise.core.document import no_text
from chunkwise.documents import (
    InputItem,
    InputReader,
    Inputs,
    IsKnown,
    LoadOptions,
    UnchangedSource,
    Unreadables,
    loaded,
    refuse_text,
)
from chunkwise.documents.formats.markdown import looks_like_markdown
from chunkwise.documents.reading import SMALL
from chunkwise.documents.source import Source
from chunkwise.text.analyzed import Analyzed

DEFAULT_STRATEGY = "structure"

StrategyLike = str | Chunker | Strategy
Context = Literal["none", "headings"]

_BATCH_BYTES = 1 << 20
_BATCH_ITEMS = 64


class Chunked:
    """One document and its chunks; or a segment of a long one, to be let go of before the next is asked for."""

    def __init__(
        self,
        document: Document,
        chunks: list[Chunk],
        analyzed: Analyzed | None = None,
        *,
        place: SegmentPlace | None = None,
        until: int | None = None,
    ) -> None:
        self.document = document
        self.chunks = chunks
        """Positions and numbers of a segment's are those of the segment."""
        self.place = place or SegmentPlace()
        self.until = len(document.text) if until is None else until
        """Where the next segment begins, in positions of this one; the end of the text where there is none."""
        self._analyzed = analyzed

    @property
    def is_first(self) -> bool:
        """Of its document."""
        return not self.place.chunks

    @property
    def analyzed(self) -> Analyzed:
        """The analysis the chunks were made by; made anew where they came from another process."""
        if self._analyzed is None:
            self._analyzed = Analyzed(self.document)
        return self._analyzed

    def __reduce__(self) -> tuple[object, ...]:
        # The arrays stay where they were made.
        made = partial(Chunked, place=self.place, until=self.until)
        return made, (self.document, self.chunks)

    def with_pieces(self, pieces: Iterator[object]) -> Chunked:
        """The document together with what follows it, where that is its own."""
        return self

    def under_id(self, id: str) -> Chunked:
        """The same document with this id."""
        document = replace(self.document, id=id)
        chunks = [replace(chunk, document=document) for chunk in self.chunks]
        return Chunked(document, chunks, place=self.place, until=self.until)


ChunkOutcome = Chunked | UnreadableDocument
Outcome = ChunkOutcome | UnchangedSource
_Unit = InputItem | UnchangedSource
_U = TypeVar("_U", bound=InputItem | UnchangedSource)

CutLong = Callable[[Strategy, LoadOptions, Source], Iterator[ChunkOutcome]]
"""What takes a large file in its own way; where it gives nothing, the file is read and chunked as all others."""


class Further(Protocol):
    """What a worker makes of the documents it has cut, before it hands them over."""

    @property
    def stage(self) -> str:
        """What it does, in a word."""

    @property
    def accelerated(self) -> bool:
        """Whether it needs an accelerator."""

    def __call__(self, outcomes: Iterable[Outcome]) -> Iterator[object]:
        """The outcomes in their order; one that is read later may be followed by what it was made into."""


def chunk_text(
    text: str, strategy: StrategyLike = DEFAULT_STRATEGY, *, format: str = "auto", id: str = "text"
) -> list[Chunk]:
    """Split a string into chunks.

    Args:
        text: The text.
        strategy: Name with parameters, or an object with `split`.
        format: "text", "markdown", or "auto" to detect Markdown.
        id: Prefix of the chunk ids.

    Returns:
        The chunks, each an exact span of the text.

    Raises:
        InvalidParameter: An unknown strategy or invalid parameter.

    Example:
        >>> chunks = chunkwise.chunk_text("One. Two.", "sentences(max_tokens=2)")
    """
    trust_caller(strategy)
    if not isinstance(text, str):
        raise InvalidParameter(f"text is {no_text(text)}")
    if format not in ("auto", "text", "markdown"):
        raise InvalidParameter(f"format is {format!r}; allowed: auto, text, markdown")
    if format == "auto":
        format = "markdown" if looks_like_markdown(text) else "text"
    return list(get_strategy(strategy).chunks(Document(id, text, format=format)))


def chunk_document(document: Document, strategy: StrategyLike = DEFAULT_STRATEGY) -> list[Chunk]:
    """Split one document into chunks, in order; summaries come last.

    Args:
        document: The document.
        strategy: Name with parameters, or an object with `split`.
    """
    trust_caller(strategy)
    if not isinstance(document, Document | Analyzed):
        raise InvalidParameter(
            f"document is {type(document).__name__}; expected a Document (for a string, use "
            "chunk_text)"
        )
    return list(get_strategy(strategy).chunks(document))


def chunk(
    source: Inputs,
    strategy: StrategyLike = DEFAULT_STRATEGY,
    *,
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
) -> Iterator[Chunk]:
    """Split documents into chunks.

    Args:
        source: Files, folders, globs, archives, URLs, tables or `Document`s.
        strategy: Name with parameters, or an object with `split`.
        options: How to read files.
        jobs: Number of processes, or a `RayCluster`. Each process imports the calling script: call under
            `if __name__ == "__main__":`.

    Returns:
        An iterator of chunks, each an exact span of its document.

    Raises:
        InvalidParameter: An unknown strategy or invalid parameter.
        ChunkwiseError: No readable documents.

    Example:
        >>> for chunk in chunkwise.chunk("handbook/", "sentences(max_tokens=200)"):
        ...     print(chunk.id, chunk.text)
    """
    trust_caller(strategy, options)
    unreadables = Unreadables(options.on_unreadable)
    refuse_text(source, options)
    return _chunks_of(unreadables.of(chunk_each(source, strategy, options=options, jobs=jobs)))


def _chunks_of(documents: Iterator[Chunked]) -> Iterator[Chunk]:
    for chunked in documents:
        yield from chunked.chunks


def chunk_each(
    source: Inputs,
    strategy: StrategyLike = DEFAULT_STRATEGY,
    *,
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
    context: Context = "none",
    cut_long: CutLong | None = None,
) -> Iterator[ChunkOutcome]:
    """Every document with its chunks, and every source that could not be read, in the order of the inputs."""
    outcomes = chunk_changed(
        source, strategy, lambda source: False, options, jobs, context=context, cut_long=cut_long
    )
    return (
        outcome for outcome in outcomes if not isinstance(outcome, UnchangedSource)
    )  # none is known


def chunk_changed(
    source: Inputs,
    strategy: StrategyLike,
    is_known: IsKnown,
    options: LoadOptions = LoadOptions(),
    jobs: Jobs = 1,
    further: Further | None = None,
    context: Context = "none",
    cut_long: CutLong | None = None,
) -> Iterator[Outcome]:
    """The same; a file of a store that is known is neither read nor cut, and comes in its place.

    Workers do `further` work on what they cut; what is cut in this process comes without.
    """
    made = get_strategy(strategy)  # a wrong parameter is an error now, not after the first file
    check_jobs(jobs)
    reader = InputReader(source, options, is_known)
    units = reader.changed_units()
    cut = CutPart(strategy, options, context, cut_long)
    # A language model answers several at once by itself, and what it may cost is counted in one process.
    if (jobs == 1 and not made.is_of_file) or made.asks_a_model:
        return _distinct(cut(units), reader)
    first = list(islice(units, 2))
    # Another process would send it back with all its chunks.
    if len(first) < 2 and not made.is_of_file:
        return _distinct(cut(first), reader)
    # Told here, and perhaps unfit to travel.
    sent = replace(options, on_unreadable="warn", on_passed_over=None, on_renamed=None)
    cut = replace(cut, options=sent, further=further)
    stage = "read and chunk" if further is None else f"read, chunk and {further.stage}"
    result = map_parts(
        cut, batches(chain(first, units)), jobs, stage, _lost,
        accelerated=further is not None and further.accelerated, apart=made.is_of_file,
    )  # fmt: skip
    return _distinct(result, reader)


@dataclass(frozen=True, slots=True)
class CutPart:
    """What is done with a part: sent to each worker once."""

    strategy: StrategyLike
    options: LoadOptions
    context: Context = "none"
    cut_long: CutLong | None = None
    further: Further | None = None

    def __call__(self, part: Iterable[_Unit]) -> Iterator[Outcome]:
        outcomes = self._outcomes(part)
        # What follows a document is taken together with it: see `_distinct`.
        return outcomes if self.further is None else self.further(outcomes)  # type: ignore[return-value]

    def _outcomes(self, part: Iterable[_Unit]) -> Iterator[Outcome]:
        made = get_strategy(self.strategy)
        for unit in part:
            for outcome in self._outcomes_of(unit, made):
                if self.context == "headings" and isinstance(outcome, Chunked):
                    outcome.chunks = with_headings(outcome.chunks, outcome.analyzed)
                yield outcome
                del outcome  # before the next one is made

    def _outcomes_of(self, unit: _Unit, made: Strategy) -> Iterator[Outcome]:
        if isinstance(unit, UnreadableDocument | UnchangedSource):
            yield unit
        elif isinstance(unit, Document):
            yield _chunked(unit, made)
        else:
            if self.cut_long is not None and unit.size > SMALL:
                is_taken = False
                for result in self.cut_long(made, self.options, unit):
                    is_taken = True
                    yield result
                    del result
                if is_taken:
                    return
            for item in loaded(unit, self.options):
                yield _chunked(item, made) if isinstance(item, Document) else item


def _chunked(document: Document, strategy: Strategy) -> Chunked:
    analyzed = Analyzed(document)
    # A model is waited for, and others work meanwhile.
    with nullcontext() if strategy.asks_a_model else uncollected():
        chunks = list(strategy.chunks(analyzed))
    return Chunked(document, chunks, analyzed)


def batches(work: Iterator[_U]) -> Iterator[list[_U]]:
    """What is cut together."""
    batch: list[_U] = []
    size = 0
    for unit in work:
        batch.append(unit)
        size += weight(unit)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_ITEMS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def weight(unit: _Unit) -> int:
    """About the bytes there are to work on."""
    if isinstance(unit, Document):
        return len(unit.text)
    if isinstance(unit, UnreadableDocument | UnchangedSource):
        return 0
    return unit.size


def _distinct(outcomes: Iterator[Outcome], reader: InputReader) -> Iterator[Outcome]:
    id = ""
    for outcome in outcomes:
        if isinstance(outcome, Chunked):
            if outcome.is_first:
                id = reader.own_id(outcome.document)
            outcome = under_id(outcome, id).with_pieces(outcomes)
        if isinstance(outcome, Chunked | UnreadableDocument | UnchangedSource):
            yield outcome  # else it belongs to a document that nobody wanted
        del outcome  # before the next one is read


def under_id(chunked: Chunked, id: str) -> Chunked:
    """The same document with this id."""
    return chunked if id == chunked.document.id else chunked.under_id(id)


def _lost(part: list[_Unit], error: WorkerDied) -> UnreadableDocument:
    (unit,) = part
    assert not isinstance(unit, UnchangedSource)
    return died_at(unit, error)


def origin_of(unit: InputItem) -> str:
    """Where a unit of work comes from."""
    return unit.origin if isinstance(unit, Source) else str(unit.source)


def died_at(unit: InputItem, error: WorkerDied) -> UnreadableDocument:
    """A document that ends the process of whoever works on it."""
    return UnreadableDocument(
        origin_of(unit), f"{error} during chunking, perhaps for lack of memory"
    )
