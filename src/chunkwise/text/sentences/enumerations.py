"""Numbered items in running text: "1. Open it. 2. Close it.", "a) …", "(ii) …", "Step 3. …", told by their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import (
    CLOSER,
    DIGIT,
    ENDER,
    FINAL,
    FULL_STOP,
    LETTER,
    LOWER,
    NEWLINE,
    SPACE,
    UPPER,
    CharacterArrays,
    kind_of,
    one_of,
)
from chunkwise.text.positions import merge_sorted
from chunkwise.text.sentences.full_stops import (
    ROMAN_NUMBERS,
    full_stop_ends,
    hash_words,
    in_list,
    words_before_stops,
    words_beside,
)

_NARROW, _WIDE = ".):", "：、．）"
"""Marks behind a number; the wide ones need no space behind them."""
_MARKS = _NARROW + _WIDE
_AS_NARROW = {"：": ":", "．": ".", "）": ")"}
_NUMBER = re.compile(r"(\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})")
_LONGEST = 5
"""Characters of a number: "xviii"."""
_GAP = 6
"""White space looked through; what stands further away has a place of its own."""
_CLOSERS_AT_MOST = 4
_LONGEST_WORD = 24
_COLONS, _COMMAS = ":：", ";,；，、"
_TIGHT = "。！？：；，、"
"""Marks that no space follows."""
_AND = frozenset("and or und oder et ou y o e i en of и или".split())
"""Stand before the last item: "1) tea, 2) milk and 3) sugar"."""
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10}
_ROMAN_LETTERS = "ivxIVX"
_FIRST = "1aAiI"
_BLANK_LINE = re.compile(r"\n\s*\n")
_WITHOUT_MARKS = 3
"""Items without a mark before them, "Do: 1. Open it 2. Close it 3. Wait", are believed from so many on.

Where the first opens its line, one less will do.
"""


class Enumerations(NamedTuple):
    """Of all items in running text, as sorted positions."""

    numbers: NDArray[np.int64]
    """Where items start, with their number."""
    sentences: NDArray[np.int64]
    """Those of them that open a sentence; the others stand amid one: "we need (1) tea and (2) milk"."""
    texts: NDArray[np.int64]
    """Where the text behind each number starts: no place to cut at."""
    led_in: NDArray[np.int64]
    """Items behind a colon: what precedes them leads them in."""
    runs: NDArray[np.int64]
    """Where the first and the last item of each enumeration start, in two columns; those inside others left out."""


_NOWHERE = np.zeros(0, dtype=np.int64)
NO_ENUMERATIONS = Enumerations(
    _NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE, np.zeros((0, 2), dtype=np.int64)
)

_Positions = NDArray[np.int64]
_Flags = NDArray[np.bool_]
_END, _COLON, _COMMA, _WORD = range(4)
"""What precedes a number: the end of a sentence or of a line, a colon, a comma or "and", anything else."""


class _Numbered(NamedTuple):
    """What may be the number of an item."""

    start: int
    text: int
    """Where its text starts."""
    style: tuple[str, str, str, str]
    """The word before it, the opening mark, the kind of number, the closing mark: the same in all items of a run."""
    value: int
    behind: int
    capital: bool
    """Whether its text opens with something else than a small letter."""


def enumerations(characters: CharacterArrays) -> Enumerations:
    """Items of runs that count up from 1, a or i in one paragraph, at least two; a lone number is none."""
    text = characters.text
    marks = characters.places(_MARKS)
    # Runs end with their paragraph, and few paragraphs hold a first item and a second: others are not worth reading.
    begins, breaks = _from_first_items(characters, marks)
    if not len(begins):
        return NO_ENUMERATIONS
    window = breaks.searchsorted(marks, "right")
    inside = (window < len(breaks)) & (begins.take(window, mode="clip") <= marks)
    start, mark = _numbers_before(characters, marks[inside])
    first, second = _which_begin(characters, start, mark)
    paragraph = breaks.searchsorted(start)
    first = first[_flags(len(breaks) + 1, paragraph[second])[paragraph[first]]]
    among = _flags(len(breaks) + 1, paragraph[first])[paragraph]
    start, mark = start[among], mark[among]
    if not len(start):
        return NO_ENUMERATIONS
    behind, lead = _what_precedes(characters, start)
    introduced = (behind != _WORD).nonzero()[0]
    following = characters.next_solid(mark + 1)

    def read(index: _Positions) -> list[_Numbered]:
        columns = (each[index].tolist() for each in (start, mark, following, behind, lead))
        rows = zip(*columns, strict=True)
        return [item for row in rows for item in _read(text, characters, *row)]

    marked = read(introduced)
    runs = _counted(marked, breaks)
    believed = [run for run in runs if len(run) > 1]
    items = {item.start: item for run in believed for item in run}
    # What begins as an item may have others behind it that no mark parts.
    alone = {run[0].start: run[0] for run in runs if len(run) == 1 and run[0].start not in items}
    if alone:
        loose = read(((behind == _WORD) & _may_be_loose(characters, start, following)).nonzero()[0])
        both = sorted([*alone.values(), *loose], key=lambda item: item.start)
        for run in _counted(both, breaks):
            opens_line = run[0].start == 0 or text[run[0].start - 1] == "\n"
            if len(run) >= _WITHOUT_MARKS - opens_line and run[0].start in alone:
                believed.append(run)
                items.update((item.start, item) for item in run)
    found = [items[at] for at in sorted(items)]
    return Enumerations(
        _array(item.start for item in found),
        _array(item.start for item in found if _opens_sentence(item)),
        np.unique(_array(item.text for item in found)),
        _array(item.start for item in found if item.behind == _COLON),
        _outermost(believed),
    )


def _outermost(runs: list[list[_Numbered]]) -> NDArray[np.int64]:
    """First and last item of each run, in order; runs that overlap are one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted((run[0].start, run[-1].start) for run in runs):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _flags(count: int, which: _Positions) -> _Flags:
    flags = np.zeros(count, dtype=np.bool_)
    flags[which] = True
    return flags


