"""How much of a document fits into a prompt: sizes of its spans, and what a model holds beside wording and answer."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Chunk, Document
from chunkwise.models.llm.language_model import LanguageModel
from chunkwise.models.llm.prompt import Prompt
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.characters import DIGIT, SPACE
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer

_MORE = 1.25
"""Tokens of a small model for one of ours, in plain English."""
_OF_WORD, _OF_PIECE = 4.0, 2.0
"""Characters of a token of ours that a small model may make one of: where it begins a word, and where it goes on."""
_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = 0x80, 0x800, 0x10000


class TokenReach:
    """Sizes in our tokens; `cautious`: about the most that a model with few words of its own makes of them."""

    def __init__(self, analyzed: Analyzed, *, cautious: bool = False) -> None:
        self.text = analyzed.text
        self._starts = analyzed.measure(DEFAULT_TOKENIZER).starts
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
        return float(get_tokenizer(DEFAULT_TOKENIZER).count(text))
    return TokenReach(Analyzed(Document("", text)), cautious=True).size(0, len(text))


ANSWER_TOKENS = 160
"""More than a context may have: a model that ends its sentence is cut there, one that does not before."""
USUAL_WINDOW = 100_000
"""Of a model that does not tell its own."""
_MARKS = 250
"""The marks around the parts of a document, and what a server puts around a question."""
_LEAST = 64.0
_LEFT_OUT = "\n[…]\n"


class PromptRoom(NamedTuple):
    """Tokens for text of the document."""

    tokens: float
    cautious: bool
    """The model has a window of its own: its tokens count, which may be more than ours."""


def prompt_room(model: LanguageModel, prompt: Prompt) -> PromptRoom:
    """Never less than a few tokens: what does not fit then is the model's to refuse."""
    cautious = model.window is not None
    window = USUAL_WINDOW if model.window is None else model.window
    wording = size_of(f"{prompt.system}\n{prompt.user}", cautious)
    return PromptRoom(max(_LEAST, window - wording - ANSWER_TOKENS - _MARKS), cautious)


def passage_of(reach: TokenReach, chunk: Chunk, most: float) -> tuple[str, float]:
    """The chunk's text and its size; of one that is too long, the beginning and the end."""
    size = reach.size(chunk.start, chunk.end)
    if size <= most:
        return chunk.text, size
    first = reach.forth(chunk.start, most / 2)
    last = reach.back(chunk.end, most / 2)
    return f"{reach.text[chunk.start : first]}{_LEFT_OUT}{reach.text[last : chunk.end]}", most
