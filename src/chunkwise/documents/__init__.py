"""Documents from files, folders, patterns, archives and standard input; one loader a format."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from chunkwise.core import Document
from chunkwise.documents.choose import choose, crash_is_unreadable, loaders
from chunkwise.documents.inputs import Inputs, sources
from chunkwise.documents.loader import Loader, OnSkip
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.source import Source
from chunkwise.errors import UnreadableDocument

__all__ = [
    "Inputs",
    "LoadOptions",
    "Loader",
    "OnSkip",
    "Source",
    "is_stream",
    "load",
    "loaders",
    "read",
    "sources",
    "unique",
]


def load(source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
    """The documents of one source; bad data goes to `on_skip` and is never raised."""
    try:
        name, loader = choose(source, options)
    except UnreadableDocument as error:
        on_skip(error)
        return
    # Collected first: what the caller's `on_skip` raises must not look like a parser's crash.
    skipped: list[UnreadableDocument] = []
    documents: Iterator[Document] = iter(())
    started = False
    while True:
        document = None
        ended = False
        try:
            with crash_is_unreadable(source, name):
                if not started:
                    documents, started = loader.load(source, options, skipped.append), True
                document = next(documents, None)
        except UnreadableDocument as error:
            skipped.append(error)
            ended = True
        for problem in skipped:
            on_skip(problem)
        skipped.clear()
        if document is None or ended:
            return
        yield document


def is_stream(source: Source) -> bool:
    """Whether one file holds many records, so that it is better read where they are used."""
    try:
        return bool(getattr(choose(source, LoadOptions())[1], "stream", False))
    except UnreadableDocument:
        return False


def unique(documents: Iterable[Document], on_skip: OnSkip) -> Iterator[Document]:
    """Documents whose id is new; a repeated one is skipped, since chunk ids build on it."""
    first: dict[str, str] = {}
    for document in documents:
        if document.id in first:
            why = f"duplicate id {document.id!r} (first in {first[document.id]})"
            on_skip(UnreadableDocument(document.source, why))
        else:
            first[document.id] = document.source
            yield document


_DEFAULTS = LoadOptions()


def _warn(problem: UnreadableDocument) -> None:
    warnings.warn(str(problem), stacklevel=2)


def read(
    inputs: Inputs,
    options: LoadOptions = _DEFAULTS,
    on_skip: OnSkip = _warn,
) -> Iterator[Document]:
    """Every document of the inputs; by default a skipped one is a warning."""
    found = (doc for source in sources(inputs, on_skip) for doc in load(source, options, on_skip))
    return unique(found, on_skip)
