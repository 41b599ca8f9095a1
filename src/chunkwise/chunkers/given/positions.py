"""What the offsets of chunks are worth that somebody wrote down: whether their texts stand there, and where else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import NamedTuple

from chunkwise.core import Span

EXACT = "exact"
NO_TEXT = "no_text"

KINDS: Mapping[str, str] = MappingProxyType(
    {
        EXACT: "The text of the chunk stands exactly at its offsets.",
        "no_offsets": "The chunk has no offsets.",
        "negative": "An offset is negative: the tool could not find its own text again.",
        "outside": "An offset lies outside the document, or the end is not behind the start.",
        "shifted": "The text stands in the document, at another place.",
        "misplaced": "The same text stands there, but the chunk's neighbours show that another occurrence is meant.",
        "changed": "The text stands nowhere in the document.",
        "unknown_document": "The document it names is not there, or it names none that has the text.",
        NO_TEXT: "The chunk has no text that could be compared; it is not scored.",
    }
)
"""What can be said of a chunk's offsets, with its explanation."""


Seek = Callable[[str, str, int], int]
"""Document, text and offset to the first place of the text from there on, else from the beginning; -1: nowhere."""


class Claimed(NamedTuple):
    """A chunk as somebody wrote it down."""

    doc_id: str
    """Empty: the document it names is not known."""
    start: int | None
    end: int | None
    """None: behind the text, as long as it is."""
    text: str | None


class PositionVerdict(NamedTuple):
    """What a chunk's offsets are worth, and where its text really is."""

    kind: str
    place: Span | None
    """The claimed place where it is exact, else where the text was found; None: nowhere."""
    claimed: tuple[int | None, int | None] = (None, None)

    @property
    def detail(self) -> str:
        """The offsets, and what is right instead."""
        start, end = self.claimed
        said = (
            "no offsets" if start is None else f"{start:,}" + ("" if end is None else f"–{end:,}")
        )
        if self.kind in (EXACT, NO_TEXT) or self.place is None:
            return said
        return f"{said}; the text stands at {self.place.start:,}–{self.place.end:,}"


def positions(
    chunks: Sequence[Claimed], texts: Mapping[str, str], seek: Seek | None = None
) -> list[PositionVerdict]:
    """A verdict a chunk. A text that does not stand at its offsets is sought from the previous chunk of its document
    on, then anywhere: files of chunks are in the order of the text. `seek` knows the places of many texts already."""
    verdicts = []
    behind: dict[str, int] = defaultdict(int)
    seek = seek or _plain_seek(texts)
    for chunk in chunks:
        verdict = _verdict(chunk, texts.get(chunk.doc_id), behind[chunk.doc_id], seek)
        if verdict.place is not None:
            behind[chunk.doc_id] = verdict.place.start + 1
        verdicts.append(verdict)
    of_document: dict[str, list[int]] = defaultdict(list)
    for number, (chunk, verdict) in enumerate(zip(chunks, verdicts, strict=True)):
        if verdict.place is not None and chunk.text:
            of_document[chunk.doc_id].append(number)
    for doc_id, numbers in of_document.items():
        _move_repeated(texts[doc_id], [chunks[n].text or "" for n in numbers], verdicts, numbers)
        _move_misplaced(texts[doc_id], [chunks[n].text or "" for n in numbers], verdicts, numbers)
    return verdicts


def stands(chunk: Claimed, text: str) -> bool:
    """Whether a chunk's text stands exactly at its offsets."""
    if not chunk.text or _fault(chunk, len(text)) or chunk.start is None:
        return False
    ends = chunk.end in (None, chunk.start + len(chunk.text))
    return ends and text.startswith(chunk.text, chunk.start)


def _plain_seek(texts: Mapping[str, str]) -> Seek:
    def seek(doc_id: str, part: str, behind: int) -> int:
        at = texts[doc_id].find(part, behind)
        return at if at >= 0 else texts[doc_id].find(part)

    return seek


def _verdict(chunk: Claimed, text: str | None, behind: int, seek: Seek) -> PositionVerdict:
    claimed = chunk.start, chunk.end
    if text is None:
        return PositionVerdict("unknown_document", None, claimed)
    fault = _fault(chunk, len(text))
    if not chunk.text:
        if fault or chunk.start is None or chunk.end is None:
            return PositionVerdict(fault or NO_TEXT, None, claimed)
        return PositionVerdict(NO_TEXT, Span(chunk.start, chunk.end), claimed)
    if chunk.start is not None and stands(chunk, text):
        return PositionVerdict(EXACT, Span(chunk.start, chunk.start + len(chunk.text)), claimed)
    at = seek(chunk.doc_id, chunk.text, behind)
    if at < 0:
        return PositionVerdict("changed", None, claimed)
    return PositionVerdict(fault or "shifted", Span(at, at + len(chunk.text)), claimed)


def _fault(chunk: Claimed, size: int) -> str:
    """What is wrong with offsets whatever the text is."""
    if chunk.start is None:
        return "no_offsets"
    if chunk.start < 0 or (chunk.end is not None and chunk.end < 0):
        return "negative"
    end = chunk.start + len(chunk.text or "") if chunk.end is None else chunk.end
    return "" if chunk.start < end <= size else "outside"


def _move_repeated(
    text: str, parts: Sequence[str], verdicts: list[PositionVerdict], numbers: Sequence[int]
) -> None:
    """Chunks in a row that all claim one place: the text of the later ones stands again behind it, before the place of
    the next other chunk. A chunk that is only written down twice stays where it is."""
    places = [verdicts[n].place for n in numbers]
    for same, group in groupby(range(len(places)), lambda i: (places[i], parts[i])):
        row = list(group)
        place, part = same
        following = places[row[-1] + 1] if row[-1] + 1 < len(places) else None
        limit = len(text) if following is None else following.end
        for i in row[1:]:
            if place is None or verdicts[numbers[i]].kind != EXACT:
                break
            at = text.find(part, place.end, limit)
            at = at if at >= 0 else text.find(part, place.start + 1, limit)
            if at < 0:
                break
            place = Span(at, at + len(part))
            verdicts[numbers[i]] = verdicts[numbers[i]]._replace(kind="misplaced", place=place)


def _move_misplaced(
    text: str, parts: Sequence[str], verdicts: list[PositionVerdict], numbers: Sequence[int]
) -> None:
    """A repeated text can be taken for another occurrence of itself: then the chunk stands outside its neighbours,
    while the text stands between them, too."""
    starts = [place.start for n in numbers if (place := verdicts[n].place) is not None]
    back = sum(later < earlier for earlier, later in pairwise(starts))
    if back * 4 > len(starts):  # not in the order of the text: neighbours show nothing
        return
    for i in range(1, len(starts) - 1):
        low, high = starts[i - 1], starts[i + 1]
        if verdicts[numbers[i]].kind != EXACT or low <= starts[i] <= high or low > high:
            continue
        at = text.find(parts[i], low, high + len(parts[i]))
        if at >= 0:
            starts[i] = at
            moved = verdicts[numbers[i]]
            place = Span(at, at + len(parts[i]))
            verdicts[numbers[i]] = moved._replace(kind="misplaced", place=place)
