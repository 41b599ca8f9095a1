"""An index as arrays, wherever they lie: in memory, or in files that are mapped into it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.recently_used import RecentlyUsed
from chunkwise.base.wording import counted
from chunkwise.core import Document, Span
from chunkwise.models.embed.quantized_vectors import QuantizedVectors
from chunkwise.retrieval.bm25 import K1, B, Bm25
from chunkwise.retrieval.errors import DamagedIndex, no_vectors_error, wrong_dimensions_error
from chunkwise.retrieval.filters import Filter, RowKind
from chunkwise.retrieval.indexed_document import (
    StatedRelations,
    document_of,
    metadata_of,
    title_of,
)
from chunkwise.retrieval.local.columns import (
    COLUMNS,
    COMMUNITIES,
    Array,
    Arrays,
    Strings,
    document_mask,
    on_pages,
    section_mask,
    term_table,
    touching,
)
from chunkwise.retrieval.local.folder import check_bytes, open_folder
from chunkwise.retrieval.local.nearest_vectors import nearest
from chunkwise.retrieval.metadata_conditions import MetadataTable
from chunkwise.retrieval.ranking import Ranking
from chunkwise.retrieval.searchable import (
    AtomBounds,
    AtomTable,
    ChunkTable,
    Communities,
    FoundChunk,
    MentionTable,
    TokenTable,
)
from chunkwise.retrieval.settings import IndexStats, Settings
from chunkwise.retrieval.tables_lists_code import WholeBlocks
from chunkwise.text.terms import query_terms
from chunkwise.text.tokens.tokenizers import get_tokenizer

_T = TypeVar("_T")
_CHARACTERS = 1 << 24
"""Of the documents that are kept."""
_COLUMN = {column.table: name for name, column in reversed(COLUMNS.items())}
"""One column of each table that has any."""


def check_first(arrays: Arrays, table: str) -> None:
    """Where the rows of each parent begin: from 0 on, never back, and no further than there are rows."""
    first = arrays[f"{table}.first"]
    # Paths have no column of their own: each has one title.
    rows = len(arrays["title.first"]) - 1 if table == "path" else len(arrays[_COLUMN[table]])
    if not len(first) or first[0] != 0 or first[-1] > rows or (first[1:] < first[:-1]).any():
        raise DamagedIndex(f"{table}.first", f"it does not count {counted(rows, 'row')}")


def check_sections(
    table: str, section: NDArray[np.int32], first: NDArray[np.int64], owner: NDArray[np.int32]
) -> None:
    """Numbers of section paths, each among those of its document."""
    if (
        len(section) != len(owner)
        or (section < 0).any()
        or (section >= np.diff(first)[owner]).any()
    ):
        raise DamagedIndex(
            f"{table}.section", "it refers to sections that its document doesn't have"
        )


_FILTERS = 32
"""Masks kept: the same few filters come again and again."""


class LocalIndex:
    """`Searchable`; nothing is read or computed before it is asked for.

    `check` compares all bytes with those that were written, where they lie in files.
    """

    def __init__(
        self,
        arrays: Arrays,
        settings: Settings,
        languages: Sequence[str],
        check: Callable[[], None] | None = None,
    ) -> None:
        self.arrays = arrays
        self.settings = settings
        self.languages = tuple(languages)
        self._documents: RecentlyUsed[WholeBlocks] = RecentlyUsed(
            _CHARACTERS, lambda blocks: len(blocks.document.text)
        )
        self._paths: dict[int, tuple[str, ...]] = {}
        self._masks: dict[tuple[RowKind, Filter], NDArray[np.bool_] | None] = {}
        self._checked: set[str] = set()
        self._check = check

    def snapshot(self) -> AbstractContextManager[object]:
        """What was opened stays as it is."""
        return nullcontext()

    def check_bytes(self) -> None:
        if self._check:
            self._check()

    def _array(self, name: str) -> Any:
        return self.arrays[name]

    def _begins(self, table: str) -> Any:
        """Where the rows of each parent begin: wrong ones would lead anywhere, so they are looked at once."""
        if table not in self._checked:
            check_first(self.arrays, table)
            self._checked.add(table)
        return self.arrays[f"{table}.first"]

    def _strings(self, table: str) -> Strings:
        return Strings(self._begins(table), self._array(f"{table}.bytes"))

    @property
    def document_count(self) -> int:
        return len(self._array("chunk.first")) - 1

    @property
    def chunk_count(self) -> int:
        return len(self._array("chunk.start"))

    @property
    def has_summaries(self) -> bool:
        return len(self._array("span.start")) > 0

    def words(
        self, queries: Sequence[str], depth: int, only: Filter, *, k1: float = K1, b: float = B
    ) -> list[Ranking]:
        terms = [self._query_terms(query) for query in queries]
        usual = (k1, b) == (K1, B)
        bm25 = self._bm25 if usual else replace(self._bm25, k1=k1, b=b)
        return bm25.top(terms, depth, self.allowed("chunk", only))

    def _query_terms(self, query: str) -> NDArray[np.uint64]:
        return query_terms(query, self.languages)

    @cached_property
    def _bm25(self) -> Bm25:
        return Bm25(term_table(self.arrays, "chunk"))

    def nearest(self, vectors: NDArray[np.float32], depth: int, only: Filter) -> list[Ranking]:
        stored = self._vectors
        if vectors.ndim != 2 or vectors.shape[1] != stored.shape[1]:
            raise wrong_dimensions_error(vectors.shape, stored.shape[1])
        return nearest(stored, vectors, depth, self.allowed("chunk", only))

    @property
    def _vectors(self) -> NDArray[np.float32]:
        if "chunk.vector" not in self.arrays:
            raise no_vectors_error()
        result: NDArray[np.float32] = self._array("chunk.vector")
        return result

    def chunks(self, numbers: Sequence[int]) -> list[FoundChunk]:
        index = np.asarray(numbers, np.int64)
        first = self._begins("chunk")
        documents = first.searchsorted(index, "right") - 1
        columns = [
            self._array(f"chunk.{name}")[index].tolist()
            for name in ("start", "end", "tokens", "section", "parent", "level")
        ]
        contexts, summaries = self._strings("context"), self._strings("summary")
        return [
            FoundChunk(
                number, document, number - begin, start, end, tokens,
                self._path(document, section), (parent[0], parent[1]), contexts[number],
                level, summaries[number] if level else "", *(self._summarized(number) if level else ()),
            )
            for number, document, begin, start, end, tokens, section, parent, level in zip(
                index.tolist(), documents.tolist(), first[documents].tolist(), *columns, strict=True
            )
        ]  # fmt: skip

    def _summarized(self, chunk: int) -> tuple[tuple[Span, ...], tuple[int, ...]]:
        """The places of a summary, and the tokens of each."""
        low, high = self._begins("span")[chunk : chunk + 2].tolist()
        start, end, tokens = (
            self._array(f"span.{name}")[low:high].tolist() for name in ("start", "end", "tokens")
        )
        return tuple(map(Span, start, end)), tuple(tokens)

    def _path(self, document: int, section: int) -> tuple[str, ...]:
        low, high = self._begins("path")[document : document + 2].tolist()
        if not 0 <= section < high - low:
            raise DamagedIndex(
                "chunk.section", f"a document with {high - low} sections has no section {section}"
            )
        return self.section_path(low + section)

    def section_path(self, number: int) -> tuple[str, ...]:
        """The path behind a section number of the atom table."""
        if number not in self._paths:  # many hits of many questions lie in one section
            title = self._strings("title")[number]
            try:
                self._paths[number] = tuple(json.loads(title))
            except (ValueError, TypeError) as error:
                raise DamagedIndex(f"section path {number}", error) from error
        return self._paths[number]

    def chunk_vectors(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        return self._vectors[np.asarray(numbers, np.int64)]

    def chunk_range(self, document: int) -> tuple[int, int]:
        low, high = self._begins("chunk")[document : document + 2].tolist()
        return low, high

    def document(self, number: int) -> Document:
        return self.blocks(number).document

    def blocks(self, document: int) -> WholeBlocks:
        return self._documents.get(document, partial(self._read_document, document))

    def _read_document(self, number: int) -> WholeBlocks:
        id, record, text = (self._strings(name)[number] for name in ("id", "record", "text"))
        try:
            pages = tuple(self._pages(number).tolist())
            return WholeBlocks(document_of(id, record, text, pages), self.block_rows(number))
        except (ValueError, TypeError) as error:
            raise DamagedIndex(f"document {number}", error) from error

    def _pages(self, document: int) -> NDArray[np.int64]:
        low, high = self._begins("page")[document : document + 2].tolist()
        result: NDArray[np.int64] = self._array("page.start")[low:high]
        return result

    def block_rows(self, document: int) -> NDArray[np.int64]:
        """What `WholeBlocks` is made from."""
        low, high = self._begins("block")[document : document + 2].tolist()
        result: NDArray[np.int64] = self._array("block.row")[low:high]
        return result

    def text_of(self, table: str, number: int) -> str:
        """The `id`, `record` or `text` of a document."""
        return self._strings(table)[number]

    def communities(self) -> Communities:
        """What a language model says of passages that hang together; none where none was asked."""
        if COMMUNITIES not in self.arrays:
            return Communities()
        return Communities.from_json(self._array(COMMUNITIES).tobytes().decode("ascii"))

    def relations(self, number: int) -> StatedRelations:
        """What a language model read in a document; nothing where none was asked."""
        if "relation.bytes" not in self.arrays:
            return StatedRelations()
        return StatedRelations.from_json(self.text_of("relation", number))

    def fingerprints(self) -> list[str]:
        """Of all documents, in order."""
        rows = self._array("document.fingerprint")
        return [row.tobytes().hex() for row in rows]

    def contexts(self) -> list[str]:
        """What is indexed beside each chunk."""
        return self._strings("context").all()

    def count_context_tokens(self) -> int:
        """Tokens of all text that is indexed beside chunks."""
        if not len(self._array("context.bytes")):
            return 0
        count = get_tokenizer(self.settings.tokenizer).count
        return sum(count(text) * times for text, times in Counter(self.contexts()).items() if text)

    def stats(self) -> IndexStats:
        """How much is in it, counted in the tokens it was made with, and how large its arrays are."""
        arrays, settings = self.arrays, self.settings
        beside = self.count_context_tokens()
        return IndexStats(
            documents=self.document_count,
            chunks=self.chunk_count,
            atoms=len(arrays["atom.start"]),
            tokens=_sum(arrays["atom.tokens"]),
            indexed_tokens=_sum(arrays["chunk.tokens"]) + beside,
            context_tokens=beside,
            vectors=sum(
                len(arrays[name]) for name in ("chunk.vector", "atom.vector") if name in arrays
            ),
            dimensions=settings.dimensions,
            bytes=sum(array.nbytes for array in arrays.values()),
        )

    def ids(self) -> list[str]:
        """The ids of all documents, in order."""
        return self._strings("id").all()

    def titles(self) -> list[str]:
        """The titles of all documents, in order."""
        return self._titles

    @cached_property
    def _titles(self) -> list[str]:
        return self._of_records(title_of)

    def document_numbers(self) -> list[int]:
        """The numbers of all documents, in order."""
        return list(range(self.document_count))

    def chunk_table(self) -> ChunkTable:
        columns = (self._array(f"chunk.{name}") for name in ("start", "end", "tokens"))
        table = ChunkTable(*(each.astype(np.int64) for each in (self._owner("chunk"), *columns)))
        sizes = np.diff(self._begins("span"))
        if not sizes.any():
            return table
        places = [self._array(f"span.{name}") for name in ("start", "end", "tokens")]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return table._replace(
            level=self._array("chunk.level").astype(np.int64),
            summarized=np.column_stack((owner, *places)).astype(np.int64),
        )

    def atoms(self, document: int) -> AtomBounds:
        low, high = self._begins("atom")[document : document + 2].tolist()
        return AtomBounds(
            *(self._array(f"atom.{name}")[low:high] for name in ("start", "end", "tokens"))
        )

    def atom_table(self) -> AtomTable:
        """All atoms; those of an index without late vectors have words alone."""
        return self._atom_table

    @cached_property
    def _atom_table(self) -> AtomTable:
        return AtomTable(
            document=self._owner("atom"),
            start=self._array("atom.start"),
            end=self._array("atom.end"),
            tokens=self._array("atom.tokens"),
            section=self._section("atom").astype(np.int32),
            flags=self._array("atom.flags"),
            terms=term_table(self.arrays, "atom"),
            vectors=QuantizedVectors(self._array("atom.vector"), self._array("atom.scale"))
            if "atom.vector" in self.arrays
            else None,
            token_vectors=TokenTable(self._begins("token"), self._array("token.codes"))
            if "token.codes" in self.arrays
            else None,
            mentions=MentionTable(
                self._begins("mention"),
                MentionTable.unpacked_names(self._array("mention.name")),
                *(self._array(f"mention.{name}") for name in ("offset", "packed")),
            )
            if "mention.name" in self.arrays
            else None,
        )

    def _owner(self, table: RowKind) -> NDArray[np.int32]:
        """The document of every row."""
        sizes = np.diff(self._begins(table))
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def _section(self, table: RowKind) -> NDArray[np.int64]:
        """The section path of every row, numbered across the index."""
        first, section, owner = (
            self._begins("path"),
            self._array(f"{table}.section"),
            self._owner(table),
        )
        check_sections(table, section, first, owner)
        result: NDArray[np.int64] = first[owner] + section
        return result

    def allowed(self, table: RowKind, only: Filter) -> NDArray[np.bool_] | None:
        """The chunks or atoms a filter takes; None: all."""
        if not only:
            return None
        key = table, only
        if key not in self._masks:
            if len(self._masks) >= _FILTERS:
                self._masks.pop(next(iter(self._masks)), None)
            self._masks[key] = self._mask(table, only)
        return self._masks[key]

    @cached_property
    def _metadata(self) -> MetadataTable:
        return MetadataTable(self._of_records(metadata_of))

    def _of_records(self, read: Callable[[str], _T]) -> list[_T]:
        """What is read of every document's record, in order."""
        try:
            return [read(record) for record in self._strings("record").all()]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedIndex("record.bytes", error) from error

    def _mask(self, table: RowKind, only: Filter) -> NDArray[np.bool_]:
        taken = document_mask(self._strings("id"), only)[self._owner(table)]
        if only.clauses:
            taken &= self._metadata.mask(only.clauses)[self._owner(table)]
        if only.sections:
            # A chunk that runs over several sections has only what their paths share.
            atoms = section_mask(self._strings("title"), only)[self._section("atom")]
            taken &= atoms if table == "atom" else touching(self.arrays, atoms)
        if only.pages:
            pages = [self._pages(number) for number in range(self.document_count)]
            taken &= on_pages(self.arrays, table, pages, only)
        if only.level is not None and table == "chunk":
            taken &= self._array("chunk.level") == only.level
        return taken


def open_local_index(folder: Path) -> LocalIndex:
    """The index of a folder."""
    manifest, arrays = open_folder(folder)
    return LocalIndex(
        arrays,
        manifest.settings,
        manifest.languages,
        partial(check_bytes, folder, manifest, arrays),
    )


def _sum(values: Array) -> int:
    return int(values.sum(dtype=np.int64))
