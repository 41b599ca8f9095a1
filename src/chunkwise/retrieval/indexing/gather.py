"""What an index is made of: files to be read, or documents that are there already, each with its chunks."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import Strategy
from chunkwise.chunkers.chunk import Chunked, ChunkOutcome, chunk_each
from chunkwise.core import Document, OnProgress
from chunkwise.documents import Inputs, LoadOptions, OnSkip, distinct_documents
from chunkwise.text.analysis import Analyzed

Material = Inputs | Iterable[Document]
"""Files, folders, patterns, archives; or documents that are there already."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the inputs are read."""

    inputs: Material
    options: LoadOptions | None = None
    on_skip: OnSkip | None = None
    jobs: int = 1
    leave_out: Collection[Path] = ()
    advance: OnProgress | None = None
    keep_others: bool = False
    """Whether documents of the index that are not among the inputs stay."""


def outcomes(reading: Reading, strategy: Strategy) -> Iterator[ChunkOutcome]:
    """Every document of the inputs in order, and every source that could not be read."""
    inputs = reading.inputs
    if isinstance(inputs, bytes) or not isinstance(inputs, str | os.PathLike | Iterable):
        raise InvalidParameter(
            f"the inputs are {inputs!r}; a path, a list of paths or documents (chunkwise.Document) are needed"
        )
    if not isinstance(inputs, str | os.PathLike):
        every = iter(inputs)
        first = next(every, None)
        if isinstance(first, Document):
            rest = map(_document, every)
            return _chunked(distinct_documents(itertools.chain([first], rest)), strategy)
        inputs = [] if first is None else [first, *map(_path, every)]
    return chunk_each(
        inputs, strategy, options=reading.options, jobs=reading.jobs, leave_out=reading.leave_out
    )


def _document(given: object) -> Document:
    if isinstance(given, Document):
        return given
    raise InvalidParameter(
        f"the inputs begin with a Document, and {given!r} among them is none; give documents alone, or files and "
        "folders alone (chunkwise.read makes documents of them)"
    )


def _path(given: str | os.PathLike[str] | Document) -> str | os.PathLike[str]:
    if not isinstance(given, Document):
        return given
    raise InvalidParameter(
        f"the inputs begin with a path, and the Document {given.id!r} is among them; give documents alone, or files "
        "and folders alone (chunkwise.read makes documents of them)"
    )


def _chunked(documents: Iterator[Document], strategy: Strategy) -> Iterator[ChunkOutcome]:
    for document in documents:
        analyzed = Analyzed(document)
        yield Chunked(document, list(strategy.chunks(analyzed)), analyzed)


def renamed(chunked: Chunked, id: str) -> Chunked:
    """The same document under this id."""
    if id == chunked.document.id:
        return chunked
    document = replace(chunked.document, id=id)
    return Chunked(document, [replace(chunk, document=document) for chunk in chunked.chunks])
