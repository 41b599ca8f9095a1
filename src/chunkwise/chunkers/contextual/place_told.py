"""Where a chunk stands, in words: its document's title and its section path."""

from __future__ import annotations

from chunkwise.core import SECTION_SEPARATOR, Chunk
from chunkwise.text.analysis import Analyzed

_TITLE, _PATH = 200, 400
"""Characters that are told: a title can be as long as somebody likes."""


def place_told(analyzed: Analyzed, chunk: Chunk) -> str:
    """One line each, where there is something to say."""
    title = " ".join(analyzed.document.title.split())[:_TITLE]
    path = " ".join(section_path(analyzed, chunk).split())[:_PATH]
    lines = (f"Title: {title}" if title else "", f"Section: {path}" if path else "")
    return "\n".join(filter(None, lines)) or "(without a title)"


def section_path(analyzed: Analyzed, chunk: Chunk) -> str:
    return SECTION_SEPARATOR.join(analyzed.section(chunk.start, chunk.end))
