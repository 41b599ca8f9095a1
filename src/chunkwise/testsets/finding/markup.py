"""Marks of Markdown that a reader does not see: those of emphasis, code and links, and backslashes before signs."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_TOKEN = re.compile(
    r"\\[!-/:-@\[-`{-~]"
    r"|\*+|_+|`+|!?\["
    r'|\]\((?:[^()\s]|\([^()\s]*+\))*+(?:[ \t]++"[^"\n]*+")?\)'
    r"|\]\[[^\[\]\n]*+\]|\]"
    r"|\n[ \t]*+\n"
)
_LONGEST = 3
"""Stars that emphasise; more are a line."""
_FIRST_UNSPACED = 0x0E00
"""Behind it come the scripts in which a word may be emphasised without blanks around it."""


class Mark(NamedTuple):
    """A stretch that does not show."""

    start: int
    end: int
    opens: bool
    """Whether it belongs to what comes behind it, else to what comes before."""


class Unmarked(NamedTuple):
    """A text without its marks, and where its characters come from."""

    text: str
    begin: NDArray[np.int64]
    """Of each character the offset in the original, from the marks that open before it."""
    end: NDArray[np.int64]
    """The offset behind it, and behind the marks that close there."""


def unmarked(text: str) -> Unmarked | None:
    """None where there is no mark."""
    marks = marks_of(text)
    if not marks:
        return None
    kept = np.ones(len(text), dtype=np.bool_)
    lead: dict[int, int] = {}
    tail: dict[int, int] = {}
    for start, end, opens in marks:
        kept[start:end] = False
        if opens:
            lead[end] = lead.pop(start, start)
    for start, end, opens in reversed(marks):
        if not opens:
            tail[start] = tail.pop(end, end)
    begin = np.arange(len(text) + 1)
    begin[list(lead)] = list(lead.values())
    behind = np.arange(len(text) + 1)
    behind[list(tail)] = list(tail.values())
    at = np.flatnonzero(kept)
    parts, last = [], 0
    for start, end, _ in marks:
        parts.append(text[last:start])
        last = end
    return Unmarked("".join([*parts, text[last:]]), begin[at], behind[at + 1])


def marks_of(text: str) -> list[Mark]:
    """In their order, disjoint; only those that have their other half in the same paragraph."""
    found: list[Mark] = []
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    for token in _TOKEN.finditer(text):
        sign, (start, end) = token[0], token.span()
        if sign[0] == "\n":
            waiting.clear()
        elif sign[0] == "\\":
            found.append(Mark(start, start + 1, opens=True))
        elif sign[-1] == "[":
            waiting["["].append(start)
        elif sign[0] == "]":
            opening = waiting["["].pop() if waiting["["] else None
            if opening is not None and end - start > 1:
                bracket = text.index("[", opening) + 1
                found += [Mark(opening, bracket, opens=True), Mark(start, end, opens=False)]
        elif sign[0] == "`" or end - start <= _LONGEST:
            _emphasis(text, start, end, waiting[sign], found)
    return sorted(found)


def _emphasis(text: str, start: int, end: int, waiting: list[int], found: list[Mark]) -> None:
    """Pairs it with one that waits, or lets it wait; a star between two words or two blanks does neither."""
    before, behind = text[start - 1 : start], text[end : end + 1]
    is_code = text[start] == "`"
    closes = is_code or not (_is_blank(before) or _in_word(behind))
    if waiting and closes:
        opening = waiting.pop()
        found += [Mark(opening, opening + end - start, opens=True), Mark(start, end, opens=False)]
    elif is_code or not (_is_blank(behind) or _in_word(before)):
        waiting.append(start)


def _is_blank(character: str) -> bool:
    return not character or character.isspace()


def _in_word(character: str) -> bool:
    return character.isalnum() and ord(character) < _FIRST_UNSPACED
