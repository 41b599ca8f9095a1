"""What moves the objective on this corpus and what does not: a card a lever, all on one scale."""

from __future__ import annotations

from chunkwise.experiments.tuning import Level, Lever
from chunkwise.profile.wording import counted
from chunkwise.report.page_text import attribute, words
from chunkwise.report.scale import Scale, axis_of, scale_of
from chunkwise.report.tuning.forest import signed
from chunkwise.report.tuning.measured import Measured


def lever_cards(measured: Measured) -> str:
    """The strongest first."""
    levers = sorted(measured.tuning.levers, key=lambda lever: (-abs(lever.effect), lever.name))
    if not levers:
        return ""
    scale = scale_of((level.mean for lever in levers for level in lever.levels), 4)
    return f'<div class="two">{"".join(_card(lever, scale) for lever in levers)}</div>'


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
        f" 95 % interval {signed(lever.low)} to {signed(lever.high)}.</p>"
        f'<table class="levels"><caption>Means by {attribute(lever.name, 60)}</caption><thead><tr>'
        '<th scope="col">value</th><th scope="col" class="scale">'
        f"{axis_of(scale)}</th>"
        f'<th scope="col">mean</th></tr></thead><tbody>{levels}</tbody></table></article>'
    )


def _level(level: Level, scale: Scale) -> str:
    told = f"{level.value}: {level.mean:.3f}, {counted(level.configurations, 'configuration')}"
    return (
        f'<tr><th scope="row">{words(level.value or "none", 80)}</th><td class="drawn"><svg class="line" height="16"'
        f' role="img" aria-label="{attribute(told, 200)}"><title>{attribute(told, 200)}</title>'
        f'<line class="rule" x1="0" x2="100%" y1="8" y2="8"/><circle class="dot" cx="{scale.at(level.mean)}" cy="8"'
        f' r="5.5"/></svg></td><td>{level.mean:.3f}</td></tr>'
    )
