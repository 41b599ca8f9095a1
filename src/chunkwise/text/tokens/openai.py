"""OpenAI's o200k_base and cl100k_base, exact and offline, with the tokens of words met before."""

from __future__ import annotations

import gzip
import re
import secrets
from array import array
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import SURROGATE

_BLOCK = 1 << 17
"""Bytes looked at together: what is computed for them stays in the processor's cache."""
_WINDOW = 1 << 18
"""Bytes encoded together, or looked through for words."""
_BITS = 17
_MOST_WORDS = 3 << (_BITS - 1)
_LONG_WORDS = 12
"""Bytes a word on average, from which on words repeat too rarely: scripts without spaces."""

# A word ends where the tokenizer restarts: before a space behind something solid, and before a sign or
# line break (no apostrophe) behind an ASCII letter or digit. Some characters that are white space end in
# UTF-8 with a byte that a letter may end with, too: behind those bytes no word ends.
_SOLID, _LETTER, _SPACE, _SIGN = 1, 2, 4, 8
_BEHIND = 2
"""Bits by which what ends a word, where it stands behind, is left of what it ends."""
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


_KINDS = _kinds().tobytes()


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
        windows = self._bounds(data)
        first = next(windows, np.zeros(0, dtype=np.int64))
        if len(first) * _LONG_WORDS <= min(len(data), _WINDOW):  # told by its beginning
            return self._encode(data)
        values = np.frombuffer(data, dtype=np.uint8)
        # What stands before the first and behind the last of them is no word: it may be anything.
        # Grows as it is filled: pieces put together at the end would be there twice.
        result = array("q", self._encode(data[: first[0]]).tobytes())
        open_ = first[:0]
        for bounds in chain([first], windows):
            bounds = np.concatenate((open_, bounds))
            with self._lock:
                self._add(result, data, values, bounds)
            open_ = bounds[-1:]
        last = int(open_[0])
        result.frombytes((self._encode(data[last:]) + last).tobytes())
        return np.frombuffer(result, dtype=np.int64)

    def _bounds(self, data: bytes) -> Iterator[NDArray[np.int64]]:
        """Where words end and others start, a window of the text at a time."""
        for start in range(0, len(data), _WINDOW):
            kinds = np.frombuffer(data[start : start + _WINDOW + 1].translate(_KINDS), np.uint8)
            ends = (kinds[1:] >> _BEHIND) & kinds[:-1] != 0
            yield ends.nonzero()[0] + (start + 1)

    def _add(
        self, found: array[int], data: bytes, values: NDArray[np.uint8], bounds: NDArray[np.int64]
    ) -> None:
        """Tokens of the words between these bounds."""
        done = 0
        while done < len(bounds) - 1:
            if len(self._first) > _MOST_WORDS:
                self._forget()
            after = int(bounds.searchsorted(bounds[done] + _BLOCK, "right"))
            if after - 1 > done:
                tokens = self._block(data, values, bounds[done:after])
                done = after - 1
            else:
                start, end = bounds[done : done + 2].tolist()
                tokens = self._encode(data[start:end]) + start
                done += 1
            found.frombytes(tokens.tobytes())

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
        self._salt.take(values[start:end], out=sums[1:], mode="clip")
        sums[1:] *= self._shift[: end - start]
        np.cumsum(sums, out=sums)
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


_MARGIN = 32
"""Tokens at a window's end that may be others where the text goes on."""
_LOOK = 200
"""Tokens before the margin among which a place to part two windows is sought."""
# Tokens that follow each other within a piece stay the same whatever stands before and behind them,
# as long as the piece still starts or ends at one of them. So it does among letters, the last before
# the cut a small one (capitals may go with what follows them) and no contraction near; and among
# signs, if no letter follows at once that the first of them would be taken in with.
_SIGNS = r"!-&(-.:-@\[-`{-~"


def _within_pieces(signs: str) -> str:
    return rf"(?<=[A-Za-z]{{2}}[a-z])(?=[A-Za-z])|(?<=[{signs}])(?=[{signs}]{{2}})"


def _between(pattern: str) -> re.Pattern[bytes]:
    return re.compile(rf"(?<=[!-~])(?= )|{pattern}".encode())


SEAM = _within_pieces(_SIGNS)
"""Where a piece of the text may be parted without a change on either side, if two tokens meet there."""
_SEAM = _between(SEAM)
_SEAM_OF_ONE_LINE = _between(_within_pieces(_SIGNS + "/"))
"""The same where no line break is near: slashes behind one may belong to what stands before it."""

Encode = Callable[[bytes], NDArray[np.int32]]
"""How many bytes each token of a text has."""


def token_starts(data: bytes, encode: Encode) -> NDArray[np.int64]:
    """The byte at which each token of the whole UTF-8 text starts."""
    begin, end = 0, _character_start(data, _WINDOW)
    window = data[:end]
    lengths = encode(window)
    if end == len(data):
        return np.cumsum(lengths, dtype=np.int64) - lengths
    # As many places as there can be tokens: memory nobody writes to costs nothing, a copy of all would.
    starts = np.empty(len(data), dtype=np.int64)
    done = 0
    while end < len(data):
        _place(starts, done, begin, lengths)
        cut = _seam(data, window, starts, done, done + len(lengths))
        middle = int(starts[cut])
        end = _character_start(data, middle + _WINDOW) if cut > done else len(data)
        before, window = window, data[middle:end]
        # Megabytes of one sign are what the tokenizer reads slowest: no window is read twice in a row.
        following = lengths if window == before else encode(window)
        # Tokens of which every two neighbors would be cut as they are, by themselves, are the right ones.
        if cut > done and not _meet(data, int(starts[cut - 1]), middle, following, encode):
            cut, middle, end = done, begin, len(data)
            window = data[middle:]
            following = encode(window)
        done, begin, lengths = cut, middle, following
    _place(starts, done, begin, lengths)
    starts.resize(done + len(lengths), refcheck=False)
    return starts


