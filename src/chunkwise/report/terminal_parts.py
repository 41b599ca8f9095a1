"""What every terminal view is drawn with: bars, headings, lines, tables; text is shown as it is, never as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_BLOCKS = "▏▎▍▌▋▊▉█"
BAR = 24


def bar(share: float, width: int = BAR) -> str:
    """A bar as long as the share, to an eighth of a character."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    if not eighths and share > 0:
        eighths = 1
    return "█" * (eighths // 8) + (_BLOCKS[eighths % 8 - 1] if eighths % 8 else "")


def heading(console: Console, text: str) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(text, style="bold"))


def line(console: Console, text: str, style: str = "", *, wrap: bool = True) -> None:
    from rich.padding import Padding
    from rich.text import Text

    # Text objects are shown as they are: no markup, no emoji codes, no highlighting.
    shown = Text(text, style=style, no_wrap=not wrap, overflow="fold" if wrap else "ellipsis")
    console.print(Padding(shown, (0, 0, 0, 2), expand=False))


def plain_table(*columns: str, left: int = 1) -> Table:
    """A table without lines; the first `left` columns hold words, the others figures."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for index, name in enumerate(columns):
        first = index < left
        table.add_column(
            ("  " if index == 0 else "") + name, justify="left" if first else "right",
            no_wrap=True, overflow="ellipsis", min_width=10 if index == 0 else None,
        )  # fmt: skip
    return table
