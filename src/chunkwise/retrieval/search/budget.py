"""As much as fits into a number of tokens, no text twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Span
from chunkwise.retrieval.search.index_reader import IndexReader
from chunkwise.retrieval.searchable import CandidateSpan
from chunkwise.retrieval.tables_lists_code import end_before_headings
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.graphemes import Graphemes

_LONGEST_TOKEN = 256
"""Characters; vocabularies have hardly a longer one."""
_UNEVEN = 1.3
"""How much denser than a whole text its first sentences may be in another tokenizer's tokens."""


class FilledBudget(NamedTuple):
    """What fits, in the order it came in."""

    candidates: list[CandidateSpan]
    full: bool
    """Nothing more fits, or as many candidates as allowed are there."""


def fill_budget(
    reader: IndexReader,
    candidates: Iterable[CandidateSpan],
    budget: int,
    max_count: int | None = None,
) -> FilledBudget:
    """Candidates in their order until the budget is spent; each shows only what none before it showed.

    The one that does not fit any more ends with a sentence, and not with a heading or a table's header, unless that
    is all there is; only if it is the very first and its first sentence is too long, between two tokens, and never
    inside what a reader sees as one character. The sizes of all texts, each
    counted by itself, never add up to more than `budget`. A summary counts by its own text and is never
    cut: half of it would say something else.
    """
    reader.frame_tokens = budget // 2
    taken: dict[int, list[Span]] = {}
    chosen: list[CandidateSpan] = []
    left = budget
    for candidate in candidates:
        if candidate.level:
            if len(chosen) == max_count or (chosen and reader.size(candidate) > left):
                return FilledBudget(chosen, True)
            if reader.size(candidate) <= left:
                chosen.append(candidate)
                left -= reader.size(candidate)
            continue
        spans = taken.setdefault(candidate.document, [])
        for part in _new_parts(reader.text(candidate.document), candidate, spans):
            if reader.blocks(candidate.document).is_hidden(*part):
                continue
            if left <= 0 or (max_count is not None and len(chosen) >= max_count):
                return FilledBudget(chosen, True)
            shown = part
            if reader.count(candidate.document, *part) > left:
                shown = _cut(reader, candidate, part, left, first=not chosen)
                shown = _readable(reader, candidate.document, shown, first=not chosen)
            if shown.start < shown.end:
                whole = shown == (candidate.start, candidate.end)
                chunk = candidate.chunk if whole else None
                chosen.append(candidate._replace(start=shown.start, end=shown.end, chunk=chunk))
                left -= reader.count(candidate.document, *shown)
                spans.append(shown)
            if shown != part:
                return FilledBudget(chosen, True)
    return FilledBudget(chosen, left <= 0 or len(chosen) == max_count)


def _new_parts(text: str, candidate: CandidateSpan, taken: list[Span]) -> list[Span]:
    """What of a candidate was not taken yet, without the space at edges that are not its own."""
    parts, start = [], candidate.start
    for span in sorted(taken):
        if span.end <= start or span.start >= candidate.end:
            continue
        if span.start > start:
            parts.append(Span(start, span.start))
        start = span.end
    if start < candidate.end:
        parts.append(Span(start, candidate.end))
    if parts == [Span(candidate.start, candidate.end)]:
        return parts
    return [trimmed for part in parts if (trimmed := _trimmed(text, part)).start < trimmed.end]


def _trimmed(text: str, span: Span) -> Span:
    inside = text[span.start : span.end]
    blank = len(inside) - len(inside.lstrip())
    # A mark may stand on the last of the blanks.
    start = span.start + Graphemes(CharacterArrays(inside[: blank + 1])).floor(blank)
    return Span(start, max(start, span.start + len(inside.rstrip())))


