"""Plain text and Markdown too long to lie in memory, read from its beginning to its end as it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.markdown import MarkdownLoader
from chunkwise.documents.formats.text import TextLoader
from chunkwise.documents.loader import Loader, LoadOptions, choose_loader
from chunkwise.documents.reading import SMALL, fetched, revision_of
from chunkwise.documents.source import Source, os_reason
from chunkwise.records.encoding import StreamedEncoding, TextSize, decoded, streamed_encoding

_HEAD = 1 << 18
"""Characters among which a loader finds title and front matter; it looks at a hundred thousand at most."""


class LongText(NamedTuple):
    """A document without its text, and what reads the text piece by piece, from its beginning each time."""

    document: Document
    read: Callable[[], Iterator[str]]
    size: TextSize
    """Of the whole text, as it was when it was first read."""


@contextmanager
def long_text(source: Source, options: LoadOptions) -> Iterator[LongText | None]:
    """The text of a large file as a stream; None: it is small, or only its loader can read it, or say why not."""
    loader = _loader(source, options)
    if loader is None:
        yield None
        return
    with fetched(source, options) if source.stored is not None else nullcontext(source) as here:
        try:
            encoding = streamed_encoding(here.open, options.encoding)
        except OSError:  # its loader says which
            encoding = None
        if encoding is None:
            yield None
            return
        result = _opened(here, loader, options, encoding)
        if result is not None and (revision := revision_of(source, options)):
            result = result._replace(document=replace(result.document, revision=revision))
        yield result


def _loader(source: Source, options: LoadOptions) -> Loader | None:
    if not SMALL < source.size <= options.max_bytes:
        return None
    try:
        loader = choose_loader(source, options)[1]
    except UnreadableDocument:
        return None
    return loader if type(loader) in (MarkdownLoader, TextLoader) else None


def _opened(
    source: Source, loader: Loader, options: LoadOptions, encoding: StreamedEncoding
) -> LongText | None:
    # What a loader says of a file it says by its beginning, which it may blank out: front matter.
    head = next(_pieces(source, encoding.name), "")
    beginning = Source(source.id, source.origin, data=head.encode("utf-8"))
    try:
        (document,) = loader.load(beginning, replace(options, max_bytes=1 << 40), lambda _: None)
    except UnreadableDocument:
        return None

    def read() -> Iterator[str]:
        yield document.text
        yield from islice(_pieces(source, encoding.name), 1, None)

    size = encoding.size.minus(TextSize.of(head)).plus(TextSize.of(document.text))
    return LongText(replace(document, text=""), read, size)


def _pieces(source: Source, encoding: str) -> Iterator[str]:
    """The first one is long enough for what is found out by the beginning."""
    head = ""
    try:
        with source.open() as file:
            for piece in decoded(file, encoding):
                if len(head) >= _HEAD:
                    yield piece
                    continue
                head += piece
                if len(head) >= _HEAD:
                    yield head
    except OSError as error:
        raise UnreadableDocument(source.origin, os_reason(error)) from error
    except UnicodeError as error:  # it was valid a moment ago
        raise UnreadableDocument(source.origin, "changed while it was read") from error
    if len(head) < _HEAD:
        yield head
