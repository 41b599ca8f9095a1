"""The documents that questions are about: named by the user, those of an index, or carried by the questions' file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chunkwise.core import Document, OnProgress
    from chunkwise.documents import LoadOptions
    from chunkwise.testsets.formats import CarriesDocuments

Skip = Callable[[object], None]
"""Gets what could not be read."""


def named_documents(
    inputs: Sequence[str],
    options: LoadOptions,
    skip: Skip,
    advance: OnProgress | None = None,
) -> list[Document]:
    """Those of an index, where one is named, else of files, folders, globs and archives."""
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.retrieval.indexes import documents_in

    documents: list[Document] = []
    for document in documents_in(list(inputs), options, skip):
        documents.append(document)
        if advance is not None:
            advance(len(document.text), f"{len(documents):,} documents read")
    if not documents:
        raise ChunkwiseError("no document was read; name the documents the questions are about")
    return documents


def carried_documents(format: CarriesDocuments, path: Path, skip: Skip) -> list[Document]:
    """Those a file of questions brings; of two with one id the first."""
    from chunkwise.testsets.testset import Unreadable

    found: dict[str, Document] = {}
    for each in format.documents(path):
        if isinstance(each, Unreadable):
            skip(f"{each.where}: {each.reason}")
        elif found.setdefault(each.id, each) is not each:
            skip(f"document {each.id!r}: another has this id; the first is taken")
    return list(found.values())
