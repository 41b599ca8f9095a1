"""JSON Lines: one record a line, read line by line."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from typing import BinaryIO

from chunkwise.core import Document
from chunkwise.documents.encoding import decode, marked_encoding
from chunkwise.documents.loader import OnSkip, suffix_of
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.record import Records, has_text, no_text
from chunkwise.documents.source import Source, os_reason
from chunkwise.errors import UnreadableDocument


class JsonLinesLoader:
    """Memory is bounded by the longest line; a bad line is skipped by its number."""

    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")
    stream = True

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        if suffix in self.suffixes:
            return True
        return suffix in ("", ".json") and _is_lines(head)

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        records = Records(source, options)
        number = 0
        is_corpus = options.text_field is not None
        for line_number, line in _lines(source, options):
            where = f"{source.origin}:{line_number}"
            if isinstance(line, UnreadableDocument):
                on_skip(UnreadableDocument(where, line.reason))
                continue
            if not line.strip():
                continue
            number += 1
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise UnreadableDocument(where, "not a JSON object")
                if not is_corpus and not has_text(record, options):
                    raise _NoCorpus(source.origin, no_text(record, options))
                is_corpus = True
                document = records.document(record, number, f"line {line_number}")
            except _NoCorpus:
                raise  # one line for the file, not one for each of its lines
            except UnreadableDocument as error:
                on_skip(error)
            except (ValueError, RecursionError) as error:
                on_skip(UnreadableDocument(where, f"not valid JSON: {_short(error)}"))
            else:
                yield document
        if not number:
            raise UnreadableDocument(source.origin, "no records")


class _NoCorpus(UnreadableDocument):
    """The first record has no text field."""


def _short(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _is_lines(head: bytes) -> bool:
    first, newline, rest = head.removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")
    if not newline or not rest.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _lines(source: Source, options: LoadOptions) -> Iterator[tuple[int, str | UnreadableDocument]]:
    """Numbered lines; one that is not text, or is too long, is an error in its place."""
    with source.open() as handle:
        encoding = options.encoding or marked_encoding(source.head(4))
        if encoding is not None:
            handle = _as_utf8(source, encoding, options.max_bytes)
        limit = options.max_bytes
        number = 0
        while True:
            try:
                data = handle.readline(limit + 1)
                number += 1
                if not data:
                    return
                if len(data) > limit:
                    yield number, UnreadableDocument(source.origin, f"longer than {limit:,} bytes")
                    while data and not data.endswith(b"\n"):
                        data = handle.readline(limit)
                    continue
            except OSError as error:
                raise UnreadableDocument(source.origin, os_reason(error)) from error
            try:
                yield number, data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
            except UnicodeDecodeError as error:
                why = f"not valid UTF-8 at byte {error.start} of the line; pass --encoding"
                yield number, UnreadableDocument(source.origin, why)


def _as_utf8(source: Source, encoding: str, limit: int) -> BinaryIO:
    """Other encodings are rare enough to be decoded whole."""
    text = decode(source.read(limit), source.origin, encoding)
    return io.BytesIO(text.encode("utf-8"))
