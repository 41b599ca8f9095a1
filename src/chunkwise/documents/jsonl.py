"""JSON Lines: one record a line, read line by line."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from typing import BinaryIO

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.corpus import Corpus, Entry
from chunkwise.documents.encoding import decode, extends_ascii, marked_encoding
from chunkwise.documents.fields import has_text
from chunkwise.documents.json_problem import json_problem
from chunkwise.documents.loader import LoadOptions, OnSkip, suffix_of
from chunkwise.documents.source import Source, os_reason


class JsonLinesLoader:
    """Memory is bounded by the longest line; a bad line is skipped by its number."""

    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")
    stream = True

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        if suffix in self.suffixes:
            return True
        if suffix == ".txt":  # a log may have a record a line, and is no corpus
            return is_lines(head, texts=True)
        return suffix in ("", ".json") and is_lines(head)

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        corpus = Corpus(source, options)
        entries = corpus.checked(_entries(source, options), texts=True)
        yield from corpus.documents(entries, on_skip)


def is_lines(head: bytes, *, texts: bool = False) -> bool:
    """Whether a file begins with an object a line; with `texts`, one that holds a text."""
    first, newline, rest = head.removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")
    if not newline or not rest.lstrip().startswith(b"{"):
        return False
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return has_text(record, None) if texts else isinstance(record, dict)


def _entries(source: Source, options: LoadOptions) -> Iterator[Entry]:
    """Lines that are not empty, each a record or what is wrong with it."""
    empty = True
    for number, line in _lines(source, options):
        where = f"line {number}"
        if isinstance(line, UnreadableDocument):
            empty = False
            yield Entry(where, line.reason)
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if not line or line.isspace():
                continue
            record = f"not valid JSON: {json_problem(error, line=False)}"
        else:
            if not isinstance(record, dict):
                record = "not a JSON object"
        empty = False
        yield Entry(where, record)
    if empty:
        raise UnreadableDocument(source.origin, "no records")


def _lines(source: Source, options: LoadOptions) -> Iterator[tuple[int, str | UnreadableDocument]]:
    """Numbered lines; one that is not text, or is too long, is an error in its place."""
    encoding, limit = options.encoding, options.max_bytes
    with source.open() as handle:
        if marked_encoding(source.head(4)) or (encoding and not extends_ascii(encoding)):
            handle = _as_utf8(source, options)
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
            data = data.removeprefix(codecs.BOM_UTF8)  # joined files have one in the middle
            yield number, _decoded(data, source.origin, encoding)


def _decoded(data: bytes, origin: str, encoding: str | None) -> str | UnreadableDocument:
    """Lines stand alone: one in another encoding is no reason to read the others in it."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return decode(data, origin, encoding)
        except UnreadableDocument as error:
            return error


def _as_utf8(source: Source, options: LoadOptions) -> BinaryIO:
    """Encodings in which a line break is not one byte are rare enough to be decoded whole."""
    text = decode(source.read(options.max_bytes), source.origin, options.encoding)
    return io.BytesIO(text.encode("utf-8"))