def _from_first_items(
    characters: CharacterArrays, marks: _Positions
) -> tuple[_Positions, _Positions]:
    """From the first mark of a paragraph that may be behind 1, a or i to the blank line that ends it."""
    mark = marks[marks > 0]
    last = mark - 1 - _dotted(characters, mark)
    points = characters.points.take(last)
    plain = one_of(points, _FIRST).nonzero()[0]
    plain = plain[(last[plain] == 0) | ~characters.have(last[plain] - 1, DIGIT | LETTER)]
    other = (points > 127).nonzero()[0]
    other = other[characters.have(last[other], DIGIT)]
    begins, breaks = [], [-1]
    for at in merge_sorted(mark[plain], mark[other]).tolist():
        if at > breaks[-1]:
            blank = _BLANK_LINE.search(characters.text, at)
            begins.append(at)
            breaks.append(blank.start() if blank else len(characters.text))
    return np.array(begins, dtype=np.int64), np.array(breaks[1:], dtype=np.int64)


def _array(values: Iterable[int]) -> _Positions:
    return np.fromiter(values, dtype=np.int64)


def _numbers_before(characters: CharacterArrays, mark: _Positions) -> tuple[_Positions, _Positions]:
    """Start and closing mark of all that looks like a number of an item: a few digits or letters and a mark."""
    points = characters.points
    mark = mark[mark > 0]
    last = mark - 1 - _dotted(characters, mark)
    mine = characters.have(np.maximum(last, 0), DIGIT | LETTER)
    # Words before a full stop go first: most are no letter by itself and end with none of a Roman number.
    ends_number = characters.have(np.maximum(last, 0), DIGIT)
    ends_number |= one_of(points.take(np.maximum(last, 0)), _ROMAN_LETTERS)
    mine &= ends_number | (last == 0) | ~characters.have(np.maximum(last - 1, 0), DIGIT | LETTER)
    mark, last = mark[mine], last[mine]
    mine = characters.have(mark + 1, SPACE) | (points[mark] > 127)
    mark, last = mark[mine], last[mine]
    start = last
    for _ in range(_LONGEST):
        start = start - ((start > 0) & characters.have(start - 1, DIGIT | LETTER))
    start = start - ((start > 0) & one_of(points.take(start - 1, mode="clip"), "(（"))
    before = np.maximum(start - 1, 0)
    alone = (start == 0) | characters.have(before, SPACE)
    alone |= one_of(points[before], _TIGHT)
    alone &= (last - start <= _LONGEST) & (last >= 0)
    start, mark, last = start[alone], mark[alone], last[alone]
    # Digits, a letter, or letters of a Roman number, as far as the first and the last tell.
    first = start + one_of(points[start], "(（")
    short = (first == last) | (characters.have(first, DIGIT) & characters.have(last, DIGIT))
    short |= one_of(points[first], _ROMAN_LETTERS) & one_of(points[last], _ROMAN_LETTERS)
    return start[short], mark[short]


