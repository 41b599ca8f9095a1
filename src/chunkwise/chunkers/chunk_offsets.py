"""Offsets of chunks that somebody wrote down: whether their texts stand there, and where they are found instead."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.wording import from_to, shortened, thousands
from chunkwise.core import Document, Score, Span
from chunkwise.documents.document_ids import DocumentNames
from chunkwise.records.fields import Fields, integer_in, kind, string_in
from chunkwise.records.read import OnBadRow, Row, Shape, rows, shown_name
from chunkwise.text.find_passages import Occurrences, Tolerance
from chunkwise.text.passages_with_front_matter import find_in_rounds

_TEXTS = ("text", "page_content", "content", "chunk", "passage", "snippet", "cited_text")
_STARTS = (
    "start",
    "start_index",
    "start_char_idx",
    "start_char_index",
    "start_char",
    "begin",
    "split_idx_start",
)
_ENDS = ("end", "end_index", "end_char_idx", "end_char_index", "end_char", "split_idx_end")
_NAMES = (
    "doc_id", "document_id", "docid", "document", "source", "file_path", "file_name", "filename",
    "path", "file", "corpus_id", "document_title",
)  # fmt: skip
_GIVEN_IDS = ("ref_doc_id", "source_id")
"""Of documents, by LlamaIndex and Haystack: often made up by them, so that one that nobody knows says nothing."""
_LINKS = ("url", "uri", "link", "href")
_CHUNK_IDS = ("chunk_id", "node_id", "passage_id", "chunk_index")
_OWN_IDS = ("id", "id_", "_id")
_INSIDE = ("kwargs", "metadata", "node", "document", "chunk")
"""Where tools put what belongs to a place: looked into after the record itself."""

_DEEPEST = 16
"""Records inside one another that are looked into; a hostile file may hold thousands."""

_LINK_TAIL = re.compile(r"[?#].*", re.DOTALL)
_HUGE = 10**15


class FileRow(NamedTuple):
    """One record."""

    where: str
    """File and line or entry, as messages name it."""
    fields: Fields


def read_rows(name: str, on_bad: OnBadRow, lists: tuple[str, ...] = ()) -> Iterator[FileRow]:
    """The records of a file, `-` for standard input; what is no record is a line to `on_bad`.

    A file that is one JSON object has its records in the first of these fields that is a list, else it is one itself.
    """
    return usable_rows(rows(name, Shape(lists)), name, on_bad)


def usable_rows(found: Iterable[Row], name: str, on_bad: OnBadRow) -> Iterator[FileRow]:
    """The same of rows that were read already."""
    for row in found:
        where = f"{shown_name(name)}, {row.where}"
        if row.problem:
            on_bad(f"{where}: {row.problem}")
        elif isinstance(row.value, dict):
            yield FileRow(where, row.value)
        else:
            on_bad(f"{where}: expected a record, got {kind(row.value)}")


class StatedPlace(NamedTuple):
    """A place as a record has it; nothing is checked yet."""

    names: tuple[str, ...]
    """What the document may be called, the likeliest first."""
    start: int | None
    end: int | None
    text: str | None
    links: tuple[str, ...] = ()
    """Addresses, which may be those of documents, or of the same text elsewhere."""
    given_ids: tuple[str, ...] = ()
    """Ids that a framework may have made up."""


def stated_place(fields: Fields) -> StatedPlace:
    """The place of a record: chunkwise's own, LangChain's, LlamaIndex's, chonkie's, or one like them."""
    names: list[str] = []
    links: list[str] = []
    given: list[str] = []
    start = end = None
    text: str | None = None
    for level in _levels(fields):
        names += [found for name in _NAMES if name in level and (found := string_in(level, name))]
        links += [found for name in _LINKS if name in level and (found := string_in(level, name))]
        given += [
            found for name in _GIVEN_IDS if name in level and (found := string_in(level, name))
        ]
        start = integer_in(level, *_STARTS) if start is None else start
        end = integer_in(level, *_ENDS) if end is None else end
        text = string_in(level, *_TEXTS) if text is None else text
    unique = [tuple(dict.fromkeys(group)) for group in (names, links, given)]
    return StatedPlace(unique[0], start, end, text, unique[1], unique[2])


class StatedId(NamedTuple):
    """The id of a chunk as a record has it."""

    id: str | None
    is_sure: bool
    """Whether it is said to be a chunk's; an `id` may be anything's."""


def stated_id(fields: Fields) -> StatedId:
    """By what a record names the chunk it is about."""
    for names, is_sure in ((_CHUNK_IDS, True), (_OWN_IDS, False)):
        for level in _levels(fields):
            if result := string_in(level, *names):
                return StatedId(result, is_sure)
    return StatedId(None, False)


def document_of(said: StatedPlace, names: DocumentNames) -> int | str | None:
    """The number of the document it names, or why none is meant; None: it names none."""
    reason = None
    for name in said.names:
        result = names.find(name)
        if isinstance(result, int):
            return result
        reason = reason or result
    for other in (*said.given_ids, *(_LINK_TAIL.sub("", link) for link in said.links)):
        result = names.find(other)
        if isinstance(result, int):
            return result
    return reason


def _levels(fields: Fields, depth: int = 1) -> Iterator[Fields]:
    """The record, and the records inside it that are about the same place."""
    yield fields
    for name in _INSIDE:
        if depth < _DEEPEST and isinstance(inner := fields.get(name), Mapping):
            yield from _levels(inner, depth + 1)
    related = fields.get("relationships")
    if isinstance(related, Mapping) and isinstance(source := related.get("1"), Mapping):
        yield {"ref_doc_id": source.get("node_id")}  # LlamaIndex numbers relations: 1 is the source


def wrong_offset(fields: Fields) -> str:
    """What is wrong with the first start or end that is there and no whole number; empty: nothing."""
    for level in _levels(fields):
        for name in (*_STARTS, *_ENDS):
            value = level.get(name)
            if value is not None and value != "" and integer_in(level, name) is None:
                return f"its {name} is {shown_offset(value)}; expected an integer"
    return ""


def shown_offset(value: object) -> str:
    """For a message: JSON allows numbers of thousands of digits."""
    if value is None:
        return "nothing"
    if isinstance(value, int) and abs(value) >= _HUGE:
        return "a huge number"
    return shortened(json.dumps(value, ensure_ascii=False, default=str), 40)


_NEAR = 1 << 17
"""Characters looked through for one chunk; more than that is looked through once for all chunks."""


class TextPlaces(NamedTuple):
    """Every place of one text, by document and start."""

    tolerance: Tolerance
    """What differs: nothing, or as much as these places have in common."""
    document: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    def nearest(self, start: int | None) -> tuple[int, int, int]:
        """Document, start and end of the place that begins nearest to an offset; without one, the first."""
        at = 0 if start is None else int(np.abs(self.start - start).argmin())
        return int(self.document[at]), int(self.start[at]), int(self.end[at])

    def next_from(self, start: int) -> tuple[int, int]:
        """Start and end of the first place at or behind an offset, else of the first of all."""
        at = int(self.start.searchsorted(start))
        at = at if at < len(self.start) else 0
        return int(self.start[at]), int(self.end[at])


def find_texts(texts: Iterable[str], documents: Sequence[Document]) -> dict[str, TextPlaces]:
    """The places of each text that stands anywhere: exactly or, where it does not, but for white space, quotes and
    dashes, then case, then Markdown's marks, as passages of questions are found; one that begins with what a document
    leaves white before its text, by the rest."""
    wanted = list(dict.fromkeys(text for text in texts if text.strip()))
    result: dict[int, tuple[Tolerance, list[Occurrences]]] = {}
    for places in find_in_rounds(wanted, documents, lambda passage: passage not in result):
        for tolerance, row in places:
            result.setdefault(row.passage, (tolerance, []))[1].append(row)
    return {wanted[passage]: _places(*places) for passage, places in result.items()}


def find_in_own(
    texts: Iterable[tuple[int, str]], documents: Sequence[Document]
) -> dict[tuple[int, str], TextPlaces]:
    """The same for texts that belong to one document each, by its number: elsewhere they are not looked for."""
    of_document: dict[int, list[str]] = defaultdict(list)
    for number, text in texts:
        of_document[number].append(text)
    return {
        (number, text): places._replace(document=np.full(len(places.start), number))
        for number, own in of_document.items()
        for text, places in find_texts(own, [documents[number]]).items()
    }


def _places(tolerance: Tolerance, blocks: Sequence[Occurrences]) -> TextPlaces:
    document = np.concatenate([block.document for block in blocks])
    start = np.concatenate([block.start for block in blocks])
    end = np.concatenate([block.end for block in blocks])
    order = np.lexsort((start, document))
    return TextPlaces(tolerance, document[order], start[order], end[order])


EXACT = "exact"
NO_TEXT = "no_text"

KINDS: Mapping[str, str] = MappingProxyType(
    {
        EXACT: "The chunk's text is exactly at its offsets.",
        "no_offsets": "The chunk has no offsets.",
        "negative": "An offset is negative: the tool didn't find its own text.",
        "outside": "An offset is outside the document, or the end isn't after the start.",
        "shifted": "The text is elsewhere in the document.",
        "misplaced": "The text is there, but neighboring chunks point to another occurrence.",
        "changed": "The text isn't in the document.",
        "unknown_document": "Its document doesn't exist, or no document has the text.",
        NO_TEXT: "The chunk has no text to compare; it isn't scored.",
    }
)
"""What can be said of a chunk's offsets, with its explanation."""


