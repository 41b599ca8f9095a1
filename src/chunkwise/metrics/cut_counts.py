"""What the cuts of a chunking are like: how many have which boundary issue, with a few examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CutIssue:
    """A boundary issue with where it is."""

    kind: str
    doc_id: str
    chunk: int
    offset: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CutCounts:
    """What the boundaries of the chunks are like."""

    chunks: int
    with_issues: int
    """Chunks that begin or end badly, each once."""
    counts: Mapping[str, int]
    """Cuts of every kind, also those that do not occur; a cut may be of several kinds."""
    examples: tuple[CutIssue, ...]
    """A few of each kind."""
    cuts_with_issues: int | None = None
    """Cuts of any kind, each once: where one chunk ends and the next begins is one cut, also where they overlap. None:
    not counted."""
