"""Strategies written by others: run with care, and their faults told with the line they come from."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from pathlib import Path
from traceback import extract_tb
from typing import Any

from chunkwise.core import Piece, Span
from chunkwise.errors import ChunkwiseError
from chunkwise.text.analysis import Analyzed

_ALLOWED = "a strategy returns Pieces or pairs (start, end)"


def foreign_pieces(name: str, chunker: Any, analyzed: Analyzed) -> list[Piece]:
    """What somebody else's strategy makes of a document, as pieces."""
    try:
        found = chunker.split(analyzed)
        if isinstance(found, str) or not _has_members(found):
            raise TypeError(f"split returned {_shown(found)}; {_ALLOWED}, in a list or one by one")
        return [_piece(each) for each in found]
    except Exception as error:  # somebody else's code: say whose, on what and where
        raise ChunkwiseError(
            f"the strategy {name} failed on {analyzed.document.id}: {type(error).__name__}: {error}"
            f"{_place(error)}"
        ) from error


def _piece(found: Any) -> Piece:
    """Offsets as plain integers, whatever kind of number they came as."""
    if isinstance(found, str) or not _has_members(found):
        raise TypeError(f"split gave {_shown(found)}; {_ALLOWED}")
    values = tuple(found)
    if not 2 <= len(values) <= len(Piece._fields):
        raise TypeError(f"split gave {len(values)} values, {_shown(found)}; {_ALLOWED}")
    piece = found if isinstance(found, Piece) else Piece(*values)
    for name in ("context", "summary"):
        if not isinstance(text := getattr(piece, name), str):
            raise TypeError(f"the {name} of a piece is {text!r}; a str is needed")
    start, end = operator.index(piece.start), operator.index(piece.end)
    summarised = tuple(Span(*map(operator.index, each)) for each in piece.summarised)
    return piece._replace(start=start, end=end, summarised=summarised)


def _has_members(found: object) -> bool:
    """Whether it can be gone through, be it by position alone."""
    return isinstance(found, Iterable) or hasattr(found, "__getitem__")


def _shown(found: object) -> str:
    return "None" if found is None else f"{type(found).__name__} {found!r:.60}"


def _place(error: BaseException) -> str:
    """The last line of the strategy's own file that was being run."""
    frames = extract_tb(error.__traceback__)
    # The first file behind this one is the strategy's; what it calls may lie anywhere.
    own = [frame for frame in frames if frame.filename != __file__]
    lines = [frame.lineno for frame in own if frame.filename == own[0].filename]
    return f" ({Path(own[0].filename).name}, line {lines[-1]})" if lines else ""