def _place(starts: NDArray[np.int64], done: int, begin: int, lengths: NDArray[np.int32]) -> None:
    """Write down where the tokens of a window start, behind those written before."""
    if len(lengths):
        window = starts[done : done + len(lengths)]
        window[0] = 0
        np.cumsum(lengths[:-1], out=window[1:])
        window += begin


def _character_start(data: bytes, position: int) -> int:
    """The position, or the start of the character it lies in."""
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position -= 1
    return min(position, len(data))


def _seam(data: bytes, window: bytes, starts: NDArray[np.int64], done: int, end: int) -> int:
    """The last token of a window before the margin that starts at a seam; `done` if none behind it does."""
    seam = _SEAM if b"\n" in window or b"\r" in window else _SEAM_OF_ONE_LINE
    last = end - _MARGIN
    for index in range(last, max(last - _LOOK, done), -1):
        if seam.match(data, int(starts[index])):
            return index
    return done


def _meet(
    data: bytes, start: int, middle: int, following: NDArray[np.int32], encode: Encode
) -> bool:
    """Whether the token before the middle and the first behind it are cut as they are when they stand alone."""
    if len(following) < 2:
        return False
    before, behind = middle - start, int(following[0])
    try:
        alone = encode(data[start : middle + behind])
    except UnicodeDecodeError:  # one of them is part of a character
        return False
    return alone.tolist() == [before, behind]


_SHORT = 16_000
"""Bytes of a text under which looking for words met before takes longer than to encode it as it is."""

# Both split a text by a regular expression before merging bytes, and merge nothing across. Its
# alternatives look ahead only within white space, so a piece always starts at a space that follows
# something else, at what follows a line break (no slash: o200k lets it go on), and at a line break
# or sign (no apostrophe: it may be a contraction) behind a letter or digit, whatever stands further
# away.
_RESTART = re.compile(
    r"(?<=\S)(?= )|(?<=[\r\n])(?=[^\s/])"
    r"|(?<=[^\W_])(?=[\r\n!-&(-/:-@\[-`{-~‘’“”–—…«»。，、；：！？）」』])"
)


def _package() -> Path:
    spec = find_spec("bpe_openai")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


@lru_cache(maxsize=1)
def _bindings() -> Any:
    """The compiled module alone: importing its package parses three vocabularies, which takes a second."""
    spec = PathFinder.find_spec("bpe_openai._bindings", [str(_package())])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@lru_cache(maxsize=2)
def _token_bytes(name: str) -> NDArray[np.int32]:
    """Length in bytes of each token of the vocabulary."""
    packed = (_package() / "data" / f"{name}.tiktoken.gz").read_bytes()
    # A line is a token in base64, a space and its number; lines are in the order of numbers.
    data = np.frombuffer(gzip.decompress(packed), dtype=np.uint8)
    ends, breaks = ((data == ord(sign)).nonzero()[0] for sign in " \n")
    signs = np.diff(breaks, prepend=-1) - (breaks - ends) - 1
    filling = sum((data[ends - back] == ord("=")).astype(np.int32) for back in (1, 2))
    return (signs // 4 * 3 - filling).astype(np.int32)


def _characters_at(data: bytes, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """The character each of the sorted bytes belongs to: as many leading bytes as there are up to it, less one."""
    values = np.frombuffer(data, dtype=np.uint8)
    result = np.empty_like(positions)
    before, low = -1, 0
    for start in range(0, len(values), _BLOCK):
        leading = np.cumsum((values[start : start + _BLOCK] & 0xC0) != 0x80, dtype=np.int64)
        high = int(positions.searchsorted(start + _BLOCK))
        result[low:high] = leading.take(positions[low:high] - start) + before
        before, low = before + int(leading[-1]), high
    return result


class OpenAITokenizer:
    """Byte-pair encoding; text such as `<|endoftext|>` is text."""

    restart = _RESTART
    restart_sees_two = True
    """Whether `restart` looks at no more than the character before and the one behind."""
    seam = re.compile(SEAM)
    """Where a cut between two tokens changes neither side, beside the places where it restarts."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def _encoding(self) -> Any:
        # A search that shows whole chunks counts nothing, and loading takes longer than it.
        return _bindings().tokenizer_for_encoding(self.name)

    @cached_property
    def _words(self) -> TokenCache:
        return TokenCache(self._byte_starts)

    def count(self, text: str) -> int:
        try:
            return self._encoding.count(text)
        except UnicodeEncodeError:
            return self._encoding.count(SURROGATE.sub("\ufffd", text))

    def offsets(self, text: str) -> NDArray[np.int64]:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            # Half a surrogate pair has no bytes; a stand-in of the same length keeps every offset.
            data = SURROGATE.sub("\ufffd", text).encode()
        starts = self._byte_starts(data) if len(data) < _SHORT else self._words.starts(data)
        if len(data) == len(text):
            return starts
        return _characters_at(data, starts)

    def _byte_starts(self, data: bytes) -> NDArray[np.int64]:
        return token_starts(data, self._encoded)

    def _encoded(self, data: bytes) -> NDArray[np.int32]:
        ids = self._encoding.encode(data.decode())
        return _token_bytes(self.name).take(np.frombuffer(array("I", ids), np.uint32))
