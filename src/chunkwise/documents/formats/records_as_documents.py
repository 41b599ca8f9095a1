"""Records of a file as documents: text, id, title, format and metadata of each, and what is told of bad ones; JSON in
the usual shapes of a corpus (a list, `{"id": "text"}`); and when a file of records is no corpus."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.wording import counted, plural
from chunkwise.core import AS_WRITTEN, Document
from chunkwise.documents.formats.code import language_named, language_of
from chunkwise.documents.formats.markdown import (
    MarkdownLoader,
    front_matter,
    looks_like_markdown,
    markdown_title,
)
from chunkwise.documents.formats.text import AsciidocLoader, OrgLoader, RstLoader, TextLoader
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of, with_blank_head
from chunkwise.documents.source import Source
from chunkwise.records.fields import (
    ID_FIELDS,
    QUESTIONS,
    TEXT_FIELDS,
    TITLE_FIELDS,
    are_questions,
    field_of,
    has_text,
    is_blank,
    is_chunk,
    listed,
    no_text,
    spellings,
    text_field_of,
)
from chunkwise.records.json import without_half_characters

_LOOKED_AT = 100
"""Records that may lack a field the user named before the file is said not to have it."""
PROBLEMS_NAMED = 20
"""Bad records of a file that are told one by one; of more their number."""
_DEEPEST = 64  # what is read must be written again, by a writer that may stand deeper in the stack
_SIMPLE = (str, int, type(None))  # bool is an int
_PLACES = ("source", "path", "file_path", "filepath", "file", "filename", "file_name", "url")
_FORMATS = AS_WRITTEN
_MARKUPS = {
    suffix: loader.format
    for loader in (RstLoader, AsciidocLoader, OrgLoader)
    for suffix in loader.suffixes
}
_LANGUAGES = ("language", "lang", "programming_language")


class NoText(UnreadableDocument):
    """A record or a file that was read and has no text; a file may have many such records, see `Corpus`."""


class DuplicateId(UnreadableDocument):
    """A record whose id another one has; a file may have many, too."""


_MANY: dict[type[UnreadableDocument], str] = {
    NoText: "without a text",
    DuplicateId: "with a duplicate id",
    UnreadableDocument: "that are unreadable",
}


class CorpusEntry(NamedTuple):
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
        self, entries: Iterable[CorpusEntry], on_unreadable: OnUnreadable
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
                if problems[type(error)] <= PROBLEMS_NAMED:
                    on_unreadable(error)
            else:
                yield document
        for kind, count in problems.items():
            if count > PROBLEMS_NAMED:
                why = f"... and {counted(count - PROBLEMS_NAMED, 'more record')} {_MANY[kind]}"
                on_unreadable(UnreadableDocument(self._source.origin, why))

    def checked(
        self, entries: Iterator[CorpusEntry], *, texts: bool = False
    ) -> Iterator[CorpusEntry]:
        """The same entries; with `texts`, the first of them must have a usual text field."""
        seen: list[CorpusEntry] = []
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
                why = f"no {what} {name!r}; its {plural(2, what)} are {listed(names)}"
                raise UnreadableDocument(self._source.origin, why)

    def _named(self) -> tuple[str | None, ...]:
        return self._options.text_field, self._options.id_field, self._options.title_field


def _has_no_text_field(record: Mapping[str, object]) -> bool:
    return field_of(record, TEXT_FIELDS, None) is None


class Records:
    """Turns the records of one source into documents; ids are unique within it."""

    def __init__(self, source: Source, options: LoadOptions) -> None:
        self._source = source
        self._options = options
        self._first: dict[str, str] = {}

    def document(
        self, record: Mapping[str, object], number: int, where: str, id: str | None = None
    ) -> Document:
        """The document of one record; `where` is what messages call it: `line 3`."""
        options = self._options
        text_field = text_field_of(record, options.text_field)
        text = record[text_field] if text_field is not None else None
        if not isinstance(text, str):
            raise NoText(self.place(where), no_text(record, options.text_field))
        if is_blank(text):
            raise NoText(self.place(where), f"its {text_field!r} is empty")
        id_field = field_of(record, ID_FIELDS, options.id_field)
        title_field = field_of(record, TITLE_FIELDS, options.title_field)
        doc_id = _label(record[id_field]) if id_field is not None else ""
        doc_id = doc_id or id or f"{self._source.id}#{number}"
        if doc_id in self._first:
            why = f"duplicate id {doc_id!r} (first at {self._first[doc_id]})"
            raise DuplicateId(self.place(where), why)
        self._first[doc_id] = where
        text = without_half_characters(text)
        title = _label(record[title_field]) if title_field is not None else ""
        format, language = _format_of(text, record, doc_id, title)
        metadata = _metadata(record, (text_field, id_field, title_field))
        if format == "markdown" and (given := front_matter(text)) is not None:
            title = title or markdown_title(text, given)
            text = with_blank_head(text, given.end)
            metadata = {**given.fields, **metadata}
        return Document(
            doc_id,
            text,
            title=title,
            source=self._source.origin,
            format=format,
            language=language,
            metadata=metadata,
        )

    def place(self, where: str) -> str:
        """`corpus.jsonl:3` of line 3, `corpus.json record 3` of a record."""
        line = where.removeprefix("line ")
        return (
            f"{self._source.origin}:{line}" if line != where else f"{self._source.origin} {where}"
        )


def _label(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return without_half_characters(str(value)).strip()


def _metadata(record: Mapping[str, object], known: Collection[str | None]) -> dict[str, object]:
    """Every other JSON value; those of a nested `metadata` stand beside the others."""
    flat: dict[str, object] = {}
    for name, value in record.items():
        if name not in known and (isinstance(value, _SIMPLE) or _is_json(value)):
            flat[without_half_characters(str(name))] = value
    nested = flat.get("metadata")
    if isinstance(nested, Mapping):
        del flat["metadata"]
        taken = {name: value for name, value in nested.items() if name in flat}
        flat = {without_half_characters(str(name)): value for name, value in nested.items()} | flat
        if taken:  # names the record itself has: nothing is lost
            flat["metadata"] = taken
    return flat


def _is_json(value: object) -> bool:
    """Whether JSON can hold it: NaN and infinities it cannot."""
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
        elif not isinstance(item, _SIMPLE):
            return False
    return True


def _format_of(text: str, record: Mapping[str, object], doc_id: str, title: str) -> tuple[str, str]:
    """The format, and of source code the programming language where it is known."""
    told = {name: record[spelled] for name, spelled in spellings(tuple(record)).items()}
    places = [place for name in _PLACES if isinstance(place := told.get(name), str)]
    places.append(doc_id)
    said = told.get("format")
    if said in _FORMATS:
        format = str(said)
        return format, (_language(text, told, [*places, title]) if format == "code" else "")
    for place in places:
        if "." not in place:
            continue
        name = _file_name(place)
        suffix = suffix_of(name)
        if not suffix:
            continue
        if suffix in MarkdownLoader.suffixes:
            return "markdown", ""
        if suffix in _MARKUPS:
            return _MARKUPS[suffix], ""
        # An address may end in `.php` whatever the page says.
        if (language := language_of(name)) and "://" not in place:
            return "code", language
        if suffix in TextLoader.suffixes:
            return "text", ""
    # Imported here: its patterns take longer to compile than most files to read.
    from chunkwise.documents.formats.code import looks_like_code

    if looks_like_code(text):
        return "code", _language(text, told, [*places, title])
    return ("markdown" if looks_like_markdown(text) else "text"), ""


def _language(text: str, told: Mapping[str, object], places: list[str]) -> str:
    """Of source code: by a suffix, the record's own field, or the first line."""
    for place in places:
        if "." in place and (language := language_of(_file_name(place))):
            return language
    said = next((told[name] for name in _LANGUAGES if name in told), None)
    if isinstance(said, str) and (language := language_named(said)):
        return language
    return language_of("", text[:256].encode())


