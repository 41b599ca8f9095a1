"""Numbered items in running text: "1. Open it. 2. Close it.", "a) …", "(ii) …", "Step 3. …", told by their order."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import (
    CLOSER,
    DIGIT,
    ENDER,
    FINAL,
    LETTER,
    LOWER,
    NEWLINES,
    SPACE,
    UPPER,
    CharacterArrays,
    kind_of,
    one_of,
)
from chunkwise.text.sentences.full_stops import (
    BEFORE_NUMBER,
    ROMAN_NUMBERS,
    WORD,
    stop_ends,
)

_MARKS = ".):：、．）"
"""Behind a number; the wide ones need no space behind them."""
_AS_NARROW = {"：": ":", "．": ".", "）": ")"}
_NUMBER = re.compile(
    # Behind white space, a mark that no space follows, or nothing.
    r"(?<![^\s。！？：；，、])([(（]?)(\d{1,3}|[a-zA-Z]|[ivxIVX]{2,5})(\.\)|[.):：、．）])\Z"
)
_LONGEST = len("(xviii.)")
_SOLID = re.compile(r"\S")
_GAP = 6
"""White space looked through; what stands further away has a place of its own."""
_CLOSERS_AT_MOST = 4
_LONGEST_WORD = 12
_COLONS, _COMMAS = ":：", ";,；，、"
_AND = frozenset("and or und oder et ou y o e i en of и или".split())
"""Stand before the last item: "1) tea, 2) milk and 3) sugar"."""
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10}
_BLANK_LINE = re.compile(r"\n\s*\n")
_WITHOUT_MARKS = 3
"""Items without a mark before them, "Do: 1. Open it 2. Close it 3. Wait", are believed from so many on.

