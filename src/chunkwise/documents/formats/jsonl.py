"""JSON Lines: one record a line, read line by line."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.fields import has_text
from chunkwise.documents.formats.corpus import PROBLEMS_NAMED, Corpus, CorpusEntry
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source, os_reason
from chunkwise.records.encoding import decode, extends_ascii, marked_encoding
from chunkwise.records.json import parse_json
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
        entries = corpus.checked(_entries(source, options), texts=True)
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


def _entries(source: Source, options: LoadOptions) -> Iterator[CorpusEntry]:
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
