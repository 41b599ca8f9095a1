"""How many questions got everything, a part, and nothing: a column a range of scores."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from chunkwise.base.wording import counted
from chunkwise.evaluation.results import Results
from chunkwise.report.charts.drawn import Room, as_table, drawn, without_charts
from chunkwise.report.charts.look import BAR, Spec

_EDGES = (0.2, 0.4, 0.6, 0.8)
_RANGES = (
    ("0", "none"),
    ("< 0.2", "over 0, under 0.2"),
    ("< 0.4", "0.2 to under 0.4"),
    ("< 0.6", "0.4 to under 0.6"),
    ("< 0.8", "0.6 to under 0.8"),
    ("< 1", "0.8 to under 1"),
    ("1", "the full score"),
)
"""As an axis names them, and as a table does."""
_COLOURS = ["var(--zero)", *["var(--part)"] * (len(_RANGES) - 2), BAR]


def how_many(results: Results) -> str:
    """The chart, its table, and the three numbers most look for; nothing where no question has a score."""
    scores = [question.scores.get(results.objective) for question in results.questions]
    known = [score for score in scores if score is not None]
    if not known:
        return ""
    counts = counted_by_range(known)
    told = f"{counts[-1]:,} with the full score, {sum(counts[1:-1]):,} in between, {counts[0]:,} with none"
    if missing := len(scores) - len(known):
        told += f", {missing:,} unscored"
    caption = f"Questions by {results.objective}: {told}"
    rows = [[name, f"{count:,}"] for (_, name), count in zip(_RANGES, counts, strict=True)]
    chart = drawn(lambda room: _chart(counts, room), caption)
    return (
        f'<div class="card split"><p>{told}.</p>{chart}{without_charts()}'
        f"{as_table(caption, ('score', 'questions'), rows)}</div>"
    )


def counted_by_range(scores: Sequence[float]) -> list[int]:
    """How many of the scores lie in each range."""
    counts = [0] * len(_RANGES)
    for score in scores:
        at = (
            0 if score <= 0 else len(_RANGES) - 1 if score >= 1 else 1 + bisect_right(_EDGES, score)
        )
        counts[at] += 1
    return counts


def _chart(counts: Sequence[int], room: Room) -> Spec:
    short = [short for short, _ in _RANGES]
    columns = [
        {"score": short, "count": count, "label": f"{count:,}", "told": f"{name}: {counted(count, 'question')}"}
        for (short, name), count in zip(_RANGES, counts, strict=True)
    ]  # fmt: skip
    colour = {
        "field": "score", "type": "nominal", "legend": None,
        "scale": {"type": "ordinal", "domain": short, "range": _COLOURS},
    }  # fmt: skip
    return {
        "width": room.width,
        "height": 130,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": columns},
        "encoding": {
            "x": {
                "field": "score", "type": "ordinal", "sort": short, "scale": {"padding": 0.12},
                "axis": {"title": "score of a question", "domain": True},
            },
            "y": {"field": "count", "type": "quantitative", "axis": None, "stack": None},
        },
        "layer": [
            {"mark": {"type": "bar", "cornerRadiusEnd": 2},
             "encoding": {"fill": colour, "description": {"field": "told"}}},
            {"mark": {"type": "text", "dy": -8, "aria": False}, "encoding": {"text": {"field": "label"}}},
        ],
    }  # fmt: skip
