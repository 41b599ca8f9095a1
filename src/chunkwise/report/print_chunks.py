"""Chunks as a table in the terminal: where each lies, how full it is, how it begins and ends."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chunkwise.base.wording import counted, from_to, listed, one_or_many, thousands
from chunkwise.core import Chunk, Document
from chunkwise.metrics.cuts.boundary_issues import find_issues
from chunkwise.metrics.metric import CutCounts
from chunkwise.report.lint_report import cuts_words, kind_name
from chunkwise.report.report import Headline, Next, Note, Report, ReportPart
from chunkwise.report.sanitize import one_line
from chunkwise.report.to_terminal import print_report
from chunkwise.text.analyzed import Analyzed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_BAR = 8
_WIDEST = 400
"""Characters of a chunk that can reach the screen from either end."""


def render_chunks(
    documents: Iterable[tuple[Analyzed, Sequence[Chunk]]],
    *,
    width: int,
    limit: int | None = None,
    most: int | None = None,
    color: bool = True,
    unit: str = "tokens",
    summary: bool = True,
    next_command: str = "",
) -> Iterator[str]:
    """A text a document, then a summary, if wanted; `limit`: most `unit` a chunk, `most`: chunks shown in all."""
    sizes: list[int] = []
    totals: Counter[str] = Counter()
    count = summaries = hurt = cuts = 0
    for document, chunks in documents:
        kinds: defaultdict[int, list[str]] = defaultdict(list)
        issues = find_issues(document, chunks)
        for issue in issues:
            kinds[issue.chunk].append(issue.kind)
            totals[issue.kind] += not issue.again
        hurt += len(kinds)
        cuts += len({issue.cut for issue in issues})
        room = None if most is None else max(most - len(sizes), 0)
        sizes.extend(chunk.token_count for chunk in chunks)
        summaries += sum(1 for chunk in chunks if chunk.level)
        count += 1
        if chunks[:room]:
            yield (
                _printed(_document(document, chunks[:room], kinds, width, limit), width, color)
                + "\n"
            )
    if most and len(sizes) > most:  # where none is shown, there are no others
        left = counted(len(sizes) - most, "more chunk")
        yield _printed(_styled(f"  … {left}", "dim"), width, color)
    if summary:
        found = CutCounts(len(sizes) - summaries, hurt, totals, (), cuts)
        report = _summary(count, sizes, summaries, found, unit, next_command)
        yield _printed(report, width, color)


def _printed(what: RenderableType | Report, width: int, color: bool) -> str:
    from rich.console import Console

    console: Console = Console(
        file=io.StringIO(), width=width, force_terminal=color, no_color=not color, highlight=False,
        color_system="standard" if color else None, legacy_windows=False,
    )  # fmt: skip
    with console.capture() as captured:
        if isinstance(what, Report):
            print_report(what, console)
        else:
            console.print(what)
    lines = captured.get().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _styled(text: str, style: str) -> Text:
    from rich.text import Text

    return Text(text, style, no_wrap=True, overflow="ellipsis")


def _document(
    document: Analyzed,
    chunks: Sequence[Chunk],
    kinds: dict[int, list[str]],
    width: int,
    limit: int | None,
) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    places = [from_to(chunk.start, chunk.end) for chunk in chunks]
    wide_place = max(map(len, places), default=0) if width >= 72 else 0
    wide_number = max(3, len(str(len(chunks))))
    digits = max((len(thousands(chunk.token_count)) for chunk in chunks), default=1)
    wide_size = digits + (1 + _BAR if limit else 0)
    room = max(12, width - wide_number - wide_size - wide_place - (6 if wide_place else 4))
    table.add_column(width=wide_number, justify="right", style="bold cyan")
    if wide_place:
        table.add_column(width=wide_place, justify="right", style="dim", no_wrap=True)
    table.add_column(width=wide_size, no_wrap=True)
    table.add_column(width=room)
    section, reach = "", 0
    for position, (chunk, place) in enumerate(zip(chunks, places, strict=True)):
        lines: list[Text] = []
        if chunk.section_path != section:
            section = chunk.section_path
            lines.append(_styled(one_line(section), "italic green"))
        if chunk.context:
            lines.append(_styled(f"[{one_line(chunk.context)}]", "italic"))
        lines += _summary_lines(chunk) if chunk.level else _text(chunk, reach, room)
        if kinds.get(position):
            found = ", ".join(dict.fromkeys(map(kind_name, kinds[position])))
            lines.append(_styled(f"! {found}", "red"))
        reach = reach if chunk.level else max(reach, chunk.end)
        cells: list[RenderableType] = [
            str(position + 1),
            _size(chunk, digits, limit),
            Group(*lines),
        ]
        if wide_place:
            cells.insert(1, place)
        table.add_row(*cells)
    return Group(*_names(document.document, width), table)


def _names(document: Document, width: int) -> list[Text]:
    """The title and the id, which tells apart what has the same title; in one line where there is room."""
    from rich.cells import cell_len

    title, name = one_line(document.title), one_line(document.id)
    if not title or title == name:
        return [_styled(name, "bold")]
    line = _styled(title, "bold")
    if line.cell_len + len(" · ") + cell_len(name) > width:
        return [line, _styled(name, "dim")]
    return [line.append(f" · {name}", "not bold dim")]


def _size(chunk: Chunk, digits: int, limit: int | None) -> Text:
    """The count and, where there is a limit, how much of it is used."""
    from rich.text import Text

    size = Text(f"{thousands(chunk.token_count):>{digits}}")
    if limit:
        full = min(_BAR, round(_BAR * chunk.token_count / limit))
        size.append(" " + "━" * full, "red" if chunk.token_count > limit else "blue")
        size.append("─" * (_BAR - full), "dim")
    return size


def _summary_lines(chunk: Chunk) -> list[Text]:
    """Of a summary, what it is one of, and how it begins."""
    what = f"summary of {counted(len(chunk.spans), 'passage')}, level {chunk.level}"
    return [_styled(what, "italic cyan"), _styled(one_line(chunk.text[:_WIDEST]), "")]


def _text(chunk: Chunk, reach: int, room: int) -> list[Text]:
    """How a chunk begins and ends; what an earlier chunk has as well is dim, in ‹›."""
    from rich.cells import cell_len
    from rich.text import Text

    text = chunk.document.text
    shared = min(max(chunk.start, reach), chunk.end)
    head = Text(no_wrap=True, overflow="ellipsis")
    if shared > chunk.start:
        repeated = one_line(text[chunk.start : min(shared, chunk.start + _WIDEST)]).strip()
        head.append(f"‹{repeated}› ", "dim")
    head.append(one_line(text[shared : min(shared + _WIDEST, chunk.end)]))
    if chunk.end - chunk.start <= _WIDEST and head.cell_len <= room:
        return [head]
    tail = one_line(text[max(chunk.start, chunk.end - _WIDEST) : chunk.end])
    while tail and cell_len(tail) > room - 1:
        tail = tail[max(1, (cell_len(tail) - room) // 2) :]
    return [head, Text(f"…{tail}", no_wrap=True, overflow="ellipsis")]


def _summary(
    documents: int, sizes: list[int], summaries: int, cuts: CutCounts, unit: str, next_command: str
) -> Report:
    """How many chunks there are, how large, and how many of them are cut badly."""
    title = f"{counted(len(sizes), 'chunk')} of {counted(documents, 'document')}"
    if summaries:
        noun = one_or_many(summaries, "a summary", "summaries")
        title += f", {thousands(summaries)} of them {noun}"
    if not sizes:
        return Report(title, (), "chunk")
    middle = thousands(np.median(sizes))
    size = f"{thousands(min(sizes))} to {thousands(max(sizes))} {unit}, median {middle}"
    parts: list[ReportPart] = [Headline("No boundary issues.", "good")]
    if cuts.with_issues:
        kinds = Counter(cuts.counts).most_common()
        named = listed([f"{thousands(count)} {kind_name(kind)}" for kind, count in kinds], 3)
        words = cuts_words(cuts.chunks, cuts.with_issues, cuts.cuts_with_issues)
        parts = [Headline(f"{words}.", "bad"), Note(f"{named}.")]
        parts += [Next(next_command)] if next_command else []
    return Report(title, tuple(parts), "chunk", size)
