"""Where a chunk stands, in words: its document's title and its section path."""

from __future__ import annotations

from chunkwise.core import SECTION_SEPARATOR, Chunk
from chunkwise.text.analysis import Analyzed
from chunkwise.text.measure import measure_of
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

_TITLE, _PATH = 200, 400
"""Characters that are told, and tokens: a title can be as long as somebody likes, in letters of four tokens each."""


def place_told(analyzed: Analyzed, chunk: Chunk) -> str:
    """One line each, where there is something to say."""
    title = _told(analyzed.document.title, _TITLE)
    path = _told(section_path(analyzed, chunk), _PATH)
    lines = (f"Title: {title}" if title else "", f"Section: {path}" if path else "")
    return "\n".join(filter(None, lines)) or "(without a title)"


def _told(text: str, most: int) -> str:
    """On one line, no longer than allowed."""
    line = " ".join(text.split())[:most]
    if line.isascii():  # a token is a character or more
        return line
    measure = measure_of(line, get_tokenizer(DEFAULT))
    tokens = most
    while measure.tokenizer.count(line) > most:
        line = line[: measure.reach(0, tokens)]
        tokens -= 1
    return line


def section_path(analyzed: Analyzed, chunk: Chunk) -> str:
    return SECTION_SEPARATOR.join(analyzed.section(chunk.start, chunk.end))
