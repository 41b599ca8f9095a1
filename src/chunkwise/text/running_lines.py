"""Lines that head or foot most pages of a document and say nothing about what stands there."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from chunkwise.text.heading_words import NUMBER, division
from chunkwise.text.lines import Lines

_RUNNING_PAGES = 3
_RUNNING_LINES = 4
"""Lines of a page that may be its header, and as many its footer."""
_DIGITS = re.compile(r"\d+")


def running_lines(lines: Lines, pages: Sequence[int]) -> tuple[set[int], set[int]]:
    """Lines that head or foot most pages, and the lines pages start with."""
    solid = np.flatnonzero(~lines.blank)
    if not pages or not len(solid):
        return set(), set()
    at = lines.first[solid].searchsorted(np.asarray(pages))
    first = solid[np.minimum(at, len(solid) - 1)]
    after = np.append(at[1:], len(solid))
    deep = np.arange(_RUNNING_LINES)[:, None]
    edges = np.concatenate((np.minimum(at + deep, after - 1), np.maximum(after - 1 - deep, at)))
    where: defaultdict[str, set[int]] = defaultdict(set)
    for line in solid[np.unique(edges.clip(0, len(solid) - 1))].tolist():
        where[_but_for_page_number(lines.text(line).strip())].add(line)
    page_of = np.asarray(pages).searchsorted
    running: set[int] = set()
    for same in where.values():
        held = Counter(page_of(lines.first[sorted(same)], "right").tolist())
        if len(held) >= max(_RUNNING_PAGES, len(pages) / 2):
            running |= same
    return running, set(first.tolist())


def _but_for_page_number(text: str) -> str:
    """What stays the same on all pages; the numbers of "Chapter 1" and "1. Scope 1" tell chapters apart."""
    number = NUMBER.fullmatch(text)
    if number:
        return number["title"]
    return text if division(text) else _DIGITS.sub("#", text)
