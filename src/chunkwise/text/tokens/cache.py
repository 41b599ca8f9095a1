"""Tokens of words met before: most words of a text repeat, and a look-up is quicker than merging bytes."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 16
"""Bytes looked at together: what is computed for them stays in the processor's cache."""
_BITS = 16
_MOST_WORDS = 3 << (_BITS - 1)
_LONG_WORDS = 12
"""Bytes a word on average, from which on words repeat too rarely: scripts without spaces."""

# A word ends where the tokenizer restarts: before a space behind something solid, and before a sign or
# line break (no apostrophe) behind an ASCII letter or digit. Some characters that are white space end in
# UTF-8 with a byte that a letter may end with, too: behind those bytes no word ends.
_SOLID, _LETTER, _SIGN, _SPACE = 1, 2, 4, 8
_SPACE_ENDINGS = {*range(0x80, 0x8B), 0x9F, 0xA0, 0xA8, 0xA9, 0xAF}


def _kinds() -> NDArray[np.uint8]:
    kinds = np.zeros(256, dtype=np.uint8)
    for byte in range(0x21, 0x7F):
        alphanumeric = chr(byte).isalnum()
        kinds[byte] = _SOLID | (_LETTER if alphanumeric else _SIGN if byte != ord("'") else 0)
    kinds[[byte for byte in range(0x80, 0xC0) if byte not in _SPACE_ENDINGS]] = _SOLID
    kinds[[ord("\r"), ord("\n")]] = _SIGN
    kinds[ord(" ")] = _SPACE
    return kinds


_INSIDE = bytes(np.flatnonzero(_kinds() & (_SIGN | _SPACE) == 0).tolist())
"""Bytes that no word ends before."""


def _powers(base: int) -> NDArray[np.uint64]:
    """base⁰, base¹ … modulo 2⁶⁴, one more than a block has bytes."""
    powers = np.ones(_BLOCK + 1, dtype=np.uint64)
    powers[1:] = base
    return np.cumprod(powers, dtype=np.uint64)


