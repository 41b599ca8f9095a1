"""How much of a document goes into a prompt: sizes of its spans, and how far a number of tokens reaches."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Document
from chunkwise.text.analysis import Analyzed
from chunkwise.text.characters import DIGIT, SPACE
from chunkwise.text.tokenizers import DEFAULT, get_tokenizer

_MORE = 1.25
"""Tokens of a small model for one of ours, in plain English."""
_OF_WORD, _OF_PIECE = 4.0, 2.0
"""Characters of a token of ours that a small model may make one of: where it begins a word, and where it goes on."""
_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = 0x80, 0x800, 0x10000


class Reach:
    """Sizes in our tokens; `cautious`: about the most that a model with few words of its own makes of them."""

    def __init__(self, analyzed: Analyzed, *, cautious: bool = False) -> None:
        self.text = analyzed.text
        self._starts = analyzed.measure(DEFAULT).starts
        self._extra = _extra(analyzed, self._starts) if cautious else None
        self._places = np.unique(np.append(self._starts, len(self.text)))
        self._before = self._sizes(self._places)

    def size(self, start: int, end: int) -> float:
        """About: a text by itself may have a token more at its ends."""
        low, high = self._sizes(np.array([start, end]))
        return float(high - low)

    def forth(self, start: int, amount: float) -> int:
        """The furthest end of a span from `start` that holds no more than `amount`."""
        most = self._sizes(np.array([start]))[0] + max(amount, 0.0)
        at = int(self._before.searchsorted(most, "right")) - 1
        return max(start, int(self._places[at])) if at >= 0 else start

    def back(self, end: int, amount: float) -> int:
        """The earliest start of a span to `end` that holds no more than `amount`."""
        least = self._sizes(np.array([end]))[0] - max(amount, 0.0)
        at = int(self._before.searchsorted(least))
        return min(end, int(self._places[at])) if at < len(self._places) else end

    def around(self, low: int, start: int, end: int, high: int, amount: float) -> tuple[int, int]:
        """What fits of the text before `start` and behind `end`, cut evenly at the far ends."""
        left, right = self.size(low, start), self.size(end, high)
        if left + right <= amount:
            return low, high
        before = min(left, max(amount / 2, amount - right))
        return max(low, self.back(start, before)), min(high, self.forth(end, amount - before))

    def _sizes(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        sizes = self._starts.searchsorted(positions).astype(np.float64)
        return sizes if self._extra is None else sizes + self._extra[positions]


def _extra(analyzed: Analyzed, starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Up to each position: what a model that knows English words alone spells out, where ours has tokens for it."""
    characters = analyzed.characters
    points = characters.points
    cost = np.zeros(len(points))
    if len(starts):
        length = np.diff(np.append(starts, len(points)))
        begins = characters.are(SPACE)[starts]
        most = np.maximum(_MORE, length / np.where(begins, _OF_WORD, _OF_PIECE)) - 1
        np.add.at(cost, starts, most)
    for first in (_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES):
        cost += points >= first
    cost += points >= _TWO_BYTES  # a character of two bytes is two tokens at most
    cost += characters.are(DIGIT)
    space = characters.are(SPACE)
    cost[1:] += space[1:] & space[:-1]
    return np.append(np.zeros(1), np.cumsum(cost))


@lru_cache(maxsize=4096)
def size_of(text: str, cautious: bool) -> float:
    """Of a short text by itself; the titles and paths of one document come again and again."""
    if not cautious:
        return float(get_tokenizer(DEFAULT).count(text))
    return Reach(Analyzed(Document("", text)), cautious=True).size(0, len(text))
