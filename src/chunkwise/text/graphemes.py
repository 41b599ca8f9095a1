"""Where a text may be cut without breaking what a reader sees as one character.

Characters are joined to grapheme clusters (UAX #29) by the rules of `\\X` of the `regex` module, and by the one it has
not (GB9c): a virama joins two consonants.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.text.characters import JOINER, MARK, CharacterArrays, distinct, kind_of, kinds_of

_CLASSES = (
    "CR", "LF", "Control", "Extend", "ZWJ", "Prepend", "SpacingMark", "L", "V", "T", "LV", "LVT",
    "Regional_Indicator",
)  # fmt: skip
_PICTURE = len(_CLASSES) + 1
_OTHER = 0
_NUMBER = {name: number for number, name in enumerate(_CLASSES, start=1)}
_EXTEND, _JOINER, _FLAG = _NUMBER["Extend"], _NUMBER["ZWJ"], _NUMBER["Regional_Indicator"]
_CLASS = regex.compile(
    "|".join([*(rf"(\p{{GCB={name}}})" for name in _CLASSES), r"(\p{Extended_Pictographic})"])
)
_CONJUNCT = regex.compile(r"(\p{InCB=Consonant})|(\p{InCB=Extend})|(\p{InCB=Linker})")
_CONSONANT, _LINKER = 1, 3
_HANGUL = {
    "L": ("L", "V", "LV", "LVT"), "V": ("V", "T"), "LV": ("V", "T"), "T": ("T",), "LVT": ("T",),
}  # fmt: skip
_MARKS = ("Extend", "ZWJ", "SpacingMark")
_BITS = 4
_BLOCK = 1 << 15
"""Characters looked at together: what is computed for them stays in the processor's cache."""
_APART, _JOINED, _IF_PICTURE, _IF_SECOND = range(4)


def _rule(before: int, after: int) -> int:
    """What two neighbors say, in the order of the rules GB3 to GB999."""
    names = ("", *_CLASSES, "")
    one, other = names[before], names[after]
    if (one, other) == ("CR", "LF"):
        return _JOINED
    if {one, other} & {"CR", "LF", "Control"}:
        return _APART
    if other in _HANGUL.get(one, ()) or other in _MARKS or one == "Prepend":
        return _JOINED
    if before == _JOINER and after == _PICTURE:
        return _IF_PICTURE
    return _IF_SECOND if before == after == _FLAG else _APART


def _rules() -> NDArray[np.uint8]:
    rules = np.zeros(1 << 2 * _BITS, dtype=np.uint8)
    for before, after in product(range(_PICTURE + 1), repeat=2):
        rules[before << _BITS | after] = _rule(before, after)
    return rules


_RULES = _rules()
_UNKNOWN = 0
# Filled as characters are met, each with its class plus one, and with its part in a conjunct.
_table: NDArray[np.uint8] = np.zeros(0x110000, dtype=np.uint8)
_roles: NDArray[np.uint8] = np.zeros(0x110000, dtype=np.uint8)


def _learn(points: list[int]) -> None:
    for point in points:
        match, role = _CLASS.match(chr(point)), _CONJUNCT.match(chr(point))
        _roles[point] = (role and role.lastindex) or _OTHER
        _table[point] = 1 + ((match and match.lastindex) or _OTHER)


def _classes(points: NDArray[np.uint32]) -> NDArray[np.uint8]:
    result = _table.take(points)
    unknown = points[result == _UNKNOWN]
    if len(unknown):
        _learn(distinct(unknown))
        result = _table.take(points)
    result -= 1
    return result


