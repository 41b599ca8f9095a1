"""Documents from files, folders, patterns, archives, addresses and standard input; one loader a format."""

from __future__ import annotations

from chunkwise.documents.document_ids import Ids, distinct_documents
from chunkwise.documents.inputs import (
    Input,
    Inputs,
    IsKnown,
    UnchangedSource,
    Unreadables,
    each_input,
    refuse_text,
    sources,
)
from chunkwise.documents.loader import (
    Loader,
    LoadOptions,
    OnUnreadable,
    WhenUnreadable,
    leaving_out,
    loaders,
    options_given,
)
from chunkwise.documents.reading import (
    InputItem,
    InputReader,
    is_stream,
    load,
    loaded,
    read,
    revision_of,
)
from chunkwise.documents.source import Source

__all__ = [
    "Ids",
    "Input",
    "InputItem",
    "InputReader",
    "Inputs",
    "IsKnown",
    "LoadOptions",
    "Loader",
    "OnUnreadable",
    "Source",
    "UnchangedSource",
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
    "refuse_text",
    "revision_of",
    "sources",
]
