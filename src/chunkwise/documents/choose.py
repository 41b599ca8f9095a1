"""Which loader reads a file: by its content, then by its name."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import cast

from chunkwise.documents.loader import Loader
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.source import Source
from chunkwise.errors import UnreadableDocument
from chunkwise.registry import Registry

_HERE = "chunkwise.documents"

# In the order they are asked: sure signs first, plain text last.
loaders = Registry(
    "loader",
    "chunkwise.loaders",
    {
        "pdf": f"{_HERE}.pdf:PdfLoader",
        "epub": f"{_HERE}.epub:EpubLoader",
        "docx": f"{_HERE}.docx:DocxLoader",
        "html": f"{_HERE}.html:HtmlLoader",
        "csv": f"{_HERE}.csv:CsvLoader",
        "jsonl": f"{_HERE}.jsonl:JsonLinesLoader",
        "json": f"{_HERE}.json:JsonLoader",
        "code": f"{_HERE}.code:CodeLoader",
        "markdown": f"{_HERE}.markdown:MarkdownLoader",
        "text": f"{_HERE}.text:TextLoader",
    },
)


@cache
def in_order() -> tuple[tuple[str, Loader], ...]:
    """One of each, those of third parties first: who installs one wants it used."""
    made: dict[str, Loader] = {}
    for name, kind in loaders.all().items():
        try:
            made[name] = cast(Loader, kind())
        except Exception as error:
            if name in loaders.builtin:
                raise
            warnings.warn(f"the loader {name!r} cannot be made: {error}", stacklevel=2)
    names = [name for name in made if name not in loaders.builtin] + list(loaders.builtin)
    return tuple((name, made[name]) for name in names)


def choose(source: Source, options: LoadOptions) -> tuple[str, Loader]:
    """The loader's name and the loader; an unknown name in the options is the user's error."""
    head = source.head()
    if not head:
        raise UnreadableDocument(source.origin, "empty")
    if options.loader is not None:
        return options.loader, cast(Loader, loaders.get(options.loader)())
    for name, loader in in_order():
        with crash_is_unreadable(source, name):
            if loader.accepts(source.name, head):
                return name, loader
    raise UnreadableDocument(source.origin, "of no known format")


@contextmanager
def crash_is_unreadable(source: Source, loader: str) -> Iterator[None]:
    """A parser's crash on one file becomes one line about that file."""
    try:
        yield
    except UnreadableDocument:
        raise
    except Exception as error:
        # Parsers of foreign formats fail on hostile files in ways nobody lists; the run goes on.
        what = f"the {loader} loader failed: {type(error).__name__}: {str(error)[:200]}"
        raise UnreadableDocument(source.origin, " ".join(what.split())) from error
