"""Boundary issues in a terminal: by file, each with the text around its cut; the count of every kind last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.base.wording import counted, percent_limit, thousands
from chunkwise.evaluation.verdicts_and_advice import verdict
from chunkwise.metrics.cuts.boundary_issue_counts import QUESTION
from chunkwise.metrics.cuts.boundary_issues import AROUND, KINDS
from chunkwise.metrics.metric import CutCounts
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import BAR, bar, heading, line
from chunkwise.report.views.lint import BY_KIND, Cut, LintedDocument, LintView, kind_name

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

MARK = "▏"
"""Where the cut is."""

_INDENT = 4


def render_lint(view: LintView, console: Console) -> None:
    """Draw the cuts that were chosen, then the summary."""
    for number, document in enumerate(view.documents):
        if number:
            console.print()
        _document(document, console)
    if view.documents and view.more_cuts:
        console.print()
        others = counted(view.more_documents, "other document")
        _print(f"… {counted(view.more_cuts, 'more cut')} in {others}", console, "dim")
    if view.documents:
        console.print()
    _summary(view, console)
    if view.advice:
        heading(console, "Not good yet")
    for each in view.advice:
        line(console, one_line(each.text))


def _document(document: LintedDocument, console: Console) -> None:
    from rich.text import Text

    counts = f"{counted(document.bad_cuts, 'bad cut')} in {counted(document.chunks, 'chunk')}"
    room = max(console.width - len(counts) - 2, 12)
    _print(
        Text.assemble((_shortened(document.name, room), "bold"), (f"  {counts}", "dim")), console
    )
    for cut in document.cuts:
        _print(_place(cut), console)
        _print(_text(cut, console.width - _INDENT), console)
    if document.more:
        _print(f"  … {counted(document.more, 'more cut')}", console, "dim")


def _place(cut: Cut) -> Text:
    """Where the cut is, and everything that is wrong there."""
    from rich.text import Text

    first = cut[0]
    found = {issue.kind for issue in cut}
    kinds = ", ".join(kind_name(kind) for kind in KINDS if kind in found)
    where = f"offset {thousands(first.offset)}"
    if first.line is not None:
        where = f"{first.line}:{first.column}  {where}"
    elif first.page is not None:
        where = f"page {first.page}  {where}"
    return Text.assemble("  ", (where, "cyan"), "  ", (kinds, "red"))


def _text(cut: Cut, room: int) -> Text:
    """What stands on both sides, as much as there is room for."""
    from rich.text import Text

    first, half = cut[0], max((room - 1) // 2, 4)
    before = ("…" if first.offset > len(first.before) else "") + one_line(first.before)
    after = one_line(first.after) + ("…" if len(first.after) == AROUND else "")
    left, right = _tail(before, half), _head(after, half)
    return Text.assemble(" " * _INDENT, left, (MARK, "bold red"), right)


def _head(text: str, room: int) -> str:
    from rich.cells import cell_len, chop_cells

    return text if cell_len(text) <= room else chop_cells(text, room - 1)[0] + "…"


def _tail(text: str, room: int) -> str:
    return _head(text[::-1], room)[::-1]


def _shortened(name: str, room: int) -> str:
    """The end of a path says more than its beginning."""
    return _tail(one_line(name), room)


def _summary(view: LintView, console: Console) -> None:
    cuts = view.cuts
    _print(f"Boundary issues of {one_line(view.label)}", console, "bold")
    if not cuts.chunks:
        line(console, "there are no chunks")
        return
    share = cuts.with_issues / cuts.chunks
    line(console, f"{view.words}{_judged(cuts, share)}")
    if cuts.with_issues:
        line(console, BY_KIND, "dim")
    _kind_bars(cuts, console)


def _judged(cuts: CutCounts, share: float) -> str:
    """The words are for all kinds together: of some alone there are always fewer."""
    if len(cuts.counts) < len(KINDS):
        return ""
    word, (good, excellent) = verdict(QUESTION.name, share), QUESTION.targets
    named = "below good" if word == "below" else word
    return f", {named} (good is under {percent_limit(good)}, excellent under {percent_limit(excellent)})"


def _kind_bars(cuts: CutCounts, console: Console) -> None:
    """A bar for each kind there is, the most frequent first; the others by name."""
    from rich.text import Text

    most = max(cuts.counts.values(), default=0)
    for kind, count in sorted(cuts.counts.items(), key=lambda item: -item[1]):
        if count:
            drawn = f"{bar(count / most):<{BAR}}"
            _print(
                Text.assemble(
                    f"  {kind_name(kind):<18}  ", (drawn, "cyan"), f"  {thousands(count)}"
                ),
                console,
            )
    absent = [kind_name(kind) for kind, count in cuts.counts.items() if not count]
    if absent:
        line(console, f"none: {', '.join(absent)}", "dim")


def _print(line: str | Text, console: Console, style: str = "") -> None:
    from rich.text import Text

    shown = Text(line, style) if isinstance(line, str) else line
    console.print(shown, no_wrap=True, overflow="ellipsis", highlight=False)
