"""Draws a network: linked names near each other, in a color for each group, no two over each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from chunkwise.base.wording import format_number
from chunkwise.report.format_values import format_value
from chunkwise.report.report import Chart
from chunkwise.report.sanitize import one_line
from chunkwise.report.svg import CARD, COLORS, SOFT, Drawing

Edge = tuple[int, int, float]
"""Two names by their places, and how strongly they are linked."""

_LINKS = 3
"""Of each name that are drawn: its strongest; more to one that is the strongest of many."""
_STEPS = 240
_REACH = 2.0
"""Times the distance that is wanted between names, within which they push each other."""
_GAP = 8.0
_HEIGHT, _LETTERS, _LETTER = 30.0, 26, 8.0
"""Of a name: the height of its frame, the letters that are shown, the pixels of one."""
_NARROW = 18
"""Names on a telephone."""


def draw_network(chart: Chart, drawing: Drawing) -> None:
    """Names in frames, and lines between those that are linked."""
    by_name = {str(point.x): point for point in chart.series[0].points}
    points = list(by_name.values())[: _NARROW if drawing.narrow else None]
    numbers = {str(point.x): at for at, point in enumerate(points)}
    edges = [
        (numbers[link.one], numbers[link.other], link.value)
        for link in chart.links
        if link.one in numbers and link.other in numbers and link.one != link.other
    ]
    labels = [one_line(name, _LETTERS) or "…" for name in numbers]
    wide = [min(cell_len(label) * _LETTER + 24, drawing.width - 8) for label in labels]
    sizes = np.array([(width, _HEIGHT) for width in wide])
    places, drawing.height = lay_out(sizes, edges, drawing.width)
    for one, other, value in edges:
        (x1, y1), (x2, y2) = places[one].tolist(), places[other].tolist()
        drawing.add(
            "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=SOFT, stroke_opacity="0.35",
            stroke_width=min(6.0, 0.8 + 0.7 * math.sqrt(value)),
            hint=f"{points[one].x} and {points[other].x}: {format_number(value, chart.y.kind)}",
        )  # fmt: skip
    groups = groups_of(len(points), edges)
    for at, (point, label) in enumerate(zip(points, labels, strict=True)):
        color = COLORS[groups[at] % len(COLORS)]
        (x, y), width = places[at].tolist(), wide[at]
        drawing.add(
            "rect", x=x - width / 2, y=y - _HEIGHT / 2, width=width, height=_HEIGHT, rx=_HEIGHT / 2, fill=CARD,
            stroke=color, stroke_width=1.5, hint=f"{point.x}: {format_value(point.y, chart.y.kind)}",
        )  # fmt: skip
        drawing.text(x, y + 4, label, anchor="middle", fill=color, size=13, bold=True)


def strongest_edges(edges: Sequence[Edge]) -> list[Edge]:
    """Few of each name, so that a picture is no ball of wool; the strongest come first."""
    count: dict[int, int] = {}
    kept: set[int] = set()
    for is_first_round in (True, False):  # the strongest of each name, even to one that has many
        for at, (one, other, _) in enumerate(edges):
            least, most = sorted((count.get(one, 0), count.get(other, 0)))
            is_wanted = not least if is_first_round else most < _LINKS
            if at not in kept and is_wanted:
                kept.add(at)
                count[one], count[other] = count.get(one, 0) + 1, count.get(other, 0) + 1
    return [edges[at] for at in sorted(kept)]


def groups_of(names: int, edges: Sequence[Edge]) -> list[int]:
    """By label propagation, in a fixed order; the largest group is the first."""
    beside: dict[int, list[tuple[int, float]]] = {}
    for one, other, weight in edges:
        beside.setdefault(one, []).append((other, weight))
        beside.setdefault(other, []).append((one, weight))
    label = list(range(names))
    for _ in range(20):
        before = list(label)
        for name in range(names):
            votes: dict[int, float] = {}
            for other, weight in beside.get(name, ()):
                votes[label[other]] = votes.get(label[other], 0) + weight
            if votes:
                best = min(votes, key=lambda group: (-votes[group], group))
                if votes[best] > votes.get(label[name], 0):
                    label[name] = best
        if label == before:
            break
    order = sorted(set(label), key=lambda group: (-label.count(group), group))
    return [order.index(group) for group in label]


def lay_out(
    size: NDArray[np.float64], edges: Sequence[Edge], width: float
) -> tuple[NDArray[np.float64], float]:
    """Places of the middles of frames of these sizes, and how high it all is; the same every time."""
    # Frames are wider than high: a picture needs a bit more than twice the room they take by themselves.
    height = max(180.0, 3.4 * float((size[:, 0] + 18) @ (size[:, 1] + 18)) / width)
    at = np.random.default_rng(7).uniform(0.1, 0.9, (len(size), 2)) * (width, height)
    one, other = (np.array([edge[end] for edge in edges], np.int64) for end in (0, 1))
    pull = np.array([edge[2] for edge in edges], np.float64)
    pull = 0.4 + 0.6 * pull / (pull.max(initial=0) or 1.0)
    wanted = 0.75 * np.sqrt(width * height / len(size))
    for step in range(_STEPS):
        heat = 0.12 * (1 - step / _STEPS) * min(width, height) + 1
        away = at[:, None] - at[None]
        far = np.sqrt((away**2).sum(axis=2)) + 1e-6
        # Who is far away pushes no more: names without a link would press the linked ones together.
        apart = np.where(far < _REACH * wanted, wanted**2 / far, 0.0)
        push = (away / far[..., None] * apart[..., None]).sum(axis=1)
        line = at[one] - at[other]
        force = line * (pull * np.sqrt((line**2).sum(axis=1)) / wanted)[:, None]
        np.add.at(push, one, -force)
        np.add.at(push, other, force)
        push -= 0.9 * wanted * (at - (width / 2, height / 2)) / (width / 2, height / 2)
        speed = np.sqrt((push**2).sum(axis=1, keepdims=True)) + 1e-6
        at = at + push / speed * np.minimum(speed, heat)
    # Into the frame: whatever stands outermost touches it.
    low, high = (at - size / 2).min(axis=0), (at + size / 2).max(axis=0)
    room = np.maximum(high - low - size, 1e-6)
    at = size / 2 + 4 + (at - size / 2 - low) / room * ((width - 8, height - 8) - size)
    return _apart(np.clip(at, size / 2 + 4, (width, height) - size / 2 - 4), size)


def _apart(at: NDArray[np.float64], size: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """From above: what would lie over another moves down."""
    placed: list[int] = []
    at = at.copy()
    for name in np.lexsort((at[:, 0], at[:, 1])).tolist():
        while True:
            needed = (size[placed] + size[name]) / 2 + _GAP - 1e-6
            is_near = (np.abs(at[placed] - at[name]) < needed).all(axis=1)
            near = [other for other, is_over in zip(placed, is_near, strict=True) if is_over]
            if not near:
                break
            at[name, 1] = max(
                at[other, 1] + (size[other, 1] + size[name, 1]) / 2 + _GAP for other in near
            )
        placed.append(name)
    at[:, 1] -= float((at[:, 1] - size[:, 1] / 2).min()) - _GAP
    return at, float((at[:, 1] + size[:, 1] / 2).max()) + _GAP
