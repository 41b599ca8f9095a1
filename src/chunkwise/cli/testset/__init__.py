"""`chunkwise testset`: its commands by name, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.wording import counted
from chunkwise.cli.groups import LazyGroup
from chunkwise.core import Document, OnProgress

if TYPE_CHECKING:
    from chunkwise.documents import LoadOptions
    from chunkwise.testsets.formats import CarriesDocuments


command = LazyGroup(
    "testset",
    package="chunkwise.cli.testset",
    help="Generate, review, import and convert test questions.",
    summaries={
        "generate": "Generate questions with answers and exact references",
        "check": "Check that questions fit the documents; repair references",
        "review": "Accept, edit or drop questions one by one in the terminal",
        "convert": "Convert a test set into another format",
        "import-queries": "Import real user questions from a log",
        "labels": "Export, import and compare human relevance labels",
        "from-labels": "Create a test set from human labels",
        "calibrate": "Measure a judge against labels or references",
    },
)


Skip = Callable[[object], None]
"""Gets what could not be read."""


def named_documents(
    inputs: Sequence[str],
    options: LoadOptions,
    advance: OnProgress | None = None,
) -> list[Document]:
    """Those of an index, where one is named, else of files, folders, globs and archives."""
    from chunkwise.retrieval.indexes import documents_in

    documents: list[Document] = []
    for document in documents_in(list(inputs), options):
        documents.append(document)
        if advance is not None:
            advance(len(document.text), f"{counted(len(documents), 'document')} read")
    if not documents:
        raise ChunkwiseError("no readable documents; give the documents the questions are about")
    return documents


def carried_documents(format: CarriesDocuments, path: Path, skip: Skip) -> list[Document]:
    """Those a file of questions brings; of two with one id the first."""
    from chunkwise.testsets.testset import Unreadable

    result: dict[str, Document] = {}
    for document in format.documents(path):
        if isinstance(document, Unreadable):
            skip(f"{document.where}: {document.reason}")
        elif result.setdefault(document.id, document) is not document:
            skip(f"document {document.id!r}: duplicate id; using the first")
    return list(result.values())
