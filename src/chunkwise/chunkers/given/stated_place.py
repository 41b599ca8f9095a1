"""Rows of other tools: which document and which place each means, whatever its fields are called."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from chunkwise.documents.document_names import DocumentNames
from chunkwise.records.fields import Fields, integer_in, kind, string_in
from chunkwise.records.read import Row, Shape, rows, shown_name

OnBad = Callable[[str], None]
"""Gets one line for each record that cannot be used: file, place, reason."""

_TEXTS = ("text", "page_content", "content", "chunk", "passage", "snippet", "cited_text")
_STARTS = ("start", "start_index", "start_char_idx", "start_char_index", "start_char", "begin")
_ENDS = ("end", "end_index", "end_char_idx", "end_char_index", "end_char")
_NAMES = (
    "doc_id", "document_id", "docid", "document", "source", "file_path", "file_name", "filename",
    "path", "file", "corpus_id", "document_title",
)  # fmt: skip
_INSIDE = ("kwargs", "metadata", "node", "document", "chunk")
"""Where tools put what belongs to a place: looked into after the record itself."""

_HUGE = 10**15


class FileRow(NamedTuple):
    """One record."""

    where: str
    """File and line or entry, as messages name it."""
    fields: Fields


def read_rows(name: str, on_bad: OnBad, lists: tuple[str, ...] = ()) -> Iterator[FileRow]:
    """The records of a file, `-` for standard input; what is no record is a line to `on_bad`.

    A file that is one JSON object has its records in the first of these fields that is a list, else it is one itself.
    """
    return usable_rows(rows(name, Shape(lists)), name, on_bad)


def usable_rows(found: Iterable[Row], name: str, on_bad: OnBad) -> Iterator[FileRow]:
    """The same of rows that were read already."""
    for row in found:
        where = f"{shown_name(name)}, {row.where}"
        if row.problem:
            on_bad(f"{where}: {row.problem}")
        elif isinstance(row.value, dict):
            yield FileRow(where, row.value)
        else:
            on_bad(f"{where}: a record is needed, this is {kind(row.value)}")


class StatedPlace(NamedTuple):
    """A place as a record has it; nothing is checked yet."""

    names: tuple[str, ...]
    """What the document may be called, the likeliest first."""
    start: int | None
    end: int | None
    text: str | None


def stated_place(fields: Fields) -> StatedPlace:
    """The place of a record: chunkwise's own, LangChain's, LlamaIndex's, chonkie's, or one like them."""
    names: list[str] = []
    start = end = None
    text: str | None = None
    for level in _levels(fields):
        names += [found for name in _NAMES if name in level and (found := string_in(level, name))]
        start = integer_in(level, *_STARTS) if start is None else start
        end = integer_in(level, *_ENDS) if end is None else end
        text = string_in(level, *_TEXTS) if text is None else text
    return StatedPlace(tuple(dict.fromkeys(names)), start, end, text)


def document_of(said: StatedPlace, names: DocumentNames) -> int | str | None:
    """The number of the document it names, or why none is meant; None: it names none."""
    reason = None
    for name in said.names:
        found = names.find(name)
        if isinstance(found, int):
            return found
        reason = reason or found
    return reason


def _levels(fields: Fields) -> Iterator[Fields]:
    """The record, and the records inside it that are about the same place."""
    yield fields
    for name in _INSIDE:
        if isinstance(inner := fields.get(name), Mapping):
            yield from _levels(inner)
    related = fields.get("relationships")
    if isinstance(related, Mapping) and isinstance(source := related.get("1"), Mapping):
        yield {"doc_id": source.get("node_id")}  # LlamaIndex numbers relations: 1 is the source
    if "ref_doc_id" in fields:
        yield {"doc_id": fields["ref_doc_id"]}  # often an id of its own making: paths go first


def wrong_offset(fields: Fields) -> str:
    """What is wrong with the first start or end that is there and no whole number; empty: nothing."""
    for level in _levels(fields):
        for name in (*_STARTS, *_ENDS):
            value = level.get(name)
            if value is not None and value != "" and integer_in(level, name) is None:
                return f"its {name} is {shown_offset(value)}; a whole number is needed"
    return ""


def shown_offset(value: object) -> str:
    """For a message: JSON allows numbers of thousands of digits."""
    if value is None:
        return "nothing"
    if isinstance(value, int) and abs(value) >= _HUGE:
        return "a huge number"
    told = json.dumps(value, ensure_ascii=False, default=str)
    return told if len(told) <= 40 else f"{told[:39]}…"
