"""Markdown tables, aligned so that they also read well in a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        first = row[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        return f"| {' | '.join([first, *rest])} |"

    rule = f"|{'|'.join(['-' * (widths[0] + 2), *('-' * (w + 1) + ':' for w in widths[1:])])}|"
    return "\n".join([line(cells[0]), rule, *map(line, cells[1:])])
