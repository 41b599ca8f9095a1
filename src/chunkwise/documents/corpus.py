"""The records of one file as documents, and when a file of records is no corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.fields import QUESTIONS, TEXT_FIELDS, are_questions, is_chunk, no_text
from chunkwise.documents.loader import LoadOptions, OnUnreadable
from chunkwise.documents.record import DuplicateId, NoText, Records
from chunkwise.documents.source import Source
from chunkwise.records.fields import field_of, listed

_LOOKED_AT = 100
"""Records that may lack a field the user named before the file is said not to have it."""
_LINES_A_FILE = 20
_MANY: dict[type[UnreadableDocument], str] = {
    NoText: "without a text",
    DuplicateId: "with an id that was there before",
    UnreadableDocument: "that cannot be read",
}


class Entry(NamedTuple):
    """A record where it stands: `line 3`; what could not be read stands there as a string."""

    where: str
    record: Mapping[str, object] | str
    key: str | None = None
    """What it stood under, if that is its id."""


class Corpus:
    """One file of records; a bad record is a line, a file of another kind is raised."""

    def __init__(self, source: Source, options: LoadOptions) -> None:
        self._source = source
        self._options = options

    def documents(
        self, entries: Iterable[Entry], on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        """A document for each good record; of each kind of bad ones the first are named, the rest counted."""
        records = Records(self._source, self._options)
        problems = dict.fromkeys(_MANY, 0)
        for number, (where, record, key) in enumerate(entries, 1):
            try:
                if isinstance(record, str):
                    raise UnreadableDocument(records.place(where), record)
                document = records.document(record, number, where, key)
            except UnreadableDocument as error:
                problems[type(error)] += 1
                if problems[type(error)] <= _LINES_A_FILE:
                    on_unreadable(error)
            else:
                yield document
        for kind, count in problems.items():
            if count > _LINES_A_FILE:
                why = f"... and {count - _LINES_A_FILE} more records {_MANY[kind]}"
                on_unreadable(UnreadableDocument(self._source.origin, why))

    def checked(self, entries: Iterator[Entry], *, texts: bool = False) -> Iterator[Entry]:
        """The same entries; with `texts`, the first of them must have a usual text field."""
        seen: list[Entry] = []
        first: Mapping[str, object] | None = None
        missing = {name for name in self._named() if name is not None}
        for entry in entries:
            seen.append(entry)
            if not isinstance(entry.record, str):
                first = entry.record if first is None else first
                missing.difference_update(entry.record)
            if (first is not None and not missing) or len(seen) == _LOOKED_AT:
                break
        if first is not None:
            self.check(first, missing)
            if texts and self._options.text_field is None and _has_no_text_field(first):
                # One line for the file, not one for each of its lines.
                records = [entry.record for entry in seen if not isinstance(entry.record, str)]
                why = QUESTIONS if are_questions(records) else no_text(first, None)
                raise UnreadableDocument(self._source.origin, why)
        return chain(seen, entries)

    def check(
        self, names: Iterable[str], missing: set[str] | None = None, *, what: str = "field"
    ) -> None:
        """Refuse a file of chunks, and one without the fields the user named."""
        names = list(names)
        if is_chunk(names):
            why = "a chunk file written by chunkwise, not a corpus"
            raise UnreadableDocument(self._source.origin, why)
        for name in self._named():
            if name is not None and name in (missing if missing is not None else {name} - {*names}):
                why = f"no {what} {name!r}; its {what}s are {listed(names)}"
                raise UnreadableDocument(self._source.origin, why)

    def _named(self) -> tuple[str | None, ...]:
        return self._options.text_field, self._options.id_field, self._options.title_field


def _has_no_text_field(record: Mapping[str, object]) -> bool:
    return field_of(record, TEXT_FIELDS, None) is None
