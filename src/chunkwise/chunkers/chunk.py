"""Files in, chunks out: in order and as a stream, in one process or in several with the same result."""

from __future__ import annotations

import itertools
import os
import pickle
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path

from chunkwise.base.errors import InvalidParameter, UnreadableDocument
from chunkwise.base.workers import Workers
from chunkwise.chunkers import Chunker, Strategy, get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.documents import (
    Ids,
    Inputs,
    LoadOptions,
    OnSkip,
    Source,
    is_stream,
    load,
    sources,
)
from chunkwise.documents.markdown import looks_like_markdown
from chunkwise.text.analysis import Analyzed

DEFAULT_STRATEGY = "structure"

StrategyLike = str | Chunker | Strategy

_BATCH_BYTES = 1 << 20
_BATCH_ITEMS = 64
_AHEAD = 3
"""Batches a worker may be ahead of the reader: what bounds memory."""


class Chunked:
    """One document and its chunks."""

    def __init__(
        self, document: Document, chunks: list[Chunk], analyzed: Analyzed | None = None
    ) -> None:
        self.document = document
        self.chunks = chunks
        self._analyzed = analyzed

    @property
    def analyzed(self) -> Analyzed:
        """The analysis the chunks were made by; made anew where they came from another process."""
        if self._analyzed is None:
            self._analyzed = Analyzed(self.document)
        return self._analyzed

    def __reduce__(self) -> tuple[object, ...]:
        return Chunked, (self.document, self.chunks)  # the arrays stay where they were made


ChunkOutcome = Chunked | UnreadableDocument


def chunk_text(
    text: str, strategy: StrategyLike = DEFAULT_STRATEGY, *, format: str = "auto", id: str = "text"
) -> list[Chunk]:
    """The chunks of a string; `format` is text, markdown or auto (Markdown where it looks like it)."""
    if not isinstance(text, str):
        raise InvalidParameter(
            f"text is {type(text).__name__}; a str is needed: decode bytes first"
        )
    if format not in ("auto", "text", "markdown"):
        raise InvalidParameter(f"format is {format!r}; allowed: auto, text, markdown")
    if format == "auto":
        format = "markdown" if looks_like_markdown(text) else "text"
    return list(get_strategy(strategy).chunks(Document(id, text, format=format)))


def chunk_document(document: Document, strategy: StrategyLike = DEFAULT_STRATEGY) -> list[Chunk]:
    """The chunks of a document."""
    if not isinstance(document, Document | Analyzed):
        raise InvalidParameter(
            f"document is {type(document).__name__}; a Document is needed: chunk_text takes a text"
        )
    return list(get_strategy(strategy).chunks(document))


def chunk(
    inputs: Inputs,
    strategy: StrategyLike = DEFAULT_STRATEGY,
    *,
    options: LoadOptions | None = None,
    jobs: int = 1,
    on_skip: OnSkip | None = None,
) -> Iterator[Chunk]:
    """The chunks of files, folders, globs and archives, one document after the other.

    A file that cannot be read is raised unless `on_skip` takes it. Several `jobs` are processes, each of which imports
    the script that began it: there, what asks for them stands under `if __name__ == "__main__":`.
    """
    return _chunks_of(chunk_each(inputs, strategy, options=options, jobs=jobs), on_skip)


def _chunks_of(outcomes: Iterator[ChunkOutcome], on_skip: OnSkip | None) -> Iterator[Chunk]:
    for outcome in outcomes:
        if isinstance(outcome, Chunked):
            yield from outcome.chunks
        elif on_skip is None:
            raise outcome
        else:
            on_skip(outcome)


def chunk_each(
    inputs: Inputs,
    strategy: StrategyLike = DEFAULT_STRATEGY,
    *,
    options: LoadOptions | None = None,
    jobs: int = 1,
    leave_out: Collection[Path] = (),
) -> Iterator[ChunkOutcome]:
    """Every document with its chunks, and every source that could not be read, in the order of the inputs.

    `leave_out` names files that are no documents: those the caller writes. On `jobs` see `chunk`.
    """
    options = options or LoadOptions()
    made = get_strategy(strategy)  # a wrong parameter is an error now, not after the first file
    if jobs < 1:
        raise InvalidParameter(f"jobs is {jobs}; the least allowed is 1")
    files: dict[str, str] = {}
    work = _units(_paths(inputs), options, leave_out, files)
    # A language model answers several at once by itself, and what it may cost is counted in one process.
    alone = jobs == 1 or made.asks_a_model
    found = (
        _in_this_process(work, made, options)
        if alone
        else _in_workers(work, strategy, options, jobs)
    )
    return _distinct(found, files)


