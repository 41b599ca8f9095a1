"""What a strategy will make of a corpus, guessed before it is cut."""

from __future__ import annotations

from typing import NamedTuple

from chunkwise.chunkers import Strategy
from chunkwise.experiments.planning.levers_of import overlap_of

_TOKENS = {"characters": 1 / 4.4, "words": 1.35, "tokens": 1.0, "sentences": 22.0}
"""Of one of these, in English prose."""
_UNLIMITED = 300
"""Tokens of a chunk whose strategy names no limit."""
_FILLED = 0.9
"""Of the limit that chunks reach: they end at a sentence."""
_HEADINGS = 12
"""Tokens of the headings above a chunk."""


class Made(NamedTuple):
    """Chunks and the tokens in them, those that overlap counted as often as they are there."""

    chunks: int
    tokens: int


def made_of(strategy: Strategy, context: str, tokens: int) -> Made:
    """A corpus of so many tokens, cut."""
    size = max(
        _UNLIMITED if strategy.limit is None else strategy.limit[1] * _TOKENS[strategy.unit], 1.0
    )
    name, amount = overlap_of(strategy) or ("overlap", 0)
    unit = strategy.unit if name == "overlap" else name.removeprefix("overlap_")
    # A strategy that repeats sentences keeps half of every chunk for what is new.
    repeated = min(amount * _TOKENS[unit] / size, 0.5 if name != "overlap" else 0.99)
    share = 1 / (1 - repeated)
    chunks = max(1, round(tokens * share / (size * _FILLED))) if tokens else 0
    beside = _HEADINGS * chunks if context == "headings" else 0
    return Made(chunks, round(tokens * share) + beside)