Where the first opens its line, one less will do.
"""

_Positions = NDArray[np.int64]


class Enumerations(NamedTuple):
    """Of all items in running text, as sorted positions."""

    numbers: _Positions
    """Where items start, with their number."""
    sentences: _Positions
    """Those of them that open a sentence; the others stand amid one: "we need (1) tea and (2) milk"."""
    texts: _Positions
    """Where the text behind each number starts: no place to cut at."""
    led_in: _Positions
    """Items behind a colon: what precedes them leads them in."""
    runs: _Positions
    """Where the first and the last item of each enumeration start, in two columns; those inside others left out."""


_NOWHERE = np.zeros(0, dtype=np.int64)
NO_ENUMERATIONS = Enumerations(
    _NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE, np.zeros((0, 2), dtype=np.int64)
)

_END, _COLON, _COMMA, _WORD = range(4)
"""What precedes a number: the end of a sentence or of a line, a colon, a comma or "and", anything else."""


class _Number(NamedTuple):
    """What may be the number of an item."""

    paragraph: int
    start: int
    text: int
    """Where its text starts."""
    value: str
    opening: str
    closing: str
    loose: bool
    """Whether it is one without a mark before it: digits or a small letter before something else than one."""
    capital: bool
    """Whether its text opens with something else than a small letter."""


class _Item(NamedTuple):
    """A number read as digits, a letter or a Roman number."""

    start: int
    text: int
    style: tuple[str, str, str, str]
    """The word before it, the opening mark, the kind of number, the closing mark: the same in all items of a run."""
    value: int
    behind: int
    capital: bool


def enumerations(characters: CharacterArrays) -> Enumerations:
    """Items of runs that count up from 1, a or i in one paragraph, at least two; a lone number is none."""
    numbers = list(_numbers(characters.text, _marks(characters)))
    if not numbers:
        return NO_ENUMERATIONS
    believed: list[list[_Item]] = []
    items: dict[int, _Item] = {}
    for _, paragraph in groupby(numbers, lambda number: number.paragraph):
        read = [(number, *_what_precedes(characters.text, number.start)) for number in paragraph]
        for run in _runs(characters.text, read):
            believed.append(run)
            items.update((item.start, item) for item in run)
    result = [items[at] for at in sorted(items)]
    return Enumerations(
        _array(item.start for item in result),
        _array(item.start for item in result if _opens_sentence(item)),
        np.unique(_array(item.text for item in result)),
        _array(item.start for item in result if item.behind == _COLON),
        _outermost(believed),
    )


def _array(values: Iterable[int]) -> _Positions:
    return np.fromiter(values, dtype=np.int64)


def _outermost(runs: list[list[_Item]]) -> _Positions:
    """First and last item of each run, in order; runs that overlap are one."""
    result: list[tuple[int, int]] = []
    for first, last in sorted((run[0].start, run[-1].start) for run in runs):
        if result and first <= result[-1][1]:
            result[-1] = result[-1][0], max(result[-1][1], last)
        else:
            result.append((first, last))
    return np.array(result, dtype=np.int64).reshape(-1, 2)


def _marks(characters: CharacterArrays) -> Iterator[list[int]]:
    """Marks behind what may be numbers, in paragraphs with a first one and a second, from the first one on."""
    text, points = characters.text, characters.points
    mark = characters.places(_MARKS)
    mark = mark[mark > 0]
    mark = mark[characters.have(mark + 1, SPACE) | (points[mark] > 127)]
    last = mark - 1
    last -= (points[mark] == ord(")")) & (points[last] == ord(".")) & (last > 0)
    sign, digit = points[last], characters.have(last, DIGIT)
    other = digit & (sign > 127)  # digits of other scripts may be any
    single = (last == 0) | ~characters.have(np.maximum(last - 1, 0), DIGIT | LETTER)
    first = other | (single & one_of(sign, "1aAiI"))
    if not first.any():
        return
    second = other | (one_of(sign, "2bB") & single) | (one_of(sign, "iI") & ~single)
    seconds = mark[second].tolist()
    if not seconds:
        return
    perhaps = mark[digit | single | one_of(sign, "ivxIVX")].tolist()
    end = -1
    for begin in mark[first].tolist():
        if begin > end:
            blank = _BLANK_LINE.search(text, begin)
            end = blank.start() if blank else len(text)
            if bisect_left(seconds, begin) < bisect_left(seconds, end):
                yield perhaps[bisect_left(perhaps, begin) : bisect_left(perhaps, end)]


def _numbers(text: str, paragraphs: Iterable[list[int]]) -> Iterator[_Number]:
    """What looks like a number of an item."""
    for paragraph, marks in enumerate(paragraphs):
        for mark in marks:
            number = _NUMBER.search(text, max(mark - _LONGEST, 0), mark + 1)
            solid = number and _SOLID.search(text, mark + 1)
            if not (number and solid):
                continue
            opening, value, closing = number.groups()
            closing = _AS_NARROW.get(closing, closing)
            if opening and closing != ")":
                continue
            start, capital = number.start(), not kind_of(solid[0]) & LOWER
            loose = capital and kind_of(text[start]) & (DIGIT | LOWER) != 0
            style = "(" * len(opening), closing
            yield _Number(paragraph, start, solid.start(), value, *style, loose, capital)


def _what_precedes(text: str, start: int) -> tuple[int, int]:
    """What stands before a number; and where the word starts that belongs to it, "Step 1.", "Art. 1.", else -1."""
    last = _last_before(text, start)
    if last >= 0 and text[last] in _COLONS:
        return _COLON, -1
    if last >= 0 and text[last] in _COMMAS:
        return _COMMA, -1
    if _has_ended(text, last, start):
        return _END, -1
    # A full stop that ends no sentence belongs to its word: "Art. 1."
    stop = last + (text[last] != ".")
    place = stop
    while place > max(stop - _LONGEST_WORD - 1, 0) and kind_of(text[place - 1]) & WORD:
        place -= 1
    word = text[place:stop].lower()
    if not word or not kind_of(text[stop - 1]) & LETTER:
        return _WORD, -1
    if (
        kind_of(text[place]) & UPPER
        and 1 < len(word) <= _LONGEST_WORD
        and (stop > last or word in BEFORE_NUMBER)  # no "Dr. A."
    ):
        before = _last_before(text, place)
        if _has_ended(text, before, place) or text[before] in _COLONS:
            return _END, place
    return (_COMMA if word in _AND else _WORD), -1


def _last_before(text: str, start: int) -> int:
    """The last character before a place that is no white space; -1 where the place opens its line."""
    for last in range(start - 1, max(start - 1 - _GAP, -1), -1):
        if not text[last].isspace():
            return last
        if text[last] in NEWLINES:
            return -1
    last = start - 1 - _GAP
    return last if last >= 0 and not text[last].isspace() else -1


def _has_ended(text: str, last: int, following: int) -> bool:
    """Whether a line or a sentence ends with a character, closing quotes and brackets behind it or not."""
    core = last
    while core > max(last - _CLOSERS_AT_MOST, 0) and kind_of(text[core]) & CLOSER:
        core -= 1
    if core > 0 and text[core] == ".":
        return stop_ends(text, core, last + 1, following)
    return core < 0 or kind_of(text[core]) & (ENDER | FINAL) != 0


def _runs(text: str, numbers: list[tuple[_Number, int, int]]) -> Iterator[list[_Item]]:
    """Runs of a paragraph: items behind marks, two at least, then those that no mark parts."""
    marked = [item for number in numbers if number[1] != _WORD for item in _readings(text, *number)]
    runs = _counted(marked)
    believed = [run for run in runs if len(run) > 1]
    yield from believed
    items = {item.start for run in believed for item in run}
    # What begins as an item may have others behind it that no mark parts.
    alone = {run[0].start: run[0] for run in runs if len(run) == 1 and run[0].start not in items}
    if not alone:
        return
    loose = [
        item
        for number in numbers
        if number[1] == _WORD and number[0].loose
        for item in _readings(text, *number)
    ]
    for run in _counted(sorted([*alone.values(), *loose], key=lambda item: item.start)):
        start = run[0].start
        opens_line = start == 0 or text[start - 1] == "\n"
        if len(run) >= _WITHOUT_MARKS - opens_line and start in alone:
            yield run


def _readings(text: str, number: _Number, behind: int, lead: int) -> list[_Item]:
    """What a number may be: "i)" is a letter and a Roman number."""
    if number.closing == ":" and lead < 0:
        return []  # "at 5: the end" is no item, "Step 5: the end" is one
    word = text[lead : number.start].strip().lower() if lead >= 0 else ""
    start = lead if lead >= 0 else number.start
    return [
        _Item(
            start, number.text, (word, number.opening, kind, number.closing), value, behind, number.capital
        )
        for kind, value in _values(number.value)
    ]  # fmt: skip


def _values(value: str) -> list[tuple[str, int]]:
    """The kinds of number that a few digits or letters may be, each with its value."""
    if value.isdecimal():
        return [("1", int(value))] if not value.startswith("0") else []
    values: list[tuple[str, int]] = []
    small = value.lower()
    case = "a" if value == small else "A"
    if len(value) == 1:
        values.append((case, ord(small) - ord("a") + 1))
    if value in (small, value.upper()) and (small in ROMAN_NUMBERS or small == "i"):
        values.append((f"{case} Roman", _roman(small)))
    return values


def _roman(letters: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in letters]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < following else value for value, following in pairs)


def adjacent_numbers(number: str) -> Iterator[tuple[str, bool]]:
    """For each reading the number before it, else the second, as texts; and whether it is the one before."""
    for kind, value in _values(number):
        near = value - 1 or 2
        if kind == "1":
            zero = ord(number[0]) - int(number[0])  # of any script
            yield "".join(chr(zero + int(digit)) for digit in str(near)), value > 1
        elif kind in "aA":
            yield chr(ord(kind) + near - 1), value > 1
        elif near in _ROMANS:
            small = _ROMANS[near]
            yield small.upper() if kind[0] == "A" else small, value > 1


_ROMANS = {_roman(letters): letters for letters in ("i", *ROMAN_NUMBERS)}


def _counted(candidates: list[_Item]) -> list[list[_Item]]:
    """Runs from 1 on in each style, the next item the nearest with the next number."""
    runs: list[list[_Item]] = []
    open_: dict[tuple[str, str, str, str], list[_Item]] = {}
    for item in candidates:
        run = open_.get(item.style)
        # A number right behind another has no item between: "1. 2. 3."
        if run and item.value == run[-1].value + 1 and item.start > run[-1].text:
            run.append(item)
        elif item.value == 1:
            open_[item.style] = [item]
            runs.append(open_[item.style])
    return runs


def _opens_sentence(item: _Item) -> bool:
    """Behind the end of a sentence always; behind a colon or nothing where a capital says so."""
    if item.behind == _END:
        return True
    if item.behind == _COLON:
        return item.capital and not item.style[1]
    return item.capital and (item.behind == _WORD or item.style[3] == ".")
