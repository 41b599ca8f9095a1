"""Passages of a document that a question can be asked about: whole sentences, within one section, of a fair size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Span
from chunkwise.testsets.finding.trimming import trimmed
from chunkwise.text.analysis import Analyzed

LEAST = 60
"""Tokens; a section that has fewer is a passage by itself."""
MOST = 250
_TINY = 10
"""Tokens under which nothing is said that could be asked for."""
_CODE = 0.5
"""Share of a passage from which it is code and no text."""


def source_passages(analyzed: Analyzed) -> list[Span]:
    """In their order, disjoint, without white space around them; headings and code are not among them."""
    text = analyzed.text
    tokens = analyzed.measure().starts
    atoms, sections = analyzed.atoms(), analyzed.sections
    paragraphs = set(analyzed.paragraphs.tolist())
    found: list[Span] = []
    for first, last in zip(sections.heading_end.tolist(), sections.end.tolist(), strict=True):
        inside = atoms[atoms.searchsorted(first) : atoms.searchsorted(last)].tolist()
        if first < last and (not inside or inside[0] != first):
            inside.insert(0, first)
        for span in _packed(text, [*inside, last], tokens, paragraphs):
            if not _is_code(analyzed, span):
                found.append(span)
    return found


def _packed(
    text: str, bounds: list[int], tokens: NDArray[np.int64], paragraphs: set[int]
) -> list[Span]:
    """Sentences together: up to the end of a paragraph where there are enough, never more than the most."""
    before = tokens.searchsorted(bounds).tolist()
    spans: list[tuple[int, int]] = []
    first = 0
    for at in range(1, len(bounds)):
        size = before[at] - before[first]
        if at - 1 > first and size > MOST:
            spans.append((first, at - 1))
            first, size = at - 1, before[at] - before[at - 1]
        # What a list is a list of stands in the line before it.
        ends = bounds[at] in paragraphs and not _announces(text, bounds[first], bounds[at])
        if ends and size >= LEAST:
            spans.append((first, at))
            first = at
    if first < len(bounds) - 1:
        tail = before[-1] - before[first]
        if spans and tail < LEAST and before[-1] - before[spans[-1][0]] <= MOST:
            spans[-1] = (spans[-1][0], len(bounds) - 1)
        else:
            spans.append((first, len(bounds) - 1))
    big = [each for each in spans if before[each[1]] - before[each[0]] >= _TINY]
    tight = (trimmed(text, bounds[low], bounds[high]) for low, high in big)
    return [span for span in tight if span.end > span.start]


def _announces(text: str, start: int, end: int) -> bool:
    return text[max(start, end - 80) : end].rstrip().endswith(":")


def _is_code(analyzed: Analyzed, span: Span) -> bool:
    code = analyzed.blocks.code
    if not len(code):
        return False
    shared = np.minimum(code[:, 1], span.end) - np.maximum(code[:, 0], span.start)
    return bool(shared.clip(0).sum() > _CODE * (span.end - span.start))
