"""Files in, chunks out: in order and as a stream, in one process or in several with the same result."""

from __future__ import annotations

import itertools
import os
import signal
from collections import deque
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from chunkwise.chunkers import Chunker, Strategy, get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.documents import Inputs, LoadOptions, OnSkip, Source, is_stream, load, sources
from chunkwise.documents.markdown import looks_like_markdown
from chunkwise.errors import ChunkwiseError, InvalidParameter, UnreadableDocument

DEFAULT_STRATEGY = "structure"

StrategyLike = str | Chunker | Strategy

_BATCH_BYTES = 1 << 20
_BATCH_ITEMS = 64
_AHEAD = 3
"""Batches a worker may be ahead of the reader: what bounds memory."""


class Chunked(NamedTuple):
    """One document and its chunks."""

    document: Document
    chunks: list[Chunk]


Outcome = Chunked | UnreadableDocument


def chunk_text(
    text: str, strategy: StrategyLike = DEFAULT_STRATEGY, *, format: str = "auto", id: str = "text"
) -> list[Chunk]:
    """The chunks of a string; `format` is text, markdown or auto (Markdown where it looks like it)."""
    if not isinstance(text, str):
        raise InvalidParameter(
            f"text is {type(text).__name__}; a str is needed: decode bytes first"
        )
    if format == "auto":
        format = "markdown" if looks_like_markdown(text) else "text"
    return list(get_strategy(strategy).chunks(Document(id, text, format=format)))


def chunk_document(document: Document, strategy: StrategyLike = DEFAULT_STRATEGY) -> list[Chunk]:
    """The chunks of a document."""
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

    A file that cannot be read is raised unless `on_skip` takes it.
    """
    for outcome in chunk_each(inputs, strategy, options=options, jobs=jobs):
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
) -> Iterator[Outcome]:
    """Every document with its chunks, and every source that could not be read, in the order of the inputs.

    `leave_out` names resolved paths that are no documents: the files the caller writes.
    """
    options = options or LoadOptions()
    get_strategy(strategy)  # a wrong parameter is an error now, not after the first file
    work = _units(inputs, options, leave_out)
    found = (
        _alone(work, strategy, options) if jobs == 1 else _together(work, strategy, options, jobs)
    )
    return _unique(found)


_Unit = Source | Document | UnreadableDocument


def _units(inputs: Inputs, options: LoadOptions, leave_out: Collection[Path]) -> Iterator[_Unit]:
    """What there is to do: files a worker opens by itself, records read here, and what is skipped already."""
    skipped: deque[UnreadableDocument] = deque()
    for source in sources(inputs, skipped.append):
        yield from _drain(skipped)
        if leave_out and source.path is not None and Path(source.path).resolve() in leave_out:
            continue
        if options.loader is None and is_stream(source):
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


def _outcomes(unit: _Unit, strategy: Strategy, options: LoadOptions) -> Iterator[Outcome]:
    if isinstance(unit, UnreadableDocument):
        yield unit
    elif isinstance(unit, Document):
        yield Chunked(unit, list(strategy.chunks(unit)))
    else:
        skipped: deque[UnreadableDocument] = deque()
        for document in load(unit, options, skipped.append):
            yield from _drain(skipped)
            yield Chunked(document, list(strategy.chunks(document)))
        yield from _drain(skipped)


def _alone(
    work: Iterator[_Unit], strategy: StrategyLike, options: LoadOptions
) -> Iterator[Outcome]:
    made = get_strategy(strategy)
    return itertools.chain.from_iterable(_outcomes(unit, made, options) for unit in work)


def _together(
    work: Iterator[_Unit], strategy: StrategyLike, options: LoadOptions, jobs: int
) -> Iterator[Outcome]:
    waiting: deque[Future[list[Outcome]]] = deque()
    # Not forked: a fork copies locks that another thread of the caller may hold.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _leave_interrupts) as pool:
        try:
            for batch in _batches(work):
                waiting.append(pool.submit(_work, batch, strategy, options))
                if len(waiting) >= jobs * _AHEAD:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise ChunkwiseError(
                "a worker process died, perhaps for lack of memory; run again with --jobs 1"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C reaches every process; the one that reads the results answers for all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(batch: list[_Unit], strategy: StrategyLike, options: LoadOptions) -> list[Outcome]:
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


def _unique(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    """No two documents share an id, since chunk ids build on it: a second one is named after its file, too."""
    taken: set[str] = set()
    for outcome in outcomes:
        if isinstance(outcome, Chunked):
            if outcome.document.id in taken:
                outcome = _renamed(outcome, taken)
            taken.add(outcome.document.id)
        yield outcome


def _renamed(chunked: Chunked, taken: set[str]) -> Chunked:
    document = chunked.document
    stem = f"{document.source}/{document.id}"
    tries = itertools.chain([stem], (f"{stem}~{number}" for number in itertools.count(2)))
    document = replace(document, id=next(name for name in tries if name not in taken))
    return Chunked(document, [replace(chunk, document=document) for chunk in chunked.chunks])
