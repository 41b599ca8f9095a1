"""The format of a record: what it says itself, else its path, else what its text evidently is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chunkwise.documents.code import language_named, language_of
from chunkwise.documents.loader import suffix_of
from chunkwise.documents.markdown import MarkdownLoader, looks_like_markdown
from chunkwise.documents.text import TextLoader
from chunkwise.records.fields import field_of

_PLACES = ("source", "path", "file_path", "filepath", "file", "filename", "file_name", "url")
_FORMATS = ("text", "markdown", "code")
_LANGUAGES = ("language", "lang", "programming_language")


class FormatFields(NamedTuple):
    """Which fields of a record tell its format, by the record's own names."""

    format: str | None
    language: str | None
    places: tuple[str, ...]


def format_fields(names: list[str]) -> FormatFields:
    """Those of the usual names that the record has."""
    places = (field_of(names, (name,), None) for name in _PLACES)
    return FormatFields(
        field_of(names, ("format",), None),
        field_of(names, _LANGUAGES, None),
        tuple(name for name in places if name is not None),
    )


def record_format(
    text: str, record: Mapping[str, object], fields: FormatFields, doc_id: str, title: str
) -> tuple[str, str]:
    """The format, and of source code the programming language where it is known."""
    places = [place for name in fields.places if isinstance(place := record[name], str)]
    places.append(doc_id)
    said = record[fields.format] if fields.format is not None else None
    if said in _FORMATS:
        format = str(said)
        return format, (
            _language(text, record, fields, [*places, title]) if format == "code" else ""
        )
    for place in places:
        if "." not in place:
            continue
        name = _file_name(place)
        suffix = suffix_of(name)
        if not suffix:
            continue
        if suffix in MarkdownLoader.suffixes:
            return "markdown", ""
        # An address may end in `.php` whatever the page says.
        if (language := language_of(name)) and "://" not in place:
            return "code", language
        if suffix in TextLoader.suffixes:
            return "text", ""
    # Imported here: its patterns take longer to compile than most files to read.
    from chunkwise.documents.looks_like_code import looks_like_code

    if looks_like_code(text):
        return "code", _language(text, record, fields, [*places, title])
    return ("markdown" if looks_like_markdown(text) else "text"), ""


def _language(
    text: str, record: Mapping[str, object], fields: FormatFields, places: list[str]
) -> str:
    """Of source code: by a suffix, the record's own field, or the first line."""
    for place in places:
        if "." in place and (language := language_of(_file_name(place))):
            return language
    said = record[fields.language] if fields.language is not None else None
    if isinstance(said, str) and (language := language_named(said)):
        return language
    return language_of("", text[:256].encode())


def _file_name(place: str) -> str:
    """Last part of a path; the host of an address is none."""
    _, is_address, rest = place.partition("://")
    if is_address:
        place = rest.partition("/")[2]
    return place.partition("?")[0].partition("#")[0].rpartition("/")[2]
