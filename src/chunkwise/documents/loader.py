"""What a loader is; a third party's class needs these names and no base class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from chunkwise.core import Document
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.source import Source
from chunkwise.errors import UnreadableDocument

OnSkip = Callable[[UnreadableDocument], None]


class Loader(Protocol):
    """One format."""

    suffixes: tuple[str, ...]
    """For people to read; `accepts` decides."""
    stream: bool
    """Whether one file holds many records, each a document; left out, it is no."""

    def accepts(self, name: str, head: bytes) -> bool:
        """Whether a file of this name that begins with these bytes is of the format."""

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        """The documents of one source; a bad record goes to `on_skip`, a bad file is raised."""


def suffix_of(name: str) -> str:
    """`.md` of `Notes.MD`; a dot file has none."""
    name = name[name.rfind("/") + 1 :]
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""
