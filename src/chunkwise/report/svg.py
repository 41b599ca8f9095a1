"""What charts are drawn with: SVG in the page's colors, shapes and text only, each mark with its values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import NamedTuple

from chunkwise.report.sanitize import one_line

_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`, which are ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high one; never beyond them."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def at(self, value: float) -> str:
        """The same as a percentage, for an attribute."""
        return f"{100 * self.share(value):.4g}%"

    def labels(self) -> Iterator[tuple[float, str]]:
        """Each tick with its number, all with the same digits."""
        step = self.ticks[1] - self.ticks[0]
        digits = next(
            digits for digits in range(18) if abs(round(step, digits) - step) < step / 100
        )
        for tick in self.ticks:
            yield tick, f"{tick:,.{digits}f}".replace("-", "\u2212")


def scale_of(values: Iterable[float | None], most: int = 5, *, zero: bool = False) -> Scale:
    """Ends around all values that are numbers, at most `most` steps between them; `zero` is always on it."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    known += [0.0] if zero or not known else []
    low, high = min(known), max(known)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    # Ends that are ticks may need one step more than lies between the values.
    step = next(unit * factor for factor in _STEPS if unit * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


INK, SOFT, GRID, CARD = (f"var(--{name})" for name in ("ink", "soft", "grid", "card"))
ACCENT, BAR, RAIL, MARK = (f"var(--{name})" for name in ("accent", "bar", "rail", "mark"))
CROWD = "var(--crowd)"
COLORS = [f"var(--s{at})" for at in range(8)]
SHAPES = {
    "circle": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    "square": "M-.9,-.9H.9V.9H-.9Z",
    "diamond": "M0,-1.3L1,0L0,1.3L-1,0Z",
    "triangle-up": "M0,-1.2L1.2,1H-1.2Z",
    "triangle-down": "M0,1.2L1.2,-1H-1.2Z",
    "cross": "M-1.2,-.4H-.4V-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2Z",
    "triangle-right": "M1.2,0L-1,1.2V-1.2Z",
    "triangle-left": "M-1.2,0L1,1.2V-1.2Z",
}
"""Outlines of signs with a radius of 1."""
DASHES = ["", "7,4", "3,3", "10,3,2,3"] * 2
"""Each series has its own shape and most a dash: color is never all that tells them apart."""
MOST_SERIES = len(COLORS)
LETTER = 7.4
"""Pixels that a letter takes at most; the font is the page's."""
_LINE = 16
_SIGN = 5.5


class Look(NamedTuple):
    """The sign of a series."""

    fill: str
    shape: str = "circle"
    radius: float = _SIGN
    stroke: str = CARD
    dash: str = ""


def series_look(at: int) -> Look:
    """The sign and the dash of the series at this place."""
    return Look(COLORS[at], list(SHAPES)[at], dash=DASHES[at])


class Drawing:
    """The marks of a chart at one width, in pixels; `narrow` is for a telephone."""

    def __init__(self, width: int, *, narrow: bool) -> None:
        self.width = width
        self.narrow = narrow
        self.height = 0.0
        self._marks: list[str] = []

    def add(self, tag: str, text: str = "", hint: str = "", **attributes: str | float) -> None:
        """Add an element; the hint is shown to who points at it, which nobody does on a telephone."""
        shown = "".join(
            f' {name.replace("_", "-")}="{escape(_number(value))}"'
            for name, value in attributes.items()
            if value != ""
        )
        title = f"<title>{escape(one_line(hint, 300))}</title>" if hint and not self.narrow else ""
        self._marks.append(f"<{tag}{shown}>{title}{escape(one_line(text))}</{tag}>")

    def text(
        self, x: float, y: float, text: str, *, anchor: str = "start", fill: str = INK, size: float = 12,
        bold: bool = False, halo: bool = False,
    ) -> None:  # fmt: skip
        """Write one line; a halo keeps it readable on top of other marks."""
        self.add(
            "text", text, x=x, y=y, text_anchor=anchor, font_size=size, fill=fill,
            font_weight="600" if bold else "", paint_order="stroke" if halo else "",
            stroke=CARD if halo else "", stroke_width=4 if halo else "",
            stroke_linejoin="round" if halo else "",
        )  # fmt: skip

    def line(
        self, x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 1.5, *, dash: str = ""
    ) -> None:  # fmt: skip
        self.add(
            "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width, stroke_dasharray=dash
        )  # fmt: skip

    def curve(
        self, points: Sequence[tuple[float, float]], stroke: str, *, dash: str = ""
    ) -> None:  # fmt: skip
        path = "M" + "L".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self.add(
            "path", d=path, stroke=stroke, stroke_width=2.2, stroke_dasharray=dash, fill="none"
        )

    def sign(self, x: float, y: float, look: Look, hint: str = "") -> None:
        place = f"translate({_number(x)},{_number(y)}) scale({_number(look.radius)})"
        # The stroke is scaled with the outline.
        width = f"{(1 if look.stroke == CARD else 2) / look.radius:.2f}"
        self.add(
            "path", hint=hint, transform=place, d=SHAPES[look.shape], fill=look.fill, stroke=look.stroke,
            stroke_width=width,
        )  # fmt: skip

    def bar(
        self, x: float, y: float, width: float, height: float, fill: str, hint: str = ""
    ) -> None:  # fmt: skip
        self.add("rect", hint=hint, x=x, y=y, width=width, height=height, rx=2, fill=fill)

    def legend(self, entries: Sequence[tuple[str, Look]]) -> None:
        """Name every look below the rest, in at most three lines each."""
        columns = 1 if self.narrow else 2
        letters = int((self.width / columns - 24) / LETTER)
        top = self.height + 26
        for first in range(0, len(entries), columns):
            most = 1
            for at, (name, look) in enumerate(entries[first : first + columns]):
                x = at * self.width / columns + 8
                lines = (wrap(one_line(name, 3 * letters), letters) or ["none"])[:3]
                self.sign(x, top - 4, look)
                for number, line in enumerate(lines):
                    self.text(x + 14, top + number * _LINE, line)
                most = max(most, len(lines))
            top += most * _LINE + 6
        self.height = top - _LINE

    def svg(self, caption: str) -> str:
        style = "narrow" if self.narrow else "wide"
        box = f"0 0 {self.width} {_number(self.height)}"
        label = escape(one_line(caption, 400))
        return f'<svg class="{style}" viewBox="{box}" role="img" aria-label="{label}">{"".join(self._marks)}</svg>'


class Panel:
    """A part of a drawing in which values have places."""

    def __init__(
        self, drawing: Drawing, left: float, top: float, width: float, height: float, x: Scale, y: Scale
    ) -> None:  # fmt: skip
        self.drawing = drawing
        self.left, self.top, self.width, self.height = left, top, width, height
        self.bottom = top + height
        self._x, self._y = x, y
        drawing.height = max(drawing.height, self.bottom)

    def x(self, value: float) -> float:
        return self.left + self.width * self._x.share(value)

    def y(self, value: float) -> float:
        return self.bottom - self.height * self._y.share(value)

    def y_axis(self, title: str, labels: Iterable[tuple[float, str]]) -> None:
        """Numbers and grid lines; the title lies above, where it is read first."""
        for tick, label in labels:
            self.drawing.line(self.left, self.y(tick), self.left + self.width, self.y(tick), GRID, 1)  # fmt: skip
            self.drawing.text(self.left - 8, self.y(tick) + 4, label, anchor="end", fill=SOFT)
        if title:
            self.drawing.text(max(self.left - 34, 0), self.top - 14, title, fill=SOFT)

    def x_axis(
        self, labels: Iterable[tuple[float, str]], title: str = "", *, grid: bool = False, base: bool = False
    ) -> None:  # fmt: skip
        """Labels below their places; as many as have room."""
        below = self.bottom + 18
        free = -math.inf
        for value, label in labels:
            x, half = self.x(value), LETTER * len(label) / 2
            if grid:
                self.drawing.line(x, self.top, x, self.bottom, GRID, 1)
            if x - half >= free:
                self.drawing.text(x, below, label, anchor="middle", fill=SOFT)
                free = x + half + 4
        if base:
            self.drawing.line(self.left, self.bottom, self.left + self.width, self.bottom, GRID, 1)
        if title:
            below += 22
            half = min(LETTER * len(title), self.drawing.width) / 2
            x = min(self.left + self.width / 2, self.drawing.width - half)
            self.drawing.text(x, below, title, anchor="middle", fill=SOFT)
        self.drawing.height = max(self.drawing.height, below + 4)


def span(low: float, high: float) -> Scale:
    """A scale between two ends, without ticks."""
    return Scale(low, high, ())


def label_room(scale: Scale) -> float:
    """Pixels that the numbers of an upright axis take."""
    return LETTER * max(len(label) for _, label in scale.labels()) + 10


def rows_panel(
    drawing: Drawing, names: Sequence[str], letters: int, step: float, x: Scale
) -> Panel:
    """Rows below each other, named beside them; row N has its middle at N + 0.5."""
    shown = [one_line(name, letters) for name in names]
    left = LETTER * max(map(len, shown)) + 12
    panel = Panel(
        drawing, left, 8, drawing.width - left - 12, step * len(names), x, span(-len(names), 0)
    )
    for at, name in enumerate(shown):
        drawing.text(left - 12, panel.y(-at - 0.5) + 4, name, anchor="end", fill=SOFT)
    return panel


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{round(value, 1):.7g}"
