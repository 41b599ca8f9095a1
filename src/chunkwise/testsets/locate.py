"""Quoted passages found in the documents: exactly, else but for signs, case and marks; never guessed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document, Passage, Span
from chunkwise.text.find_passages import (
    TOLERANCES,
    Folding,
    HashSet,
    Occurrences,
    TextBlock,
    Tolerance,
    WindowHashes,
    blocks_of,
    occurrences,
    stripped,
)
from chunkwise.text.passages_with_front_matter import behind_blank_heads

_WINDOWS = 64
"""Windows of a passage that are looked for, spread over it."""
_OWNERS = 64
"""Passages that a window speaks for at most."""
_PLACES = 1024
"""Places of a window in a block that count at most; fewer, where there would be more than `_VOTES` in all."""
_VOTES = 1 << 21
_LIKE = 0.3
"""Share of words that must be the same, else nothing is near."""
_MOST_WORDS = 1000
_WORDS = re.compile(r"[^\W\u0e00-\U0010ffff]+|[^\W\x00-\u0dff]")
_SPACE = ord(" ")


class _Guess(NamedTuple):
    score: int
    """Twice the windows that stand here as they do in the passage, and one in the document that was named."""
    document: int
    start: int


def nearest_places(
    passages: Sequence[str],
    documents: Sequence[Document],
    named: Sequence[int | None] | None = None,
) -> list[Passage | None]:
    """Of each passage the place that shares most with it; None: nothing does.

    Of places that share as much, that in the document which is named for the passage.
    """
    numbers = np.array([-1 if each is None else each for each in named or [None] * len(passages)])
    folding = Folding("case")
    best: list[_Guess | None] = [None] * len(passages)
    folded = [stripped(folding.fold(each).points) for each in passages]
    sizes = np.array([len(each) for each in folded])
    # Where no spaces part words, and in few words, fewer characters in a row already mean something.
    size = [8 if len(each) >= 24 and _SPACE in each[:200] else 4 for each in folded]
    lengths = sorted(set(size))
    chosen = {
        length: [n for n, each in enumerate(folded) if size[n] == length <= len(each)]
        for length in lengths
    }
    searches = [_Windows(chosen[length], folded, length) for length in lengths if chosen[length]]
    for block in blocks_of(documents, folding, max(size)) if searches else ():
        hashes = WindowHashes(block.points)
        for search in searches:
            _vote(block, *search.found(hashes), sizes, numbers, best)
    return [
        None if guess is None else _refined(passage, guess, documents)
        for passage, guess in zip(passages, best, strict=True)
    ]


class _Windows:
    """Windows of one length of some passages."""

    def __init__(self, chosen: list[int], folded: list[NDArray[np.uint32]], length: int) -> None:
        windows = [_spread(folded[number], length) for number in chosen]
        keys, key = np.unique(np.concatenate([each for each, _ in windows]), return_inverse=True)
        order = np.argsort(key, kind="stable")
        self._length = length
        self._keys = HashSet(keys)
        self._owner = np.repeat(chosen, [len(each) for each, _ in windows])[order]
        self._offset = np.concatenate([each for _, each in windows])[order]
        self._first = np.searchsorted(key[order], np.arange(len(keys)))
        # What many passages share tells none of them from the others.
        self._owners = np.minimum(np.bincount(key), _OWNERS)

    def found(
        self, hashes: WindowHashes
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Of windows that are found: the passage each belongs to, its place, and where the passage would begin."""
        at, key = self._keys.find(hashes.all(self._length))
        order = np.argsort(key, kind="stable")
        at, key = at[order], key[order]
        count = np.bincount(key, minlength=1)
        nth = np.arange(len(key)) - (np.cumsum(count) - count)[key]
        many = self._owners[key]
        places = _PLACES
        while places > 1 and many[nth < places].sum() > _VOTES:
            places //= 2
        at, key, many = at[nth < places], key[nth < places], many[nth < places]
        rank = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        row = np.repeat(self._first[key], many) + rank
        at = np.repeat(at, many)
        return self._owner[row], at, at - self._offset[row]


