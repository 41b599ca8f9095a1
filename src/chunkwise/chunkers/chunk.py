"""Files in, chunks out: in order and as a stream, in one process or in several with the same result."""

from __future__ import annotations

import pickle
import secrets
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.atomic_files import scratch_folder
from chunkwise.base.errors import InvalidParameter, UnreadableDocument, warn_user
from chunkwise.base.garbage_collection import uncollected
from chunkwise.base.spill_and_full_disk import read_spilled
from chunkwise.base.wording import counted, one_or_many
from chunkwise.base.workers import (
    Jobs,
    OneByOne,
    WorkerDied,
    WorkerGroup,
    begin_workers,
    check_jobs,
)
from chunkwise.chunkers import Chunker, Strategy, get_strategy
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
    WhenUnreadable,
    loaded,
    refuse_text,
)
from chunkwise.documents.formats.markdown import looks_like_markdown
from chunkwise.documents.reading import SMALL
from chunkwise.documents.source import Source
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.source_code import ParsingBudget

DEFAULT_STRATEGY = "structure"

StrategyLike = str | Chunker | Strategy

_BATCH_BYTES = 1 << 20
_BATCH_ITEMS = 64
_NOTHING_LEFT = ParsingBudget(0)


class Chunked:
    """One document and its chunks."""

    is_read_later = False
    """Whether it is without its text and chunks, which are made when something is done with it."""

    def __init__(
        self,
        document: Document,
        chunks: list[Chunk],
        analyzed: Analyzed | None = None,
        *,
        unparsed: bool = False,
    ) -> None:
        self.document = document
        self.chunks = chunks
        self.unparsed = unparsed
        """Whether its code was cut as text because too much of the corpus is no code."""
        self._analyzed = analyzed

    @property
    def analyzed(self) -> Analyzed:
        """The analysis the chunks were made by; made anew where they came from another process."""
        if self._analyzed is None:
            self._analyzed = Analyzed(self.document, _NOTHING_LEFT if self.unparsed else None)
        return self._analyzed

    def __reduce__(self) -> tuple[object, ...]:
        # The arrays stay where they were made.
        return partial(Chunked, unparsed=self.unparsed), (self.document, self.chunks)

    def with_pieces(self, pieces: Iterator[object]) -> Chunked:
        """The document together with what follows it, where that is its own."""
        return self

    def under_id(self, id: str) -> Chunked:
        """The same document with this id."""
        document = replace(self.document, id=id)
        chunks = [replace(chunk, document=document) for chunk in self.chunks]
        return Chunked(document, chunks, unparsed=self.unparsed)


ChunkOutcome = Chunked | UnreadableDocument
_Unit = InputItem | UnchangedSource
_U = TypeVar("_U", bound=InputItem | UnchangedSource)
_Found = TypeVar("_Found")
_Outcome = ChunkOutcome | UnchangedSource


Aside = Callable[[Source], AbstractContextManager[Chunked | None]]
"""What takes a file in its own way, as long as the context lasts; None: it is read and cut as all others."""


class Further(Protocol):
    """What a worker makes of the documents it has cut, before it hands them over."""

    @property
    def stage(self) -> str:
        """What it does, in a word."""

    @property
    def accelerated(self) -> bool:
        """Whether it needs an accelerator."""

    def __call__(self, documents: list[Chunked]) -> list[Chunked]: ...

    def one_by_one(self, document: Chunked) -> Iterator[object]:
        """The same of one document; where it is read later, what becomes of it follows piece by piece."""


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
        InvalidParameter: The strategy is unknown, or a parameter is not allowed.

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
    """Split one document into chunks, in order; summaries come last."""
    trust_caller(strategy)
    if not isinstance(document, Document | Analyzed):
        raise InvalidParameter(
            f"document is {type(document).__name__}; a Document is needed: chunk_text takes a text"
        )
    return list(get_strategy(strategy).chunks(document))


