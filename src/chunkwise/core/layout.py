"""The layout of a document: blocks, links, and the rectangles of its lines on the pages it was read from."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "paragraph", "item", "header", "row", "code"]
"""What a block is: `header` and `row` are lines of a table, `item` one entry of a list."""

BLOCK_KINDS: tuple[BlockKind, ...] = ("heading", "paragraph", "item", "header", "row", "code")


class Block(NamedTuple):
    """A layout block of the source format; blocks are ordered and don't overlap."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Heading depth (1 = top) or list nesting (0 = outermost)."""
    group: int = 0
    """Shared by the items of one list or the rows of one table."""


class Link(NamedTuple):
    """Text that leads to another document, where the text itself does not say so, as in HTML."""

    start: int
    end: int
    target: str
    """As it is written there: an address, or a path from the document's own."""


_STACKED = 1.5
"""Lines of a rectangle are no further apart than this many times their height."""


class Box(NamedTuple):
    """A rectangle on a page, in PDF points (1/72 inch) from the lower left corner; `y1` is its upper edge."""

    page: int
    """From 1."""
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class PageBoxes:
    """The lines of a document with their offsets and page rectangles.

    Stored as arrays to save memory; corners are in tenths of a point.
    """

    starts: array[int] = field(default_factory=lambda: array("q"), repr=False)
    ends: array[int] = field(default_factory=lambda: array("q"), repr=False)
    pages: array[int] = field(default_factory=lambda: array("i"), repr=False)
    corners: array[int] = field(default_factory=lambda: array("i"), repr=False)
    """x0, y0, x1, y1 of each line, in tenths of a point."""

    @classmethod
    def of(
        cls, lines: Iterable[tuple[int, int, tuple[int, float, float, float, float]]]
    ) -> PageBoxes:
        """From start, end and box of each line, in order."""
        result = list(lines)
        corners = [round(10 * value) for _, _, box in result for value in box[1:]]
        return cls(
            array("q", [start for start, _, _ in result]),
            array("q", [end for _, end, _ in result]),
            array("i", [box[0] for _, _, box in result]),
            array("i", corners),
        )

    def __len__(self) -> int:
        return len(self.starts)

    def __hash__(self) -> int:
        return hash((len(self.starts), self.corners.tobytes()))

    def line(self, number: int) -> Box:
        x0, y0, x1, y1 = self.corners[4 * number : 4 * number + 4]
        return Box(self.pages[number], x0 / 10, y0 / 10, x1 / 10, y1 / 10)

    def lines(self, start: int, end: int) -> Iterator[Box]:
        """Rectangles of the lines that a span touches."""
        first = bisect_right(self.ends, start)
        for number in range(first, bisect_left(self.starts, end) if start < end else first):
            yield self.line(number)

    def within(self, start: int, end: int) -> tuple[Box, ...]:
        """Rectangles of a span; adjacent lines of a column are merged."""
        boxes: list[Box] = []
        for box in self.lines(start, end):
            if boxes and _goes_on(boxes[-1], box):
                last = boxes[-1]
                low = min(last.x0, box.x0), min(last.y0, box.y0)
                box = Box(box.page, *low, max(last.x1, box.x1), max(last.y1, box.y1))
                boxes.pop()
            boxes.append(box)
        return tuple(boxes)


def _goes_on(above: Box, line: Box) -> bool:
    """Whether a line is the next one of a rectangle: on its page, right below it or beside its last line."""
    height = line.y1 - line.y0
    apart = above.y0 - line.y1
    beside = line.x0 < above.x1 and above.x0 < line.x1
    return above.page == line.page and beside and -height <= apart <= _STACKED * height
