"""What heads a text and says little without it: headings, and headers of tables."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from chunkwise.core import Block, Document, Span
from chunkwise.text.analyzed import Analyzed

_HEADING_KINDS = ("heading", "header")
_AROUND = 1000
"""Characters before and behind a stretch that help to tell what its lines are."""


def is_table_header(document: Document, start: int, end: int) -> bool:
    """Whether these lines are a table's header: declared as one, or ended by a line such as `|---|---|`."""
    if document.blocks is not None:
        at = bisect_right(document.blocks, start, key=_start) - 1
        return at >= 0 and document.blocks[at].kind == "header"
    line = document.text[start:end].rstrip().rpartition("\n")[2]
    return "|" in line and "-" in line and not line.strip("|:- \t")


def end_before_headings(document: Document, start: int, end: int) -> int:
    """Where a stretch ends without the headings and headers at its end; its start where it has nothing else."""
    for lead in _headings_backwards(document, start, end):
        if document.text[lead.end : end].strip():
            break
        end = max(start, lead.start)
    return end


def _headings_backwards(document: Document, start: int, end: int) -> Iterator[Span]:
    """Headings and headers that lie in a stretch, the last first, up to the first block of another kind."""
    blocks, shift = document.blocks, 0
    if blocks is None:
        shown = document.text[start:end]
        if "\n" not in shown[len(shown.rstrip()) :]:
            return  # it ends inside a line, as most cuts do: nothing has to be analysed
        # From the start of a line: the rest of a heading is not known by itself.
        floor = max(0, start - _AROUND)
        shift = max(floor, document.text.rfind("\n", floor, start) + 1)
        text = document.text[shift : end + _AROUND]
        part = Document("", text, format=document.format, language=document.language)
        blocks = tuple(Analyzed(part).blocks)
    for at in range(bisect_left(blocks, end - shift, key=_start) - 1, -1, -1):
        block = blocks[at]
        if block.kind not in _HEADING_KINDS or block.end + shift <= start:
            return
        yield Span(block.start + shift, block.end + shift)


def _start(block: Block) -> int:
    return block.start
