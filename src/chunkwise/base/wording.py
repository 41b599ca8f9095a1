"""Numbers and lists as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """ "83 %", with a digit more where whole numbers would say nothing."""
    if 0 < share < 0.0005:
        return "under 0.1 %"
    value = 100 * share
    if 0 < value < 10:
        return f"{value:.1f} %"
    # All but a few are not all.
    return f"{min(round(value), 99) if share < 1 else 100} %"


def short_number(value: float, *, whole: int = 100_000) -> str:
    """1,234 below `whole`, then 123k, 4.6M: never more digits than a label has room for."""
    if round(value) < whole:
        return f"{round(value):,}"
    for unit in ("k", "M", "B"):
        value /= 1000
        # 999,999 is 1M, not 1,000k.
        if round(value) < 1000:
            return _scaled(value) + unit
    return _scaled(value / 1000) + "T"


def _scaled(value: float) -> str:
    digits = 1 if round(value, 1) < 100 else 0
    return f"{value:,.{digits}f}".removesuffix(".0")


def counted(count: int, noun: str) -> str:
    """ "1 chunk", "2 chunks"; the noun is one that takes an s."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """ "en, de, fr and 3 more"."""
    told = ", ".join(names[:most])
    return f"{told} and {len(names) - most:,} more" if len(names) > most else told
