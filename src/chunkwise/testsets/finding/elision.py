"""Quotes with something left out between their parts: "You may carry six days … into the next year"."""

from __future__ import annotations

import re

_ELISION = re.compile(r"\s*(?:[\[(]\s*(?:\.{3}|…)\s*[\])]|\.{3,}|…)\s*")


def elided_parts(quote: str) -> list[str]:
    """What stands between the marks of an elision, each with a letter or digit; empty: nothing was left out inside."""
    parts = [part for part in _ELISION.split(quote) if any(map(str.isalnum, part))]
    return parts if len(parts) > 1 else []
