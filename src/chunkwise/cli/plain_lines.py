"""Text of a document in its own lines, made harmless to show."""

from __future__ import annotations

from itertools import pairwise

from chunkwise.report.plain_text import one_line

_INDENT = 8
"""Blanks a line may begin with: enough for a list within a list."""


def plain_lines(text: str) -> str:
    """Headings, entries and rows stay lines of their own; many empty lines become one."""
    lines = [_plain(line) for line in text.split("\n")]
    kept = [lines[0], *(now for before, now in pairwise(lines) if now.strip() or before.strip())]
    return "\n".join(kept)


def _plain(line: str) -> str:
    blanks = len(line) - len(line.lstrip(" "))
    return " " * min(blanks, _INDENT) + one_line(line.lstrip(" "))
