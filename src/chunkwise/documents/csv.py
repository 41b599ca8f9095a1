"""CSV and TSV: a document a row where a column holds texts, else one table kept verbatim."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Block, Document
from chunkwise.documents.corpus import Corpus, Entry
from chunkwise.documents.encoding import decode
from chunkwise.documents.fields import QUESTIONS, TEXT_FIELDS, are_questions, field_of
from chunkwise.documents.ids import Ids
from chunkwise.documents.loader import LoadOptions, OnSkip, suffix_of
from chunkwise.documents.looks_like_csv import looks_like_csv
from chunkwise.documents.source import Source

Record = tuple[int, int, int, list[str]]
"""Start and end in the text (its line break left out), number of its first line, cells."""

_FIELD_LIMIT = 1 << 30  # the library's own is 131,072 characters, less than a long document
_DELIMITERS = ",;\t|"
_MARK = "\ufeff"
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_QUOTE_IT = "a field that holds the sign between fields needs quotes"
_OPEN_QUOTE = (
    "a quote opens here and is never closed, so the rest of the file is one field; close it, or, if it belongs to the "
    "text, write it twice inside quotes"
)


class CsvLoader:
    """By suffix; by content where the name says nothing and the content leaves no doubt."""

    suffixes: tuple[str, ...] = (".csv", ".tsv", ".tab")
    stream = True

    def accepts(self, name: str, head: bytes) -> bool:
        suffix = suffix_of(name)
        return suffix in self.suffixes or (suffix in ("", ".txt") and looks_like_csv(head))

    def load(self, source: Source, options: LoadOptions, on_skip: OnSkip) -> Iterator[Document]:
        text = decode(source.read(options.max_bytes), source.origin, options.encoding)
        tabs = suffix_of(source.name) in (".tsv", ".tab")
        delimiter = "\t" if tabs else delimiter_of(text)
        open_quotes: list[int] = []
        records = read_records(text, delimiter, open_quotes)
        try:
            header = next(records, (0, 0, 0, []))
            ids = Ids()  # of two columns with one name, neither may vanish
            names = [ids.distinct(name.strip(), "") for name in header[3]]
            corpus = Corpus(source, options)
            corpus.check(names, what="column")
            if field_of(names, TEXT_FIELDS, options.text_field) is not None:
                yield from corpus.documents(
                    _entries(source.origin, names, records, open_quotes), on_skip
                )
            elif are_questions([dict.fromkeys(names, "")]):
                raise UnreadableDocument(source.origin, QUESTIONS)
            else:
                yield _table(source, text, header, records)
        except csv.Error as error:
            raise UnreadableDocument(source.origin, f"not valid CSV: {error}") from error


def read_records(
    text: str, delimiter: str, open_quotes: list[int] | None = None
) -> Iterator[Record]:
    """Records by the rules of CSV: a line break in quotes is part of its record.

    The line of a quote that is never closed is put into `open_quotes` before its record, the last one, is yielded.
    """
    csv.field_size_limit(max(csv.field_size_limit(), _FIELD_LIMIT))
    start = 1 if text.startswith(_MARK) else 0
    ends: list[int] = []
    read_out = False

    def lines() -> Iterator[str]:
        nonlocal read_out
        end = start
        for line in io.StringIO(text[start:], newline=""):
            end += len(line)
            ends.append(end)
            yield line
        read_out = True

    reader = csv.reader(lines(), delimiter=delimiter)
    first = 0
    for cells in reader:
        end = ends[reader.line_num - 1]
        if read_out and open_quotes is not None:  # the reader asked for more, in vain
            above = sum(len(_LINE_BREAK.findall(cell)) for cell in cells[:-1])
            open_quotes.append(first + 1 + above)
        if cells:
            yield start, start + len(text[start:end].rstrip("\r\n")), first + 1, cells
        start, first = end, reader.line_num


def delimiter_of(text: str) -> str:
    """The delimiter that is most frequent in the first line, outside quotes."""
    line = text[: text.find("\n") + 1] or text
    bare = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=bare.count)  # the comma when there is none


def _table(source: Source, text: str, header: Record, rows: Iterator[Record]) -> Document:
    blocks = [Block("row", start, end, 0, 1) for start, end, _, _ in rows]
    if header[3]:
        # A byte order mark belongs to the header: left over, it would be a chunk of its own.
        blocks.insert(0, Block("header", 0 if text[0] == _MARK else header[0], header[1], 0, 1))
    return Document(source.id, text, source=source.origin, format="table", blocks=tuple(blocks))


def _entries(
    origin: str, names: list[str], rows: Iterator[Record], open_quotes: list[int]
) -> Iterator[Entry]:
    """Rows as records; one with more fields than the header has is none, since some would be lost."""
    empty = True
    for _, _, line, cells in rows:
        empty = False
        if open_quotes:
            break
        if any(cell.strip() for cell in cells[len(names) :]):
            why = f"{len(cells)} fields where the header has {len(names)}; {_QUOTE_IT}"
            yield Entry(f"line {line}", why)
        else:
            yield Entry(f"line {line}", dict(zip(names, cells, strict=False)))
    if open_quotes:
        yield Entry(f"line {open_quotes[0]}", _OPEN_QUOTE)
    elif empty:
        raise UnreadableDocument(origin, "no records")
