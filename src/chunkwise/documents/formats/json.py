"""JSON and JSON Lines: a corpus in one of its usual shapes, one record a line, or else plain text."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.fields import QUESTIONS, are_questions, has_text
from chunkwise.documents.formats.corpus import PROBLEMS_NAMED, Corpus, CorpusEntry, NoText
from chunkwise.documents.formats.squad import squad_articles, squad_documents
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source, os_reason
from chunkwise.documents.walk import is_results
from chunkwise.records.encoding import decode, extends_ascii, marked_encoding
from chunkwise.records.json import json_problem, parse_json
from chunkwise.records.read import json_lines


class JsonLinesLoader:
    """Memory is bounded by the longest line; a bad line is skipped by its number."""

    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")
    stream = True
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        if suffix in self.suffixes:
            return True
        if suffix == ".txt":  # a log may have a record a line, and is no corpus
            return is_lines(head, texts=True)
        return suffix in ("", ".json") and is_lines(head)

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        corpus = Corpus(source, options)
        entries = corpus.checked(_line_entries(source, options), texts=True)
        yield from corpus.documents(entries, on_unreadable)


def is_lines(head: bytes, *, texts: bool = False) -> bool:
    """Whether a file begins with an object a line; with `texts`, one that holds a text."""
    first, newline, rest = head.removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")
    if not newline or not rest.lstrip().startswith(b"{"):
        return False
    try:
        record = parse_json(first.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    return has_text(record, None) if texts else isinstance(record, dict)


def _line_entries(source: Source, options: LoadOptions) -> Iterator[CorpusEntry]:
    """Lines that are not empty, each a record or what is wrong with it."""

    def decoded(data: bytes) -> str:
        # Lines stand alone: one in another encoding is no reason to read the others in it.
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return decode(data, source.origin, options.encoding)

    empty = True
    try:
        with _opened(source, options) as handle:
            for row in json_lines(handle, decoded, options.max_bytes, PROBLEMS_NAMED):
                empty = False
                record = row.value if isinstance(row.value, dict) else row.problem
                yield CorpusEntry(row.where, record, times=row.times)
    except OSError as error:
        raise UnreadableDocument(source.origin, os_reason(error)) from error
    if empty:
        raise UnreadableDocument(source.origin, "no records")


def _opened(source: Source, options: LoadOptions) -> BinaryIO:
    """Encodings in which a line break is not one byte are rare enough to be decoded whole."""
    encoding = options.encoding
    if not marked_encoding(source.head(4)) and (encoding is None or extends_ascii(encoding)):
        return source.open()
    text = decode(source.read(options.max_bytes), source.origin, encoding)
    return io.BytesIO(text.encode("utf-8"))


Keyed = tuple[str | None, object]
"""A record, and the key it stood under if that is its id."""


class JsonLoader:
    """A list of records, a dict with one such list, or a mapping from id to text or record."""

    suffixes: tuple[str, ...] = (".json",)
    stream = False
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        return suffix in self.suffixes or (not suffix and head.lstrip().startswith((b"{", b"[")))

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        data = source.read(options.max_bytes)
        text = decode(data, source.origin, options.encoding)
        try:
            value = parse_json(text.removeprefix("\ufeff"))
            found = corpus_records(value, options.text_field)
        except (ValueError, RecursionError) as error:
            if is_lines(data):  # of which the first was too long to be told by
                yield from JsonLinesLoader().load(source, options, on_unreadable)
                return
            if suffix_of(source.name) in self.suffixes:
                why = (
                    f"not valid JSON ({json_problem(error)}); pass --loader text to read it as text"
                )
                raise UnreadableDocument(source.origin, why) from error
            found, value = None, text
        if value in (None, [], {}, ""):
            raise NoText(source.origin, "empty: no text in it")
        if is_results(value):
            raise UnreadableDocument(source.origin, "results written by chunkwise, not a document")
        articles = squad_articles(value) if found is None and options.text_field is None else None
        if articles is not None:
            yield from _articles(articles, source, on_unreadable)
            return
        # Bare texts have no fields, so none that the user named can be missing.
        bare = found is not None and all(isinstance(record, str) for _, record in found)
        if options.text_field is None and (bare or found is None) and _holds_questions(value):
            raise UnreadableDocument(source.origin, QUESTIONS)
        if found is None:
            yield Document(source.id, text, source=source.origin)
            return
        corpus = Corpus(source, options)
        entries = _entries(found, options.text_field or "text")
        yield from corpus.documents(entries if bare else corpus.checked(entries), on_unreadable)


def _articles(
    articles: list[object], source: Source, on_unreadable: OnUnreadable
) -> Iterator[Document]:
    """The texts of a SQuAD file, without what is asked about them."""
    for each in squad_documents(articles, source.origin):
        if isinstance(each, Document):
            yield each
        else:
            on_unreadable(UnreadableDocument(*each))


def _entries(found: list[Keyed], text_field: str) -> Iterator[CorpusEntry]:
    for number, (key, record) in enumerate(found, 1):
        where = f"record {number}"
        if isinstance(record, str):
            yield CorpusEntry(where, {text_field: record}, key)
        elif isinstance(record, Mapping):
            yield CorpusEntry(where, record, key)
        else:
            yield CorpusEntry(where, "neither a text nor an object")


def corpus_records(value: object, text_field: str | None) -> list[Keyed] | None:
    """The records of a corpus, or None when this is some other JSON."""
    found = _records(value, text_field)
    if found is not None or text_field is None:
        return found
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


def _holds_questions(value: object) -> bool:
    """A list of questions, or an object with one: a list, or questions by their ids."""
    if not isinstance(value, dict):
        return isinstance(value, list) and are_questions(value)
    lists = [item for item in value.values() if isinstance(item, list) and item]
    return any(map(are_questions, lists)) or are_questions(value.values()) or are_questions([value])
