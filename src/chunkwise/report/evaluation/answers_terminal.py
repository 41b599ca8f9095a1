"""The answers to the four questions in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.wording import percent
from chunkwise.evaluation.four_questions import AT_CEILING, OUT_OF_REACH, WEAK, Answered
from chunkwise.evaluation.results import Figure, Results
from chunkwise.report.evaluation.beside import at_most, offsets
from chunkwise.report.evaluation.interval_rows import between
from chunkwise.report.plain_text import one_line
from chunkwise.report.terminal_parts import line

if TYPE_CHECKING:
    from rich.console import Console

_WORD = max(map(len, (AT_CEILING, OUT_OF_REACH, WEAK, "excellent")))
_STYLES = {"excellent": "green", "good": "green", "below": "yellow"}


def print_answer(console: Console, answered: Answered, results: Results) -> None:
    """A question of the four with a line a method, and what there is to say about these figures."""
    from rich.text import Text

    line(console, answered.question)
    for method, figure in answered.figures.items():
        name = f"{answered.metric}.{method}" if method else answered.metric
        words = method or "chunks with an issue"
        shown = Text(f"    {words:<22}")
        if figure.mean is None:
            shown.append(f"unscored: {why_unscored(figure)}", "dim")
        else:
            shown.append(f"{value(name, figure.mean):>7}  ", "bold")
            shown.append(f"{figure.verdict:<{_WORD}} ", _STYLES.get(figure.verdict, ""))
            shown.append(between(figure), "dim")
            if most := at_most(name, results):
                shown.append(f"  {most}", "dim")
        console.print(shown, no_wrap=True, overflow="ellipsis")
    if answered.metric == "citation_accuracy":
        for number, told in enumerate(offsets(results)):
            indented(console, told, "dim" if number else "", 6)


def value(name: str, amount: float | None) -> str:
    """A figure as the tables show it: shares as percentages where their verdict is one, else three digits."""
    if amount is None:
        return "unscored"
    if name == "boundary_issues":
        return percent(amount)
    shown = f"{amount:.3f}"
    return "0.000" if shown == "-0.000" else shown


def why_unscored(figure: Figure) -> str:
    """The most common reason why there is no score."""
    if not figure.unscored:
        return "unscored"
    # It may quote what a server or a model said.
    return one_line(max(figure.unscored, key=figure.unscored.__getitem__), 300)


def indented(console: Console, text: str, style: str = "", left: int = 8) -> None:
    """Text of several lines that all begin so far in."""
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text(text, style), (0, 0, 0, left), expand=False))
