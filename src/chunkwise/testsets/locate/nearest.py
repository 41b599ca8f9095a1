"""The place that is most like a passage that is nowhere: found by rare windows both share, then word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document, Passage
from chunkwise.text.locate.folding import Folding, stripped
from chunkwise.text.locate.occurrences import HashSet, TextBlock, WindowHashes, blocks_of

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