def inside_clusters(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """For each position of a text, its end too, whether parts of one cluster stand before and behind it."""
    inside = np.zeros(len(points) + 1, dtype=np.bool_)
    none = np.zeros(0, dtype=np.int64)
    marked, flags = [none], [none]
    for start in range(1, len(points), _BLOCK):
        first = max(start - 2, 0)  # a joiner is judged by what it follows, too
        classes = _classes(points[first : start + _BLOCK])
        rule = _RULES.take(classes[:-1] << _BITS | classes[1:])
        joined = inside[first + 1 : first + 1 + len(rule)]
        joined |= rule == _JOINED
        if rule.max() <= _JOINED:
            continue
        picture = (rule == _IF_PICTURE)[1:]
        joined[1:] |= picture & (classes[:-2] == _PICTURE)
        marked.append((picture & (classes[:-2] == _EXTEND)).nonzero()[0] + first + 2)
        flags.append((rule == _IF_SECOND).nonzero()[0] + first + 1)
    # What lies further back than a block may reach is looked for in the whole text.
    inside[_behind_marked_pictures(points, np.concatenate(marked))] = True
    inside[_seconds(np.concatenate(flags))] = True
    inside[_conjuncts(points)] = True
    return inside


def _conjuncts(points: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Places of consonants that a virama, with or without marks beside it, joins to the one before."""
    roles = _roles.take(points)  # all of them were met
    places = roles.nonzero()[0]
    role = roles[places]
    if not (role == _LINKER).any():
        return places[:0]
    consonant, linkers = (role == _CONSONANT).nonzero()[0], (role == _LINKER).cumsum()
    before, after = consonant[:-1], consonant[1:]
    touching = places[after] - places[before] == after - before  # nothing but marks between them
    return places[after[touching & (linkers[after] > linkers[before])]]


def _seconds(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places inside pairs: of a run of flags' letters, every second joins the one before it."""
    first = np.ones(len(places), dtype=np.bool_)
    first[1:] = np.diff(places) > 1
    run = np.maximum.accumulate(np.where(first, places, 0))
    return places[(places - run) % 2 == 0]


def _behind_marked_pictures(
    points: NDArray[np.uint32], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Of places behind marks and a joiner those whose marks stand on a pictograph."""
    if not len(places):
        return places
    bare = (_classes(points) != _EXTEND).nonzero()[0]
    index = bare.searchsorted(places - 2) - 1
    on_picture = _classes(points[bare[index]]) == _PICTURE
    return places[(index >= 0) & on_picture]


_JOINING = MARK | JOINER
FIRST_MARK = "\u0300"
"""No character below it joins another, but for line feed behind carriage return."""
_FIRST_CONSONANT = "\u0915"
"""The first of those that a virama joins to the one before it."""
_FLAG_A, _FLAG_Z = 0x1F1E6, 0x1F1FF
_SEARCHES, _NEAR = 64, 32
"""So many positions are looked at by themselves, so many characters around: then the whole text is."""
Runs = tuple[NDArray[np.int64], NDArray[np.int64]]


class Graphemes:
    """Positions inside grapheme clusters, kept as runs `[first, last]` of forbidden cuts.

    Most cuts lie between two characters that never join; the runs are found when one does not.
    """

    def __init__(self, characters: CharacterArrays) -> None:
        self._characters = characters
        self._text = characters.text
        # One character is found much quicker than two.
        has_pair = "\r" in self._text and "\r\n" in self._text
        self.trivial = self._text.isascii() and not has_pair
        """Every position may be cut."""
        self._searches = 0

    @cached_property
    def _runs(self) -> Runs:
        return _forbidden_runs(self._characters)

    def _is_sure(self, position: int) -> bool:
        """Whether the two characters beside the position alone make it a break."""
        if self.trivial or position <= 0 or position >= len(self._text):
            return True
        before, after = self._text[position - 1], self._text[position]
        if before < FIRST_MARK and after < FIRST_MARK:
            return before != "\r" or after != "\n"
        if kind_of(before) & JOINER or kind_of(after) & _JOINING:
            return False
        if after >= _FIRST_CONSONANT and kind_of(before) & MARK:
            return False
        return not (_is_flag(before) and _is_flag(after))

    def _doubtful(self, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which of the sorted cuts are not made sure by the two characters beside them."""
        low, high = cuts.searchsorted([1, len(self._text)])
        cuts, points = cuts[low:high], self._characters.points
        before, after = points.take(cuts - 1), points.take(cuts)
        doubtful = (before == 13) & (after == 10)
        rare = ((before >= ord(FIRST_MARK)) | (after >= ord(FIRST_MARK))).nonzero()[0]
        if len(rare):
            before, after = before[rare], after[rare]
            unsure = kinds_of(after) & np.uint16(_JOINING) | kinds_of(before) & np.uint16(JOINER)
            unsure |= kinds_of(before) & np.uint16(MARK) * (after >= ord(_FIRST_CONSONANT))
            doubtful[rare] |= (unsure != 0) | ((after >= _FLAG_A) & (after <= _FLAG_Z))
        return doubtful.nonzero()[0] + low

    def is_break(self, position: int) -> bool:
        return self._is_sure(position) or self._run_around(position) is None

    def floor(self, position: int) -> int:
        """The nearest allowed cut at or before the position."""
        run = None if self._is_sure(position) else self._run_around(position)
        return position if run is None else run[0] - 1

    def ceil(self, position: int) -> int:
        """The nearest allowed cut at or after the position."""
        run = None if self._is_sure(position) else self._run_around(position)
        return position if run is None else run[1] + 1

    def floors(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """`floor` of each of the sorted positions, each once."""
        if len(self.keep(positions)) == len(positions):
            return positions
        return np.unique(np.array([self.floor(each) for each in positions.tolist()], np.int64))

    def _run_around(self, position: int) -> tuple[int, int] | None:
        near = "_runs" not in self.__dict__ and self._searches < _SEARCHES
        start, (first, last) = self._runs_near(position) if near else (0, self._runs)
        run = int(first.searchsorted(position - start, "right")) - 1
        if run >= 0 and position - start <= last[run]:
            return start + int(first[run]), start + int(last[run])
        return None

    def _runs_near(self, position: int) -> tuple[int, Runs]:
        """The runs between two sure breaks around a position, and where their text starts."""
        self._searches += 1
        low = high = position
        while not self._is_sure(low) and position - low < _NEAR:
            low -= 1
        while not self._is_sure(high) and high - position < _NEAR:
            high += 1
        if max(position - low, high - position) >= _NEAR:
            return 0, self._runs
        return low, _forbidden_runs(CharacterArrays(self._text[low:high]))

    def keep(self, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Only those of the sorted cuts that break no cluster."""
        doubtful = cuts[:0] if self.trivial else self._doubtful(cuts)
        if not len(doubtful):
            return cuts
        if "_runs" not in self.__dict__ and self._searches + len(doubtful) < _SEARCHES:
            joined = [at for at in doubtful.tolist() if self._run_around(int(cuts[at]))]
            return np.delete(cuts, joined)
        first, last = self._runs
        run = first.searchsorted(cuts, "right") - 1
        return cuts[(run < 0) | (cuts > np.append(last, 0)[run])]


def _is_flag(char: str) -> bool:
    return _FLAG_A <= ord(char) <= _FLAG_Z


def _forbidden_runs(characters: CharacterArrays) -> Runs:
    points = characters.points
    if characters.text.isascii():
        behind = characters.places("\r") + 1  # a line feed behind one is all that can be joined
        pairs = behind[(behind < len(points)) & (points.take(behind, mode="clip") == 10)]
        return pairs, pairs
    inside = inside_clusters(points)
    edges = (inside[1:] != inside[:-1]).nonzero()[0] + 1  # neither the start nor the end is inside
    return edges[::2], edges[1::2] - 1
