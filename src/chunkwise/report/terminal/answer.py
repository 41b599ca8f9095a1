"""An answer in a terminal: the claims with their marks, then where each stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.wording import counted
from chunkwise.report.sanitize import harmless_text, one_line
from chunkwise.report.terminal.widgets import heading
from chunkwise.report.views.answer import AnswerView, ClaimRow

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {"supported": "", "quoted": "yellow", "unsupported": "red"}


def render_answer(view: AnswerView, console: Console) -> None:
    """Draw one answer."""
    if view.reason:
        _lines(console, f"no answer: {one_line(view.reason, 500)}", "red")
        return
    if view.not_found:
        _lines(console, view.not_found, "bold", indent=0)
        _lines(console, view.note, "dim", indent=0)
    else:
        _lines(console, _marked(view), indent=0)
    if view.unsupported:
        what = "The model said" if view.not_found else "The model said as well"
        heading(console, f"{what}, and the passages do not support it")
        for claim in view.unsupported:
            _lines(console, f"✗ {one_line(claim.text, 500)} ({claim.note})", _STYLES[claim.state])
    if view.claims:
        heading(console, "Sources")
        for claim in view.claims:
            _source(claim, console)
    _read(view, console)


def _marked(view: AnswerView) -> Text:
    from rich.text import Text

    parts: list[tuple[str, str]] = []
    for claim in view.claims:
        style = f"bold {_STYLES[claim.state]}"
        in_lines = "\n" in claim.text  # code, rows, items
        if in_lines and parts:
            parts[-1] = ("\n", "")
        text = harmless_text(claim.text) if in_lines else one_line(claim.text)
        parts += [(text, style), (f"\n[{claim.mark}]" if in_lines else f" [{claim.mark}]", "cyan")]
        parts.append(("\n" if in_lines else " ", ""))
    return Text.assemble(*parts[:-1])  # fmt: skip


def _source(claim: ClaimRow, console: Console) -> None:
    from rich.text import Text

    text = Text(claim.place, "green")
    if claim.quote:
        text.append(f"\n“{claim.quote}”", "default")
    if claim.note:
        text.append(f"\n? {one_line(claim.note, 200)}", _STYLES[claim.state])
    if claim.is_moved:
        text.append("\n→ the model named another passage; the quote stands in this one", "dim")
    _lines(console, text, indent=7, mark=f"  [{claim.mark}]")


def _read(view: AnswerView, console: Console) -> None:
    if not view.passages:
        return
    heading(console, f"Read: {counted(len(view.passages), 'passage')}")
    _lines(console, ", ".join(one_line(each, 120) for each in view.passages), "dim")
    if view.left_out:
        out = counted(view.left_out, "passage")
        _lines(console, f"left out, as the model's window has no room: {out}", "yellow")
    _lines(console, one_line(view.made_with), "dim")


def _lines(
    console: Console, shown: str | Text, style: str = "", *, indent: int = 2, mark: str = ""
) -> None:
    """Wrapped, indented, without spaces at their ends; as they are: no markup, no emoji codes. A mark stands before."""
    from rich.text import Text

    text = Text(shown, style) if isinstance(shown, str) else shown
    before = Text(mark.ljust(indent), "cyan")
    for line in text.wrap(console, max(console.width - indent, 20)) if text.plain else ():
        line.rstrip()
        console.print(Text.assemble(before, line), no_wrap=True)
        before = Text(" " * indent)
