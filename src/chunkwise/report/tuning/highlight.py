"""A stretch of a document with the gold text marked in it; what lies far from any gold is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from chunkwise.core import Passage
from chunkwise.report.plain_text import one_line

_AROUND = 160
"""Characters kept before and behind gold text."""
_OPENING = 220
"""Characters shown of a stretch without any."""
_MOST_GOLD = 1200
_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def highlighted(text: str, start: int, end: int, gold: Iterable[tuple[int, int]]) -> str:
    """`text[start:end]` as HTML; `gold` are offsets into the whole text."""
    start, end = max(start, 0), min(end, len(text))
    inside = _merged((max(low, start), min(high, end)) for low, high in gold)
    if not inside:
        more = " …" if end - start > _OPENING else ""
        return f"<bdi>{shown(text[start : min(end, start + _OPENING)])}{more}</bdi>"
    parts, at = [], start
    for low, high in inside:
        parts.append(_gap(text, at, low, first=at == start))
        cut = min(high, low + _MOST_GOLD)
        parts.append(f"<mark>{shown(text[low:cut])}{' …' if cut < high else ''}</mark>")
        at = high
    tail = min(end, at + _AROUND)
    parts.append(shown(text[at:tail]) + (" …" if tail < end else ""))
    return f"<bdi>{''.join(parts)}</bdi>"


def gold_in(gold: Iterable[Passage], doc_id: str) -> list[tuple[int, int]]:
    """The offsets of a question's gold text in one document."""
    return [(each.start, each.end) for each in gold if each.doc_id == doc_id]


def shown(text: str) -> str:
    """Escaped, with its line ends; empty lines are one."""
    kept = "\n".join(one_line(line) for line in _LINES.sub("\n", text).split("\n"))
    return escape(kept)


def _gap(text: str, start: int, end: int, *, first: bool) -> str:
    """Between two gold texts, or before the first."""
    if end - start <= 2 * _AROUND:
        return shown(text[start:end])
    before = "" if first else shown(text[start : start + _AROUND])
    return f"{before} … {shown(text[end - _AROUND : end])}"


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if low >= high:
            continue
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found
