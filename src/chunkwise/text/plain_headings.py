"""Headings of plain text: lines that stand alone, and numbered or named ones right above their text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import LOWER, UPPER
from chunkwise.text.dates import is_date, is_day
from chunkwise.text.false_headings import Found, without_false
from chunkwise.text.heading_words import (
    BRACKETED,
    LETTERED,
    NUMBER,
    PAGE,
    ROMAN,
    division,
    goes_on_small,
    in_capitals,
    several_sentences,
    shouts,
)
from chunkwise.text.lines import Lines
from chunkwise.text.named_headings import GOES_ON, has_title_below, nest, runs_in, stands_above
from chunkwise.text.running_lines import running_lines

_LONGEST = 100
_LONGEST_TIGHT = 80
_SHORT_SHARE = 0.7
"""A heading among lines no blank one parts stops well short of where full lines end."""
_NARROWEST, _NARROWEST_BEHIND_BLANK = 24, 40
_DEEPEST = 9
_BRACKETED_LEVEL = 7
"""Of "(1) Scope", below the numbers most texts have above it."""
_BRACKETED_WORDS = 6
_ENDS_SENTENCE = frozenset('.!?…。！？"”’»)')
_ENDS_TEXT = frozenset(".,;:")
_ENDS_NO_TITLE = frozenset(".,;:!?-–—。，、；：！？।؟،؛")
_LOOK_FOR_SMALL = 4
"""Characters of a line among which a small one shows that it is not in capitals."""


def _openings() -> NDArray[np.bool_]:
    """For the first two characters of a line whether a named or numbered heading may open with them."""
    known = np.zeros((129, 129), dtype=np.bool_)  # the last of each stands for all beyond ASCII
    known[128, :] = known[:, 128] = True  # where letters have odd cases
    known[ord("0") : ord("9") + 1] = True
    for word in "bo pa vo te bu li ch le ca ac ka se ar ap an sc ex ab".split():
        for first, second in product(*zip(word, word.upper(), strict=True)):
            known[ord(first), ord(second)] = True
    for first, second in product("IVXLC", "IVXLC.)"):
        known[ord(first), ord(second)] = True
    known[ord("A") : ord("Z") + 1, ord(".")] = True
    known[ord("("), ord("0") : ord("9") + 1] = True
    return known


_OPENINGS = _openings()


def heading_levels(lines: Lines, *, dense: bool, pages: Sequence[int] = ()) -> NDArray[np.int64]:
    """Heading level of each line, 0 for none, `GOES_ON` for one that goes on with the heading above it."""
    levels = np.zeros(len(lines), dtype=np.int64)
    blank = lines.blank
    blank_before, blank_after = np.ones_like(blank), np.ones_like(blank)
    blank_before[1:], blank_after[:-1] = blank[:-1], blank[1:]
    size = lines.end - lines.first
    alone = blank_before & blank_after
    tight = (lines.head >= ord("0")) & (lines.head <= ord("9"))
    if dense:
        tight |= lines.head_is(UPPER) | (lines.head == ord("§")) | (lines.head == ord("第"))
    else:
        tight |= blank_before & ~blank_after & ~blank
    if tight.any():
        tight &= size < _short(size[~blank], _NARROWEST if dense else _NARROWEST_BEHIND_BLANK)
    above = np.flatnonzero(tight[:-1])
    tight[above] = ~lines.characters.have(lines.first[above + 1], LOWER)  # else a paragraph goes on
    candidates = np.flatnonzero(~blank & (size <= _LONGEST) & (alone | tight))
    candidates = candidates[_may_be_headings(lines, candidates)]
    if not len(candidates):
        return levels
    running, page_starts = running_lines(lines, pages)
    found: list[Found] = []
    columns = (candidates, lines.start[candidates], lines.end[candidates], alone[candidates])
    for line, start, end, parted in zip(*(column.tolist() for column in columns), strict=True):
        if line in running:
            continue
        text = lines.characters.text[start:end].strip()
        heading = _heading(text, line, parted)
        if heading is None:
            continue
        if heading.named and not (heading.alone or dense):
            below = lines.text(line + 1).strip()
            after = lines.text(line + 2).strip() if line + 2 < len(lines) else ""
            if has_title_below(text, below, after):
                found.append(heading._replace(titled=True))
            elif stands_above(text, below, after):
                found.append(heading)
                other = _heading(below, line + 1, False)
                found.extend([other] if other and other.named else [])
            continue
        if not (heading.alone or _may_be_tight(heading, text, dense=dense)):
            continue
        if not (heading.alone or blank_before[line]):
            after_heading = found and found[-1].line == line - 1
            opens = dense and (line in page_starts or line - 1 in running)
            opens = opens or (dense and lines.text(line - 1).rstrip()[-1] in _ENDS_SENTENCE)
            if not (after_heading or opens):
                continue
        found.append(heading)
    for heading in without_false(lines, found, dense=dense):
        levels[heading.line] = heading.level
        if heading.titled:
            levels[heading.line + 1] = GOES_ON
    nest(lines, levels)
    return levels


def _may_be_headings(lines: Lines, which: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether lines open like headings: many lines of dialogue stand alone, and few need to be read."""
    opens = _OPENINGS[np.minimum(lines.head[which], 128), np.minimum(lines.second[which], 128)]
    opens |= which == 0  # a byte order mark may stand before its head
    kinds, first, end = lines.characters.kinds, lines.first[which], lines.end[which]
    loud = np.ones(len(which), dtype=np.bool_)
    for offset in range(_LOOK_FOR_SMALL):
        where = np.minimum(first + offset, end - 1)
        loud &= kinds[where] & np.uint16(LOWER) == 0
    return opens | loud