class StatedChunk(NamedTuple):
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
        text = (
            "no offsets"
            if start is None
            else thousands(start) + ("" if end is None else f"–{thousands(end)}")
        )
        if self.kind in (EXACT, NO_TEXT) or self.place is None:
            return text
        return f"{text}; the text is at {from_to(self.place.start, self.place.end)}"


def positions(
    chunks: Sequence[StatedChunk], documents: Sequence[Document]
) -> list[PositionVerdict]:
    """A verdict a chunk. A text that does not stand at its offsets is sought from the previous chunk of its document
    on, then anywhere: files of chunks are in the order of the text."""
    verdicts = [PositionVerdict("unknown_document", None, chunk[1:3]) for chunk in chunks]
    of_document: dict[str, list[int]] = defaultdict(list)
    for number, chunk in enumerate(chunks):
        of_document[chunk.doc_id].append(number)
    for document in documents:
        numbers = of_document[document.id]
        result = _verdicts([chunks[number] for number in numbers], document)
        for number, verdict in zip(numbers, result, strict=True):
            verdicts[number] = verdict
    return verdicts


def _verdicts(chunks: Sequence[StatedChunk], document: Document) -> list[PositionVerdict]:
    """Of one document's chunks."""
    text, verdicts, behind = document.text, [], 0

    @cache
    def places() -> Mapping[str, TextPlaces]:
        return find_texts((chunk.text for chunk in chunks if chunk.text), [document])

    def seek(part: str) -> int:
        """The next exact place, else the first; work grows with the document and its chunks, not with their product."""
        at = text.find(part, behind, behind + _NEAR + len(part))
        result = places().get(part) if at < 0 else None
        return result.next_from(behind)[0] if result and result.tolerance == "exact" else at

    for chunk in chunks:
        verdict = _verdict(chunk, text, seek)
        if verdict.place is not None:
            behind = verdict.place.start + 1
        verdicts.append(verdict)
    numbers = [n for n, row in enumerate(verdicts) if row.place is not None and chunks[n].text]
    parts, placed = [chunks[n].text or "" for n in numbers], [verdicts[n] for n in numbers]
    _move_repeated(text, parts, placed)
    _move_misplaced(text, parts, placed)
    for number, verdict in zip(numbers, placed, strict=True):
        verdicts[number] = verdict
    return verdicts