def _spread(
    points: NDArray[np.uint32], length: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of some windows of a passage and where they stand in it."""
    hashes = WindowHashes(points).all(length)
    step = -(-len(hashes) // _WINDOWS)
    return hashes[::step], np.arange(len(hashes))[::step]


def _vote(
    block: TextBlock,
    owner: NDArray[np.int64],
    window: NDArray[np.int64],
    start: NDArray[np.int64],
    sizes: NDArray[np.int64],
    named: NDArray[np.int64],
    best: list[_Guess | None],
) -> None:
    """Windows that agree about where the passage would begin count together."""
    if not len(owner):
        return
    # A passage that begins with words of its own would begin before the document does.
    document = block.document_of(window)
    start = np.maximum(start, block.starts[document])
    room = np.maximum(16, sizes[owner] // 2)
    # Two grids, one half a step off the other: what belongs together lies in one cell of either.
    cell = np.concatenate((start // room * 2, (start + room // 2) // room * 2 + 1))
    key = np.tile(owner, 2) << 32 | cell
    place, first, count = np.unique(key, return_index=True, return_counts=True)
    first %= len(start)
    number = block.numbers[document[first]]
    score = 2 * count + (number == named[place >> 32])
    # The best of each passage comes last in its run.
    order = np.lexsort((score, place >> 32))
    last = order[np.append(np.flatnonzero(np.diff(place[order] >> 32)), len(order) - 1)]
    for each in last.tolist():
        passage = int(place[each] >> 32)
        known = best[passage]
        if known is None or score[each] > known.score:
            offset = int(block.begin[start[first[each]]])
            best[passage] = _Guess(int(score[each]), int(number[each]), offset)


def _refined(passage: str, guess: _Guess, documents: Sequence[Document]) -> Passage | None:
    """The stretch of the document whose words fit those of the passage."""
    document = documents[guess.document]
    room = min(len(passage), 20_000) + 80
    low = max(0, guess.start - room)
    words = [match[0].casefold() for match in _WORDS.finditer(passage)][:_MOST_WORDS]
    there = list(_WORDS.finditer(document.text, low, min(len(document.text), low + 4 * room)))
    here = [match[0].casefold() for match in there]
    first = _most_alike(here, words)
    there, here = there[first : first + len(words) + 4], here[first : first + len(words) + 4]
    matcher = SequenceMatcher(None, here, words, autojunk=False)
    pairs = [
        (block.a + each, block.b + each)
        for block in matcher.get_matching_blocks()
        for each in range(block.size)
    ]
    if not pairs:
        return _characters_alike(passage, document, low, room)
    longest = matcher.find_longest_match()
    shift = longest.a - longest.b
    # A word that happens to stand far away does not stretch the place.
    near = [pair for pair in pairs if abs(pair[0] - pair[1] - shift) <= len(words) // 2 + 1]
    if 2 * len(near) < _LIKE * 2 * len(words):
        return None
    first = max(0, near[0][0] - near[0][1])
    last = min(len(there) - 1, near[-1][0] + len(words) - 1 - near[-1][1])
    return _with_signs(passage, document, there[first].start(), there[max(first, last)].end())


def _most_alike(here: list[str], words: list[str]) -> int:
    """Where a stretch of the length of `words`, with a little room, shares most words with it."""
    missing = Counter(words)
    size = len(words)
    shared = most = best = 0
    for at, word in enumerate(here):
        if at >= size:
            missing[here[at - size]] += 1
            shared -= missing[here[at - size]] > 0
        shared += missing[word] > 0
        missing[word] -= 1
        if shared > most:
            most, best = shared, at + 1 - size
    return max(0, best - 2)


def _with_signs(passage: str, document: Document, start: int, end: int) -> Passage:
    """The full stop and the quotes around the words, where the passage has them, too."""
    found = list(_WORDS.finditer(passage))
    before, behind = passage[: found[0].start()].lstrip(), passage[found[-1].end() :].rstrip()
    if before and document.text.endswith(before, 0, start):
        start -= len(before)
    if behind and document.text.startswith(behind, end):
        end += len(behind)
    return Passage(document.id, start, end)


def _characters_alike(passage: str, document: Document, low: int, room: int) -> Passage | None:
    """A few words of which none is the same: perhaps one with a slip in it."""
    if len(passage) > 80:
        return None
    count = max(1, len(_WORDS.findall(passage)))
    there = list(_WORDS.finditer(document.text, low, min(len(document.text), low + 4 * room)))
    best, place = _LIKE * 2, None
    for at in range(len(there) - count + 1):
        start, end = there[at].start(), there[at + count - 1].end()
        alike = SequenceMatcher(None, document.text[start:end], passage, autojunk=False).ratio()
        if alike > best:
            best, place = alike, Passage(document.id, start, end)
    return place


def trimmed(text: str, start: int, end: int) -> Span:
    """Empty where there is nothing else."""
    part = text[start:end]
    behind = start + len(part.rstrip())
    return Span(min(end - len(part.lstrip()), behind), behind)


_ELISION = re.compile(r"\s*(?:[\[(]\s*(?:\.{3}|…)\s*[\])]|\.{3,}|…)\s*")


def elided_parts(quote: str) -> list[str]:
    """What stands between the marks of an elision, each with a letter or digit; empty: nothing was left out inside."""
    parts = [part for part in _ELISION.split(quote) if any(map(str.isalnum, part))]
    return parts if len(parts) > 1 else []


MANY_PLACES = 20
"""A passage that stands in more places than this is worth a remark."""
MOST_PLACES = 1000
"""A passage that stands in more places than this says nothing about where to look."""
_AT_ONCE = 1024
_NEAREST = 1000
"""Passages whose nearest place is looked for: a file with more is one for other documents."""


class SoughtPassage(NamedTuple):
    """A passage to be found."""

    text: str
    document: int | None = None
    """Number of the document it is said to stand in; None: any."""


class Located(NamedTuple):
    """Where a passage stands: that in the document named first, else in document order."""

    places: tuple[Passage, ...]
    tolerance: Tolerance


class Ambiguous(NamedTuple):
    """Too many places, or places with different texts, none of them exactly that of the passage."""

    places: tuple[Passage, ...]
    different: bool
    """Whether it is the texts that differ, not the places that are too many."""


class Missing(NamedTuple):
    """It stands nowhere, or not in the document it is said to stand in."""

    elsewhere: tuple[Passage, ...] = ()
    """Where it does stand."""
    nearest: Passage | None = None


LocateResult = Located | Ambiguous | Missing


def locate(wanted: Sequence[SoughtPassage], documents: Sequence[Document]) -> list[LocateResult]:
    """What became of each passage, in their order; of equal ones the same."""
    distinct = dict.fromkeys(wanted)
    if len(distinct) < len(wanted):
        known = dict(zip(distinct, locate(list(distinct), documents), strict=True))
        return [known[each] for each in wanted]
    outcomes: list[LocateResult | None] = [None] * len(wanted)
    elsewhere: dict[int, tuple[Passage, ...]] = {}
    looks: list[_Look] = [partial(_places, tolerance=each) for each in TOLERANCES]
    for look in (*looks, _behind_heads):
        open_ones = [number for number, outcome in enumerate(outcomes) if outcome is None]
        if not open_ones:
            break
        places = look([wanted[number] for number in open_ones], documents)
        for number, found in zip(open_ones, places, strict=True):
            if found.here or (wanted[number].document is None and found.others):
                outcomes[number] = _decided(found, documents)
            elif found.others:
                elsewhere.setdefault(number, _passages(found.others, documents))
    lost = [number for number, outcome in enumerate(outcomes) if outcome is None]
    sought = [number for number in lost if number not in elsewhere][:_NEAREST]
    passages = [wanted[number] for number in sought]
    near = nearest_places(
        [each.text for each in passages], documents, [each.document for each in passages]
    )
    nearest = dict(zip(sought, near, strict=True))
    for number in lost:
        outcomes[number] = Missing(elsewhere.get(number, ()), nearest.get(number))
    return [outcome for outcome in outcomes if outcome is not None]


@dataclass(slots=True)
class _Places:
    """What is known of one passage; more than can be used is not kept."""

    document: int | None
    tolerance: Tolerance
    whole: tuple[list[_Place], list[_Place]] = field(default_factory=lambda: ([], []))
    """In the document that was named, and in others; of these no word is cut."""
    cut: tuple[list[_Place], list[_Place]] = field(default_factory=lambda: ([], []))

    @property
    def here(self) -> list[_Place]:
        return self.whole[0] or self.cut[0]

    @property
    def others(self) -> list[_Place]:
        # "ten" is meant as a word wherever it is one.
        return self.whole[1] or ([] if self.whole[0] else self.cut[1])

    def add(self, found: Occurrences) -> None:
        named = found.document == (-1 if self.document is None else self.document)
        for chosen, kept in (
            (named & found.whole, self.whole[0]),
            (~named & found.whole, self.whole[1]),
            (named & ~found.whole, self.cut[0]),
            (~named & ~found.whole, self.cut[1]),
        ):
            at = np.flatnonzero(chosen)
            # A letter stands everywhere: no more is looked at than it takes to know that.
            for low in range(0, len(at), _AT_ONCE):
                if len(kept) > MOST_PLACES:
                    break
                _keep(kept, found, at[low : low + _AT_ONCE])


def _keep(kept: list[_Place], found: Occurrences, at: NDArray[np.int64]) -> None:
    """Adds places that do not overlap those before, until there are too many."""
    for place in zip(
        found.document[at].tolist(), found.start[at].tolist(), found.end[at].tolist(), strict=True
    ):
        if len(kept) > MOST_PLACES:
            return
        if not kept or kept[-1][0] != place[0] or kept[-1][2] <= place[1]:
            kept.append(place)


_Place = tuple[int, int, int]
"""Number of a document, start and end."""
_Look = Callable[[Sequence[SoughtPassage], Sequence[Document]], list[_Places]]


def _places(
    wanted: Sequence[SoughtPassage], documents: Sequence[Document], tolerance: Tolerance
) -> list[_Places]:
    found = [_Places(each.document, tolerance) for each in wanted]
    for each in occurrences([want.text for want in wanted], documents, tolerance):
        found[each.passage].add(each)
    return found


def _behind_heads(wanted: Sequence[SoughtPassage], documents: Sequence[Document]) -> list[_Places]:
    """Of passages that begin with what a document leaves white before its text."""
    found = [_Places(each.document, "signs") for each in wanted]
    for tolerance, each in behind_blank_heads([want.text for want in wanted], documents):
        found[each.passage].tolerance = tolerance
        found[each.passage].add(each)
    return found


def _decided(found: _Places, documents: Sequence[Document]) -> Located | Ambiguous:
    here, others, tolerance = found.here, found.others, found.tolerance
    if len(here) + len(others) > MANY_PLACES and here:
        others = []  # the document was named because the passage is everywhere
    places = _passages([*here, *others][: MOST_PLACES + 1], documents)
    if len(places) > MOST_PLACES:
        return Ambiguous(places, different=False)
    if tolerance == "exact":
        return Located(places, tolerance)
    texts = [documents[number].text[start:end] for number, start, end in (*here, *others)]
    same = [_spaced_alike(texts[0], text) for text in texts]
    if not all(same[: len(here) or None]):
        return Ambiguous(places, different=True)
    return Located(tuple(p for p, is_same in zip(places, same, strict=True) if is_same), tolerance)


def _spaced_alike(one: str, other: str) -> bool:
    return one == other or one.split() == other.split()


def _passages(places: Iterable[_Place], documents: Sequence[Document]) -> tuple[Passage, ...]:
    return tuple(Passage(documents[number].id, start, end) for number, start, end in places)
