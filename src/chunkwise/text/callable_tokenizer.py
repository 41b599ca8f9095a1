"""A user's own function as a tokenizer: it returns a count, or anything with a length."""

from __future__ import annotations

import operator
from collections.abc import Sized

import numpy as np
from numpy.typing import NDArray

from chunkwise.errors import InvalidParameter
from chunkwise.text.characters import Characters
from chunkwise.text.tokenizer import CountOrEncode


class CallableTokenizer:
    """Token starts are estimated word by word; sizes are always asked of the function itself."""

    restart = None

    def __init__(self, function: CountOrEncode) -> None:
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self._function = function

    def count(self, text: str) -> int:
        answer = self._function(text)
        try:
            size = len(answer) if isinstance(answer, Sized) else operator.index(answer)
        except TypeError:
            size = -1
        if size < 0:
            raise InvalidParameter(
                f"the tokenizer {self.name} answers {answer!r} to {text[:40]!r}; it has to return how many tokens "
                f"a text has, a whole number from 0 up, or the tokens themselves"
            )
        return size

    def offsets(self, text: str) -> NDArray[np.int64]:
        starts = Characters(text).word_starts
        ends = np.append(starts, len(text))[1:]
        sizes: dict[str, int] = {}
        spread = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            word = text[start:end]
            if word not in sizes:
                sizes[word] = self.count(word)
            # A word's tokens are taken to be of equal length.
            spread.append(np.linspace(start, end, sizes[word], endpoint=False).astype(np.int64))
        return np.concatenate(spread) if spread else np.zeros(0, dtype=np.int64)
