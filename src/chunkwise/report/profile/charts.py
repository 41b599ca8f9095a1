"""Small charts as inline SVG; widths are percentages, so that labels keep their size on any screen."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from chunkwise.profile.results import Bin
from chunkwise.profile.wording import counted, percent, short_number

_TOP = 46
_HEIGHT = 150
_FOOT = 28
_LEAST_BINS = 11
_ROOM = 1000
"""Larger numbers are shortened: a column is narrow."""
_TICKS = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
_SPARE = (25, 3200, 12800)
"""Left out on narrow screens."""


def histogram(bins: tuple[Bin, ...], noun: str, marks: Mapping[int, float]) -> str:
    """Columns, one a range of sizes of a `noun`; `marks` are sizes with the share that fits into each."""
    shown = _trimmed(bins, keep=bool(marks))
    most = max((item.count for item in shown), default=0)
    if not most:
        return '<p class="none">Nothing to draw.</p>'
    step = 100 / len(shown)
    base = _TOP + _HEIGHT
    parts = [f'<line class="axis" x1="0" x2="100%" y1="{base}" y2="{base}"/>']
    for index, item in enumerate(shown):
        height = _HEIGHT * item.count / most
        height = max(height, 2.0) if item.count else 0.0
        title = f"{counted(item.count, noun)} of {_range(item)} tokens"
        parts.append(
            f'<rect class="column" x="{(index + 0.08) * step:.3f}%" width="{0.84 * step:.3f}%"'
            f' y="{base - height:.1f}" height="{height:.1f}" rx="2"><title>{escape(title)}</title></rect>'
        )
        if item.count:
            x, y = (index + 0.5) * step, base - height - 5
            parts.append(
                f'<text class="count" x="{x:.3f}%" y="{y:.1f}">{short_number(item.count, whole=_ROOM)}</text>'
            )
        parts.append(_edge_label(item, (index + 1) * step, base, marks))
    return _svg("".join(parts), base + _FOOT, f"Sizes of {noun}s in tokens")


def _edge_label(item: Bin, x: float, base: int, marks: Mapping[int, float]) -> str:
    if item.up_to is None:
        return ""
    style = "tick spare" if item.up_to in _SPARE else "tick"
    label = f'<text class="{style}" x="{x:.3f}%" y="{base + 16}">{short_number(item.up_to, whole=_ROOM)}</text>'
    if item.up_to in marks:
        return (
            f'<line class="mark" x1="{x:.3f}%" x2="{x:.3f}%" y1="{_TOP - 16}" y2="{base + 4}"/>'
            f'<text class="fit" x="{x:.3f}%" y="{_TOP - 22}">{percent(marks[item.up_to])}</text>{label}'
        )
    # Every edge's number would not fit on a narrow screen.
    return label if item.up_to in _TICKS and x < 99 else ""


def _trimmed(bins: tuple[Bin, ...], *, keep: bool) -> tuple[Bin, ...]:
    """Without empty ranges at the far end and, unless the marks are to stay, at the near one."""
    used = [index for index, item in enumerate(bins) if item.count]
    if not used:
        return ()
    return (
        bins[: max(used[-1] + 1, _LEAST_BINS)] if keep else bins[max(used[0] - 1, 0) : used[-1] + 2]
    )


def _range(item: Bin) -> str:
    return (
        f"more than {item.above:,}"
        if item.up_to is None
        else f"{item.above + 1:,} to {item.up_to:,}"
    )


def bars(values: Mapping[str, float]) -> str:
    """One horizontal bar a share, its name above it and its number at the end of the line."""
    parts = []
    for index, (name, share) in enumerate(values.items()):
        y = index * 40
        parts.append(
            f'<text class="name" x="0" y="{y + 14}">{escape(name)}</text>'
            f'<text class="value" x="100%" y="{y + 14}">{percent(share)}</text>'
            f'<rect class="rail" x="0" width="100%" y="{y + 20}" height="10" rx="5"/>'
            f'<rect class="column" x="0" width="{100 * min(share, 1):.3f}%" y="{y + 20}" height="10" rx="5"/>'
        )
    return _svg("".join(parts), 40 * len(values), "Shares")


def inline_bar(share: float) -> str:
    """A bar inside a table's cell."""
    return (
        '<svg class="inline" height="8" aria-hidden="true"><rect class="rail" width="100%" height="8" rx="4"/>'
        f'<rect class="column" width="{100 * min(share, 1):.2f}%" height="8" rx="4"/></svg>'
    )


def _svg(inner: str, height: int, label: str) -> str:
    return f'<svg class="chart" width="100%" height="{height}" role="img" aria-label="{escape(label)}">{inner}</svg>'
