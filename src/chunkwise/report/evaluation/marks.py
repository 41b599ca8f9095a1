"""Marks inside of tables and cards as inline SVG; positions are percentages, so that they are as wide as their cell."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.base.wording import percent
from chunkwise.evaluation.results import Figure
from chunkwise.evaluation.verdicts import Bounds
from chunkwise.report.page_text import attribute

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_MOST_DOTS = 12
_MOST_TOLD = 300
"""Characters that a chart says to those who hover over it, or hear it."""
_STEP = 11
"""Between two dots, in pixels."""


def axis() -> str:
    """The scale above a column of intervals."""
    ticks = "".join(
        f'<text x="{_at(tick)}" y="11" class="{_anchor(tick)}">{tick:g}</text>' for tick in _TICKS
    )
    return f'<svg class="line" height="14" role="img" aria-label="Scale from 0 to 1">{ticks}</svg>'


def interval_line(figure: Figure, told: str) -> str:
    """The mean as a dot on its 95 % interval, between 0 and 1."""
    if figure.mean is None:
        return ""
    inner = _whisker(figure, 11) + f'<circle class="dot" cx="{_at(figure.mean)}" cy="11" r="5"/>'
    return _svg("line", 22, told, inner)


def interval_bar(figure: Figure, told: str) -> str:
    """A bar as long as the mean, its 95 % interval drawn over the end."""
    if figure.mean is None:
        return ""
    inner = (
        '<rect class="rail" width="100%" y="4" height="14" rx="4"/>'
        f'<rect class="column" width="{_at(figure.mean)}" y="4" height="14" rx="4"/>'
    )
    return _svg("line bars", 22, told, inner + _whisker(figure, 11))


def gauge(figure: Figure, bounds: Bounds, told: str) -> str:
    """The figure on a scale on which good and excellent are marked."""
    if figure.mean is None:
        return ""
    # Where less is better, all that matters lies near zero.
    full = max(4 * bounds.good, figure.high or figure.mean) if bounds.lower_is_better else 1.0
    full = min(full, 1.0)
    good, best = bounds.good / full, bounds.excellent / full
    zones = ((0.0, best), (best, good)) if bounds.lower_is_better else ((best, 1.0), (good, best))
    inner = '<rect class="rail" width="100%" y="8" height="8" rx="4"/>'
    for name, (low, high) in zip(("best", "fine"), zones, strict=True):
        inner += f'<rect class="{name}" x="{_at(low)}" width="{_at(high - low)}" y="8" height="8"/>'
    inner += _whisker(figure, 12, full)
    inner += f'<circle class="dot" cx="{_at(figure.mean / full)}" cy="12" r="6"/>'
    end = percent(full) if bounds.lower_is_better else "1"
    inner += (
        f'<text x="0" y="32" class="first">0</text><text x="100%" y="32" class="last">{end}</text>'
    )
    return _svg("line", 34, told, inner)


def small_bar(share: float) -> str:
    """Beside a number that says the same."""
    return (
        '<svg class="small" height="6" aria-hidden="true"><rect class="rail" width="100%" height="6" rx="3"/>'
        f'<rect class="column" width="{_at(share)}" height="6" rx="3"/></svg>'
    )


def dots(relevant: Sequence[bool | None], told: str) -> str:
    """A row of hits: full where relevant, hollow where not, a stroke where nobody could tell."""
    shown = relevant[:_MOST_DOTS]
    paths = "".join(
        f'<path class="{name}" d="{drawn}"/>'
        for name, wanted in (("yes", True), ("ring", False), ("hole", False), ("none", None))
        if (drawn := _marks(shown, wanted))
    )
    width = _STEP * len(shown)
    more = len(relevant) - len(shown)
    told = attribute(told, _MOST_TOLD)
    return (
        f'<svg class="dots" width="{width}" height="11" role="img" aria-label="{told}"><title>{told}</title>'
        f"{paths}</svg>{f'<small>+{more}</small>' if more else ''}"
    )


def _marks(relevant: Sequence[bool | None], wanted: bool | None) -> str:
    # A stroke of no length with round ends is a dot: a thousand rows of them stay light.
    shape = "h0" if wanted is not None else "h3"
    return "".join(
        f"M{_STEP * at + (5.5 if wanted is not None else 4):g} 5.5{shape}"
        for at, verdict in enumerate(relevant)
        if verdict is wanted
    )


def _whisker(figure: Figure, y: int, full: float = 1.0) -> str:
    if figure.low is None or figure.high is None:
        return ""
    low, high = _at(figure.low / full), _at(figure.high / full)
    ends = "".join(
        f'<line class="between" x1="{x}" x2="{x}" y1="{y - 4}" y2="{y + 4}"/>' for x in (low, high)
    )
    return f'<line class="between" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>{ends}'


def _svg(style: str, height: int, told: str, inner: str) -> str:
    told = attribute(told, _MOST_TOLD)
    return f'<svg class="{style}" height="{height}" role="img" aria-label="{told}"><title>{told}</title>{inner}</svg>'


def _at(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.4g}%"


def _anchor(tick: float) -> str:
    return "first" if tick == 0 else "last" if tick == 1 else "middle"
