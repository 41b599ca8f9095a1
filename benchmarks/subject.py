"""chunkwise as the benchmarks call it: a fresh document each time, so nothing is measured twice."""

from __future__ import annotations

from collections.abc import Callable

from chunkwise.chunkers import get_strategy
from chunkwise.core import Document


def chunkwise(strategy: str, format: str = "text") -> Callable[[str], list[str]]:
    """A function from a text to its chunks' texts; peers make the texts too, so they are made here."""
    chosen = get_strategy(strategy)

    def split(text: str) -> list[str]:
        return [chunk.text for chunk in chosen.chunks(Document("x", text, format=format))]

    return split


def bare_tokenizer(name: str = "cl100k_base") -> Callable[[str], list[int]]:
    """The tokenizer alone: the text to a list of token numbers."""
    from bpe_openai._bindings import tokenizer_for_encoding

    found = tokenizer_for_encoding(name)
    return lambda text: found.encode(text)
