"""Cuts of source code by depth: from the syntax tree, or from indentation and blank lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.bounded_parse import syntax_tree
from chunkwise.chunkers.grammars import grammar_for
from chunkwise.text.analysis import Analyzed
from chunkwise.text.lines import Lines

if TYPE_CHECKING:
    from tree_sitter import Node, Tree, TreeCursor

_DEEPEST = 8
_NO_CUT = 1000
_CLOSING = [ord(char) for char in ")]}"]


def outline_levels(document: Analyzed, language: str) -> list[NDArray[np.int64]]:
    """Line starts at which a unit of code starts, outermost units first; all lines last."""
    if not document.text:
        return []
    grammar = grammar_for(language)
    source = document.text.encode("utf-8", "surrogatepass")
    tree = None if grammar is None else syntax_tree(source, grammar)
    lines = document.lines
    outline = _by_indentation(lines) if tree is None else _by_tree(lines, tree)
    keep = document.graphemes.keep
    return [keep(cuts) for cuts in [*outline, lines.start] if len(cuts)]


def _by_tree(lines: Lines, tree: Tree) -> list[NDArray[np.int64]]:
    """Rows on which a syntax node starts, by the number of nodes of several rows around it."""
    depth_of: dict[int, int] = {}
    said_above: set[int] = set()
    cursor = tree.walk()
    # Of each node around: its row, and whether its next row still belongs to its head.
    around: list[list[int]] = []
    descend = True
    row = 0
    while True:
        if descend and cursor.goto_first_child():
            # A keyword or bracket opens a head ("class X:", "{"); a statement opens a plain sequence.
            around.append([row, not _node(cursor).is_named])
        elif not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                break
            around.pop()
            descend = False
            continue
        node = _node(cursor)
        row, last = node.start_point[0], node.end_point[0]
        descend = last > row and len(around) < 3 * _DEEPEST  # else there is no row to cut at
        if not node.is_named:
            continue
        if around[-1][1] and row > around[-1][0]:
            around[-1][1] = False  # a head stays with what follows it
            depth_of.setdefault(row, _NO_CUT)
        depth_of.setdefault(row, len(around))
        if any(word in node.type for word in ("comment", "decorator", "attribute", "annotation")):
            said_above.update(range(row, last + 1))
    return _ranked(lines, depth_of, said_above)


def _node(cursor: TreeCursor) -> Node:
    assert cursor.node is not None
    return cursor.node


def _ranked(
    lines: Lines, depth_of: dict[int, int], said_above: set[int]
) -> list[NDArray[np.int64]]:
    # The tree counts rows by line feeds alone; our lines may have other breaks.
    row_start = np.concatenate(([0], np.flatnonzero(lines.characters.points == 10) + 1))
    top_of: dict[int, int] = {}
    by_depth: dict[int, list[int]] = {}
    for row in sorted(depth_of):
        depth = depth_of[row]
        above = row - 1
        # What is said above a function goes with it.
        joins = above in said_above and depth_of.get(above, depth) >= depth
        top_of[row] = top_of.get(above, above) if joins else row
        if depth != _NO_CUT and row < len(row_start):
            by_depth.setdefault(depth, []).append(top_of[row])
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
