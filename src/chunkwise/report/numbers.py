"""Numbers as people read them."""

from __future__ import annotations


def short_number(value: float) -> str:
    """1,234 up to five digits, then 123k, 4.6M."""
    for limit, divisor, unit in ((1e5, 1, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M"), (1e12, 1e9, "B")):
        if value < limit:
            scaled = value / divisor
            return f"{scaled:.1f}{unit}" if unit and scaled < 100 else f"{round(scaled):,}{unit}"
    return f"{value / 1e12:.1f}T"
