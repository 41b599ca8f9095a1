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
    leave_out: Sequence[Path] = (),
    advance: OnProgress | None = None,
) -> list[Document]:
    """Those of an index, where one is named, else of files, folders, globs and archives."""
    from chunkwise.base.errors import ChunkwiseError, InvalidParameter
    from chunkwise.documents import read

    indexes = [name for name in inputs if _is_index(name)]
    if indexes and len(inputs) > 1:
        raise InvalidParameter(
            f"{indexes[0]} is an index, and others are named, too; name the index alone, or its documents"
        )
    if indexes:
        from chunkwise.retrieval import open_index

        source = open_index(indexes[0]).source
        return [source.document(number) for number in range(source.document_count)]
    documents: list[Document] = []
    for document in read(list(inputs), options, skip, list(leave_out)):
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


def _is_index(name: str) -> bool:
    if "://" in name:
        return True
    if not Path(name).is_dir():
        return False
    from chunkwise.retrieval.indexes import settings_at

    return settings_at(name) is not None
