"""One strategy a file, and documents cut by them."""

from chunkwise.chunkers.registry import (
    Chunker,
    Strategy,
    describe_strategies,
    describe_strategy,
    get_strategy,
    strategies,
)

__all__ = [
    "Chunker",
    "Strategy",
    "describe_strategies",
    "describe_strategy",
    "get_strategy",
    "strategies",
]
