"""What came of one request: an answer, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """`value` is the parsed JSON where a schema was given, else the text; None: see `reason`."""

    value: Any = None
    reason: str = ""
    is_kept: bool = False
    """Whether it was known before and nobody was asked."""

    @property
    def is_answered(self) -> bool:
        return not self.reason
