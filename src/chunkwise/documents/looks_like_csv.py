"""Whether a file of no telling name is CSV: by its first bytes, and only where there is no doubt."""

from __future__ import annotations

import codecs
import csv
import io
import re

from chunkwise.documents.fields import TEXT_FIELDS
from chunkwise.documents.source import HEAD
from chunkwise.records.fields import field_of

_NAME = re.compile(r"\w[\w-]*(?: [\w-]+){0,3}")
_FEWEST_ROWS = 2


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