def _cut(
    reader: IndexReader, candidate: CandidateSpan, part: Span, left: int, *, first: bool
) -> Span:
    """As much of a part as fits: from its start, or around the chunk that was found if that would be lost."""
    end = _end_within(reader, candidate.document, part, left, first)
    if (
        first
        and end_before_headings(reader.document(candidate.document), part.start, end) == part.start
    ):
        return _behind_headings(reader, candidate.document, part, end, left)
    core = candidate.core
    if core is None or end >= core.end or not part.start < core.start < part.end:
        return Span(part.start, end)
    rest = Span(core.start, part.end)
    if reader.count(candidate.document, *rest) <= left:
        return Span(_start_within(reader, candidate.document, part, core.start, left), part.end)
    return Span(core.start, _end_within(reader, candidate.document, rest, left, first))


def _readable(reader: IndexReader, document: int, cut: Span, *, first: bool) -> Span:
    """Without fences and comments that a cut leaves at its edges; what is the very first is not lost for them."""
    result = reader.blocks(document).readable(*cut)
    if result.start == result.end:
        return cut if first else result
    text = reader.text(document)
    start = result.start if text[cut.start : result.start].strip() else cut.start
    end = result.end if text[result.end : cut.end].strip() else cut.end
    return Span(start, end)


def _behind_headings(reader: IndexReader, document: int, part: Span, end: int, left: int) -> Span:
    """What follows the headings up to `end`, of which nothing fits beside them; where it does not fit, they alone."""
    rest, ends = Span(end, part.end), reader.source.atoms(document).end
    if end != ends[ends.searchsorted(end)]:
        return Span(part.start, end)  # not even the first heading fits
    if reader.count(document, *rest) > left:
        rest = Span(end, _end_within(reader, document, rest, left, first=False))
    return rest if rest.start < rest.end else Span(part.start, end)


def _start_within(reader: IndexReader, document: int, part: Span, start: int, left: int) -> int:
    """The earliest start of an atom from which the rest of the part fits, where it fits from `start`."""
    starts = reader.source.atoms(document).start
    before = starts[starts.searchsorted(part.start) : starts.searchsorted(start)]
    for earlier in before[::-1].tolist():
        if reader.count(document, earlier, part.end) > left:
            break
        start = earlier
    return start


def _end_within(reader: IndexReader, document: int, part: Span, left: int, first: bool) -> int:
    """The furthest end of an atom at which the part fits, no heading's; its start where there is none."""
    bounds = reader.source.atoms(document)
    low = int(bounds.end.searchsorted(part.start, "right"))
    high = int(bounds.end.searchsorted(part.end, "left"))
    tokens = bounds.tokens[low:high].astype(np.int64)
    if low < high and bounds.start[low] < part.start:
        tokens[0] = reader.count(document, part.start, int(bounds.end[low]))
    # About as many atoms as fit by their own counts; the exact count has the last word.
    about = (
        left if reader.counts_as_index else _in_index_tokens(reader, document, part, left, tokens)
    )
    fits = max(1, int(np.cumsum(tokens).searchsorted(about, "right")))
    for end in bounds.end[low : min(low + fits, high)][::-1].tolist():
        if reader.count(document, part.start, end) <= left:
            text = end_before_headings(reader.document(document), part.start, end)
            return end if first and text == part.start else text
    return _token_edge(reader, document, part, left) if first else part.start


def _in_index_tokens(
    reader: IndexReader, document: int, part: Span, left: int, tokens: NDArray[np.int64]
) -> int:
    """As many of the index's tokens as `left` of the reader's can be; a little more, since texts differ."""
    counted = max(1, reader.count(document, *part))
    return 1 + int(_UNEVEN * left * int(tokens.sum()) / counted)


def _token_edge(reader: IndexReader, document: int, part: Span, left: int) -> int:
    """The furthest token edge within the budget that is no grapheme's middle; the start where there is none."""
    # A line of a gigabyte need not be read to its end for a few tokens.
    stop = min(part.end, part.start + _LONGEST_TOKEN * (left + 1))
    text = reader.text(document)[part.start : stop]
    edges = np.unique(reader.tokenizer.offsets(text)[1 : left + 1])
    for edge in Graphemes(CharacterArrays(text)).keep(edges)[::-1].tolist():
        if reader.count(document, part.start, part.start + edge) <= left:
            return part.start + edge
    return part.start
