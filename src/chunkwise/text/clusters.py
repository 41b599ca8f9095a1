"""The rules by which Unicode joins characters to grapheme clusters (UAX #29), for many places at once.

They are those of `\\X` of the `regex` module, and the one it has not (GB9c): a virama joins two consonants.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.text.characters import distinct

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
    """What two neighbours say, in the order of the rules GB3 to GB999."""
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
    found = _table.take(points)
    unknown = points[found == _UNKNOWN]
    if len(unknown):
        _learn(distinct(unknown))
        found = _table.take(points)
    found -= 1
    return found


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
