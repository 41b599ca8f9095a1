"""How an index reads what it is made of."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from chunkwise.core import OnProgress
from chunkwise.documents import Inputs, LoadOptions, WhenUnreadable


@dataclass(frozen=True, slots=True)
class Reading:
    """How the inputs are read."""

    source: Inputs
    options: LoadOptions | None = None
    on_unreadable: WhenUnreadable = "warn"
    jobs: int = 1
    leave_out: Collection[Path] = ()
    advance: OnProgress | None = None
    keep_others: bool = False
    """Whether documents of the index that are not among the inputs stay."""
