"""CSV and TSV: a document a row where a column holds texts, else one table kept verbatim."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Block, Document
from chunkwise.documents.formats.records_as_documents import Corpus, CorpusEntry
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of, text_in
from chunkwise.documents.source import HEAD, Source
from chunkwise.records.fields import QUESTIONS, TEXT_FIELDS, are_questions, field_of
from chunkwise.records.read import Record, column_names, csv_records, delimiter_of, named_rows

_NAME = re.compile(r"\w[\w-]*(?: [\w-]+){0,3}")
_FEWEST_ROWS = 2
_MARK = "\ufeff"


class CsvLoader:
    """By suffix; by content where the name says nothing and the content leaves no doubt."""

    suffixes: tuple[str, ...] = (".csv", ".tsv", ".tab")
    stream = True
    guarded = False

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        return suffix in self.suffixes or (suffix in ("", ".txt") and looks_like_csv(head))

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options)
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
) -> Iterator[CorpusEntry]:
    empty = True
    for row in named_rows(names, rows, open_quotes):
        empty = False
        yield CorpusEntry(row.where, row.problem or row.value)  # type: ignore[arg-type]
    if empty:
        raise UnreadableDocument(origin, "no records")


def looks_like_csv(head: bytes) -> bool:
    """A header that names a text, and rows that have as many fields as it; prose with commas has not."""
    line, newline, _ = head.removeprefix(codecs.BOM_UTF8).partition(b"\n")
    header = line.decode("utf-8", "replace")
    delimiter = max(",;\t|", key=header.count)
    # A bar parts the columns of tables in Markdown, too.
    if not newline or delimiter == "|" or not _names_a_text(header, delimiter):
        return False
    try:
        text = io.StringIO(head.decode("utf-8", "ignore"), newline="")
        rows = [row for row in csv.reader(text, delimiter=delimiter) if row]
    except csv.Error:
        return False
    if len(head) >= HEAD:
        rows.pop()  # it goes on behind what is seen
    return len(rows) > _FEWEST_ROWS and all(len(row) == len(rows[0]) for row in rows)


def _names_a_text(header: str, delimiter: str) -> bool:
    names = [name.strip().strip('"').strip() for name in header.split(delimiter)]
    if len(names) < 2 or len({name.lower() for name in names}) < len(names):
        return False
    return all(map(_NAME.fullmatch, names)) and field_of(names, TEXT_FIELDS, None) is not None
