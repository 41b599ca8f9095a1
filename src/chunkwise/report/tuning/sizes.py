"""Quality over the size of chunks: a small chart a strategy, a line an overlap, all on one scale."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from chunkwise.evaluation.results import Figure
from chunkwise.report.charts.drawn import Room, as_table, drawn
from chunkwise.report.charts.look import Spec, row_key
from chunkwise.report.charts.series import MOST, lines_and_signs, look, series_key
from chunkwise.report.page_text import words
from chunkwise.report.plain_text import one_line
from chunkwise.report.tuning.leader_filters import in_order
from chunkwise.report.tuning.measured import Measured, between, number
from chunkwise.tuning.sweep import Configuration

_COLUMNS = (1, 2, 3, 4, 3)
"""Panels beside each other, by how many there are; the last of these for more."""
Found = Mapping[str, Mapping[str, Mapping[str, Figure]]]
"""By strategy, then by overlap, then by size."""


def size_charts(measured: Measured) -> str:
    """Everything else is as in the best configuration that has chunks; nothing where no size was varied."""
    like = reference(measured)
    if like is None:
        return ""
    alike = [
        each.configuration for each in measured.best_first() if _alike(each.configuration, like)
    ]
    # A default of a size or an overlap of its own would be a dot without a line.
    varied = {_point(each) for each in alike if not each.baseline}
    found: dict[str, dict[str, dict[str, Figure]]] = defaultdict(lambda: defaultdict(dict))
    for each in alike:
        figure, (size, overlap) = measured.quality(each.key), _point(each)
        if figure and figure.mean is not None and size and (size, overlap) in varied:
            found[each.levers.get("boundaries", "")][overlap].setdefault(size, figure)
    sizes = sorted(
        {size for lines in found.values() for own in lines.values() for size in own}, key=in_order
    )
    if len(sizes) < 2:
        return ""
    overlaps = sorted({overlap for lines in found.values() for overlap in lines}, key=in_order)
    rows = [
        [words(name, 80), words(overlap, 40), words(size, 40), number(figure), between(figure)]
        for name in sorted(found)
        for overlap in overlaps
        for size, figure in sorted(found[name].get(overlap, {}).items(), key=lambda item: in_order(item[0]))
    ]  # fmt: skip
    caption = f"{measured.tuning.objective} by strategy, overlap and size"
    heads = ("strategy", "overlap", "size", "mean", "95 % interval")
    chart = drawn(lambda room: _chart(found, sizes, overlaps[:MOST], room), caption)
    return f'<div class="card">{chart}{as_table(caption, heads, rows)}</div>'


def reference(measured: Measured) -> Configuration | None:
    """The choice, or the best that has chunks where the choice has none."""
    candidates = [measured.chosen] if measured.chosen else []
    for each in [*candidates, *measured.best_first()]:
        if each.configuration.strategy and not each.error:
            return each.configuration
    return None


def held(measured: Measured) -> str:
    """ "hybrid, late vectors, headings beside the text, neighbours 1": what is the same in all charts."""
    like = reference(measured)
    if like is None:
        return ""
    told = [like.retriever, "no vectors" if like.vectors == "none" else f"{like.vectors} vectors"]
    told += ["headings beside the text"] if like.context == "headings" else []
    told += [f"neighbours {like.neighbours}"] if like.neighbours else []
    return ", ".join(told)


def _alike(given: Configuration, like: Configuration) -> bool:
    return bool(given.strategy) and (
        (given.retriever, given.context, given.neighbours, given.vectors)
        == (like.retriever, like.context, like.neighbours, like.vectors)
    )


def _point(given: Configuration) -> tuple[str, str]:
    return given.levers.get("size", ""), given.levers.get("overlap", "")


def _chart(found: Found, sizes: list[str], overlaps: list[str], room: Room) -> Spec:
    # Sizes of one unit need not say it; those of several are different places.
    short = len({size.partition(" ")[2] for size in sizes}) == 1
    shown = {size: one_line(size.partition(" ")[0] if short else size, 16) for size in sizes}
    keys = [series_key(at, f"overlap {name or 'none'}", 40) for at, name in enumerate(overlaps)]
    points = [
        {"series": key, "strategy": row_key(place, name or "chunks", 24), "size": shown[size],
         "mean": figure.mean, "told": one_line(_told(name, overlap, size, figure), 300), **look(at)}
        for place, name in enumerate(sorted(found))
        for at, (key, overlap) in enumerate(zip(keys, overlaps, strict=True))
        for size, figure in found[name].get(overlap, {}).items()
    ]  # fmt: skip
    columns = 1 if room.narrow else _COLUMNS[min(len(found), len(_COLUMNS)) - 1]
    x = {
        "field": "size",
        "type": "ordinal",
        "sort": list(shown.values()),
        "axis": {"title": None},
        "scale": {"padding": 0.5},
    }
    y = {
        "field": "mean", "type": "quantitative", "axis": {"title": None, "tickCount": 4},
        "scale": {"zero": False},
    }  # fmt: skip
    return {
        "data": {"values": points},
        "facet": {
            "field": "strategy",
            "type": "nominal",
            "sort": None,
            "header": {"labelExpr": "split(datum.label, '\\n')[1]"},
        },
        "columns": columns,
        "spacing": {"row": 22, "column": 24},
        "spec": {
            "width": (room.width - 44 * columns) // columns,
            "height": 140 if room.narrow else 170,
            "encoding": {"x": x},
            "layer": lines_and_signs(keys, y, room),
        },
        # Each says its own numbers: a row that is not full would leave some without.
        "resolve": {"axis": {"x": "independent", "y": "independent"}},
    }


def _told(name: str, overlap: str, size: str, figure: Figure) -> str:
    return f"{name}, size {size}, overlap {overlap}: {number(figure)} ({between(figure)})"
