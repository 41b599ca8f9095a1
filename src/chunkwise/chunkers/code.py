"""Functions and classes kept whole while they fit: by the syntax tree, else by indentation and blank lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import ArrayCuts, CutLevel, word_level
from chunkwise.chunkers.packing.sized_chunker import SizedChunker
from chunkwise.core import Piece
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.lines import Lines
from chunkwise.text.positions import merge_sorted, without
from chunkwise.text.source_code import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Node, Tree, TreeCursor


_DEEPEST = 8
_NO_CUT = 1000
_FEW_BLANK = 3
"""Blank lines between a banner and what it heads."""
_COMMENTS = ("#", "//", "--", ";", "%", "/*")
_BANNER_ENDS = ("###", "===", "---", "***", "~~~", "///")
_SAID_OF_THE_NEXT = ("decorator", "attribute", "annotation")
_CLOSING = [ord(char) for char in ")]}"]

Fit = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""Whether each stretch, of these starts and ends, fits in a chunk."""


def outline_levels(document: Analyzed, language: str, fit: Fit) -> list[CutLevel]:
    """Line starts at which a unit of code starts, outermost units first; then all lines, then words."""
    if not document.text:
        return []
    tree, source = document.syntax(language)
    lines = document.lines
    outline = _by_indentation(lines) if tree is None else _by_tree(lines, tree, source, fit)
    keep, fragments = document.graphemes.keep, document.fragment_starts
    # The last word of a long line goes with the quotes below it; where nothing else is left, any line is cut off.
    whole = [without(cuts, fragments) for cuts in [*outline, lines.start]]

    def words() -> NDArray[np.int64]:
        return without(document.characters.word_starts, document.characters.next_solid(fragments))

    return [
        *(ArrayCuts(partial(keep, cuts)) for cuts in whole if len(cuts)),
        ArrayCuts(lambda: keep(words())),
        ArrayCuts(partial(keep, lines.start)),
        word_level(document),
    ]


def _by_tree(lines: Lines, tree: Tree, source: bytes, fit: Fit) -> list[NDArray[np.int64]]:
    """Rows on which a syntax node starts, by the number of nodes of several rows around it."""
    depth_of: dict[int, int] = {}
    said_above: dict[int, int] = {}
    comments: set[int] = set()
    cursor = tree.walk()
    # Of each node around: its row, and whether its next row still belongs to its head.
    around: list[list[int]] = []
    descend = True
    row, behind = 0, -1
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
        is_comment = "comment" in node.type
        if is_comment and (row in depth_of or row == behind or not _opens_row(node, source)):
            behind = row
            continue  # what is said behind something says nothing of what is below
        if around[-1][1] and row > around[-1][0]:
            around[-1][1] = False  # a head stays with what follows it
            depth_of.setdefault(row, _NO_CUT)
        depth_of.setdefault(row, len(around))
        if is_comment:
            comments.add(row)
        if is_comment or any(word in node.type for word in _SAID_OF_THE_NEXT):
            ends_before = node.end_point[1] == 0 and last > row  # with its line break
            said_above.update(dict.fromkeys(range(row, last + (not ends_before)), row))
    return _ranked(lines, depth_of, said_above, comments, fit)


def _node(cursor: TreeCursor) -> Node:
    assert cursor.node is not None
    return cursor.node


def _opens_row(node: Node, source: bytes) -> bool:
    """Whether nothing stands before a node on its row."""
    return not source[node.start_byte - node.start_point[1] : node.start_byte].strip()


