"""Cuts of source code by depth: from the syntax tree, or from indentation and blank lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.grammars import parser_for
from chunkwise.text.analysis import Analyzed
from chunkwise.text.lines import Lines

_DEEPEST = 8
_CLOSING = [ord(char) for char in ")]}"]


def outline_levels(document: Analyzed, language: str) -> list[NDArray[np.int64]]:
    """Line starts at which a unit of code starts, outermost units first; all lines last."""
    if not document.text:
        return []
    parser = parser_for(language)
    outline = _by_indentation(document.lines) if parser is None else _by_tree(document, parser)
    keep = document.graphemes.keep
    return [keep(cuts) for cuts in [*outline, document.lines.start] if len(cuts)]


def _by_tree(document: Analyzed, parser: object) -> list[NDArray[np.int64]]:
    """Lines on which a syntax node starts, by the number of nodes of several lines around it."""
    data = document.text.encode("utf-8", "surrogatepass")
    lines = document.lines
    tree = parser.parse(data)  # type: ignore[attr-defined]
    depth_of: dict[int, int] = {}
    comments: set[int] = set()
    cursor = tree.walk()
    depth, descend = 0, True
    while True:
        if descend and cursor.goto_first_child():
            node = cursor.node
            depth += 1
        elif cursor.goto_next_sibling():
            node = cursor.node
        elif cursor.goto_parent():
            depth -= 1
            descend = False
            continue
        else:
            break
        row = node.start_point[0]
        several = node.end_point[0] > row
        depth_of.setdefault(row, depth)
        if "comment" in node.type or "decorator" in node.type or "attribute" in node.type:
            comments.update(range(row, node.end_point[0] + 1))
        # A node on one line holds no line to cut at.
        descend = several and depth < 3 * _DEEPEST
    return _ranked(lines, data, depth_of, comments)


def _ranked(
    lines: Lines, data: bytes, depth_of: dict[int, int], comments: set[int]
) -> list[NDArray[np.int64]]:
    # The tree counts rows by line feeds alone; our lines may have other breaks.
    feeds = np.flatnonzero(lines.characters.points == 10) + 1
    row_start = np.concatenate(([0], feeds))
    by_depth: dict[int, list[int]] = {}
    for row, depth in depth_of.items():
        if row >= len(row_start):
            continue
        top = row
        while top - 1 in comments and depth_of.get(top - 1, depth) >= depth:
            top -= 1  # what is said above a function goes with it
        by_depth.setdefault(depth, []).append(top)
    ranks = sorted(by_depth)[:_DEEPEST]
    return [np.unique(row_start[np.array(by_depth[depth])]) for depth in ranks]


def _by_indentation(lines: Lines) -> list[NDArray[np.int64]]:
    """Outer lines after a blank one, outer lines, deeper ones after a blank line, then by indent."""
    opens = ~lines.blank & ~np.isin(lines.head, _CLOSING)
    after_blank = opens & np.append(True, lines.blank[:-1])
    outer = lines.indent == 0
    levels = [after_blank & outer, opens & outer, after_blank]
    for indent in np.unique(lines.indent[opens])[1:_DEEPEST].tolist():
        levels.append(opens & (lines.indent <= indent))
    return [lines.start[level] for level in levels]
