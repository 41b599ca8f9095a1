"""What a strategy returns, checked: pieces of other people's strategies; summaries that stand for several places."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from traceback import extract_tb
from typing import Any

from chunkwise.base.errors import BrokenContract, ChunkwiseError
from chunkwise.base.wording import counted
from chunkwise.core import Chunk, Piece, Span
from chunkwise.text.analyzed import Analyzed

_MOST_LEVELS = 100


def merged_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same text in order and without overlap; spans that only touch stay two."""
    result: list[Span] = []
    for span in sorted(spans):
        if result and span.start < result[-1].end:
            result[-1] = Span(result[-1].start, max(result[-1].end, span.end))
        else:
            result.append(span)
    return tuple(result)


def check_summary(piece: Piece, where: str) -> None:
    """Raises `BrokenContract` where a summary does not say what it stands for."""
    spans = piece.summarized
    if not 0 < piece.level <= _MOST_LEVELS or not piece.summary.strip() or not spans:
        raise BrokenContract(
            f"{where}: a piece of level {piece.level} with the summary {piece.summary[:60]!r} of "
            f"{counted(len(spans), 'span')}; a summary needs a level from 1 to {_MOST_LEVELS}, a "
            "text, and the spans it summarizes"
        )
    apart = all(left.end <= right.start for left, right in pairwise(spans))
    filled = all(start < end for start, end in spans)
    if not apart or not filled or (spans[0].start, spans[-1].end) != (piece.start, piece.end):
        raise BrokenContract(
            f"{where}: a summary of {[tuple(span) for span in spans]}, from {piece.start} to "
            f"{piece.end}; spans must be ordered, without overlap, and reach from its start to "
            "its end"
        )


def check_order(chunks: Sequence[Chunk]) -> None:
    """Raises `BrokenContract` where a summary stands before a chunk: an index has it behind all of them."""
    for before, behind in pairwise(chunks):
        if before.level and not behind.level:
            raise BrokenContract(
                f"{behind.id} is a chunk after a summary, {before.id} of level {before.level} "
                "(the strategy "
                f"{behind.strategy}); return the summaries of a document after its chunks"
            )


_ALLOWED = "a strategy returns Piece objects or (start, end) pairs"


def foreign_pieces(name: str, chunker: Any, analyzed: Analyzed) -> list[Piece]:
    """What somebody else's strategy makes of a document, as pieces."""
    try:
        result = chunker.split(analyzed)
        if isinstance(result, str) or not _has_members(result):
            raise TypeError(
                f"split returned {_shown(result)}; {_ALLOWED}, in a list or a generator"
            )
        return [_checked_piece(span) for span in result]
    except Exception as error:  # somebody else's code: say whose, on what and where
        raise ChunkwiseError(
            f"the strategy {name} failed on {analyzed.document.id}: {type(error).__name__}: {error}"
            f"{_place(error)}"
        ) from error


def _checked_piece(found: Any) -> Piece:
    """Offsets as plain integers, whatever kind of number they came as."""
    if isinstance(found, str) or not _has_members(found):
        raise TypeError(f"split gave {_shown(found)}; {_ALLOWED}")
    values = tuple(found)
    if not 2 <= len(values) <= len(Piece._fields):
        raise TypeError(f"split gave {counted(len(values), 'value')}, {_shown(found)}; {_ALLOWED}")
    piece = found if isinstance(found, Piece) else Piece(*values)
    for name in ("context", "summary"):
        if not isinstance(text := getattr(piece, name), str):
            raise TypeError(f"the {name} of a piece is {text!r}; expected a str")
    start, end = operator.index(piece.start), operator.index(piece.end)
    summarized = tuple(Span(*map(operator.index, row)) for row in piece.summarized)
    return piece._replace(start=start, end=end, summarized=summarized)


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
