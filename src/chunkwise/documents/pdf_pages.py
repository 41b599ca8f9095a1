"""The pages of a PDF as one text: what goes on over the end of a page stays one paragraph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

PAGE_BREAK = "\n\n"
_EDGE = 2
"""Lines that may head a page, and as many that may foot it."""
_RUNNING_PAGES = 3
_DIGITS = re.compile(r"\d+")
PAGE_NUMBER = re.compile(r"\W*(?:page |p\. ?)?\d{1,4}(?: ?(?:of|/) ?\d{1,4})?\W*", re.IGNORECASE)
_ITEM = re.compile(r"(?:[a-z]|[ivx]{1,5})[.)]\s")
_FEWEST_WORDS = 3
"""Of a line that goes on: a shorter one may be anything."""


def joined_pages(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The text, and where each page starts in it."""
    edges = [_edges(page) for page in pages]
    running = _running(edges)
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for number, page in enumerate(pages):
        between = PAGE_BREAK if number else ""
        if number and _goes_on(edges[number - 1][1], edges[number][0], running):
            length -= len(parts[-1])
            parts[-1], page = parts[-1].rstrip(), page.lstrip()
            length += len(parts[-1])
            # A word cut in two is put together as it is at the end of a line.
            between = "" if re.search(r"[^\W\d_]-\Z", parts[-1]) else "\n"
        parts += (between, page)
        starts.append(length + len(between))
        length = starts[-1] + len(page)
    return "".join(parts), tuple(starts)


def _edges(page: str) -> tuple[list[str], list[str]]:
    """The lines with text at the head of a page, and those at its foot, outermost first."""
    lines = [line.strip() for line in page.split("\n") if line.strip()]
    return lines[: _EDGE + 1], lines[: -_EDGE - 2 : -1]


def _running(edges: Sequence[tuple[list[str], list[str]]]) -> frozenset[str]:
    """The lines that head or foot most pages, but for the numbers in them."""
    seen = Counter(
        line for edge in edges for line in {_but_numbers(line) for side in edge for line in side}
    )
    most = max(_RUNNING_PAGES, len(edges) / 2)
    return frozenset(line for line, count in seen.items() if count >= most)


def _but_numbers(line: str) -> str:
    return _DIGITS.sub("#", line)


def _innermost(edge: list[str], running: frozenset[str]) -> str:
    """The outermost line that is text and no page number or running head."""
    for line in edge:
        if not PAGE_NUMBER.fullmatch(line) and _but_numbers(line) not in running:
            return line
    return ""


def _goes_on(foot: list[str], head: list[str], running: frozenset[str]) -> bool:
    """Whether the text of a page ends in the midst of a sentence and that of the next goes on small."""
    last, first = _innermost(foot, running), _innermost(head, running)
    if not last or not first[:1].islower() or _ITEM.match(first):
        return False
    words = last.split()
    if len(words) < _FEWEST_WORDS or not any(word[0].islower() for word in words):
        return False  # a heading, or a running foot of few pages
    return last[-1].isalpha() or last[-1] == "," or (last[-1] == "-" and last[-2].isalpha())
