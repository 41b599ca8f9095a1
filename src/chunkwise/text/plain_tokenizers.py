"""Sizes without a vocabulary: words and characters."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.characters import Characters


class Words:
    """Runs without white space; each Han or kana character by itself."""

    name = "words"
    restart = re.compile(r"(?<=\S)(?=\s)|(?<=\s)(?=\S)")

    def offsets(self, text: str) -> NDArray[np.int64]:
        return Characters(text).word_starts

    def count(self, text: str) -> int:
        return len(text.split()) if text.isascii() else len(self.offsets(text))


class CodePoints:
    """Unicode code points, as Python counts them."""

    name = "characters"
    restart = re.compile("")

    def offsets(self, text: str) -> NDArray[np.int64]:
        return np.arange(len(text), dtype=np.int64)

    def count(self, text: str) -> int:
        return len(text)
