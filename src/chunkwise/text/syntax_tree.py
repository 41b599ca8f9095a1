"""The syntax tree of source code in linear time, or none where the parser gets lost; grammars that are installed."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, LogType, Parser, Point, Tree


_PIECE = 64
"""Bytes handed out at a time."""
_PERIOD = 16
"""Pieces of which one is read with the log on: it takes forty times as long."""
_LONGEST_SAMPLE = 32
"""Readings it takes at most: a parser that has seen all of the text may go on looking, and would be logged for good."""
_MOST_STRAIN = 128
"""Code in its own language comes to 12, most headers full of macros to 60, text that is no code to 128 in 8 kB."""
_HARD = 24
"""Strain of one sample behind which the next follows soon: headers full of macros come to 15, and what takes quadratic
time from the first line on to more."""
_SOON = 2
"""Pieces to the next sample then."""
_MOST_STEPS = 6000
"""Lines of the log in one sample: code comes to 2,100. More is a stack read through again for each token."""
_MOST_READINGS = 64
"""Of each piece: code comes to 4. More is the end of a comment or string looked for from every place again."""


_LARGEST = 16 << 20
"""Bytes: a tree takes up to 250 for each, of opening brackets alone, which would be 4 GB."""


_MOST_WASTED = 20_000
"""Lines of the log, over some tens of documents: a parser is lost after about 5,000, so these are a few texts."""
_BYTES_A_STEP = 16
"""Of code that is parsed: each so many allow a line of the log more."""
_STEPS_A_TEXT = 50
"""For each text that is passed over: after a hundred of them one is tried again."""


class ParsingBudget:
    """What parsers may spend on texts in which they get lost, over several documents: many small ones would cost as
    much as a large one. Among code it never comes to its end; among other things the rest is cut as text."""

    def __init__(self, most: int = _MOST_WASTED) -> None:
        self._most = self._left = most

    def allows(self) -> bool:
        """Whether the next text is parsed; one that is not earns a little for those that follow."""
        if self._left > 0:
            return True
        self._left += _STEPS_A_TEXT
        return False

    def spent(self, steps: int, size: int, *, lost: bool) -> None:
        self._left = min(
            self._left - steps if lost else self._left + size // _BYTES_A_STEP, self._most
        )


def syntax_tree(
    source: bytes, grammar: Language, budget: ParsingBudget | None = None
) -> Tree | None:
    """The tree, or None where the text is too far from the grammar to be parsed in linear time, or too large."""
    if len(source) > _LARGEST:
        return None
    from tree_sitter import Parser

    parser = Parser(grammar)  # one each: another thread may parse while this one's log is read
    reader = _Reader(source, parser)
    tree = parser.parse(reader.read)
    del parser.logger  # each would keep the other for good
    if budget is not None:
        budget.spent(reader.all_steps + reader.readings, len(source), lost=reader.lost)
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
        self.readings = 0
        self._sample_ends = 0
        """How many readings there are when the log is turned off; 0: it is off."""
        self._next_sample = 1
        """Before which piece the log is turned on."""
        self._skipped = 0
        self._forked = 0
        self._steps = 0
        self.all_steps = 0
        self._strain = 0.0
        self.lost = False

    def read(self, at: int, _point: Point | tuple[int, int]) -> bytes | bytearray:
        """The next bytes from a place on."""
        if self.lost:
            return b""
        self.readings += 1
        if at >= self._pieces * _PIECE:
            self._next(at // _PIECE + 1)
        elif self._sample_ends and self.readings > self._sample_ends:
            self._end_sample()
        if self.lost or self.readings > _MOST_READINGS * (self._pieces + 1):
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
        elif pieces >= self._next_sample:
            self._skipped = self._forked = self._steps = 0
            self._sample_ends = self.readings + _LONGEST_SAMPLE
            self._parser.logger = self._note

    def _end_sample(self) -> None:
        del self._parser.logger
        self._sample_ends = 0
        self.all_steps += self._steps
        # A second reading of what may be read in two ways is common, of each token it is not.
        strain = self._skipped + max(self._forked - _PIECE // 2, 0)
        self._next_sample = self._pieces + (_SOON if strain >= _HARD else _PERIOD - 1)
        self._strain = self._strain + min(strain, _MOST_STRAIN / 4) if strain else self._strain / 2
        self.lost = self._strain >= _MOST_STRAIN or self._steps > _MOST_STEPS

    def _note(self, _kind: LogType, said: str) -> None:
        self._steps += 1
        if said.startswith("skip_token"):
            self._skipped += 1
        elif said.startswith("process version:") and said[16] != "0":
            self._forked += 1


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
