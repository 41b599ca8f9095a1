"""OpenAI's o200k_base and cl100k_base, exact and offline: the vocabularies are inside the bpe-openai wheel."""

from __future__ import annotations

import gzip
import re
from array import array
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import SURROGATE
from chunkwise.text.known_words import KnownWords
from chunkwise.text.token_windows import SEAM, token_starts

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
        self._words = KnownWords(self._byte_starts)

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
