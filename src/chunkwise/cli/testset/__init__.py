"""`chunkwise testset`: its commands by name, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import LazyGroup

if TYPE_CHECKING:
    from chunkwise.core import Document, OnProgress
    from chunkwise.documents import LoadOptions
    from chunkwise.testsets.formats import CarriesDocuments


_COMMANDS = {
    "check": "Check that questions and documents fit together; repair what is certain.",
    "convert": "Convert a test set from one format into another.",
    "from-labels": "Make a test set of people's labels: references, grades, what nobody judged.",
    "generate": "Make questions from documents, with answers and exact references.",
    "review": "Accept, edit or drop questions one by one, in the terminal.",
}

_EXAMPLES = """
\b
Examples:
  chunkwise testset check queries.json handbook/
  chunkwise testset check queries.json handbook/ -o repaired.json
  chunkwise testset convert squad.json --to chunkwise
  chunkwise testset from-labels -o questions.json
  chunkwise testset generate handbook/ -n 100 --llm openai:gpt-4o-mini -o queries.json
  chunkwise testset review queries.json handbook/
"""


class _TestsetGroup(LazyGroup):
    helps = _COMMANDS
    package = "chunkwise.cli.testset"


@click.group("testset", cls=_TestsetGroup, epilog=_EXAMPLES)
def command() -> None:
    """Make, review, check and convert test sets: questions with references, the passages that answer them."""


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
            advance(len(document.text), f"{counted(len(documents), 'document')} read")
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