def _short(sizes: NDArray[np.int64], at_least: int) -> float:
    rank = int(0.9 * (len(sizes) - 1))
    full = float(np.partition(sizes, rank)[rank])
    return min(max(_SHORT_SHARE * full, at_least), _LONGEST_TIGHT + 1)


def _heading(text: str, line: int, alone: bool) -> Found | None:
    """What a line would be as a heading, by its words alone."""
    first = text[0]
    if first.isdigit():
        number = NUMBER.fullmatch(text)
        if number is None:
            return Found(line, 2, 0, (), alone) if shouts(text) else None
        if not _is_title(number["title"]) or is_date(number["number"], number["title"]):
            return None
        parts = tuple(map(int, number["number"].split(".")))
        found = Found(line, min(2 + len(parts), _DEEPEST), len(parts), parts, alone)
        day = is_day(number["number"], number["title"])
        return found._replace(day=day, amount=_is_amount(number))
    named = division(text)
    if named:
        level = 1 if named["top"] else 2 if named["chapter"] else 3
        title = text[-1] not in ",;" and not runs_in(text, named)
        return Found(line, level, 0, (), alone, named=True) if title else None
    lettered = LETTERED.fullmatch(text) if alone and text[1:2] == "." else None
    if lettered and _is_title(lettered["title"]) and ". " not in lettered["title"]:
        letter, *parts_below = lettered["number"].split(".")
        # No number of this kind is in order with those that start with a digit.
        parts = (-ord(letter), *map(int, parts_below))
        return Found(line, min(2 + len(parts), _DEEPEST), len(parts), parts, alone)
    bracketed = BRACKETED.fullmatch(text) if alone and first == "(" else None
    if bracketed and _is_title(bracketed["title"]):
        few = len(bracketed["title"].split()) <= _BRACKETED_WORDS
        return Found(line, _BRACKETED_LEVEL, 0, (), alone, bracketed=True) if few else None
    roman = ROMAN.fullmatch(text) if first in "IVXLC" else None
    if roman and text[-1] not in _ENDS_TEXT and not roman["title"][0].islower():
        return Found(line, 2, 0, (), alone)
    loud = shouts(text) and not PAGE.fullmatch(text)
    return Found(line, 2, 0, (), alone) if loud else None


def _is_amount(number: re.Match[str]) -> bool:
    """Whether a number may say how many: nothing marks it as that of a part."""
    bare = "." not in number["number"] and number.string[number.end("number")].isspace()
    return bare and not in_capitals(number["title"])


def _is_title(words: str) -> bool:
    if words[0].islower() or not any(map(str.isalpha, words)):
        return False
    return words[-1] not in _ENDS_NO_TITLE or (in_capitals(words) and not several_sentences(words))


def _may_be_tight(heading: Found, text: str, *, dense: bool) -> bool:
    """Whether a line may be a heading without blank lines around it."""
    if heading.depth:
        # ". " inside: the first line of a clause, not its title.
        return ". " not in text.split(None, 1)[-1] and text[-1] not in _ENDS_TEXT
    if not dense:
        return False
    named = division(text)
    if text[-1] in _ENDS_TEXT and not (named and in_capitals(text)):
        return False
    return not goes_on_small(text) if named else in_capitals(text)
