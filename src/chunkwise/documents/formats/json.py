"""JSON and JSON Lines: a corpus, one record a line (its shapes: `records_as_documents`), or else plain text."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.own_files import is_findings
from chunkwise.core import Document
from chunkwise.documents.formats.records_as_documents import (
    Corpus,
    CorpusEntry,
    NoText,
    corpus_records,
    holds_questions,
    keyed_entries,
)
from chunkwise.documents.formats.squad import squad_articles, squad_documents
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source, os_reason
from chunkwise.documents.walk import OWN_PAGE, is_page
from chunkwise.records.encoding import decode, extends_ascii, marked_encoding
from chunkwise.records.fields import QUESTIONS, has_text
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
            for row in json_lines(handle, decoded, options.max_bytes):
                empty = False
                why = row.problem or "not a JSON object"
                yield CorpusEntry(row.where, row.value if isinstance(row.value, dict) else why)
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
            result = corpus_records(value, options.text_field)
        except (ValueError, RecursionError) as error:
            if is_lines(data):  # of which the first was too long to be told by
                yield from JsonLinesLoader().load(source, options, on_unreadable)
                return
            if suffix_of(source.name) in self.suffixes:
                why = (
                    f"not valid JSON ({json_problem(error)}); pass --loader text to read it as text"
                )
                raise UnreadableDocument(source.origin, why) from error
            result, value = None, text
        if value in (None, [], {}, ""):
            raise NoText(source.origin, "empty")
        if is_findings(value):
            raise UnreadableDocument(source.origin, "a chunkwise results file, not a document")
        if is_page(value):
            raise UnreadableDocument(source.origin, OWN_PAGE)
        articles = squad_articles(value) if result is None and options.text_field is None else None
        if articles is not None:
            yield from _articles(articles, source, on_unreadable)
            return
        # Bare texts have no fields, so none that the user named can be missing.
        bare = result is not None and all(isinstance(record, str) for _, record in result)
        if options.text_field is None and (bare or result is None) and holds_questions(value):
            raise UnreadableDocument(source.origin, QUESTIONS)
        if result is None:
            yield Document(source.id, text, source=source.origin)
            return
        corpus = Corpus(source, options)
        entries = keyed_entries(result, options.text_field or "text")
        yield from corpus.documents(entries if bare else corpus.checked(entries), on_unreadable)


def _articles(
    articles: list[object], source: Source, on_unreadable: OnUnreadable
) -> Iterator[Document]:
    """The texts of a SQuAD file, without what is asked about them."""
    for document in squad_documents(articles, source.origin):
        if isinstance(document, Document):
            yield document
        else:
            on_unreadable(UnreadableDocument(*document))
