"""Files in, chunks out: in order and as a stream, in one process or in several with the same result."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import NamedTuple

from chunkwise.chunkers import Chunker, Strategy, get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.documents import LoadOptions, OnSkip, Source, is_stream, load, sources
from chunkwise.documents.markdown import looks_like_markdown
from chunkwise.errors import ChunkwiseError, UnreadableDocument

DEFAULT_STRATEGY = "structure"

Inputs = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
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
) -> Iterator[Outcome]:
    """Every document with its chunks, and every source that could not be read, in the order of the inputs."""
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    options = options or LoadOptions()
    get_strategy(strategy)  # a wrong parameter is an error now, not after the first file
    work = _units(paths, options)
    found = (
        _alone(work, strategy, options) if jobs == 1 else _together(work, strategy, options, jobs)
    )
    return _unique(found)


_Unit = Source | Document | UnreadableDocument


def _units(paths: list[str | os.PathLike[str]], options: LoadOptions) -> Iterator[_Unit]:
    """What there is to do: files a worker opens by itself, records read here, and what is skipped already."""
    skipped: deque[UnreadableDocument] = deque()
    for source in sources(paths, skipped.append):
        yield from _drain(skipped)
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
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
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
    """A document whose id was there before is skipped: chunk ids build on it."""
    first: dict[str, str] = {}
    for outcome in outcomes:
        if isinstance(outcome, UnreadableDocument):
            yield outcome
            continue
        document = outcome.document
        if document.id in first:
            reason = f"duplicate id {document.id!r} (first in {first[document.id]})"
            yield UnreadableDocument(document.source, reason)
        else:
            first[document.id] = document.source
            yield outcome
