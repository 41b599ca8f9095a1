"""What a language model writes about a chunk and its place: indexed beside the chunk, never part of it."""

from __future__ import annotations

from typing import Literal

WrittenContext = Literal["neighbours", "document"]
"""What a language model writes: from the chunks around, or from the whole document."""
WRITTEN_CONTEXTS: tuple[WrittenContext, ...] = ("neighbours", "document")
