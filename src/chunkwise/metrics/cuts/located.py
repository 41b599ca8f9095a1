"""Boundary issues with the place a person looks them up at: file, line and column, or page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.metrics.cuts.boundary_issues import Issue
from chunkwise.text.analysis import Analyzed

_AS_WRITTEN = ("text", "markdown", "code")
"""Formats whose text is the file's, to the character."""


@dataclass(frozen=True, slots=True)
class LocatedIssue:
    """One thing that is wrong at one edge of one chunk."""

    kind: str
    doc_id: str
    source: str
    """The file, as the user called it."""
    chunk: int
    """Number of the chunk in its document, from 0."""
    offset: int
    """The chunk's edge in the document's text."""
    line: int | None
    """In the file, from 1; None where the text is not the file's own (HTML, PDF, a record of a corpus)."""
    column: int | None
    page: int | None
    before: str
    after: str


def located(analyzed: Analyzed, issues: Sequence[Issue]) -> list[LocatedIssue]:
    """The issues of one document, in their order."""
    document = analyzed.document
    lines: list[int | None] = [None] * len(issues)
    columns = lines
    if issues and document.format in _AS_WRITTEN and is_file(document):
        offsets = np.array([issue.offset for issue in issues], np.int64)
        starts = _line_starts(analyzed)
        index = starts.searchsorted(offsets, "right")
        lines, columns = index.tolist(), (offsets - starts[index - 1] + 1).tolist()
    return [
        LocatedIssue(
            issue.kind, document.id, document.source, issue.chunk, issue.offset, line, column,
            document.page(issue.offset), issue.before, issue.after,
        )
        for issue, line, column in zip(issues, lines, columns, strict=True)
    ]  # fmt: skip


def is_file(document: Document) -> bool:
    """A file that is one document is named after itself; a record of a corpus has a name of its own."""
    return PurePath(document.source).as_posix().endswith(document.id)


def _line_starts(analyzed: Analyzed) -> NDArray[np.int64]:
    """As editors count lines: after LF, CR LF and CR, and nothing else."""
    points = analyzed.characters.points
    feed, back = points == ord("\n"), points == ord("\r")
    back[:-1] &= ~feed[1:]
    return np.concatenate(([0], np.flatnonzero(feed | back) + 1))
