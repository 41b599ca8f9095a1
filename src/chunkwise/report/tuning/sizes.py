"""Quality over the size of chunks: a small chart a strategy, a line an overlap, all on one scale."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from chunkwise.evaluation.results import Figure
from chunkwise.experiments.configuration import Configuration
from chunkwise.report.page_text import words
from chunkwise.report.plot import Point, Series, Tick, as_table, legend, plot
from chunkwise.report.scale import Scale, scale_of
from chunkwise.report.tuning.leader_filters import in_order
from chunkwise.report.tuning.measured import Measured, between, number

_HEIGHT = 170
Lines = Mapping[str, Mapping[str, Figure]]
"""By overlap, then by size."""


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
    means = [
        figure.mean for lines in found.values() for own in lines.values() for figure in own.values()
    ]
    scale = scale_of(means, 4)
    panels = "".join(
        _panel(name, found[name], sizes, overlaps, scale, measured.tuning.objective)
        for name in sorted(found)
    )
    rows = [
        [words(name, 80), words(overlap, 40), words(size, 40), number(figure), between(figure)]
        for name in sorted(found)
        for overlap in overlaps
        for size, figure in sorted(found[name].get(overlap, {}).items(), key=lambda item: in_order(item[0]))
    ]  # fmt: skip
    looks = [
        (at, f"overlap {words(overlap or 'none', 40)}", True) for at, overlap in enumerate(overlaps)
    ]
    caption = f"{measured.tuning.objective} by strategy, overlap and size"
    heads = ("strategy", "overlap", "size", "mean", "95 % interval")
    return (
        f'<div class="card"><div class="panels">{panels}</div>{legend(looks)}'
        f"{as_table(caption, heads, rows)}</div>"
    )


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


def _panel(
    name: str, lines: Lines, sizes: list[str], overlaps: list[str], scale: Scale, objective: str
) -> str:
    place = {size: (at + 0.5) / len(sizes) for at, size in enumerate(sizes)}
    series = [
        Series(
            overlap,
            at,
            [
                Point(place[size], figure.mean, None, None, _told(name, overlap, size, figure))
                for size in sizes
                if (figure := lines[overlap].get(size)) and figure.mean is not None
            ],
            apart=False,
        )
        for at, overlap in enumerate(overlaps)
        if overlap in lines
    ]
    ticks = [Tick(place[size], size.split(" ", 1)[0]) for size in sizes]
    told = f"{objective} over the size of chunks for {name}"
    return f"<div><h3>{words(name or 'chunks', 80)}</h3>{plot(series, ticks, scale, told, height=_HEIGHT)}</div>"


def _told(name: str, overlap: str, size: str, figure: Figure) -> str:
    return f"{name}, size {size}, overlap {overlap}: {number(figure)} ({between(figure)})"
