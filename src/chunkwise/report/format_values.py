"""How values of a report are written: by their kind, one way everywhere."""

from __future__ import annotations

from chunkwise.report.report import Badge, Estimate, Kind, Value

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
            mean, ends = format_estimate(value, kind)
            return f"{mean} ({ends})" if ends else mean
        case _:
            return format_number(value, kind)


def format_estimate(estimate: Estimate, kind: Kind) -> tuple[str, str]:
    """The mean and its interval; the interval is empty where there is none."""
    if estimate.value is None:
        return NOTHING, ""
    mean = format_number(estimate.value, kind)
    if estimate.low is None or estimate.high is None:
        return mean, ""
    low, high = (_end(end, kind) for end in (estimate.low, estimate.high))
    return mean, f"{low} to {high}" if "−" in low + high else f"{low}–{high}"


def _end(value: float, kind: Kind) -> str:
    """Without the unit, which stands behind the mean."""
    return format_number(value, kind).removesuffix("%").removesuffix(" pts").removeprefix("+")


def format_number(value: float, kind: Kind) -> str:
    """One number, with a true minus."""
    match kind:
        case "score" | "share":
            written = _percent(value)
        case "change":
            written = f"{_rounded(100 * value):+.1f} pts".replace("+0.0", "0.0")
        case "count":
            written = f"{value:,.0f}"
        case "bytes":
            written = _bytes(value)
        case "seconds":
            written = _seconds(value)
        case "money":
            written = f"${value:,.2f}" if value >= 0.01 or not value else "under $0.01"
        case "p":
            written = "<0.001" if value < 0.001 else f"{value:.3f}"
        case "number":
            written = _number(value)
        case _:
            written = str(value)
    return written.replace("-", "−")


def _number(value: float) -> str:
    """Three digits that say something; counts stay whole."""
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if 1 <= abs(value) < 10 or not value else f"{value:.3g}"


def _rounded(value: float) -> float:
    """Never a minus before nothing."""
    return round(value, 1) or 0.0


def _percent(share: float) -> str:
    """A digit more where whole numbers would say nothing: near none, and near all."""
    value = 100 * share
    near = 0 < abs(value) < 9.95 or 99 < value < 100
    return f"{value:.1f}%" if near else f"{value:.0f}%"


def _bytes(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,.0f} bytes"


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:,.1f} ms" if seconds < 0.01 else f"{1000 * seconds:,.0f} ms"
    if seconds < 120:
        return f"{seconds:,.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes:,} min" if minutes < 120 else f"{minutes / 60:,.1f} h"
