"""The graph of names in a terminal: those that link most, or one with its mentions, neighbors and passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chunkwise.base.wording import counted, from_to, one_or_many, thousands
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import bar, heading, line, plain_table
from chunkwise.retrieval.graph.names_and_neighbors import NameDetails, NameMention, NameOverview

if TYPE_CHECKING:
    from rich.console import Console

_BAR = 12
_AROUND = 60
"""Characters of a sentence on each side of the name."""


def render_overview(found: NameOverview, console: Console) -> None:
    """Draw how many names there are, and those in most passages."""
    from rich.text import Text

    line(
        console,
        f"{counted(found.names, 'name')} · {counted(found.mentions, 'mention')} · "
        f"{counted(found.passages, 'passage')} of {counted(found.documents, 'document')}",
    )
    lead = one_or_many(found.linking, "leads", "lead")
    stand = one_or_many(found.common, "stands", "stand")
    line(
        console,
        f"{thousands(found.linking)} of them {lead} from one passage to another"
        + (
            f"; {thousands(found.common)} {stand} in too many to be followed"
            if found.common
            else ""
        ),
        "dim",
    )
    if found.statements:
        line(console, f"{counted(found.statements, 'statement')} read by a language model", "dim")
    if not found.most_linked:
        return
    heading(console, "Those that link most")
    most = max(each.passages for each in found.most_linked)
    table = plain_table("name", "passages", "", "mentions", "documents")
    for each in found.most_linked:
        common = " (not followed)" if each.is_common else ""
        table.add_row(
            Text(f"  {one_line(each.name, 48)}{common}"), thousands(each.passages),
            Text(f"{bar(each.passages / most, _BAR):<{_BAR}}", "cyan"),
            thousands(each.mentions), thousands(each.documents),
        )  # fmt: skip
    console.print(table)
    if found.communities:
        heading(console, "What hangs together, in a model's words")
    for own in found.communities:
        of = f"{counted(own.documents, 'document')}, {counted(own.tokens, 'token')}"
        line(console, f"level {own.level} · {of}", "dim")
        line(console, one_line(own.summary, 1000))


def render_name(found: NameDetails, console: Console) -> None:
    """Draw one name."""
    own = found.counts
    heading(console, one_line(own.name, 120))
    line(
        console,
        f"{counted(own.mentions, 'mention')} in {counted(own.documents, 'document')}, "
        f"{counted(own.passages, 'passage')}"
        + ("; too common to be followed" if own.is_common else ""),
    )
    if found.descriptions:
        heading(console, "What is said of it, in a model's words")
    for told in found.descriptions:
        line(console, one_line(told.text, 300))
        line(console, f"    {one_line(told.doc_id, 120)} {from_to(told.start, told.end)}", "dim")
    if found.relations:
        heading(console, "Relations, each with its quote")
    for each in found.relations:
        said = f"{each.subject} — {each.relation} → {each.object}"
        line(console, one_line(said, 300), "bold")
        where = f"{one_line(each.doc_id, 120)} {from_to(each.start, each.end)}"
        line(console, f"    “{one_line(each.quote, 300)}” {where}", "dim")
    heading(console, "Mentions")
    for mention in found.mentions:
        _sentence(mention, console)
    _more(own.mentions, found.mentions, "mention", console)
    if found.neighbors:
        heading(console, "Beside it")
    for beside in found.neighbors:
        both = f"{counted(beside.shared, 'passage')} with both, {thousands(beside.passages)} in all"
        line(console, f"{one_line(beside.name, 80)}  ({both})", "bold")
        _sentence(beside.evidence, console)
    heading(console, "Passages")
    for passage in found.passages:
        about = " · about it" if passage.is_about else ""
        line(
            console,
            f"{one_line(passage.doc_id, 120)} {from_to(passage.start, passage.end)}{about}",
            "dim",
        )
    _more(own.passages, found.passages, "passage", console)


def _sentence(mention: NameMention, console: Console) -> None:
    """What stands around the name, and where."""
    from rich.padding import Padding
    from rich.text import Text

    start, end = (at - mention.sentence[0] for at in (mention.start, mention.end))
    low, high = max(0, start - _AROUND), min(len(mention.text), end + _AROUND)
    before = ("…" if low else "") + one_line(mention.text[low:start])
    after = one_line(mention.text[end:high]).rstrip() + ("…" if high < len(mention.text) else "")
    where = f"  {one_line(mention.doc_id, 120)} {from_to(mention.start, mention.end)}"
    where += "" if mention.kind == "mention" else f" · {mention.kind}"
    name = one_line(mention.text[start:end], 160)
    shown = Text.assemble(before, (name, "bold yellow"), after, (where, "dim"))
    console.print(Padding(shown, (0, 0, 0, 4), expand=False))


def _more(every: int, shown: Sequence[object], noun: str, console: Console) -> None:
    if every > len(shown):
        line(console, f"… {counted(every - len(shown), f'more {noun}')}", "dim")
