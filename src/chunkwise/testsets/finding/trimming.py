"""Places without the white space around them."""

from __future__ import annotations

from chunkwise.core import Span


def trimmed(text: str, start: int, end: int) -> Span:
    """Empty where there is nothing else."""
    part = text[start:end]
    behind = start + len(part.rstrip())
    return Span(min(end - len(part.lstrip()), behind), behind)
