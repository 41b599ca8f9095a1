"""Hits in a terminal: rank and score, where from, and the lines with the most of the question's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chunkwise.base.wording import counted, percent, score
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import bar
from chunkwise.report.views.hits import HitCard, HitsView

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_BAR = 8
_INDENT = 4
_LINES = 8
"""Lines of a hit that are shown, unless all are asked for."""


def render_hits(view: HitsView, console: Console, *, full: bool = False) -> None:
    """Draw the hits of one question, best first."""
    room = max(console.width - _INDENT, 20)
    for hit in view.hits:
        console.print(_head(hit), no_wrap=True, overflow="ellipsis")
        lines = list(_text(hit).wrap(console, room))
        chain = [line for part in _chain(hit) for line in part.wrap(console, room)]
        for line in [
            *_place(hit).wrap(console, room),
            *chain,
            *(lines if full else _window(lines)),
        ]:
            line.rstrip()
            line.pad_left(_INDENT)
            console.print(line, no_wrap=True)
        console.print()
    console.print(view.total, style="bold", markup=False, highlight=False)


def _head(hit: HitCard) -> Text:
    """Rank, score and what the document is called."""
    from rich.text import Text

    return Text.assemble(
        (f"{hit.rank:>2}  ", "bold cyan"),
        (f"{bar(hit.share_of_best, _BAR):<{_BAR}}", "cyan"),
        (f" {score(hit.score)}  ", "dim"),
        (one_line(hit.title, 120), "bold"),
    )


def _place(hit: HitCard) -> Text:
    from rich.text import Text

    place = Text(hit.place, "dim")
    section = one_line(hit.section, 300)
    return Text.assemble((section, "green"), "\n", place) if section else place


def _chain(hit: HitCard) -> list[Text]:
    """From the question over names and sentences; the passage itself stands below."""
    from rich.text import Text

    if not hit.hops:
        return []
    along, own = percent(hit.graph_share), percent(1 - hit.graph_share)
    told = [Text(f"{own} of the score by the question itself, {along} along names:", "dim")]
    for at, hop in enumerate(hit.hops):
        if not at:
            how = (
                ("the question’s words", "dim")
                if not hop.name
                else (one_line(hop.name, 80), "bold magenta")
            )
            told.append(Text.assemble("question → ", how, " → ", (hop.after_place, "dim")))
            continue
        said = one_line(hop.before, 300)
        sentence = Text(f"  “{said}” ")
        where = said.find(one_line(hop.name))
        if hop.name and where >= 0:
            sentence.stylize("bold magenta", where + 3, where + 3 + len(one_line(hop.name)))
        told.append(sentence.append(hop.before_place, "dim"))
        name = (one_line(hop.name, 80), "bold magenta")
        told.append(Text.assemble("→ ", name, " → ", (hop.after_place, "dim")))
    return told


def _text(hit: HitCard) -> Text:
    from rich.text import Text

    text = Text(hit.text)
    for start, end in hit.marks:
        text.stylize("bold yellow", start, end)
    return text


def _window(lines: Sequence[Text]) -> list[Text]:
    """The stretch of lines with the most marked words, and how much stands around it."""
    from rich.text import Text

    if len(lines) <= _LINES + 2:  # a line that says "one more line" takes a line
        return list(lines)
    marks = np.concatenate(([0], np.cumsum([len(line.spans) for line in lines])))
    start = int((marks[_LINES:] - marks[:-_LINES]).argmax())
    chosen = list(lines[start : start + _LINES])
    if start:
        chosen.insert(0, Text(f"… {counted(start, 'line')} before", "dim"))
    if left := len(lines) - start - _LINES:
        chosen.append(Text(f"… {counted(left, 'more line')}", "dim"))
    return chosen
