"""How values of a report are written: by their kind, one way everywhere."""

from __future__ import annotations

from chunkwise.base.wording import Kind, format_estimate, format_interval, format_number
from chunkwise.report.report import Badge, Estimate, Value

NOTHING = "–"
_SIGNS = {"good": "▲", "tie": "≈", "bad": "▼", "": ""}


def sign_of(level: str) -> str:
    """What stands for a level where there is no color."""
    return _SIGNS[level]


def format_value(value: Value, kind: Kind = "text") -> str:
    """A cell as text: `81% (73–87)`, `−2.1 pts`, `1,234`, `1.5 MB`."""
    match value:
        case None:
            return NOTHING
        case str():
            return value
        case tuple():
            return ", ".join(value)
        case Badge():
            return f"{sign_of(value.level)} {value.text}".strip()
        case Estimate():
            if value.value is None:
                return NOTHING
            return format_estimate(value.value, value.low, value.high, kind)
        case _:
            return format_number(value, kind)


def format_parts(estimate: Estimate, kind: Kind) -> tuple[str, str]:
    """The mean and its interval apart; the interval is empty where there is none."""
    if estimate.value is None:
        return NOTHING, ""
    mean = format_number(estimate.value, kind)
    return mean, format_interval(estimate.low, estimate.high, kind)
