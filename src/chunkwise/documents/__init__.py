"""Documents from files, folders, patterns, archives and standard input; one loader a format."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.fields import is_blank
from chunkwise.documents.ids import Ids, distinct_documents
from chunkwise.documents.inputs import Inputs, sources
from chunkwise.documents.loader import (
    Loader,
    LoadOptions,
    OnSkip,
    choose_loader,
    crash_is_unreadable,
    loaders,
)
from chunkwise.documents.record import NoText
from chunkwise.documents.source import Source

__all__ = [
    "Ids",
    "Inputs",
    "LoadOptions",
    "Loader",
    "OnSkip",
    "Source",
    "distinct_documents",
    "is_stream",
    "load",
    "loaders",
    "read",
    "sources",
]


def load(source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
    """The documents of one source; bad data goes to `on_skip` and is never raised."""
    try:
        name, loader = choose_loader(source, options)
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
        if is_blank(document.text):
            on_skip(NoText(source.origin, "empty: no text in it"))
        else:
            yield document


_DEFAULTS = LoadOptions()


def is_stream(source: Source, options: LoadOptions = _DEFAULTS) -> bool:
    """Whether one file holds many records, so that it is better read where they are used."""
    try:
        # A third party's class may leave it out.
        return bool(getattr(choose_loader(source, options)[1], "stream", False))
    except UnreadableDocument:
        return False


def _warn(problem: UnreadableDocument) -> None:
    warnings.warn(str(problem), stacklevel=2)


def read(
    inputs: Inputs,
    options: LoadOptions = _DEFAULTS,
    on_skip: OnSkip = _warn,
    leave_out: Collection[Path] = (),
) -> Iterator[Document]:
    """Every document of the inputs; by default a skipped one is a warning.

    `leave_out` names files that are no documents: those the caller writes.
    """
    ids = Ids()
    for source in sources(inputs, on_skip, leave_out):
        for document in load(source, options, on_skip):
            # After the id of the file: its path may be spelled in many ways.
            id = ids.distinct(document.id, source.id)
            yield document if id == document.id else replace(document, id=id)
