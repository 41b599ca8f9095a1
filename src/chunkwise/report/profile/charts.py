"""The charts of a profile, each with its table, and the bars inside of tables."""

from __future__ import annotations

import json
from collections.abc import Mapping

from chunkwise.base.wording import counted, percent, short_number
from chunkwise.profiling.results import SizeBin
from chunkwise.report.charts.drawn import HALF, Room, as_table, drawn
from chunkwise.report.charts.look import BAR, MARK, RAIL, Spec, row_key, rows_of

_LEAST_BINS = 11
_ROOM = 1000
"""Larger numbers are shortened: a column is narrow."""
_TICKS = (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
_SPARE = (25, 3200, 12800)
"""Left out on narrow screens."""
_END = 1.3
"""Where the numbers behind bars end: "100 %" in the wider font of a page needs a fifth of a narrow chart."""
_LEAST = 0.013
"""Of the highest column: what is there is seen."""


def histogram(bins: tuple[SizeBin, ...], noun: str, marks: Mapping[int, float]) -> str:
    """Columns, one a range of sizes of a `noun`; `marks` are sizes with the share that fits into each."""
    shown = _trimmed(bins, keep=bool(marks))
    if not shown:
        return '<p class="none">Nothing to draw.</p>'
    told = f"Sizes of {noun}s in tokens"
    rows = [[_range(item), f"{item.count:,}"] for item in shown]
    table = as_table(told, ("tokens", f"{noun}s"), rows)
    wide = {"wide": HALF} if marks else {}
    return drawn(lambda room: _columns(shown, noun, marks, room), told, **wide) + table


def _columns(shown: tuple[SizeBin, ...], noun: str, marks: Mapping[int, float], room: Room) -> Spec:
    most = max(item.count for item in shown)
    columns = [
        {"from": at + 0.08, "to": at + 0.92, "middle": at + 0.5, "count": item.count and max(item.count, _LEAST * most),
         "label": short_number(item.count, whole=_ROOM),
         "told": f"{counted(item.count, noun)} of {_range(item)} tokens"}
        for at, item in enumerate(shown)
        if item.count
    ]  # fmt: skip
    edges = {item.up_to: at for at, item in enumerate(shown, 1) if item.up_to is not None}
    fits = [
        {"edge": edges[size], "label": percent(share)}
        for size, share in marks.items()
        if size in edges
    ]
    text = {"type": "text", "aria": False}
    above = {"type": "quantitative", "axis": None, "stack": None, "scale": {"domain": [0, most]}}
    return {
        "width": room.width,
        "height": 150,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": columns},
        "encoding": {"x": _sizes(edges, len(shown), marks, room), "y": {"field": "count", **above}},
        "layer": [
            {"mark": {"type": "bar", "color": BAR, "cornerRadiusEnd": 2},
             "encoding": {"x": {"field": "from"}, "x2": {"field": "to"}, "y2": {"datum": 0},
                          "description": {"field": "told"}}},
            {"mark": {**text, "dy": -8, "fontSize": 10 if room.narrow else 11},
             "encoding": {"x": {"field": "middle"}, "text": {"field": "label"}}},
            {"data": {"values": fits}, "mark": {"type": "rule", "stroke": MARK, "strokeDash": [3, 3]},
             "encoding": {"x": {"field": "edge"}, "y": {"value": -18}, "y2": {"value": 150}}},
            {"data": {"values": fits}, "mark": {**text, "color": MARK, "fontWeight": 600},
             "encoding": {"x": {"field": "edge"}, "y": {"value": -27}, "text": {"field": "label"}}},
        ],
    }  # fmt: skip


def _sizes(edges: Mapping[int, int], count: int, marks: Mapping[int, float], room: Room) -> Spec:
    """An axis on which each range is as wide as any other; every edge's number would not fit."""
    spare = _SPARE if room.narrow else ()
    named = {
        at: short_number(size, whole=_ROOM)
        for size, at in edges.items()
        if size in marks or (size in _TICKS and size not in spare and at < count)
    }
    labels = [named.get(at, "") for at in range(count + 1)]
    axis = {
        "values": list(named), "labelExpr": f"{json.dumps(labels)}[datum.value]", "title": None,
        "grid": False, "domain": True, "labelFlush": False,
    }  # fmt: skip
    scale = {"domain": [0, count], "nice": False}
    return {"type": "quantitative", "scale": scale, "axis": axis}


def _trimmed(bins: tuple[SizeBin, ...], *, keep: bool) -> tuple[SizeBin, ...]:
    """Without empty ranges at the far end and, unless the marks are to stay, at the near one."""
    used = [index for index, item in enumerate(bins) if item.count]
    if not used:
        return ()
    return (
        bins[: max(used[-1] + 1, _LEAST_BINS)] if keep else bins[max(used[0] - 1, 0) : used[-1] + 2]
    )


def _range(item: SizeBin) -> str:
    return (
        f"more than {item.above:,}"
        if item.up_to is None
        else f"{item.above + 1:,} to {item.up_to:,}"
    )


def bars(values: Mapping[str, float]) -> str:
    """One bar a share, its name before it and its number behind."""
    told = "Shares of sections that fit whole"
    table = as_table(
        told, ("", "share"), [[name, percent(share)] for name, share in values.items()]
    )
    return drawn(lambda room: _bars(values, room), told, wide=HALF) + table


def _bars(values: Mapping[str, float], room: Room) -> Spec:
    rows: list[Spec] = [
        {"row": row_key(at, name, 20), "share": min(share, 1.0), "label": percent(share),
         "told": f"{name}: {percent(share)}"}
        for at, (name, share) in enumerate(values.items())
    ]  # fmt: skip
    # The numbers stand behind the end of the longest.
    x = {
        "type": "quantitative", "axis": None, "stack": None,
        "scale": {"domain": [0, _END], "nice": False},
    }  # fmt: skip
    bar = {"type": "bar", "height": 10, "cornerRadius": 5}
    return {
        "width": room.width,
        "height": {"step": 34},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": rows},
        "encoding": {"y": rows_of(row["row"] for row in rows)},
        "layer": [
            {"mark": {**bar, "color": RAIL, "aria": False}, "encoding": {"x": {**x, "datum": 1}}},
            {"mark": {**bar, "color": BAR},
             "encoding": {"x": {**x, "field": "share"}, "description": {"field": "told"}}},
            {"mark": {"type": "text", "align": "right", "fontWeight": 600, "aria": False},
             "encoding": {"x": {**x, "datum": _END}, "text": {"field": "label"}}},
        ],
    }  # fmt: skip


def inline_bar(share: float) -> str:
    """A bar inside a table's cell."""
    return (
        '<svg class="inline" height="8" aria-hidden="true"><rect class="rail" width="100%" height="8" rx="4"/>'
        f'<rect class="column" width="{100 * min(share, 1):.2f}%" height="8" rx="4"/></svg>'
    )
