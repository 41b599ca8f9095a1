"""Indexes and what searches them: words, vectors, both, and several sizes at once."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chunkwise.retrieval.indexes import Index, index, open_index

__all__ = ["Index", "index", "open_index"]


def __getattr__(name: str) -> Any:
    # Whoever wants one small part of retrieval need not import all of it.
    if name not in __all__:
        raise AttributeError(f"module 'chunkwise.retrieval' has no attribute {name!r}")
    return getattr(importlib.import_module("chunkwise.retrieval.indexes"), name)
