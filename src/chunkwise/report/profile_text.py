"""Text of documents made safe to show: their titles and sentences are anyone's."""

from __future__ import annotations

import re

# Control characters move a terminal's cursor, bidirectional ones reorder a page, surrogates have no bytes.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]+"
)


def safe(text: str, most: int = 0) -> str:
    """On one line, without characters that do more than show; cut with an ellipsis behind `most`."""
    text = " ".join(_UNSAFE.sub(" ", text).split())
    return text if not most or len(text) <= most else text[: most - 1] + "…"


def short_number(value: float) -> str:
    """1,234 up to five digits, then 123k, 4.6M."""
    for limit, divisor, unit in ((1e5, 1, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M"), (1e12, 1e9, "B")):
        if value < limit:
            scaled = value / divisor
            return f"{scaled:.1f}{unit}" if unit and scaled < 100 else f"{round(scaled):,}{unit}"
    return f"{value / 1e12:.1f}T"
