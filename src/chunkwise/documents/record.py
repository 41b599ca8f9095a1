"""One record of a corpus as a document: which fields hold its text, id and title."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from chunkwise.core import Document
from chunkwise.documents.code import language_of
from chunkwise.documents.loader import suffix_of
from chunkwise.documents.markdown import MarkdownLoader, looks_like_markdown
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.source import Source
from chunkwise.documents.text import TextLoader
from chunkwise.errors import UnreadableDocument

TEXT_FIELDS = (
    "text", "content", "contents", "body", "page_content", "passage", "passage_text", "document",
    "document_text", "doc_text", "full_text", "raw_text", "article", "chunk", "markdown",
)  # fmt: skip
ID_FIELDS = (
    "doc_id", "_id", "id", "docid", "document_id", "docno", "passage_id", "pid", "uid", "uuid",
    "key",
)  # fmt: skip
TITLE_FIELDS = ("title", "headline", "subject", "name")
PLACE_FIELDS = ("source", "path", "file_path", "filepath", "file", "filename", "file_name", "url")


def field_of(names: Iterable[str], usual: tuple[str, ...], chosen: str | None) -> str | None:
    """The record's own spelling of the first usual name it has, or the user's choice."""
    if chosen is not None:
        return chosen if chosen in names else None
    spelled = {name.strip().lower(): name for name in reversed(list(names))}
    return next((spelled[name] for name in usual if name in spelled), None)


def has_text(record: object, options: LoadOptions) -> bool:
    """Whether this is a record of a corpus at all."""
    if not isinstance(record, Mapping):
        return False
    name = field_of(record, TEXT_FIELDS, options.text_field)
    return name is not None and isinstance(record[name], str)


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
        text_field = field_of(record, TEXT_FIELDS, options.text_field)
        if text_field is None or not isinstance(record[text_field], str):
            raise UnreadableDocument(self._at(where), no_text(record, options))
        id_field = field_of(record, ID_FIELDS, options.id_field)
        title_field = field_of(record, TITLE_FIELDS, options.title_field)
        doc_id = _label(record.get(id_field or "")) or id or f"{self._source.id}#{number}"
        if doc_id in self._first:
            why = f"duplicate id {doc_id!r} (first at {self._first[doc_id]})"
            raise UnreadableDocument(self._at(where), why)
        self._first[doc_id] = where
        text = _encodable(str(record[text_field]))
        format, language = _format(text, record, doc_id)
        used = {text_field, id_field, title_field}
        return Document(
            doc_id,
            text,
            title=_label(record.get(title_field or "")),
            source=self._source.origin,
            format=format,
            language=language,
            metadata=_metadata({k: v for k, v in record.items() if k not in used}),
        )

    def _at(self, where: str) -> str:
        line = where.removeprefix("line ")
        return (
            f"{self._source.origin}:{line}" if line != where else f"{self._source.origin} {where}"
        )


def no_text(record: Mapping[str, object], options: LoadOptions) -> str:
    """Why a record is no document, and what to do."""
    if options.text_field is not None:
        return f"no text in its field {options.text_field!r}"
    fields = ", ".join(repr(name) for name in list(record)[:8]) or "nothing"
    return f"no text field among {fields}; name it with --text-field"


def _encodable(text: str) -> str:
    """JSON can spell half of a surrogate pair, which is no character: U+FFFD, as decoders do."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def _label(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return _encodable(str(value)).strip()


def _format(text: str, record: Mapping[str, object], doc_id: str) -> tuple[str, str]:
    """The format a record's own path declares; else what its text evidently is."""
    places = [record.get(field_of(record, (name,), None) or "") for name in PLACE_FIELDS]
    for place in [*places, doc_id]:
        name = _file_name(place) if isinstance(place, str) else ""
        if suffix_of(name) in MarkdownLoader.suffixes:
            return "markdown", ""
        if suffix_of(name) and (language := language_of(name)):
            return "code", language
        if suffix_of(name) in TextLoader.suffixes:
            return "text", ""
    return ("markdown" if looks_like_markdown(text) else "text"), ""


def _file_name(place: str) -> str:
    """Last part of a path; the host of an address is none."""
    _, is_address, rest = place.partition("://")
    if is_address:
        place = rest.partition("/")[2]
    return place.partition("?")[0].partition("#")[0].rpartition("/")[2]


def _metadata(fields: Mapping[str, object]) -> dict[str, object]:
    """Plain values, and those of a nested `metadata`; what JSON cannot hold is left out."""
    nested = fields.get("metadata")
    flat = {**(nested if isinstance(nested, Mapping) else {}), **fields}
    return {_encodable(str(name)): value for name, value in flat.items() if _is_plain(value)}


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list):
        return all(_is_plain(item) and not isinstance(item, list) for item in value)
    return value is None or isinstance(value, str | int | bool)