def _ranked(
    lines: Lines,
    depth_of: dict[int, int],
    said_above: dict[int, int],
    comments: set[int],
    fit: Fit,
) -> list[NDArray[np.int64]]:
    """`said_above`: for each row of what is said about the next, the row on which it starts."""
    # The tree counts rows by line feeds alone; our lines may have other breaks.
    row_start = np.concatenate(([0], lines.characters.places("\n") + 1))
    top_of: dict[int, int] = {}
    by_depth: dict[int, list[int]] = {}
    below: dict[int, list[tuple[int, int, bool]]] = {}
    for row in sorted(depth_of):
        depth = depth_of[row]
        above = said_above.get(row - 1, row)
        # What is said above a function goes with it.
        joins = above < row and depth_of.get(above, depth) >= depth
        if above == row and (banner := _banner_above(lines, row_start, said_above, row)) >= 0:
            joins = depth_of.get(banner) == depth
            above = banner if joins else row
        top = top_of[row] = top_of.get(above, above) if joins else row
        if depth == _NO_CUT or row >= len(row_start):
            continue
        headed = depth_of.get(top) == _NO_CUT
        by_depth.setdefault(depth, []).extend([] if headed else [top])
        if joins and row not in comments:
            below.setdefault(depth, []).append((top, row, headed))
    cuts: list[NDArray[np.int64]] = []
    ends = np.array([len(lines.characters.text)])
    for depth in sorted(by_depth)[:_DEEPEST]:
        here = np.unique(row_start[np.array(by_depth[depth], dtype=np.int64)])
        cuts.append(here)
        ends = merge_sorted(ends, here)
        if depth in below:
            tops, rows, headed_rows = np.array(below[depth]).T
            starts = row_start[rows]
            stops = ends[ends.searchsorted(starts, "right")]
            # All that is below a head is its body: to cut before it would leave the head alone.
            parts = (headed_rows == 0) | np.isin(stops, here)
            cuts.append(_told_apart(tops, starts, parts & fit(starts, stops)))
    return cuts


def _banner_above(
    lines: Lines, row_start: NDArray[np.int64], said_above: dict[int, int], row: int
) -> int:
    """The row of a comment with blank lines below it and as many above, "#### Parsing ####": it heads what follows."""
    text = lines.characters.text

    def blank(at: int) -> bool:
        return 0 <= at < len(row_start) - 1 and text[row_start[at] : row_start[at + 1]].isspace()

    below = 0
    while below < _FEW_BLANK and blank(row - 1 - below):
        below += 1
    top = said_above.get(row - 1 - below, -1)
    if not below or top < 0:
        return -1
    return top if top < below or all(blank(top - 1 - gap) for gap in range(below)) else -1


def _told_apart(
    tops: NDArray[np.int64], starts: NDArray[np.int64], fits: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Where a comment is too much: the first start below each from which all it is said above fits."""
    _, first = np.unique(tops[fits], return_index=True)
    return starts[fits][first]


def _headed(lines: Lines) -> list[int]:
    """Lines that a banner, "#### Parsing ####", heads across blank ones."""
    text, solid = lines.characters.text, (~lines.blank).nonzero()[0]
    gaps = (np.diff(solid) > 1).nonzero()[0]
    result: list[int] = []
    for above, below in zip(solid[gaps].tolist(), solid[gaps + 1].tolist(), strict=True):
        line = text[lines.start[above] : lines.start[above + 1]].strip()
        if line.startswith(_COMMENTS) and line.removesuffix("*/").rstrip().endswith(_BANNER_ENDS):
            result.append(below)
    return result


def _by_indentation(lines: Lines) -> list[NDArray[np.int64]]:
    """Outer lines after a blank one, outer lines, deeper ones after a blank line, then by indent."""
    opens = ~lines.blank & ~np.isin(lines.head, _CLOSING)
    opens[_headed(lines)] = False
    after_blank = opens & np.append(True, lines.blank[:-1])
    outer = lines.indent == 0
    levels = [after_blank & outer, opens & outer, after_blank]
    for indent in np.unique(lines.indent[opens])[1:_DEEPEST].tolist():
        levels.append(opens & (lines.indent <= indent))
    return [lines.start[level] for level in levels]


@dataclass(frozen=True, kw_only=True)
class CodeChunker(SizedChunker):
    """Functions, classes and their parts by the language's grammar; without one, by indentation and blank lines.

    Use it for source code. Grammars: pip install 'chunkwise[code]'.
    """

    language: str = param(
        "auto", "a programming language; auto: detect", choices=("auto", *LANGUAGES)
    )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        language = document.document.language if self.language == "auto" else self.language
        measure, behind_gaps = document.measure(self.tokenizer), document.characters.next_solid

        def fit(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
            # White space behind a chunk takes no room.
            return behind_gaps(measure.reaches(starts, self.max_tokens)) >= ends

        packer = self.packer(
            document, partial(outline_levels, language=language, fit=fit), nested=True
        )
        return self.join_small_chunks(document, packer.pack(0, len(document.text)))
