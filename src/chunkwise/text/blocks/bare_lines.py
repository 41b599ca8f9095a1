"""What says nothing by itself: fences, closing brackets, the quotes around a docstring, paragraphs of marks."""

from __future__ import annotations

import re
from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import DIGIT, LETTER, CharacterArrays

_FENCES = ("```", "~~~")
_BARE = re.compile(
    r"""^[^\S\n]*(?:(?P<closes>[)\]}>;,]+|\*+/|-->|end[;.]?|fi|done|esac)|(?P<opens>/\*+|<!--)|(?P<quotes>\"{3}|'{3})[)\]},;]*)[^\S\n]*$""",
    re.MULTILINE,
)
_QUOTES = re.compile(r"\"{3}|'{3}")
_SPEAKS = re.compile(r"[^\s!-/:-@\[-`{-~]")
"""Anything but white space and marks of ASCII."""


def beside_fences(text: str, code: NDArray[np.int64]) -> list[int]:
    """Starts of the first line behind an opening fence and of the closing fence, of blocks of code (two columns)."""
    found: list[int] = []
    for start, end in code.tolist():
        if text[start : start + 3] not in _FENCES:
            continue
        second = text.find("\n", start, end) + 1
        last = text.rfind("\n", start, end) + 1
        if second:
            found.append(second)
        if last > second and text[last:end].strip()[:3] in _FENCES:
            found.append(last)
    return found


def beside_bare_lines(text: str) -> list[int]:
    """Of source code: starts of lines that only close something, and of those behind lines that only open it."""
    found: list[int] = []
    bare = list(_BARE.finditer(text))
    quotes = [match.start() for match in _QUOTES.finditer(text)] if bare else []
    for match in bare:
        opens = match["opens"] is not None
        if match["quotes"] is not None:
            # The first of two opens a docstring, the second closes it.
            opens = bisect_left(quotes, match.start("quotes")) % 2 == 0
        behind = match.end() + 1
        beside = behind if opens else match.start()
        if 0 < beside < len(text):  # at the start of the text nothing stands before it
            found.append(beside)
    return found


_LEAD_INS = [
    # A pattern that begins with one sign is found ten times as fast as one that begins with either.
    re.compile(
        colon + r"(?:[*_]{1,3})?+(?P<gap>[^\S\n]*+\n(?:[^\S\n]*+\n)*+[^\S\n]*+)"
        r"(?=[-*+•–][^\S\n]|\d{1,3}[.)][^\S\n]|```|~~~|\|)"
    )
    for colon in (":", "：")
]
_FENCE = re.compile(r"^[^\S\n]*(```|~~~)[^\n]*+", re.MULTILINE)


def gaps_in_text(text: str) -> list[tuple[int, int]]:
    """White space behind lead-ins and beside fences, told by their marks alone: layout takes longer to find."""
    found = [match.span("gap") for lead_in in _LEAD_INS for match in lead_in.finditer(text)]
    opened = ""
    for match in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if not opened:
            opened = match[1]
            found.append(_space_around(text, match.end()))
        elif match[1] == opened:
            opened = ""
            found.append(_space_around(text, match.start()))
    return sorted(set(found))


_GAP = 200
"""Characters of white space beside a fence; more of it parts what is around it."""


def _space_around(text: str, at: int) -> tuple[int, int]:
    before, behind = text[max(at - _GAP, 0) : at], text[at : at + _GAP]
    low = at - (len(before) - len(before.rstrip()))
    return low, at + (len(behind) - len(behind.lstrip()))


def are_marks(
    characters: CharacterArrays, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each stretch holds marks of ASCII and no word: an emoji or a rule drawn in lines says something."""
    found = np.zeros(len(starts), dtype=np.bool_)
    first = characters.next_solid(starts)
    points = characters.points.take(first, mode="clip")
    # Nearly all begin with a word: the others alone are read to their end.
    may = (points > 32) & (points < 127) & ~characters.have(first, LETTER | DIGIT) & (first < ends)
    index = np.flatnonzero(may)
    for at, start, end in zip(
        index.tolist(), starts[may].tolist(), ends[may].tolist(), strict=True
    ):
        found[at] = _SPEAKS.search(characters.text, start, end) is None
    return found
