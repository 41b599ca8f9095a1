"""Which characters of a page are linked, from the pieces the parser gives to the text of a block.

White space is collapsed on the way, lines are joined, markers and cells put in front. What can be seen stays as it is
and in its order: so a link is kept by how many characters before it can be seen.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from chunkwise.core import Block, Link

BREAK = "\0"
"""A <br>; the parser turns real NULs into U+FFFD, so it cannot be in the text."""
_SEEN = re.compile(r"\S+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_LONGEST = 1000
"""Characters of an address; what is longer holds data."""


def _target(written: str) -> str:
    """Where a link leads; empty: to its own page, to a mailbox or a script, or nowhere."""
    target = written.strip()
    if not target or target[0] == "#" or len(target) > _LONGEST:
        return ""
    scheme = _SCHEME.match(target)
    return target if scheme is None or scheme[0].lower() in ("http:", "https:") else ""


def seen(text: str) -> int:
    """How many characters of it are no white space."""
    return len("".join(text.split()))


class LinkedPart(NamedTuple):
    """Of a text, by how many characters before its start and its end can be seen."""

    start: int
    end: int
    target: str

    def moved(self, by: int) -> LinkedPart:
        return LinkedPart(self.start + by, self.end + by, self.target)


class _OpenLink(NamedTuple):
    piece: int
    text: int
    """The number of the text in which it begins."""
    target: str


class LinkedPieces:
    """Links among the pieces of text that are not taken yet."""

    def __init__(self) -> None:
        self.open: list[_OpenLink] = []
        self.ended: list[LinkedPart] = []
        """By pieces."""
        self._texts = 0

    def start(self, piece: int, attributes: Mapping[str, str]) -> None:
        written = attributes.get("href") or ""
        self.open.append(_OpenLink(piece, self._texts, written if written[:1] != "#" else ""))

    def end(self, piece: int) -> None:
        self._end(self.open.pop(), piece)

    def cut(self, piece: int) -> None:
        """The pieces from this one on are dropped."""
        shorter = []
        while self.ended and self.ended[-1].end > piece:
            last = self.ended.pop()
            if last.start < piece:
                shorter.append(last._replace(end=piece))
        self.ended += shorter

    def taken(self, pieces: Sequence[str]) -> list[LinkedPart]:
        """Those of all pieces, which are one text now; a link that is still open goes on in the next."""
        if (
            self.open
        ):  # the innermost: those around it have no text of their own here, or hardly any
            self._end(self.open[-1], len(pieces))
        self._texts += 1
        if not self.ended:
            return []
        counts = list(
            accumulate((0 if piece == BREAK else seen(piece) for piece in pieces), initial=0)
        )
        parts = [LinkedPart(counts[low], counts[high], target) for low, high, target in self.ended]
        self.ended.clear()
        return [row for row in parts if row.start < row.end]

    def _end(self, link: _OpenLink, piece: int) -> None:
        start = link.piece if link.text == self._texts else 0
        if link.target and start < piece:
            self.ended.append(LinkedPart(start, piece, link.target))


def parts_of_each(parts: Iterable[LinkedPart], texts: Sequence[str]) -> list[list[LinkedPart]]:
    """The parts of a text that is now several, each with the text it begins in."""
    result: list[list[LinkedPart]] = [[] for _ in texts]
    ends = list(accumulate(map(seen, texts), initial=0))
    for part in parts:
        at = bisect_right(ends, part.start) - 1
        if at < len(texts):
            result[at].append(part.moved(-ends[at]))
    return result


def parts_of_all(
    parts: Mapping[int, Sequence[LinkedPart]], texts: Sequence[str], between: str
) -> list[LinkedPart]:
    """The parts of some texts that are now one, with something between each two."""
    before = list(accumulate((seen(text) + seen(between) for text in texts), initial=0))
    return [row.moved(before[at]) for at, own in parts.items() for row in own]


def links_in(text: str, block: Block, parts: Iterable[LinkedPart]) -> list[Link]:
    """Their places in a block of the text, by start; what reaches over its end ends there."""
    runs = [match.span() for match in _SEEN.finditer(text, block.start, block.end)]
    ends = list(accumulate(high - low for low, high in runs))
    links = []
    for part in parts:
        last = min(part.end, ends[-1] if ends else 0)
        if part.start < last and (target := _target(part.target)):
            opens, closes = bisect_right(ends, part.start), bisect_left(ends, last)
            start = runs[opens][1] - (ends[opens] - part.start)
            end = runs[closes][1] - (ends[closes] - last)
            links.append(Link(start, end, target))
    return sorted(links)
