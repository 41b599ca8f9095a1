"""What can be said of chunks from any splitter, offsets or none: which of the properties hold."""

from __future__ import annotations

from collections.abc import Callable

import regex

from benchmarks.peer_spans import Found

PROPERTIES = ("exact offsets", "limit", "nothing lost", "graphemes", "in time, no error")


def judge(text: str, found: Found, limit: int, count: Callable[[str], int]) -> dict[str, bool]:
    """Each property but the last, which the caller knows."""
    return {
        "exact offsets": _exact(text, found),
        "limit": all(count(part) <= limit or _indivisible(part) for _, part in found),
        "nothing lost": _complete(text, [part for _, part in found]),
        "graphemes": _whole(text, [part for _, part in found]),
    }


def _exact(text: str, found: Found) -> bool:
    """Every start is the start of that text, and starts rise without leaving text out between."""
    covered, last = 0, -1
    for start, part in found:
        if start is None or start <= last or text[start : start + len(part)] != part:
            return False
        if text[covered:start].strip():  # the text is right, the place is a later twin's
            return False
        last, covered = start, max(covered, start + len(part))
    return True


def _indivisible(part: str) -> bool:
    return len(regex.findall(r"\X", part.strip())) <= 1


def _complete(text: str, parts: list[str]) -> bool:
    """The parts, white space aside, tile the text in order, overlapping or not."""
    whole, covered = "".join(text.split()), 0
    for part in parts:
        bare = "".join(part.split())
        # The latest place that leaves nothing out: in doubt, in favour of the splitter.
        place = whole.rfind(bare, 0, covered + len(bare))
        if place < 0:
            return False
        covered = max(covered, place + len(bare))
    return covered == len(whole)


def _whole(text: str, parts: list[str]) -> bool:
    """No part shows a character that the text does not have."""
    known = set(regex.findall(r"\X", text))
    return all(
        cluster in known
        for part in parts
        for cluster in regex.findall(r"\X", part)
        if not cluster.isspace()
    )
