"""From a place in a passage to all that is needed to look it up."""

from __future__ import annotations

from functools import lru_cache

from chunkwise.answering.answered import Citation
from chunkwise.answering.quotes import Found
from chunkwise.core import Document
from chunkwise.text.analysis import Analyzed
from chunkwise.text.sections import Sections

_LINES = ("text", "markdown", "code")
"""Formats whose text is that of the file, line by line."""


def citation_at(found: Found) -> Citation:
    """Document, section, page, lines, characters and the text itself."""
    passage, (start, end) = found
    document = passage.document
    lines = None
    if document.format in _LINES:
        first = document.text.count("\n", 0, start) + 1
        lines = first, first + document.text.count("\n", start, max(start, end - 1))
    return Citation(
        passage.number, passage.id, document.id, start, end, document.text[start:end],
        document.title, _section(found), document.page(start), lines,
    )  # fmt: skip


def _section(found: Found) -> tuple[str, ...]:
    """Of the quote, where that is below the passage's: a passage may go over several."""
    passage, (start, end) = found
    own = _sections(passage.document).section(start, end)
    # The layout a format declared may not be in the index: the passage's path was found while it was there.
    return own if own[: len(passage.section)] == passage.section else passage.section


@lru_cache(maxsize=16)
def _sections(document: Document) -> Sections:
    return Analyzed(document).sections
