"""Which lines of a block of code in a text it is not to be cut before: those inside a statement of several lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import unfenced
from chunkwise.text.blocks.lines import Lines

_CLOSING = [ord(char) for char in ")]}"]
_OF_THE_NEXT = [ord(char) for char in "#/@*"]
"""What opens a comment, a decorator or a directive, which goes with the line below it."""

Flags = NDArray[np.bool_]


def inner_lines(document: Analyzed) -> list[NDArray[np.int64]]:
    """Starts of lines to be left out of the cuts, the most of them first: all but outer statements, then all but those
    and what follows a blank line, then all but those and statements one step in. None: there is no code of such lines.
    """
    lines, code = document.lines, document.blocks.code
    first, stop = (
        lines.start.searchsorted(code[:, 0], "right") - 1,
        lines.start.searchsorted(code[:, 1]),
    )
    long = stop - first > 2
    if not long.any():
        return []
    found: list[list[NDArray[np.int64]]] = [[], [], []]
    for start, end in code[long].tolist():
        low, high = unfenced(document.text, start, end)
        inside = slice(
            int(lines.start.searchsorted(low, "right")) - 1, int(lines.start.searchsorted(high))
        )
        for kept, left_out in zip(_kept(lines, inside), found, strict=True):
            left_out.append(lines.start[inside][~kept])
    return [np.concatenate(each) for each in found]


def _kept(lines: Lines, inside: slice) -> tuple[Flags, Flags, Flags]:
    """By indentation alone, which every language has: outer statements, behind blank lines, one step in."""
    blank, indent, head = lines.blank[inside], lines.indent[inside], lines.head[inside]
    opens = ~blank & ~np.isin(head, _CLOSING)
    said_above = np.isin(head, _OF_THE_NEXT) & ~blank
    # A comment belongs to what it stands above.
    opens[1:] &= ~(said_above[:-1] & (indent[:-1] == indent[1:]))
    steps = np.unique(indent[opens])
    outer = opens & (indent == (steps[0] if len(steps) else 0))
    behind_blank = outer | (opens & np.append(True, blank[:-1])[: len(blank)])
    second = (
        behind_blank | (opens & (indent <= steps[min(1, len(steps) - 1)])) if len(steps) else outer
    )
    return outer, behind_blank, second
