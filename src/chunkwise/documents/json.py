"""JSON: a corpus in one of its usual shapes, or else plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from chunkwise.core import Document
from chunkwise.documents.encoding import decode
from chunkwise.documents.loader import OnSkip, suffix_of
from chunkwise.documents.options import LoadOptions
from chunkwise.documents.record import Records, has_text
from chunkwise.documents.source import Source
from chunkwise.errors import UnreadableDocument

Entry = tuple[str | None, object]
"""A record, and the key it stood under if that is its id."""


class JsonLoader:
    """A list of records, a dict with one such list, or a mapping from id to text or record."""

    suffixes: tuple[str, ...] = (".json",)

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        return suffix in self.suffixes or (not suffix and head.lstrip().startswith((b"{", b"[")))

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        text = decode(source.read(options.max_bytes), source.origin, options.encoding)
        try:
            entries = corpus_entries(json.loads(text.removeprefix("\ufeff")), options)
        except (ValueError, RecursionError) as error:
            if suffix_of(source.name) in self.suffixes:
                why = f"not valid JSON ({_short(error)}); pass --loader text to read it as text"
                raise UnreadableDocument(source.origin, why) from error
            entries = None
        if entries is None:
            yield Document(source.id, text, source=source.origin)
            return
        records = Records(source, options)
        for number, (key, record) in enumerate(entries, 1):
            try:
                if isinstance(record, str):
                    record = {options.text_field or "text": record}
                if not isinstance(record, Mapping):
                    where = f"{source.origin} record {number}"
                    raise UnreadableDocument(where, "neither a text nor an object")
                document = records.document(record, number, f"record {number}", key)
            except UnreadableDocument as error:
                on_skip(error)
            else:
                yield document


def corpus_entries(value: object, options: LoadOptions) -> list[Entry] | None:
    """The records of a corpus, or None when this is some other JSON."""
    if isinstance(value, list):
        return _from_list(value, options)
    if not isinstance(value, dict) or not value:
        return None
    if has_text(value, options):
        return [(None, value)]
    lists = [found for item in value.values() if (found := _from_list(item, options))]
    if len(lists) == 1:
        return lists[0]
    values = list(value.values())
    if all(has_text(item, options) for item in values):
        return list(value.items())
    # Settings are mappings of strings too: texts are told by the spaces in them.
    texts = [item for item in values if isinstance(item, str)]
    if len(texts) == len(values) and sum(" " in text.strip() for text in texts) * 2 > len(texts):
        return list(value.items())
    return None


def _from_list(value: object, options: LoadOptions) -> list[Entry] | None:
    if not isinstance(value, list) or not value:
        return None
    if any(has_text(item, options) for item in value):
        return [(None, item) for item in value]
    if all(isinstance(item, str) for item in value) and any(" " in item for item in value):
        return [(None, item) for item in value]
    return None


def _short(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno} column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