def _paths(inputs: Inputs) -> Inputs:
    """The inputs, if they are paths: one, or several, which are looked at one by one as they are read."""
    if isinstance(inputs, str | os.PathLike):
        return inputs
    if isinstance(inputs, bytes) or not isinstance(inputs, Iterable):
        raise _no_path("inputs is", inputs)
    return map(_path, inputs)


def _path(given: str | os.PathLike[str]) -> str | os.PathLike[str]:
    if isinstance(given, str | os.PathLike):
        return given
    raise _no_path("among the inputs is", given)


def _no_path(what: str, given: object) -> InvalidParameter:
    return InvalidParameter(
        f"{what} {type(given).__name__}; needed: the path of a file, folder or archive, a pattern, '-', or a list of "
        "them (chunk_text takes a text, chunk_document a Document)"
    )


_Unit = Source | Document | UnreadableDocument


def _units(
    inputs: Inputs, options: LoadOptions, leave_out: Collection[Path], files: dict[str, str]
) -> Iterator[_Unit]:
    """What there is to do: files a worker opens by itself, records read here, and what is skipped already.

    The ids of all files are put into `files`, by their origins.
    """
    skipped: deque[UnreadableDocument] = deque()
    for source in sources(inputs, skipped.append, leave_out):
        yield from _drain(skipped)
        files[source.origin] = source.id
        if is_stream(source, options):
            for document in load(source, options, skipped.append):
                yield from _drain(skipped)
                yield document
        else:
            yield source
        yield from _drain(skipped)
    yield from _drain(skipped)


def _drain(skipped: deque[UnreadableDocument]) -> Iterator[UnreadableDocument]:
    while skipped:
        yield skipped.popleft()


def _outcomes(unit: _Unit, strategy: Strategy, options: LoadOptions) -> Iterator[ChunkOutcome]:
    if isinstance(unit, UnreadableDocument):
        yield unit
    elif isinstance(unit, Document):
        yield _chunked(unit, strategy)
    else:
        skipped: deque[UnreadableDocument] = deque()
        for document in load(unit, options, skipped.append):
            yield from _drain(skipped)
            yield _chunked(document, strategy)
        yield from _drain(skipped)


def _chunked(document: Document, strategy: Strategy) -> Chunked:
    analyzed = Analyzed(document)
    return Chunked(document, list(strategy.chunks(analyzed)), analyzed)


def _in_this_process(
    work: Iterator[_Unit], strategy: StrategyLike, options: LoadOptions
) -> Iterator[ChunkOutcome]:
    made = get_strategy(strategy)
    return itertools.chain.from_iterable(_outcomes(unit, made, options) for unit in work)


def _in_workers(
    work: Iterator[_Unit], strategy: StrategyLike, options: LoadOptions, jobs: int
) -> Iterator[ChunkOutcome]:
    try:
        pickle.dumps(strategy)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidParameter(
            f"the strategy cannot be sent to another process ({error}); name it in a text, or use jobs=1"
        ) from error
    waiting: deque[Future[list[ChunkOutcome]]] = deque()
    workers = Workers(jobs, partial(_work, strategy, options))
    try:
        for batch in _batches(work):
            waiting.append(workers.submit(batch))
            if len(waiting) >= jobs * _AHEAD:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        # Stopped, or nobody wants the rest: a long document must not keep the caller waiting.
        workers.stop()


def _work(strategy: StrategyLike, options: LoadOptions, batch: list[_Unit]) -> list[ChunkOutcome]:
    made = get_strategy(strategy)
    return [outcome for unit in batch for outcome in _outcomes(unit, made, options)]


def _batches(work: Iterator[_Unit]) -> Iterator[list[_Unit]]:
    batch: list[_Unit] = []
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
    if isinstance(unit, UnreadableDocument):
        return 0
    if unit.data is not None:
        return len(unit.data)
    try:
        return os.path.getsize(unit.path or "")
    except OSError:
        return 0


def _distinct(outcomes: Iterator[ChunkOutcome], files: Mapping[str, str]) -> Iterator[ChunkOutcome]:
    """No two documents share an id, since chunk ids build on it; a taken one is named after its file, too."""
    ids = Ids()
    for outcome in outcomes:
        if isinstance(outcome, Chunked):
            document = outcome.document
            id = ids.distinct(document.id, files.get(document.source, document.source))
            yield outcome if id == document.id else _renamed(outcome, id)
        else:
            yield outcome


def _renamed(chunked: Chunked, id: str) -> Chunked:
    document = replace(chunked.document, id=id)
    return Chunked(document, [replace(chunk, document=document) for chunk in chunked.chunks])