def chunk(
    source: Inputs,
    strategy: StrategyLike = DEFAULT_STRATEGY,
    *,
    options: LoadOptions | None = None,
    jobs: Jobs = 1,
    on_unreadable: WhenUnreadable = "warn",
) -> Iterator[Chunk]:
    """Split documents into chunks, one document after the other.

    Args:
        source: Files, folders, globs, archives, addresses, tables or `Document`s.
        strategy: Name with parameters, or an object with `split`.
        options: How files are read.
        jobs: Processes, or a `RayCluster`. Each process imports the calling script: call under
            `if __name__ == "__main__":`.
        on_unreadable: "warn", "raise", or a function that takes the problem.

    Returns:
        An iterator of chunks, each an exact span of its document.

    Raises:
        InvalidParameter: The strategy is unknown, or a parameter is not allowed.
        ChunkwiseError: No document could be read.

    Example:
        >>> for chunk in chunkwise.chunk("handbook/", "sentences(max_tokens=200)"):
        ...     print(chunk.id, chunk.text)
    """
    trust_caller(strategy, options)
    unreadables = Unreadables(on_unreadable)
    refuse_text(source, on_unreadable)
    return _chunks_of(unreadables.of(chunk_each(source, strategy, options=options, jobs=jobs)))


def _chunks_of(documents: Iterator[Chunked]) -> Iterator[Chunk]:
    for chunked in documents:
        yield from chunked.chunks


def chunk_each(
    source: Inputs,
    strategy: StrategyLike = DEFAULT_STRATEGY,
    *,
    options: LoadOptions | None = None,
    jobs: Jobs = 1,
) -> Iterator[ChunkOutcome]:
    """Every document with its chunks, and every source that could not be read, in the order of the inputs."""
    outcomes = chunk_changed(source, strategy, lambda source: False, options, jobs)
    return (each for each in outcomes if not isinstance(each, UnchangedSource))  # none is known


def chunk_changed(
    source: Inputs,
    strategy: StrategyLike,
    is_known: IsKnown,
    options: LoadOptions | None = None,
    jobs: Jobs = 1,
    further: Further | None = None,
    aside: Aside | None = None,
) -> Iterator[ChunkOutcome | UnchangedSource]:
    """The same; a file of a store that is known is neither read nor cut, and comes in its place.

    Workers do `further` work on what they cut; what is cut in this process comes without. Large files that `aside`
    takes stay in this process, unless workers do all that is done with them and spill it piece by piece, and each is
    to be used before the next outcome is asked for.
    """
    options = options or LoadOptions()
    made = get_strategy(strategy)  # a wrong parameter is an error now, not after the first file
    check_jobs(jobs)
    reader = InputReader(source, options, is_known)
    # A language model answers several at once by itself, and what it may cost is counted in one process.
    alone = jobs == 1 or made.asks_a_model
    work = reader.changed_units()
    found = (
        _in_this_process(work, made, options, aside)
        if alone
        else _in_workers(work, strategy, options, jobs, further, aside)
    )
    return _distinct(found, reader)


def _outcomes(
    unit: _Unit,
    strategy: Strategy,
    options: LoadOptions,
    parsing: ParsingBudget,
    aside: Aside | None = None,
) -> Iterator[_Outcome]:
    if isinstance(unit, UnreadableDocument | UnchangedSource):
        yield unit
    elif isinstance(unit, Document):
        yield _chunked(unit, strategy, parsing)
    else:
        if aside is not None and _may_be_taken(aside, unit):
            try:
                with aside(unit) as taken:
                    if taken is not None:
                        yield taken
                        return
            except UnreadableDocument as error:
                yield error
                return
        for outcome in loaded(unit, options):
            yield _chunked(outcome, strategy, parsing) if isinstance(outcome, Document) else outcome


def _chunked(document: Document, strategy: Strategy, parsing: ParsingBudget) -> Chunked:
    analyzed = Analyzed(document, parsing)
    # A model is waited for, and others work meanwhile.
    with nullcontext() if strategy.asks_a_model else uncollected():
        chunks = list(strategy.chunks(analyzed))
    return Chunked(document, chunks, analyzed, unparsed=analyzed.unparsed)