def stands(chunk: StatedChunk | StatedPlace, text: str) -> bool:
    """Whether a chunk's text stands exactly at its offsets."""
    if not chunk.text or _fault(chunk, len(text)) or chunk.start is None:
        return False
    ends = chunk.end in (None, chunk.start + len(chunk.text))
    return ends and text.startswith(chunk.text, chunk.start)


def _verdict(chunk: StatedChunk, text: str, seek: Callable[[str], int]) -> PositionVerdict:
    claimed, fault = (chunk.start, chunk.end), _fault(chunk, len(text))
    if not chunk.text:
        if fault or chunk.start is None or chunk.end is None:
            return PositionVerdict(fault or NO_TEXT, None, claimed)
        return PositionVerdict(NO_TEXT, Span(chunk.start, chunk.end), claimed)
    if chunk.start is not None and stands(chunk, text):
        return PositionVerdict(EXACT, Span(chunk.start, chunk.start + len(chunk.text)), claimed)
    at = seek(chunk.text)
    if at < 0:
        return PositionVerdict("changed", None, claimed)
    return PositionVerdict(fault or "shifted", Span(at, at + len(chunk.text)), claimed)


def _fault(chunk: StatedChunk | StatedPlace, size: int) -> str:
    """What is wrong with offsets whatever the text is."""
    if chunk.start is None:
        return "no_offsets"
    if chunk.start < 0 or (chunk.end is not None and chunk.end < 0):
        return "negative"
    end = chunk.start + len(chunk.text or "") if chunk.end is None else chunk.end
    return "" if chunk.start < end <= size else "outside"


