"""What became of the questions, in the terminal: kept by type, dropped by reason."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from chunkwise.base.wording import counted
from chunkwise.report.plain_text import one_line
from chunkwise.testsets.generate.outcome import MEANING, REASONS, Ending, GeneratedQuestions

if TYPE_CHECKING:
    from rich.console import Console

_MORE: dict[Ending, str] = {
    "enough": "",
    "rules": "rules find no more in these documents; a model would: --llm NAME",
    "cost": "the limit of cost is reached: raise --max-cost, and the same command goes on",
    "passages": "every passage was asked about; name more documents, or take a larger model",
    "calls": "the calls are used up: raise --max-calls, and the same command goes on; a larger model needs fewer",
    "silence": "too many requests in a row went unanswered; when the model answers again, the same command goes on",
}
_SHOWN = 3
"""Reasons of a model that did not answer."""


def render_generated(generated: GeneratedQuestions, console: Console) -> None:
    """Two small tables and a line; a question of several types counts in each."""
    from rich.table import Table
    from rich.text import Text

    types = Counter(each for query in generated.queries for each in query.types)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right")
    table.add_column(no_wrap=True)
    table.add_column(style="dim")
    for name, count in types.most_common():
        table.add_row(f"{count:,}", Text(name), "")
    for reason in REASONS:
        if count := generated.dropped.get(reason, 0):
            table.add_row(f"{count:,}", Text(f"dropped: {reason}", "yellow"), MEANING[reason])
    if generated.unasked:
        why = "the limit of cost, --max-cost, does not allow it"
        table.add_row(f"{generated.unasked:,}", Text("not asked", "yellow"), why)
    console.print(table)
    for kind, count in generated.missing_kinds.items():
        console.print(Text(_missing(kind, count), "yellow"), soft_wrap=True)
    for said, count in Counter(dict(generated.unanswered)).most_common(_SHOWN):
        console.print(Text(f"{count:,} × {one_line(said, 300)}", "dim"), soft_wrap=True)
    line = f"{counted(len(generated.queries), 'question')} of {generated.wanted:,}"
    if generated.found_before:
        line += f", {generated.found_before:,} of them from an earlier run"
    if not generated.is_complete:
        line += f"; {_MORE[generated.ending]}"
    console.print(Text(line, "bold"), soft_wrap=True)


def _missing(kind: str, count: int) -> str:
    if not count:
        return f"no question of the type {kind}: no passage suits it"
    return f"no question of the type {kind}: {counted(count, 'time')} asked for, and none that was kept is one"
