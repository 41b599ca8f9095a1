"""CSV and TSV: a document a row where a column holds texts, else one table kept verbatim."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Block, Document
from chunkwise.documents.corpus import Corpus, Entry
from chunkwise.documents.fields import QUESTIONS, TEXT_FIELDS, are_questions
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.looks_like_csv import looks_like_csv
from chunkwise.documents.source import Source
from chunkwise.records.encoding import decode
from chunkwise.records.fields import field_of
from chunkwise.records.read import Record, column_names, csv_records, delimiter_of, named_rows

_MARK = "\ufeff"


class CsvLoader:
    """By suffix; by content where the name says nothing and the content leaves no doubt."""

    suffixes: tuple[str, ...] = (".csv", ".tsv", ".tab")
    stream = True

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        return suffix in self.suffixes or (suffix in ("", ".txt") and looks_like_csv(head))

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = decode(source.read(options.max_bytes), source.origin, options.encoding)
        open_quotes: list[int] = []
        records = csv_records(text, delimiter_of(text, source.name), open_quotes)
        try:
            header = next(records, (0, 0, 0, []))
            names = column_names(header[3])
            corpus = Corpus(source, options)
            corpus.check(names, what="column")
            if field_of(names, TEXT_FIELDS, options.text_field) is not None:
                yield from corpus.documents(
                    _entries(source.origin, names, records, open_quotes), on_unreadable
                )
            elif are_questions([dict.fromkeys(names, "")]):
                raise UnreadableDocument(source.origin, QUESTIONS)
            else:
                yield _table(source, text, header, records)
        except csv.Error as error:
            raise UnreadableDocument(source.origin, f"not valid CSV: {error}") from error


def _table(source: Source, text: str, header: Record, rows: Iterator[Record]) -> Document:
    blocks = [Block("row", start, end, 0, 1) for start, end, _, _ in rows]
    if header[3]:
        # A byte order mark belongs to the header: left over, it would be a chunk of its own.
        blocks.insert(0, Block("header", 0 if text[0] == _MARK else header[0], header[1], 0, 1))
    return Document(source.id, text, source=source.origin, format="table", blocks=tuple(blocks))


def _entries(
    origin: str, names: list[str], rows: Iterator[Record], open_quotes: list[int]
) -> Iterator[Entry]:
    empty = True
    for row in named_rows(names, rows, open_quotes):
        empty = False
        yield Entry(row.where, row.problem or row.value)  # type: ignore[arg-type]
    if empty:
        raise UnreadableDocument(origin, "no records")
