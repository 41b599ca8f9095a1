"""What moves the objective on this corpus and what does not: all in one chart, then a card a lever."""

from __future__ import annotations

from chunkwise.base.wording import counted
from chunkwise.report.charts.drawn import Room, as_table, drawn
from chunkwise.report.charts.look import ACCENT, CARD, SOFT, Spec, row_key, rows_of
from chunkwise.report.page_text import attribute, words
from chunkwise.report.plain_text import one_line
from chunkwise.report.scale import Scale, axis_of, scale_of
from chunkwise.report.tuning.forest import signed
from chunkwise.report.tuning.measured import Measured
from chunkwise.tuning.sweep_result import Lever, LeverLevel

_WORDS = ["moves it", "no effect shown"]


def lever_cards(measured: Measured) -> str:
    """The strongest first."""
    levers = sorted(measured.tuning.levers, key=lambda lever: (-abs(lever.effect), lever.name))
    if not levers:
        return ""
    scale = scale_of((level.mean for lever in levers for level in lever.levels), 4)
    told = f"How many points of {measured.tuning.objective} lie between the best and the worst value of each lever"
    heads = ("lever", "points", "95 % interval", "")
    rows = [
        [words(lever.name, 60), signed(lever.effect), _sure(lever), _word(lever)]
        for lever in levers
    ]
    return (
        f'<div class="card apart-below">{drawn(lambda room: _chart(levers, room), told)}'
        f'{as_table(told, heads, rows)}</div><div class="two">'
        f"{''.join(_card(lever, scale) for lever in levers)}</div>"
    )


def lever_line(measured: Measured) -> str:
    """ "Moves it: retriever (+4.1), size (+2.0). No effect shown: overlap." as HTML."""
    told = []
    for moves, start in ((True, "Moves it"), (False, "No effect shown")):
        names = [
            f"<b>{words(lever.name, 40)}</b> ({signed(lever.effect)})"
            for lever in sorted(measured.tuning.levers, key=lambda each: -abs(each.effect))
            if lever.moves is moves
        ]
        if names:
            told.append(f"{start}: {', '.join(names)}.")
    return " ".join(told)


def _chart(levers: list[Lever], room: Room) -> Spec:
    """Full where an effect is shown, hollow where not."""
    rows: list[Spec] = [
        {"row": row_key(at, lever.name, 20), "effect": 100 * lever.effect, "low": 100 * lever.low,
         "high": 100 * lever.high, "word": _word(lever),
         "told": one_line(f"{lever.name}: {signed(lever.effect)} points, 95 % interval {_sure(lever)}", 200)}
        for at, lever in enumerate(levers)
    ]  # fmt: skip
    y = rows_of(row["row"] for row in rows)
    title = "points between the best and the worst value, with the 95 % interval"
    axis = {
        "title": "points" if room.narrow else title,
        "labelOverlap": True,
        "tickCount": 5 if room.narrow else 10,
    }
    x = {"type": "quantitative", "axis": axis}
    word = {
        "field": "word", "type": "nominal", "legend": {"direction": "horizontal"},
        "scale": {"type": "ordinal", "domain": _WORDS, "range": [ACCENT, CARD]},
    }  # fmt: skip
    return {
        "width": room.width,
        "height": {"step": 30},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "rule", "stroke": SOFT, "strokeWidth": 1.5}, "encoding": {"x": {"datum": 0}}},
            {"mark": {"type": "rule", "stroke": ACCENT, "strokeWidth": 2},
             "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}},
            {"mark": {"type": "point", "stroke": ACCENT, "strokeWidth": 2, "size": 110},
             "encoding": {"x": {**x, "field": "effect"}, "y": y, "fill": word, "description": {"field": "told"}}},
        ],
    }  # fmt: skip


def _word(lever: Lever) -> str:
    return _WORDS[0 if lever.moves else 1]


def _sure(lever: Lever) -> str:
    return f"{signed(lever.low)} to {signed(lever.high)}"


def _card(lever: Lever, scale: Scale) -> str:
    word = (
        '<span class="verdict yes"><span aria-hidden="true">▲</span> moves it</span>'
        if lever.moves
        else '<span class="verdict same"><span aria-hidden="true">≈</span> no effect shown</span>'
    )
    levels = "".join(_level(level, scale) for level in lever.levels)
    return (
        f'<article class="card lever"><header><h3>{words(lever.name, 60)}</h3>{word}</header>'
        f"<p>Best less worst: <b>{signed(lever.effect)}</b> points,"
        f" 95 % interval {_sure(lever)}.</p>"
        f'<table class="levels"><caption>Means by {attribute(lever.name, 60)}</caption><thead><tr>'
        '<th scope="col">value</th><th scope="col" class="scale">'
        f"{axis_of(scale)}</th>"
        f'<th scope="col">mean</th></tr></thead><tbody>{levels}</tbody></table></article>'
    )


def _level(level: LeverLevel, scale: Scale) -> str:
    told = f"{level.value}: {level.mean:.3f}, {counted(level.configurations, 'configuration')}"
    return (
        f'<tr><th scope="row">{words(level.value or "none", 80)}</th><td class="drawn"><svg class="line" height="16"'
        f' role="img" aria-label="{attribute(told, 200)}"><title>{attribute(told, 200)}</title>'
        f'<line class="rule" x1="0" x2="100%" y1="8" y2="8"/><circle class="dot" cx="{scale.at(level.mean)}" cy="8"'
        f' r="5.5"/></svg></td><td>{level.mean:.3f}</td></tr>'
    )