def _dotted(characters: CharacterArrays, mark: _Positions) -> _Flags:
    """Whether a bracket closes behind a full stop: "1.)"."""
    before = characters.points.take(np.maximum(mark - 1, 0))
    return (characters.points[mark] == ord(")")) & (before == ord(".")) & (mark > 1)


def _which_begin(
    characters: CharacterArrays, start: _Positions, mark: _Positions
) -> tuple[_Positions, _Positions]:
    """The numbers that may be 1, a or i, and those that may be 2, b or ii: digits of other scripts may be any."""
    at = start + one_of(characters.points[start], "(（")
    points, size = characters.points[at], mark - at - _dotted(characters, mark)
    other = (points > 127) & characters.have(at, DIGIT)
    first = other | (one_of(points, _FIRST) & (size == 1))
    second = other | (one_of(points, "2bB") & (size == 1)) | (one_of(points, "iI") & (size == 2))
    return first.nonzero()[0], second.nonzero()[0]


@lru_cache(maxsize=1)
def _ands() -> NDArray[np.uint64]:
    return hash_words(_AND, backwards=True)


def _what_precedes(characters: CharacterArrays, start: _Positions) -> tuple[_Positions, _Positions]:
    """What stands before each number; and where the word starts that belongs to it, "Step 1.", "Art. 1.", else -1."""
    last, own_line = _last_before(characters, start)
    behind = np.full(len(start), _WORD)
    behind[_ended(characters, last, start) | own_line] = _END
    points = characters.points.take(np.maximum(last, 0))
    behind[~own_line & one_of(points, _COMMAS)] = _COMMA
    behind[~own_line & one_of(points, _COLONS)] = _COLON
    lead = np.full(len(start), -1)
    index = (behind == _WORD).nonzero()[0]
    # A full stop that ends no sentence belongs to its word: "Art. 1."
    short = characters.have(last[index], FULL_STOP)
    word_last = last[index] - short
    lettered = characters.have(np.maximum(word_last, 0), LETTER) & (word_last >= 0)
    index, word_last, short = index[lettered], word_last[lettered], short[lettered]
    word, length = words_beside(characters, word_last, "", -1)
    place = word_last - length + 1
    behind[index[in_list(word, _ands())]] = _COMMA
    before, line = _last_before(characters, place)
    leads = characters.have(place, UPPER) & (length > 1) & (length <= _LONGEST_WORD // 2)
    leads &= ~short | in_list(word, words_before_stops().numbered)  # no "Dr. A."
    leads &= (
        _ended(characters, before, place)
        | line
        | one_of(characters.points.take(np.maximum(before, 0)), _COLONS)
    )
    behind[index[leads]] = _END
    lead[index[leads]] = place[leads]
    return behind, lead


def _last_before(characters: CharacterArrays, start: _Positions) -> tuple[_Positions, _Flags]:
    """The last character before each place that is no white space, and whether the place opens its line."""
    last = start - 1
    line = last < 0
    for _ in range(_GAP):
        spaced = characters.have(np.maximum(last, 0), SPACE) & (last >= 0)
        line |= spaced & characters.have(np.maximum(last, 0), NEWLINE)
        last = last - spaced
    line |= (last < 0) | characters.have(np.maximum(last, 0), SPACE)
    return last, line


def _ended(characters: CharacterArrays, last: _Positions, following: _Positions) -> _Flags:
    """Whether a sentence ends with each of these characters, closing quotes and brackets behind it or not."""
    core = np.maximum(last, 0)
    for _ in range(_CLOSERS_AT_MOST):
        core = core - (characters.have(core, CLOSER) & (core > 0))
    ended = characters.have(core, ENDER | FINAL)
    stop = (characters.have(core, FULL_STOP) & (core > 0)).nonzero()[0]
    ended[stop] = full_stop_ends(characters, core[stop], last[stop] + 1, following[stop])
    return ended


def _may_be_loose(characters: CharacterArrays, start: _Positions, following: _Positions) -> _Flags:
    """Digits or a small letter before something else than one."""
    return characters.have(start, DIGIT | LOWER) & ~characters.have(following, LOWER)


def _read(
    text: str,
    characters: CharacterArrays,
    start: int,
    mark: int,
    following: int,
    behind: int,
    lead: int,
) -> list[_Numbered]:
    """What the number before a mark may be: "i)" is a letter and a Roman number."""
    opened = text[start] in "(（"
    value, closing = text[start + opened : mark], _AS_NARROW.get(text[mark], text[mark])
    if value.endswith("."):
        value, closing = value[:-1], ".)"
    if _NUMBER.fullmatch(value) is None or (opened and closing != ")") or following >= len(text):
        return []
    if closing == ":" and lead < 0:
        return []  # "at 5: the end" is no item, "Step 5: the end" is one
    said = text[lead:start].strip().lower() if lead >= 0 else ""
    capital = not kind_of(text[following]) & LOWER
    at = lead if lead >= 0 else start
    return [
        _Numbered(at, following, (said, "(" * opened, kind, closing), number, behind, bool(capital))
        for kind, number in _values(value)
    ]


def _values(value: str) -> list[tuple[str, int]]:
    """The kinds of number that a few digits or letters may be, each with its value."""
    if value.isdecimal():
        return [("1", int(value))] if not value.startswith("0") else []
    found: list[tuple[str, int]] = []
    small = value.lower()
    case = "a" if value == small else "A"
    if len(value) == 1:
        found.append((case, ord(small) - ord("a") + 1))
    if value in (small, value.upper()) and (small in ROMAN_NUMBERS or small == "i"):
        found.append((f"{case} Roman", _roman(small)))
    return found


def _roman(letters: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in letters]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < following else value for value, following in pairs)


def _counted(candidates: list[_Numbered], breaks: _Positions) -> list[list[_Numbered]]:
    """Runs from 1 on in each style, the next item the nearest with the next number; a blank line ends them all."""
    runs: list[list[_Numbered]] = []
    open_: dict[tuple[str, str, str, str], list[_Numbered]] = {}
    paragraphs = breaks.searchsorted([item.start for item in candidates]).tolist()
    before = -1
    for item, paragraph in zip(candidates, paragraphs, strict=True):
        if paragraph != before:
            before = paragraph
            open_.clear()
        run = open_.get(item.style)
        # A number right behind another has no item between: "1. 2. 3."
        if run and item.value == run[-1].value + 1 and item.start > run[-1].text:
            run.append(item)
        elif item.value == 1:
            open_[item.style] = [item]
            runs.append(open_[item.style])
    return runs


def _opens_sentence(item: _Numbered) -> bool:
    """Behind the end of a sentence always; behind a colon or nothing where a capital says so."""
    if item.behind == _END:
        return True
    if item.behind == _COLON:
        return item.capital and not item.style[1]
    return item.capital and (item.behind == _WORD or item.style[3] == ".")