class TokenCache:
    """Where the tokens of a text start, in bytes; `encode` is asked about words not met before.

    Words are known by a hash that is drawn anew for every process, so that no text can be made to
    collide; two of a hundred thousand words collide by chance once in a billion runs.
    """

    def __init__(self, encode: Callable[[bytes], NDArray[np.int64]]) -> None:
        self._encode = encode
        self._lock = Lock()
        self._kinds = _kinds()
        self._salt = np.frombuffer(secrets.token_bytes(256 * 8), dtype=np.uint64)
        base = secrets.randbits(64) | 1
        self._shift = _powers(base)
        self._unshift = _powers(pow(base, -1, 1 << 64))
        self._forget()

    def _forget(self) -> None:
        # Each word has two places it may stand in, one in either half of the table.
        self._hashes = np.zeros(2 << _BITS, dtype=np.uint64)
        self._word_at = np.zeros(2 << _BITS, dtype=np.int32)
        self._first = np.zeros(1, dtype=np.int32)
        self._count = np.zeros(1, dtype=np.int32)
        self._starts = np.zeros(0, dtype=np.int32)

    def starts(self, data: bytes) -> NDArray[np.int64]:
        """The byte at which each token of the UTF-8 text starts."""
        # Where spaces are rare at the start, what may end a word is counted before it is looked for.
        rare = data.count(b" ", 0, _BLOCK) * _LONG_WORDS <= min(len(data), _BLOCK)
        if rare and len(data.translate(None, _INSIDE)) * _LONG_WORDS <= len(data):
            return self._encode(data)
        values = np.frombuffer(data, dtype=np.uint8)
        kinds = self._kinds.take(values)
        before, behind = kinds[:-1], kinds[1:]
        bounds = (((behind >> 3) & before) | ((before << 1) & behind & _SIGN)).nonzero()[0]
        if len(bounds) * _LONG_WORDS <= len(data):
            return self._encode(data)
        bounds += 1
        # What stands before the first and behind the last of them is no word: it may be anything.
        found = [self._encode(data[: bounds[0]])]
        with self._lock:
            done = 0
            while done < len(bounds) - 1:
                if len(self._first) > _MOST_WORDS:
                    self._forget()
                after = int(bounds.searchsorted(bounds[done] + _BLOCK, "right"))
                if after - 1 > done:
                    found.append(self._block(data, values, bounds[done:after]))
                    done = after - 1
                else:
                    start, end = bounds[done : done + 2].tolist()
                    found.append(self._encode(data[start:end]) + start)
                    done += 1
        found.append(self._encode(data[bounds[-1] :]) + bounds[-1])
        return np.concatenate(found)

    def _block(
        self, data: bytes, values: NDArray[np.uint8], bounds: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        words = self._words(data, self._hash(values, bounds), bounds)
        count = self._count.take(words)
        ends = count.cumsum()
        index = np.repeat(self._first.take(words) - ends + count, count)
        index += np.arange(len(index))
        return np.repeat(bounds[:-1], count) + self._starts.take(index)

    def _hash(self, values: NDArray[np.uint8], bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
        """A polynomial of each word's bytes: the difference of two sums, moved to where all words start."""
        start, end = int(bounds[0]), int(bounds[-1])
        sums = np.zeros(end - start + 1, dtype=np.uint64)
        np.cumsum(self._salt.take(values[start:end]) * self._shift[: end - start], out=sums[1:])
        places = bounds - start
        return np.diff(sums.take(places)) * self._unshift.take(places[:-1])

    def _words(
        self, data: bytes, hashes: NDArray[np.uint64], bounds: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """The number of each word, learned where it is new."""
        place = (hashes >> np.uint64(64 - _BITS)).astype(np.int64)
        words = self._word_at.take(place)
        missed = (self._hashes.take(place) != hashes).nonzero()[0]
        if len(missed):
            hashes = hashes.take(missed)
            other = _second_place(hashes)
            words[missed] = self._word_at.take(other)
            new = (self._hashes.take(other) != hashes).nonzero()[0]
            if len(new):
                missed = missed.take(new)
                words[missed] = self._learn(data, hashes.take(new), bounds, missed)
        return words

    def _learn(
        self,
        data: bytes,
        hashes: NDArray[np.uint64],
        bounds: NDArray[np.int64],
        which: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        hashes, once, repeats = np.unique(hashes, return_index=True, return_inverse=True)
        which = which.take(once)
        start, end = bounds.take(which), bounds.take(which + 1)
        spans = zip(start.tolist(), end.tolist(), strict=True)
        told = [data[low:high] for low, high in spans]
        # All in one text: a word that starts with a sign needs a letter before it, as it had in its own.
        told = [word if word[0] == 0x20 else b" a" + word for word in told]
        ends = np.cumsum(np.fromiter(map(len, told), np.int64, len(told)))
        starts = ends - (end - start)
        tokens = self._encode(b"".join(told))
        low, high = tokens.searchsorted(starts), tokens.searchsorted(ends)
        count = high - low
        total = count.cumsum()
        index = np.repeat(low - total + count, count) + np.arange(total[-1])
        numbers = np.arange(len(self._first), len(self._first) + len(told), dtype=np.int32)
        first = (len(self._starts) + total - count).astype(np.int32)
        self._first = np.concatenate((self._first, first))
        self._count = np.concatenate((self._count, count.astype(np.int32)))
        relative = tokens.take(index) - np.repeat(starts, count)
        self._starts = np.concatenate((self._starts, relative.astype(np.int32)))
        self._remember(hashes, numbers)
        return numbers.take(repeats)

    def _remember(self, hashes: NDArray[np.uint64], numbers: NDArray[np.int32]) -> None:
        place = (hashes >> np.uint64(64 - _BITS)).astype(np.int64)
        free = self._hashes.take(place) == 0
        self._hashes[place[free]] = hashes[free]
        self._word_at[place[free]] = numbers[free]
        homeless = self._hashes.take(place) != hashes
        other = _second_place(hashes[homeless])
        self._hashes[other] = hashes[homeless]
        self._word_at[other] = numbers[homeless]


def _second_place(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    low = (hashes >> np.uint64(16)) & np.uint64((1 << _BITS) - 1)
    return low.astype(np.int64) + (1 << _BITS)