def _in_this_process(
    work: Iterator[_Unit],
    strategy: StrategyLike,
    options: LoadOptions,
    aside: Aside | None = None,
) -> Iterator[_Outcome]:
    made, parsing = get_strategy(strategy), ParsingBudget()
    items = size = 0
    for unit in work:
        yield from _outcomes(unit, made, options, parsing, aside)
        items, size = items + 1, size + weight(unit)
        if _is_full(items, size):  # where a batch for a worker ends, so that all is cut alike
            parsing, items, size = ParsingBudget(), 0, 0


def cut_in_this_process(
    work: Iterator[InputItem], strategy: StrategyLike, options: LoadOptions
) -> Iterator[ChunkOutcome]:
    """Every document with its chunks, and what could not be read, one by one."""
    found = _in_this_process(work, strategy, options)
    return (each for each in found if not isinstance(each, UnchangedSource))  # none is known


def check_can_travel(strategy: StrategyLike) -> None:
    """Whether other processes can be sent it."""
    try:
        pickle.dumps(strategy)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidParameter(
            f"the strategy cannot be sent to another process ({error}); name it in a text, or use jobs=1"
        ) from error


def _in_workers(
    work: Iterator[_Unit],
    strategy: StrategyLike,
    options: LoadOptions,
    jobs: Jobs,
    further: Further | None,
    aside: Aside | None = None,
) -> Iterator[_Outcome]:
    check_can_travel(strategy)
    first = list(islice(work, 2))
    if len(first) < 2:  # another process would send it back with all its chunks
        yield from _in_this_process(iter(first), strategy, options, aside)
        return
    waiting: deque[Callable[[], Iterator[_Outcome]]] = deque()
    stage = "read and cut" if further is None else f"read, cut and {further.stage}"
    # Told here, and perhaps unfit to travel.
    sent = replace(options, on_passed_over=None, on_renamed=None)
    there = aside if further else None
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder()) if there else None
        workers: WorkerGroup[list[_Unit], list[_Outcome]] = begin_workers(
            jobs, _Cutting(strategy, sent, further, there), stage,
            accelerated=further is not None and further.accelerated,
        )  # fmt: skip
        # Stopped, or nobody wants the rest: a long document must not keep the caller waiting.
        stack.callback(workers.stop)
        for is_large, units in groupby(
            chain(first, work), partial(_may_be_taken, None if further else aside)
        ):
            if is_large:
                while waiting:
                    yield from waiting.popleft()()
                yield from _in_this_process(units, strategy, options, aside)
                continue
            for batch in batches(units):
                waiting += _begun(workers, batch, there, folder)
                while len(waiting) >= workers.at_once:
                    yield from waiting.popleft()()
        while waiting:
            yield from waiting.popleft()()


def _begun(
    workers: WorkerGroup[list[_Unit], list[_Outcome]],
    batch: list[_Unit],
    aside: Aside | None,
    folder: Path | None,
) -> Iterator[Callable[[], Iterator[_Outcome]]]:
    """The short ones of a batch together, each long one by itself."""
    for is_long, units in groupby(batch, partial(_may_be_taken, aside)):
        if not is_long:
            some = list(units)
            yield partial(surviving, workers, some, workers.submit(some))
            continue
        for unit in units:
            assert isinstance(unit, Source)
            assert folder is not None
            pieces = begin_long_document(workers, _Cutting.one_by_one, unit, folder)
            yield partial(_documents_of, pieces)


def _documents_of(begun: Callable[[], Iterator[object]]) -> Iterator[_Outcome]:
    pieces = begun()
    for piece in pieces:
        if isinstance(piece, Chunked):
            yield piece.with_pieces(pieces)
        elif isinstance(piece, UnreadableDocument):
            yield piece


def _may_be_taken(aside: Aside | None, unit: _Unit) -> bool:
    return aside is not None and isinstance(unit, Source) and unit.size > SMALL


def surviving(
    workers: WorkerGroup[list[_U], list[_Found]], batch: list[_U], found: Future[list[_Found]]
) -> Iterator[_Found | UnreadableDocument]:
    """What comes of a batch; where a process died at it, each is tried by itself, and one of them is unreadable."""
    try:
        yield from found.result()
        return
    except WorkerDied as error:
        if len(batch) == 1:
            unit = batch[0]
            yield died_at(unit.origin if isinstance(unit, Source) else str(unit.source), error)
            return
    for unit in batch:
        yield from surviving(workers, [unit], workers.submit([unit]))


