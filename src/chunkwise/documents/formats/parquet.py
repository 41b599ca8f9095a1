"""Parquet: one record a row, as AutoRAG and many data sets keep their corpus."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time
from typing import Any

from chunkwise.base.errors import ChunkwiseError, UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.corpus import Corpus, CorpusEntry
from chunkwise.documents.loader import LoadOptions, OnUnreadable
from chunkwise.documents.source import Source
from chunkwise.records.read import parquet_rows


class ParquetLoader:
    """Told by its first bytes; rows are read a thousand at a time."""

    suffixes: tuple[str, ...] = (".parquet",)
    stream = True

    def accepts(self, name: str, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        corpus = Corpus(source, options)
        try:
            entries = corpus.checked(_entries(source), texts=True)
            yield from corpus.documents(entries, on_unreadable)
        except UnreadableDocument:
            raise
        except ChunkwiseError as error:
            why = str(error).removeprefix(f"{source.origin} is ")
            raise UnreadableDocument(source.origin, why) from error


def _entries(source: Source) -> Iterator[CorpusEntry]:
    empty = True
    with source.open() as handle:
        for row in parquet_rows(source.origin, file=handle):
            empty = False
            yield CorpusEntry(row.where, plain_values(row.value))
    if empty:
        raise UnreadableDocument(source.origin, "no records")


def plain_values(value: Any) -> Any:
    """As JSON has it: dates and times in ISO's form, which sorts as they do."""
    if isinstance(value, dict):
        return {name: plain_values(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain_values(each) for each in value]
    return value.isoformat() if isinstance(value, date | time) else value
