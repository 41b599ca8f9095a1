"""Documents from files, folders, patterns, archives and standard input; one loader a format."""

from __future__ import annotations

from chunkwise.documents.distinct_ids import Ids, distinct_documents
from chunkwise.documents.inputs import (
    Input,
    Inputs,
    Unreadables,
    WhenUnreadable,
    each_input,
    sources,
)
from chunkwise.documents.loader import (
    Loader,
    LoadOptions,
    OnUnreadable,
    leaving_out,
    loaders,
    options_given,
)
from chunkwise.documents.reading import InputItem, InputReader, is_stream, load, loaded, read
from chunkwise.documents.source import Source

__all__ = [
    "Ids",
    "Input",
    "InputItem",
    "InputReader",
    "Inputs",
    "LoadOptions",
    "Loader",
    "OnUnreadable",
    "Source",
    "Unreadables",
    "WhenUnreadable",
    "distinct_documents",
    "each_input",
    "is_stream",
    "leaving_out",
    "load",
    "loaded",
    "loaders",
    "options_given",
    "read",
    "sources",
]
