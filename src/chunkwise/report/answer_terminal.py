"""An answer in a terminal: the claims with their marks, where each stands, and what the model was given to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunkwise.answering.answered import NOT_FOUND, Answered, Citation, Claim, mark_of
from chunkwise.base.wording import counted
from chunkwise.core import SECTION_SEPARATOR
from chunkwise.report.plain_text import one_line
from chunkwise.report.terminal_parts import heading

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {"supported": "", "quoted": "yellow", "unsupported": "red"}
_QUOTE = 600
"""Characters of a quote that are shown; its place is exact in any case."""


def render_answer(answered: Answered, console: Console) -> None:
    """Draw one answer; what models and documents say cannot move the cursor or add markup."""
    if answered.reason:
        _lines(console, f"no answer: {one_line(answered.reason, 500)}", "red")
        return
    _answer(answered, console)
    if answered.found:
        heading(console, "Sources")
        numbered = [claim for claim in answered.claims if claim.citation]
        for number, claim in enumerate(numbered, 1):
            _source(claim, number, console)
    _read(answered, console)


def _answer(answered: Answered, console: Console) -> None:
    if answered.found:
        _lines(console, _marked([claim for claim in answered.claims if claim.citation]), indent=0)
    else:
        _lines(console, NOT_FOUND, "bold", indent=0)
        _lines(console, answered.note, "dim", indent=0)
    unsupported = [claim for claim in answered.claims if not claim.citation]
    if unsupported:
        what = "The model said as well" if answered.found else "The model said"
        heading(console, f"{what}, and the passages do not support it")
        for claim in unsupported:
            _lines(console, f"✗ {one_line(claim.text, 500)} ({claim.note})", _STYLES[claim.state])


def _marked(claims: list[Claim]) -> Text:
    from rich.text import Text

    parts: list[tuple[str, str]] = []
    for number, claim in enumerate(claims, 1):
        style = _STYLES[claim.state]
        parts += [
            (one_line(claim.text), f"bold {style}"),
            (f" [{mark_of(claim, number)}]", "cyan"),
            (" ", ""),
        ]
    return Text.assemble(*parts[:-1])  # fmt: skip


def _source(claim: Claim, number: int, console: Console) -> None:
    from rich.text import Text

    citation = claim.citation
    assert citation is not None
    quote = one_line(citation.quote, _QUOTE).strip()
    text = Text.assemble((_place(citation), "green"), "\n", (f"“{quote}”", ""))
    if claim.note:
        text.append(f"\n? {one_line(claim.note, 200)}", _STYLES[claim.state])
    if claim.is_moved:
        text.append("\n→ the model named another passage; the quote stands in this one", "dim")
    _lines(console, text, indent=7, mark=f"  [{mark_of(claim, number)}]")


def _place(citation: Citation) -> str:
    """File, section, page, lines, characters."""
    parts = [one_line(citation.id, 120)]
    # The title is often the outermost heading, too.
    section = (
        citation.section[1:] if citation.section[:1] == (citation.title,) else citation.section
    )
    if section:
        parts.append(one_line(SECTION_SEPARATOR.join(section), 200))
    if citation.page is not None:
        parts.append(f"page {citation.page}")
    if citation.lines is not None:
        first, last = citation.lines
        parts.append(f"line {first:,}" if first == last else f"lines {first:,}–{last:,}")
    parts.append(f"characters {citation.start:,}–{citation.end:,}")
    return " · ".join(parts)


def _read(answered: Answered, console: Console) -> None:
    if not answered.passages:
        return
    heading(console, f"Read: {counted(len(answered.passages), 'passage')}")
    _lines(console, ", ".join(one_line(each.id, 120) for each in answered.passages), "dim")
    if answered.left_out:
        out = counted(answered.left_out, "passage")
        _lines(console, f"left out, as the model's window has no room: {out}", "yellow")
    _lines(console, one_line(f"{answered.model} · {answered.prompt}{_usage(answered)}"), "dim")


def _usage(answered: Answered) -> str:
    used = answered.usage
    if used is None:
        return ""
    if not used.calls:
        return " · answered from an earlier run" if used.kept else ""
    money = f" · ${used.money:.4f}" if used.money else ""
    if used.money is None:
        money = " · at a price that is not known"
    return f" · {used.prompt_tokens:,} tokens read, {used.output_tokens:,} written{money}"


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