def _file_name(place: str) -> str:
    """Last part of a path; the host of an address is none."""
    _, is_address, rest = place.partition("://")
    if is_address:
        place = rest.partition("/")[2]
    return place.partition("?")[0].partition("#")[0].rpartition("/")[2]


Keyed = tuple[str | None, object]
"""A record, and the key it stood under if that is its id."""


def keyed_entries(found: list[Keyed], text_field: str) -> Iterator[CorpusEntry]:
    for number, (key, record) in enumerate(found, 1):
        where = f"record {number}"
        if isinstance(record, str):
            yield CorpusEntry(where, {text_field: record}, key)
        elif isinstance(record, Mapping):
            yield CorpusEntry(where, record, key)
        else:
            yield CorpusEntry(where, "neither text nor an object")


def corpus_records(value: object, text_field: str | None) -> list[Keyed] | None:
    """The records of a corpus, or None when this is some other JSON."""
    records = _records(value, text_field)
    if records is not None or text_field is None:
        return records
    # No record has a text in the field the user named, which the user should hear.
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [(None, item) for item in value]
    return _records(value, None)


def _records(value: object, text_field: str | None) -> list[Keyed] | None:
    if isinstance(value, list):
        return _from_list(value, text_field)
    if not isinstance(value, dict) or not value:
        return None
    if has_text(value, text_field):
        return [(None, value)]
    lists = [found for item in value.values() if (found := _from_list(item, text_field))]
    if len(lists) == 1:
        return lists[0]
    values = list(value.values())
    if all(has_text(item, text_field) for item in values):
        return list(value.items())
    # Settings are mappings of strings too: texts are told by the spaces in them.
    texts = [item for item in values if isinstance(item, str)]
    if len(texts) == len(values) and sum(" " in text.strip() for text in texts) * 2 > len(texts):
        return list(value.items())
    return None


def _from_list(value: object, text_field: str | None) -> list[Keyed] | None:
    if not isinstance(value, list) or not value:
        return None
    if any(has_text(item, text_field) for item in value):
        return [(None, item) for item in value]
    if all(isinstance(item, str) for item in value) and any(" " in item for item in value):
        return [(None, item) for item in value]
    return None


def holds_questions(value: object) -> bool:
    """A list of questions, or an object with one: a list, or questions by their ids."""
    if not isinstance(value, dict):
        return isinstance(value, list) and are_questions(value)
    lists = [item for item in value.values() if isinstance(item, list) and item]
    return any(map(are_questions, lists)) or are_questions(value.values()) or are_questions([value])
