"""The size of any span of one document: cumulative sums inside, the tokenizer itself at the edges."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import CharacterArrays
from chunkwise.text.tokens.tokenizers import CharacterTokenizer, Tokenizer, WordTokenizer

_LOOK = 64
"""How far from a span's edge a restart is sought; without one the whole span is counted."""
_NEAR = 8
"""How far it is sought first."""
_ALIKE = 8
"""Texts of whole spans whose counts are remembered."""
_HEADS = 1 << 13
"""Short texts at the edges of spans, words mostly, whose counts are remembered."""
_WINDOW = 1 << 18
"""Characters of a text whose tokens are found together."""


_AT_ONCE = 1 << 15
"""Places that are looked at together."""
_CUTS = 1 << 16
"""Cuts about which something is remembered: a sweep cuts at the same places again and again."""
_POINT_BITS = 21
_POINT = (1 << _POINT_BITS) - 1


class TokenMeasure:
    """Token counts of spans, exactly as the tokenizer counts the span's text by itself."""

    def __init__(
        self, text: str, tokenizer: Tokenizer, characters: CharacterArrays | None = None
    ) -> None:
        """`characters` are those of the text, where they are known."""
        self.text = text
        self.tokenizer = tokenizer
        self._characters = characters or CharacterArrays(text)
        # A tokenizer may know more places to cut at than those where it restarts.
        self._seam: re.Pattern[str] | None = getattr(tokenizer, "seam", None)
        self._sees_two: bool = getattr(tokenizer, "restart_sees_two", False)
        self._asked = self._answer = 0
        self._counted = (-1, -1, 0)
        self._clean = -1
        self._known_pairs: dict[int, bool] = {}
        self._known_excesses: dict[bool, dict[int, tuple[int, int]]] = {True: {}, False: {}}

    @cached_property
    def _count_text(self) -> Callable[[str], int]:
        # Text without a restart may be a run of one sign, which the tokenizer reads slowest: all its spans are alike.
        return lru_cache(maxsize=_ALIKE)(self.tokenizer.count)

    @cached_property
    def _count_edge(self) -> Callable[[str], int]:
        return lru_cache(maxsize=_HEADS)(self.tokenizer.count)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each token starts."""
        return np.asarray(self._starts).astype(np.int64)

    @cached_property
    def _starts(self) -> array[int] | memoryview:
        """The same in four bytes each, bisected sooner than an array of NumPy is searched."""
        result = array("i")
        start, restart = 0, self.tokenizer.restart
        while start < len(self.text):
            cut = restart.search(self.text, start + _WINDOW) if restart else None
            end = cut.start() if cut else len(self.text)
            offsets = self.tokenizer.offsets(self.text[start:end]) + start
            result.frombytes(offsets.astype(np.int32).tobytes())
            start = end
        return result

    def before(self, position: int) -> int:
        """How many of the document's tokens start before the position."""
        if position != self._asked:  # the end of one chunk is the start of the next
            self._asked, self._answer = position, bisect_left(self._starts, position)
        return self._answer

    def befores(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """`before` of each of many positions."""
        # Of the same type: a search among others would copy all of them first.
        starts = np.asarray(self._starts)
        return starts.searchsorted(positions.astype(starts.dtype))

    def reach(self, start: int, limit: int) -> int:
        """About the furthest end of a span from `start` that holds `limit` tokens; `count` has the last word."""
        index = self.before(start) + limit
        return self._starts[index] if index < len(self._starts) else len(self.text)

    def reaches(self, starts: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
        """`reach` from each of many starts."""
        index = self.befores(starts) + limit
        within = index < len(self._starts)
        reached = np.full(len(starts), len(self.text), dtype=np.int64)
        reached[within] = np.asarray(self._starts).take(index[within])
        return reached

    def fill(self, start: int, limit: int) -> tuple[int, int]:
        """`reach`, and the exact size of the span up to it."""
        index = self.before(start)
        stop = index + limit
        if stop >= len(self._starts):
            return len(self.text), self.count(start, len(self.text))
        end = self._starts[stop]
        # Nothing is to be counted where the text can be cut at both ends without changing a token.
        if self._starts[stop - 1] < end:
            # The end of one span is the start of the next; first, since its answer is the one remembered.
            clean = start == self._clean or self._is_clean(start)
            self._asked, self._answer = end, stop
            if clean and self._is_clean(end):
                self._clean = end
                return end, limit
        return end, self.count(start, end)

    def back(self, end: int, amount: int) -> int:
        """About the earliest start of a span to `end` that holds `amount` tokens."""
        if amount <= 0:
            return end
        index = self.before(end) - amount
        return self._starts[index] if index > 0 else 0

    def count(self, start: int, end: int) -> int:
        """Tokens of `text[start:end]`, equal to `tokenizer.count` of that text."""
        counted = self._counted  # a window is asked about again before it is made smaller
        if counted[:2] != (start, end):
            counted = self._counted = start, end, self._count(start, end)
        return counted[2]

    def counts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """`count` of each of many spans."""
        # Between two clean cuts it is a difference; the others have words at their edges to be counted.
        cuts = np.concatenate((starts, ends))
        before, unclean = self.befores(cuts), ~self._are_clean(cuts)
        sizes = before[len(starts) :] - before[: len(starts)]
        inner = starts.copy(), ends.copy()
        for edge, at, opens in zip(inner, np.split(unclean, 2), (True, False), strict=True):
            if at.any():
                excess, edge[at] = self._excesses(edge[at], opens)
                sizes[at] += excess
        # Without a restart nearby, or with none between the two, it is counted by itself.
        for number in ((inner[0] > inner[1]) | (inner[1] < 0)).nonzero()[0].tolist():
            sizes[number] = self.count(int(starts[number]), int(ends[number]))
        return sizes

    def _excesses(
        self, cuts: NDArray[np.int64], opens: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """By how many a span has more tokens for beginning inside of one at each of these cuts, or for ending there.

        And the restart near each up to which this holds: out of reach of any span where there is none.
        """
        text, places, known = self.text, cuts.tolist(), self._known_excesses[opens]
        nowhere = len(text) + 1 if opens else -1
        if self.tokenizer.restart is None:
            return np.zeros_like(cuts), np.full_like(cuts, nowhere)
        if len(known) > _CUTS:
            known.clear()
        new = [at for at in places if at not in known]
        if new:
            near = [
                self._restart_behind(at, len(text)) if opens else self._last_restart(0, at)
                for at in new
            ]
            near = [nowhere if at < 0 else at for at in near]
            low, high = (new, near) if opens else (near, new)
            own = [
                0 if nowhere in span else self._count_edge(text[slice(*span)])
                for span in zip(low, high, strict=True)
            ]
            first, last = self.befores(np.array([low, high], dtype=np.int64).ravel()).reshape(2, -1)
            excess = (np.array(own) - (last - first)).tolist()
            known.update(zip(new, zip(excess, near, strict=True), strict=True))
        more, inner = zip(*map(known.__getitem__, places), strict=True)
        return np.array(more, dtype=np.int64), np.array(inner, dtype=np.int64)

    def _are_clean(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of each whether it is an end of the text, or `_is_clean`."""
        restart, text, size = self.tokenizer.restart, self.text, len(self.text)
        result = np.zeros(len(positions), dtype=np.bool_)
        if restart is None:
            return result
        match = restart.match
        if self._sees_two:
            points = self._characters.points if size else np.zeros(1, dtype=np.uint8)
            # A text has few pairs of characters: each is asked about once, not at every place it stands at.
            for low in range(0, len(positions), _AT_ONCE):
                some = positions[low : low + _AT_ONCE]
                pairs = points.take(some - 1, mode="clip").astype(np.int64) << _POINT_BITS
                pairs |= points.take(some, mode="clip")
                result[low : low + len(some)] = self._restart_between(pairs.tolist())
            result[(positions == 0) | (positions == size)] = True
        else:
            result[:] = [
                at == 0 or at == size or match(text, at) is not None for at in positions.tolist()
            ]
        if self._seam is not None and not result.all():
            seam = self._seam.match
            left = (~result).nonzero()[0]
            # Where a token starts, there is one more before the next position.
            at = positions[left]
            left = left[self.befores(at + 1) > self.befores(at)]
            result[left] = [seam(text, at) is not None for at in positions[left].tolist()]
        return result

    def _restart_between(self, pairs: list[int]) -> list[bool]:
        """Of two characters in one number each whether the tokenizer restarts between them."""
        assert self.tokenizer.restart is not None
        known, match = self._known_pairs, self.tokenizer.restart.match
        if len(known) > _CUTS:
            known.clear()
        for pair in set(pairs).difference(known):
            known[pair] = match(chr(pair >> _POINT_BITS) + chr(pair & _POINT), 1) is not None
        return list(map(known.__getitem__, pairs))

    def _count(self, start: int, end: int) -> int:
        if self.tokenizer.restart is None:
            return self._count_text(self.text[start:end])
        clean = start == 0 or self._is_clean(start)
        head = start if clean else self._restart_behind(start, end)
        tail = -1 if head < 0 else end if end == len(self.text) else self._restart_before(head, end)
        if tail < 0:
            return self._count_text(self.text[start:end])
        total = -self.before(head)  # first, since it is the one remembered
        total += self.before(tail)
        if head > start:
            total += self._count_edge(self.text[start:head])
        if tail < end:
            total += self._count_edge(self.text[tail:end])
        return total

    def _is_clean(self, position: int) -> bool:
        """Whether a cut inside the text at this position changes no token on either side."""
        restart = self.tokenizer.restart
        if restart is None:
            return False
        if restart.match(self.text, position):
            return True
        if self._seam is None or not self._seam.match(self.text, position):
            return False
        index = self.before(position)
        return index < len(self._starts) and self._starts[index] == position

    def _restart_behind(self, start: int, end: int) -> int:
        """A restart soon behind the start, or -1."""
        assert self.tokenizer.restart is not None
        # Bounded: text without a restart must not be searched to its end for every span.
        stop = min(end, start + _LOOK)
        space = self.text.find(" ", start, stop)
        if space >= 0 and self.tokenizer.restart.match(self.text, space):
            return space
        match = self.tokenizer.restart.search(self.text, start, stop)
        return match.start() if match else -1

    def _restart_before(self, start: int, end: int) -> int:
        """The end if it is a clean cut, else a restart soon before it, or -1."""
        return end if self._is_clean(end) else self._last_restart(start, end)

    def _last_restart(self, start: int, end: int) -> int:
        """A restart soon before the end, or -1."""
        assert self.tokenizer.restart is not None
        low = max(start, end - _LOOK)
        space = self.text.rfind(" ", low, end)
        if space >= 0 and self.tokenizer.restart.match(self.text, space):
            return space
        last = -1
        # Most are near, and where every other sign is one, there are many.
        for near in (max(low, end - _NEAR), low):
            for match in self.tokenizer.restart.finditer(self.text, near, end):
                last = match.start()
            if last >= 0:
                break
        return last


class CharacterMeasure(TokenMeasure):
    """The size of a span is its length: nothing to look up."""

    def before(self, position: int) -> int:
        return position

    def befores(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        return positions

    def reach(self, start: int, limit: int) -> int:
        end, size = start + limit, len(self.text)
        return end if end < size else size  # called for every chunk: `min` would take longer

    def reaches(self, starts: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
        return np.minimum(starts + limit, len(self.text))

    def fill(self, start: int, limit: int) -> tuple[int, int]:
        end = self.reach(start, limit)
        return end, end - start

    def back(self, end: int, amount: int) -> int:
        return max(end - amount, 0)

    def count(self, start: int, end: int) -> int:
        return end - start

    def counts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        return ends - starts


class WordMeasure(TokenMeasure):
    """Words start where the text's own analysis has them."""

    def __init__(self, characters: CharacterArrays, tokenizer: Tokenizer) -> None:
        super().__init__(characters.text, tokenizer, characters)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        return self._characters.word_starts

    @cached_property
    def _starts(self) -> memoryview:
        return self.starts.data


def measure_of(characters: CharacterArrays, tokenizer: Tokenizer) -> TokenMeasure:
    """The measure of a text for a tokenizer."""
    if isinstance(tokenizer, WordTokenizer):
        return WordMeasure(characters, tokenizer)
    if isinstance(tokenizer, CharacterTokenizer):
        return CharacterMeasure(characters.text, tokenizer)
    return TokenMeasure(characters.text, tokenizer, characters)
