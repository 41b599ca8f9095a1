"""What comes out when an index is made."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from chunkwise.retrieval.making.changes import Changes
from chunkwise.retrieval.making.choice import Choice

S = TypeVar("S")


class Made(NamedTuple, Generic[S]):
    """An index, what it was made with, and what was done."""

    source: S
    choice: Choice
    changes: Changes
