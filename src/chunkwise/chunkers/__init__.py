"""One strategy a file, and documents cut by them."""

from chunkwise.chunkers.registry import (
    Chunker,
    Strategy,
    describe_all,
    describe_strategy,
    get_strategy,
    label_with_size,
    strategies,
)

__all__ = [
    "Chunker",
    "Strategy",
    "describe_all",
    "describe_strategy",
    "get_strategy",
    "label_with_size",
    "strategies",
]
