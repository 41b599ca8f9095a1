"""What is shown by other means than a report: plain frozen values that go to JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chunkwise.records.json import plain


@dataclass(frozen=True, slots=True)
class View:
    """What a page of the studio shows."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: fields by their names, lists for tuples."""
        return plain(self)
