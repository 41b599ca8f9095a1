"""OpenAI's o200k_base and cl100k_base, exact and offline: the vocabularies are inside the bpe-openai wheel."""

from __future__ import annotations

import gzip
import re
from array import array
from collections.abc import Callable
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import SURROGATE
from chunkwise.text.tokens.cache import TokenCache

_WINDOW = 1 << 18
"""Bytes encoded together."""
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
    # As many places as there can be tokens: memory nobody writes to costs nothing, a copy of all would.
    starts = np.empty(len(data) if end < len(data) else len(lengths), dtype=np.int64)
    done = 0
    while end < len(data):
        _place(starts, done, begin, lengths)
        cut = _seam(data, window, starts, done, done + len(lengths))
        middle = int(starts[cut])
        end = _character_start(data, middle + _WINDOW) if cut > done else len(data)
        before, window = window, data[middle:end]
        # Megabytes of one sign are what the tokenizer reads slowest: no window is read twice in a row.
        following = lengths if window == before else encode(window)
        # Tokens of which every two neighbours would be cut as they are, by themselves, are the right ones.
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


_SHORT = 2000
"""Shorter texts are encoded as they are: nothing is gained by looking for words in them."""
_BLOCK = 1 << 16
"""Bytes looked at together: what is computed for them stays in the processor's cache."""

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
    ends, breaks = (np.flatnonzero(data == ord(sign)) for sign in " \n")
    signs = np.diff(breaks, prepend=-1) - (breaks - ends) - 1
    filling = sum((data[ends - back] == ord("=")).astype(np.int32) for back in (1, 2))
    return (signs // 4 * 3 - filling).astype(np.int32)


def _characters_at(data: bytes, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """The character each of the sorted bytes belongs to: as many leading bytes as there are up to it, less one."""
    values = np.frombuffer(data, dtype=np.uint8)
    found = np.empty_like(positions)
    before, low = -1, 0
    for start in range(0, len(values), _BLOCK):
        leading = np.cumsum((values[start : start + _BLOCK] & 0xC0) != 0x80, dtype=np.int64)
        high = int(positions.searchsorted(start + _BLOCK))
        found[low:high] = leading.take(positions[low:high] - start) + before
        before, low = before + int(leading[-1]), high
    return found


class OpenAITokenizer:
    """Byte-pair encoding; text such as `<|endoftext|>` is text."""

    restart = _RESTART
    seam = re.compile(SEAM)
    """Where a cut between two tokens changes neither side, beside the places where it restarts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._encoding = _bindings().tokenizer_for_encoding(name)
        self._words = TokenCache(self._byte_starts)

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