@dataclass(frozen=True, slots=True)
class _Cutting:
    """What a worker does: sent to each once."""

    strategy: StrategyLike
    options: LoadOptions
    further: Further | None = None
    aside: Aside | None = None

    def __call__(self, batch: list[_Unit]) -> list[_Outcome]:
        made, parsing = get_strategy(self.strategy), ParsingBudget()
        found = [
            outcome for unit in batch for outcome in _outcomes(unit, made, self.options, parsing)
        ]
        if self.further is None:
            return found
        new = {at: each for at, each in enumerate(found) if isinstance(each, Chunked)}
        for at, each in zip(new, self.further(list(new.values())), strict=True):
            found[at] = each
        return found

    def one_by_one(self, unit: Source) -> Iterator[object]:
        """The documents of a large file, long ones piece by piece."""
        assert self.further is not None
        made = get_strategy(self.strategy)
        for outcome in _outcomes(unit, made, self.options, ParsingBudget(), self.aside):
            if isinstance(outcome, Chunked):
                yield from self.further.one_by_one(outcome)
            else:
                yield outcome


def cut_batch(
    strategy: StrategyLike, options: LoadOptions, batch: list[InputItem]
) -> list[ChunkOutcome]:
    """Every document of a batch with its chunks, and what could not be read."""
    found = _Cutting(strategy, options)(list(batch))
    return [each for each in found if not isinstance(each, UnchangedSource)]  # none is known


def batches(work: Iterator[_U]) -> Iterator[list[_U]]:
    """What is cut together: code is parsed as long as enough of a batch is code."""
    batch: list[_U] = []
    size = 0
    for unit in work:
        batch.append(unit)
        size += weight(unit)
        if _is_full(len(batch), size):
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _is_full(items: int, size: int) -> bool:
    return size >= _BATCH_BYTES or items >= _BATCH_ITEMS


def weight(unit: _Unit) -> int:
    """About the bytes there are to work on."""
    if isinstance(unit, Document):
        return len(unit.text)
    if isinstance(unit, UnreadableDocument | UnchangedSource):
        return 0
    return unit.size


def _distinct(outcomes: Iterator[_Outcome], reader: InputReader) -> Iterator[_Outcome]:
    unparsed = 0
    for outcome in outcomes:
        if isinstance(outcome, Chunked):
            unparsed += outcome.unparsed
            yield under_id(outcome, reader.own_id(outcome.document))
        else:
            yield outcome
    warn_of_unparsed(unparsed)


def warn_of_unparsed(unparsed: int) -> None:
    """Says how many documents of source code were cut as text, where there are some."""
    if unparsed:
        warn_user(
            f"{counted(unparsed, 'document')} named as source code {one_or_many(unparsed, 'was', 'were')} cut as text: "
            "so many others here are no code that parsers are not tried on each; leave those out (exclude), or cut "
            "documents by themselves"
        )


def under_id(chunked: Chunked, id: str) -> Chunked:
    """The same document with this id."""
    return chunked if id == chunked.document.id else chunked.under_id(id)


def begin_long_document(
    workers: WorkerGroup[Any, Any], one_by_one: OneByOne, source: Source, folder: Path
) -> Callable[[], Iterator[Any]]:
    """To be called in its turn: the pieces, or what is wrong with the document, of which then nothing is used."""
    path = folder / secrets.token_hex(8)
    spilled = workers.spill(one_by_one, source, path)
    return lambda: _pieces(spilled, source, path)


def _pieces(spilled: Future[None], source: Source, path: Path) -> Iterator[Any]:
    try:
        spilled.result()
    except UnreadableDocument as problem:
        path.unlink(missing_ok=True)
        yield problem
    except WorkerDied as error:
        path.unlink(missing_ok=True)
        yield died_at(source.origin, error)
    else:
        yield from read_spilled(path)


def died_at(name: str, error: WorkerDied) -> UnreadableDocument:
    """A document that ends the process of whoever works on it."""
    return UnreadableDocument(name, f"{error} while it was cut, perhaps for lack of memory")
