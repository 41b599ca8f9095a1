"""One record of a corpus as a document: its text, id, title, format and metadata."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.fields import (
    ID_FIELDS,
    TEXT_FIELDS,
    TITLE_FIELDS,
    is_blank,
    no_text,
    text_field_of,
)
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.record_format import FormatFields, format_fields, record_format
from chunkwise.documents.source import Source
from chunkwise.records.fields import field_of
from chunkwise.records.json import HUGE, without_half_characters

_SHAPES_KEPT = 256
_DEEPEST = 64  # what is read must be written again, by a writer that may stand deeper in the stack
_SIMPLE = (str, int, type(None))  # bool is an int


class NoText(UnreadableDocument):
    """A record or a file that was read and has no text; a file may have many such records, see `Corpus`."""


class DuplicateId(UnreadableDocument):
    """A record whose id another one has; a file may have many, too."""


class _Shape(NamedTuple):
    """What the names of a record's fields say, worked out once for all records that have them."""

    text: str | None
    id: str | None
    title: str | None
    format: FormatFields
    others: tuple[tuple[str, str], ...]
    """Names of the metadata, and how each is written."""


class Records:
    """Turns the records of one source into documents; ids are unique within it."""

    def __init__(self, source: Source, options: LoadOptions) -> None:
        self._source = source
        self._options = options
        self._first: dict[str, str] = {}
        self._shapes: dict[tuple[str, ...], _Shape] = {}

    def document(
        self, record: Mapping[str, object], number: int, where: str, id: str | None = None
    ) -> Document:
        """The document of one record; `where` is what messages call it: `line 3`."""
        shape = self._shape(record)
        text = record[shape.text] if shape.text is not None else None
        if not isinstance(text, str):
            # Rare: perhaps another of the usual names holds a text here.
            name = text_field_of(record, self._options.text_field)
            text = record[name] if name is not None else None
            if not isinstance(text, str):
                raise NoText(self.place(where), no_text(record, self._options.text_field))
            shape = self._learn(record, name)
        if is_blank(text):
            raise NoText(self.place(where), f"its {shape.text!r} is empty")
        doc_id = _label(record[shape.id]) if shape.id is not None else ""
        doc_id = doc_id or id or f"{self._source.id}#{number}"
        if doc_id in self._first:
            why = f"duplicate id {doc_id!r} (first at {self._first[doc_id]})"
            raise DuplicateId(self.place(where), why)
        self._first[doc_id] = where
        text = without_half_characters(text)
        title = _label(record[shape.title]) if shape.title is not None else ""
        format, language = record_format(text, record, shape.format, doc_id, title)
        return Document(
            doc_id,
            text,
            title=title,
            source=self._source.origin,
            format=format,
            language=language,
            metadata=_metadata(record, shape.others),
        )

    def place(self, where: str) -> str:
        """`corpus.jsonl:3` of line 3, `corpus.json record 3` of a record."""
        line = where.removeprefix("line ")
        return (
            f"{self._source.origin}:{line}" if line != where else f"{self._source.origin} {where}"
        )

    def _shape(self, record: Mapping[str, object]) -> _Shape:
        names = tuple(record)
        shape = self._shapes.get(names)
        if shape is None:
            if len(self._shapes) >= _SHAPES_KEPT:  # a file in which no two records are alike
                self._shapes.clear()
            text = field_of(names, TEXT_FIELDS, self._options.text_field)
            shape = self._shapes[names] = self._learn(names, text)
        return shape

    def _learn(self, names: Iterable[str], text: str | None) -> _Shape:
        names = list(names)
        id = field_of(names, ID_FIELDS, self._options.id_field)
        title = field_of(names, TITLE_FIELDS, self._options.title_field)
        others = [name for name in names if name not in (text, id, title)]
        return _Shape(
            text,
            id,
            title,
            format_fields(names),
            tuple((name, without_half_characters(str(name))) for name in others),
        )


def _label(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or _is_huge(value):
        return ""
    return without_half_characters(str(value)).strip()


def _metadata(
    record: Mapping[str, object], names: tuple[tuple[str, str], ...]
) -> dict[str, object]:
    """Every JSON value; those of a nested `metadata` stand beside the others."""
    flat: dict[str, object] = {}
    for name, written in names:
        value = record[name]
        if (isinstance(value, _SIMPLE) and not _is_huge(value)) or _is_json(value):
            flat[written] = value
    nested = flat.get("metadata")
    if isinstance(nested, Mapping):
        del flat["metadata"]
        taken = {name: value for name, value in nested.items() if name in flat}
        flat = {without_half_characters(str(name)): value for name, value in nested.items()} | flat
        if taken:  # names the record itself has: nothing is lost
            flat["metadata"] = taken
    return flat


def _is_huge(value: object) -> bool:
    return isinstance(value, int) and not -HUGE < value < HUGE


def _is_json(value: object) -> bool:
    """Whether JSON can hold it: NaN and infinities it cannot, and numbers of thousands of digits nobody reads."""
    pending = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                return False
        elif isinstance(item, list | dict):
            if depth == _DEEPEST:
                return False
            inside = item.values() if isinstance(item, dict) else item
            pending.extend((each, depth + 1) for each in inside)
        elif not isinstance(item, _SIMPLE) or _is_huge(item):
            return False
    return True
