"""A profile in a terminal: compact tables, bars of block characters, advice last, where the eye rests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chunkwise.base.wording import counted, listed, percent, short_number, thousands
from chunkwise.profiling.results import PassagePlace, SizeSummary
from chunkwise.report.sanitize import one_line
from chunkwise.report.terminal.widgets import BAR, bar, heading, indented, line, plain_table
from chunkwise.report.views.profile import GroupRow, ProfileView

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

_COLUMNS = " ▁▂▃▄▅▆▇█"
_EDGES: tuple[int | None, ...] = (25, 50, 100, 200, 400, 800, 1600, 3200, None)
_NARROW_EDGES: tuple[int | None, ...] = (50, 100, 200, 400, 800, 1600, None)
_WIDE_CHART = 74
"""Columns of the terminal that all edges need."""
_MOST_GROUPS = 12


def render_profile(view: ProfileView, console: Console) -> None:
    """Draw the profile."""
    heading(console, "Corpus")
    languages = listed(
        [f"{one_line(each.name, 20)} {thousands(each.documents)}" for each in view.languages]
    )
    empty = f", {thousands(view.empty_documents)} empty" if view.empty_documents else ""
    line(
        console,
        f"{counted(view.documents, 'document')}{empty} · {short_number(view.tokens)} tokens"
        f" ({one_line(view.tokenizer, 30)}) · {short_number(view.characters)} characters"
        + (f" · {languages}" if languages else ""),
    )
    if view.tokens:
        for name, groups in (("Folders", view.folders), ("Formats", view.formats)):
            heading(console, name)
            console.print(_groups(groups, console))
        _sections(console, view)
        heading(console, "Sizes in tokens")
        console.print(_sizes(view))
        _oversized(console, view)
        _repeats(console, view)
    _advice(console, view)


def _groups(groups: tuple[GroupRow, ...], console: Console) -> Table:
    """A row a group; where the terminal is narrow, without what the rest of the view shows as well."""
    from rich.measure import Measurement

    unlimited = console.options.update(max_width=10_000)
    for left_out in ((), ("bar",), ("bar", "fit 400")):
        table = _groups_table(groups, left_out)
        if Measurement.get(console, unlimited, table).maximum <= console.width:
            return table
    return table  # names and languages go on in the next line


def _groups_table(groups: tuple[GroupRow, ...], left_out: tuple[str, ...]) -> Table:
    from rich.padding import Padding
    from rich.text import Text

    rows: list[dict[str, RenderableType]] = [
        {
            "": Padding(Text(one_line(group.label, 22)), (0, 0, 0, 2)),
            "bar": Text(bar(group.token_share, 10), style="cyan"),
            "documents": thousands(group.documents),
            "tokens": short_number(group.tokens),
            "median\nsection": thousands(group.median_section),
            "fit 400": percent(group.fit_400),
            "languages": Text(", ".join(one_line(name, 20) for name in group.languages[:2])),
        }
        for group in groups[:_MOST_GROUPS]
    ]
    names = [name for name in rows[0] if name not in left_out]
    table = plain_table(*("" if name == "bar" else name for name in names))
    for name, column in zip(names, table.columns, strict=True):
        if name in ("", "bar", "languages"):
            column.justify = "left"
        if name in ("", "languages"):
            column.no_wrap, column.overflow = False, "fold"
    for row in rows:
        table.add_row(*(row[name] for name in names))
    if len(groups) > _MOST_GROUPS:
        table.add_row(Text(f"  and {thousands(len(groups) - _MOST_GROUPS)} more", style="dim"))
    return table


def _sections(console: Console, view: ProfileView) -> None:
    sections, longest = view.sizes_of("sections").sizes, view.longest_section
    heading(console, f"Share of the {counted(sections.count, 'section')} that fits whole into")
    for fit in view.fits:
        _bar_line(console, f"{thousands(fit.size):>5} tokens", fit.share)
    heading(console, "Sections by size in tokens")
    edges = _EDGES if console.width >= _WIDE_CHART else _NARROW_EDGES
    console.print(_chart(sections, edges), no_wrap=True, overflow="crop")
    summary = f"mean {thousands(sections.mean)}, median {thousands(sections.median)}, p95 {thousands(sections.p95)}"
    if longest is not None:
        where = one_line(longest.section, 60)
        named = f"{where} in " if where else ""
        summary += f", longest {thousands(longest.tokens)}: {named}{one_line(longest.document, 60)}"
    line(console, summary, "dim")


def _chart(sizes: SizeSummary, edges: tuple[int | None, ...]) -> Text:
    """Two lines: columns of block characters, and below each the largest size it counts."""
    from rich.text import Text

    counts = dict.fromkeys(edges, 0)
    for item in sizes.histogram:
        edge = next((edge for edge in edges if edge and item.up_to and item.up_to <= edge), None)
        counts[edge] += item.count
    most = max(counts.values()) or 1
    columns = [_COLUMNS[math.ceil(8 * count / most)] * 4 for count in counts.values()]
    names = [f"≤{thousands(edge)}" if edge else f">{thousands(edges[-2] or 0)}" for edge in edges]
    drawn = "  ".join(f"{column:^6}" for column in columns)
    return Text.assemble(
        "  ", (drawn, "cyan"), "\n  ", ("  ".join(f"{name:^6}" for name in names), "dim")
    )


def _bar_line(console: Console, name: str, share: float) -> None:
    from rich.text import Text

    drawn = bar(share)
    console.print(
        Text.assemble(
            f"  {name}  ", (drawn, "cyan"), " " * (BAR - len(drawn)), f"  {percent(share)}"
        )
    )


def _sizes(view: ProfileView) -> Table:
    table = plain_table("", "count", "mean", "median", "p95", "largest")
    for each in view.sizes:
        sizes = each.sizes
        if sizes.count:
            numbers = (sizes.count, round(sizes.mean), sizes.median, sizes.p95, sizes.longest)
            table.add_row(f"  {each.name}", *(thousands(value) for value in numbers))
    return table


def _oversized(console: Console, view: ProfileView) -> None:
    found = view.oversized
    if not found.over_100:
        return
    heading(console, "Oversized sentences")
    line(
        console,
        f"{thousands(found.over_100)} ({percent(found.share_over_100)}) over 100 tokens,"
        f" {thousands(found.over_200)} ({percent(found.share_over_200)}) over 200; the longest:",
    )
    for place in found.examples:
        _example(console, view, counted(place.tokens, "token"), place.text, (place,))


def _repeats(console: Console, view: ProfileView) -> None:
    found = view.repeats
    if not found.passages:
        return
    heading(console, "Repeated passages")
    partly = "" if found.complete else "; the first passages of a larger corpus were compared"
    line(
        console,
        f"{counted(found.passages, 'passage')}, {counted(found.copies, 'copy')},"
        f" {percent(found.token_share)} of the tokens{partly}",
    )
    for repeat in found.examples[:3]:
        _example(console, view, f"{thousands(repeat.count)} ×", repeat.text, repeat.places)


def _example(
    console: Console, view: ProfileView, figure: str, text: str, places: tuple[PassagePlace, ...]
) -> None:
    # What is kept of a long text is its beginning.
    whole = text + "…" * (len(text) >= view.preview)
    quoted = one_line(whole, max(console.width - 30, 20)) or "(text not kept)"
    line(console, f"{figure:>12}  {quoted}")
    indented(console, _where(places), "dim", 16)  # wrapped: an offset that is cut is another one


def _where(places: tuple[PassagePlace, ...]) -> str:
    starts: dict[str, list[str]] = {}
    for place in places:
        starts.setdefault(one_line(place.document, 48), []).append(thousands(place.start))
    return "; ".join(f"{name} at {' and '.join(offsets)}" for name, offsets in starts.items())


def _advice(console: Console, view: ProfileView) -> None:
    from rich.table import Table
    from rich.text import Text

    heading(console, "Where to start")
    grid = Table.grid(padding=(0, 1))
    for item in view.advice:
        words = Text(one_line(item.why), overflow="fold")
        if item.kind == "start":
            words.highlight_words([item.strategy_spec], "bold cyan")
            if item.scope != "corpus":
                words = Text.assemble((f"{one_line(item.scope, 60)}: ", "bold"), words)
        grid.add_row("", "→" if item.kind == "start" else "·", words)
    console.print(grid)
