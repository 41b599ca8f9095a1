"""Functions and classes kept whole while they fit: by the syntax tree, else by indentation and blank lines."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.parameters import param
from chunkwise.chunkers.packing.cuts import ArrayCuts
from chunkwise.chunkers.packing.sized import SizedChunker
from chunkwise.core import Piece
from chunkwise.text.analysis import Analyzed
from chunkwise.text.blocks.lines import Lines

if TYPE_CHECKING:
    from tree_sitter import Language, LogType, Node, Parser, Point, Tree, TreeCursor


_MODULES = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "java": ("tree_sitter_java", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "bash": ("tree_sitter_bash", "language"),
}


LANGUAGES = tuple(_MODULES)
"""The languages there are grammars for."""


@cache
def grammar_for(language: str) -> Language | None:
    """A grammar, or None where it is unknown or its wheel is not installed."""
    if language not in _MODULES:
        return None
    module, function = _MODULES[language]
    try:
        import tree_sitter

        grammar = importlib.import_module(module)
    except ImportError:
        return None
    return tree_sitter.Language(getattr(grammar, function)())


_PIECE = 64
"""Bytes handed out at a time."""
_PERIOD = 16
"""Pieces of which one is read with the log on: it takes forty times as long."""
_LONGEST_SAMPLE = 32
"""Readings it takes at most: a parser that has seen all of the text may go on looking, and would be logged for good."""
_MOST_STRAIN = 128
"""Code in its own language comes to 12, most headers full of macros to 60, text that is no code to 128 in 8 kB."""
_MOST_READINGS = 64
"""Of each piece: code comes to 4. More is the end of a comment or string looked for from every place again."""


def syntax_tree(source: bytes, grammar: Language) -> Tree | None:
    """The tree, or None where the text is too far from the grammar to be parsed in linear time."""
    from tree_sitter import Parser

    parser = Parser(grammar)  # one each: another thread may parse while this one's log is read
    reader = _Reader(source, parser)
    tree = parser.parse(reader.read)
    del parser.logger  # each would keep the other for good
    return None if reader.lost else tree


class _Reader:
    """Hands out the text, and nothing more once the parser is lost."""

    def __init__(self, source: bytes, parser: Parser) -> None:
        self._source = source
        self._parser = parser
        # The binding never lets go of what it is handed: it is handed the same over and over.
        self._piece = bytearray(_PIECE)
        self._pieces = 0
        """How many were handed out for the first time."""
        self._readings = 0
        self._sample_ends = 0
        """How many readings there are when the log is turned off; 0: it is off."""
        self._skipped = 0
        self._forked = 0
        self._strain = 0.0
        self.lost = False

    def read(self, at: int, _point: Point | tuple[int, int]) -> bytes | bytearray:
        """The next bytes from a place on."""
        if self.lost:
            return b""
        self._readings += 1
        if at >= self._pieces * _PIECE:
            self._next(at // _PIECE + 1)
        elif self._sample_ends and self._readings > self._sample_ends:
            self._end_sample()
        if self.lost or self._readings > _MOST_READINGS * (self._pieces + 1):
            self.lost = True
            return b" " * _PIECE  # nothing at all must not be handed out amid a character
        found = self._source[at : at + _PIECE]
        if len(found) < _PIECE:
            return found
        self._piece[:] = found
        return self._piece

    def _next(self, pieces: int) -> None:
        self._pieces = pieces
        if self._sample_ends:
            self._end_sample()
        elif pieces % _PERIOD == 1:
            self._skipped = self._forked = 0
            self._sample_ends = self._readings + _LONGEST_SAMPLE
            self._parser.logger = self._note

    def _end_sample(self) -> None:
        del self._parser.logger
        self._sample_ends = 0
        # A second reading of what may be read in two ways is common, of each token it is not.
        strain = min(self._skipped + max(self._forked - _PIECE // 2, 0), _MOST_STRAIN / 4)
        self._strain = self._strain + strain if strain else self._strain / 2
        self.lost = self._strain > _MOST_STRAIN

    def _note(self, _kind: LogType, said: str) -> None:
        if said.startswith("skip_token"):
            self._skipped += 1
        elif said.startswith("process version:") and said[16] != "0":
            self._forked += 1


_DEEPEST = 8
_NO_CUT = 1000
_SAID_OF_THE_NEXT = ("decorator", "attribute", "annotation")
_CLOSING = [ord(char) for char in ")]}"]

Fit = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""Whether each stretch, of these starts and ends, fits in a chunk."""


def outline_levels(document: Analyzed, language: str, fit: Fit) -> list[NDArray[np.int64]]:
    """Line starts at which a unit of code starts, outermost units first; then all lines, then words."""
    if not document.text:
        return []
    grammar = grammar_for(language)
    source = document.text.encode("utf-8", "surrogatepass")
    tree = None if grammar is None else syntax_tree(source, grammar)
    lines = document.lines
    outline = _by_indentation(lines) if tree is None else _by_tree(lines, tree, source, fit)
    keep, crumbs = document.graphemes.keep, document.crumb_starts
    words = document.characters.word_starts
    # The last word of a long line goes with the quotes below it; where nothing else is left, any line is cut off.
    whole = [np.setdiff1d(cuts, crumbs) for cuts in [*outline, lines.start]]
    whole.append(np.setdiff1d(words, document.characters.next_solid(crumbs)))
    return [keep(cuts) for cuts in [*whole, lines.start, words] if len(cuts)]


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
    row_start = np.concatenate(([0], np.flatnonzero(lines.characters.points == 10) + 1))
    top_of: dict[int, int] = {}
    by_depth: dict[int, list[int]] = {}
    below: dict[int, list[tuple[int, int, bool]]] = {}
    for row in sorted(depth_of):
        depth = depth_of[row]
        above = said_above.get(row - 1, row)
        # What is said above a function goes with it.
        joins = above < row and depth_of.get(above, depth) >= depth
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
        ends = np.union1d(ends, here)
        if depth in below:
            tops, rows, headed_rows = np.array(below[depth]).T
            starts = row_start[rows]
            stops = ends[ends.searchsorted(starts, "right")]
            # All that is below a head is its body: to cut before it would leave the head alone.
            parts = (headed_rows == 0) | np.isin(stops, here)
            cuts.append(_told_apart(tops, starts, parts & fit(starts, stops)))
    return cuts


def _told_apart(
    tops: NDArray[np.int64], starts: NDArray[np.int64], fits: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Where a comment is too much: the first start below each from which all it is said above fits."""
    _, first = np.unique(tops[fits], return_index=True)
    return starts[fits][first]


def _by_indentation(lines: Lines) -> list[NDArray[np.int64]]:
    """Outer lines after a blank one, outer lines, deeper ones after a blank line, then by indent."""
    opens = ~lines.blank & ~np.isin(lines.head, _CLOSING)
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
        "auto", "a programming language; auto: the document's own", choices=("auto", *LANGUAGES)
    )

    def split(self, document: Analyzed) -> Sequence[Piece]:
        language = document.document.language if self.language == "auto" else self.language
        measure, behind_gaps = document.measure(self.tokenizer), document.characters.next_solid

        def fit(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
            # White space behind a chunk takes no room.
            return behind_gaps(measure.reaches(starts, self.max_tokens)) >= ends

        outline = outline_levels(document, language, fit)
        levels = [ArrayCuts(cuts.copy) for cuts in outline]
        packer = self.packer(document, levels, nested=True)
        return self.join_small_chunks(document, packer.pack(0, len(document.text)))
