"""Drafts read and questions written, in the words of the tests of all formats."""

from collections.abc import Sequence
from pathlib import Path

from chunkwise.core import Document, Query
from chunkwise.testsets.formats import FORMATS
from chunkwise.testsets.losses import losses
from chunkwise.testsets.testset import Draft, TestSet, Unreadable


def read(name: str, path: Path) -> tuple[list[Draft], list[Unreadable]]:
    """What is read, and what could not be."""
    found = list(FORMATS[name].read(path))
    drafts = [each for each in found if isinstance(each, Draft)]
    return drafts, [each for each in found if isinstance(each, Unreadable)]


def queries(name: str, path: Path) -> list[Query]:
    drafts, bad = read(name, path)
    assert not bad
    return [draft.query for draft in drafts]


def write(
    name: str, path: Path, asked: Sequence[Query], documents: Sequence[Document] | None
) -> list[str]:
    testset = TestSet(tuple(asked))
    FORMATS[name].write(testset, documents, path)
    return list(losses(FORMATS[name], testset, documents, path))