def _move_repeated(text: str, parts: Sequence[str], verdicts: list[PositionVerdict]) -> None:
    """Chunks in a row that all claim one place: the text of the later ones stands again behind it, before the place of
    the next other chunk. A chunk that is only written down twice stays where it is."""
    places = [verdict.place for verdict in verdicts]
    for same, group in groupby(range(len(places)), lambda i: (places[i], parts[i])):
        row = list(group)
        place, part = same
        following = places[row[-1] + 1] if row[-1] + 1 < len(places) else None
        limit = len(text) if following is None else following.end
        for i in row[1:]:
            if place is None or verdicts[i].kind != EXACT:
                break
            at = text.find(part, place.end, limit)
            at = at if at >= 0 else text.find(part, place.start + 1, limit)
            if at < 0:
                break
            place = Span(at, at + len(part))
            verdicts[i] = verdicts[i]._replace(kind="misplaced", place=place)


def _move_misplaced(text: str, parts: Sequence[str], verdicts: list[PositionVerdict]) -> None:
    """A repeated text can be taken for another occurrence of itself: then the chunk stands outside its neighbors,
    while the text stands between them, too."""
    starts = [verdict.place.start for verdict in verdicts if verdict.place is not None]
    back = sum(later < earlier for earlier, later in pairwise(starts))
    if back * 4 > len(starts):  # not in the order of the text: neighbors show nothing
        return
    for i in range(1, len(starts) - 1):
        low, high = starts[i - 1], starts[i + 1]
        if verdicts[i].kind != EXACT or low <= starts[i] <= high or low > high:
            continue
        at = text.find(parts[i], low, high + len(parts[i]))
        if at >= 0:
            starts[i] = at
            place = Span(at, at + len(parts[i]))
            verdicts[i] = verdicts[i]._replace(kind="misplaced", place=place)


@dataclass(frozen=True, slots=True)
class Position:
    """All chunks of a file."""

    score: Score
    """Share of the chunks with a text that stand exactly where they say."""
    counts: Mapping[str, int]
    """Of every kind, also those that do not occur."""
    examples: Mapping[str, tuple[int, ...]]
    """The first few chunks of each kind that is not exact, by their numbers."""


def summary(verdicts: Sequence[PositionVerdict], examples: int = 5) -> Position:
    """The share that is exact, and why the others are not."""
    seen = Counter(verdict.kind for verdict in verdicts)
    judged = len(verdicts) - seen[NO_TEXT]
    score = Score(seen[EXACT] / judged) if judged else Score(None, "no chunk with text")
    first: dict[str, list[int]] = defaultdict(list)
    for number, verdict in enumerate(verdicts):
        if verdict.kind != EXACT and len(first[verdict.kind]) < examples:
            first[verdict.kind].append(number)
    shown = {kind: tuple(numbers) for kind, numbers in first.items()}
    return Position(score, {kind: seen[kind] for kind in KINDS}, shown)
