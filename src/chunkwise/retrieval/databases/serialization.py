"""A document as parts of bytes, and the parts of all documents as the arrays of an index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from chunkwise.base.schema import Amount
from chunkwise.base.wording import counted
from chunkwise.core import SECTION_SEPARATOR, Document
from chunkwise.retrieval.bm25 import TermTable
from chunkwise.retrieval.databases.store import CHUNK_BITS, PARTS, PartName, Store, StoredDocument
from chunkwise.retrieval.errors import DamagedIndex
from chunkwise.retrieval.indexed_document import metadata_of, readable, record_of
from chunkwise.retrieval.indexing.build import BuiltDocument
from chunkwise.retrieval.local.columns import (
    COLUMNS,
    PARENT,
    TERM_COLUMNS,
    Array,
    Portion,
    Strings,
    encode,
    encoded,
    left_out,
)
from chunkwise.retrieval.settings import Settings
from chunkwise.text.terms import TermCounts
from chunkwise.text.tokens.tokenizers import get_tokenizer

_TABLES: Mapping[PartName, tuple[str, ...]] = {
    "chunks": (
        "page",
        "block",
        "path",
        "title",
        "chunk",
        "context",
        "summary",
        "span",
        "chunk_term",
    ),
    "atoms": ("atom", "atom_term", "token", "mention"),
}
_ROWS: Mapping[PartName, str] = {"chunks": "chunk", "atoms": "atom"}


@dataclass(frozen=True, slots=True)
class AboutDocument:
    """What is known of a document without its arrays."""

    id: str
    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    language: str
    """Its terms were found in."""
    record: str
    chunks: Amount
    atoms: Amount
    tokens: Amount
    chunk_tokens: Amount
    context_tokens: Amount
    """Counted as often as a context stands beside a chunk."""

    @property
    def source(self) -> str:
        """Where the document came from."""
        found: str = json.loads(self.record)["source"]
        return found

    def to_bytes(self) -> bytes:
        values = {name: getattr(self, name) for name in AboutDocument.__slots__}
        return json.dumps(values).encode("ascii")  # half a surrogate pair is written as an escape


def read_about(stored: bytes) -> AboutDocument:
    """Whoever wrote it: what is not as we write it is damage."""
    try:
        found = msgspec.convert(json.loads(stored), AboutDocument)
        json.loads(found.record)
        return found
    except (ValueError, RecursionError) as error:
        raise DamagedIndex("what is known of a document", error) from error


def stored_document(number: int, built: BuiltDocument, settings: Settings) -> StoredDocument:
    """A document that was just built, under a new number."""
    part = built.part
    portion = encode(part, built.language)
    count = get_tokenizer(settings.tokenizer).count
    about = AboutDocument(
        part.document.id,
        part.fingerprint,
        built.language,
        record_of(part.document),
        len(part.chunks),
        len(part.atoms),
        int(part.atoms.tokens.sum(dtype=np.int64)),
        int(part.chunks.tokens.sum(dtype=np.int64)),
        sum(count(each) for each in part.contexts if each),
    )
    parts: dict[PartName, bytes] = {
        "about": about.to_bytes(),
        "chunks": _packed(portion, "chunks", settings),
        "atoms": _packed(portion, "atoms", settings),
        "text": part.document.text.encode("utf-8", "surrogatepass"),
    }
    return _stored(number, part.document, parts, settings, part.chunk_vectors)


def recorded_anew(
    number: int,
    document: Document,
    known: AboutDocument,
    old: int,
    store: Store,
    settings: Settings,
) -> StoredDocument:
    """A document whose text is stored under an old number, and about which something else is said now."""
    parts: dict[PartName, bytes] = {"about": replace(known, record=record_of(document)).to_bytes()}
    for name in PARTS[1:]:
        parts[name] = dict(store.parts(name, [old]))[old]
    first = old << CHUNK_BITS
    vectors = store.vectors(range(first, first + known.chunks)) if settings.dimensions else None
    return _stored(number, document, parts, settings, vectors)


def _stored(
    number: int,
    document: Document,
    parts: Mapping[PartName, bytes],
    settings: Settings,
    vectors: NDArray[np.float32] | None,
) -> StoredDocument:
    rows = list(_rows(document, _arrays([parts["chunks"]], "chunks", settings)))
    first = number << CHUNK_BITS
    return StoredDocument(number, parts, range(first, first + len(rows)), rows, vectors)


def _rows(document: Document, arrays: Mapping[str, Array]) -> Iterator[dict[str, Any]]:
    """What people and other tools read of each chunk."""
    titles, contexts, summaries = (
        Strings(arrays[f"{table}.first"], arrays[f"{table}.bytes"]).all()
        for table in ("title", "context", "summary")
    )
    sections = [readable(SECTION_SEPARATOR.join(json.loads(title))) for title in titles]
    shared = _of_document(document)
    columns = (arrays[f"chunk.{name}"].tolist() for name in ("start", "end", "tokens", "section"))
    for position, (start, end, tokens, section) in enumerate(zip(*columns, strict=True)):
        yield {
            **shared,
            "position": position,
            "start": start,
            "end": end,
            "tokens": tokens,
            "section": sections[section],
            "page": document.page(start),
            "text": readable(summaries[position] or document.text[start:end]),
            "context": readable(contexts[position]),
        }


def _of_document(document: Document) -> dict[str, Any]:
    return {
        "doc_id": readable(document.id),
        "title": readable(document.title),
        "source": readable(document.source),
        "metadata": json.loads(_readable_json(metadata_of(record_of(document)))),
    }


def _readable_json(value: object) -> str:
    return readable(json.dumps(value, ensure_ascii=False))


def _names(part: PartName, settings: Settings) -> list[str]:
    """The arrays of a part, in their order: of each table how many rows each parent has, then its columns."""
    without = left_out(settings) | {"chunk.vector"}
    found: list[str] = []
    for table in _TABLES[part]:
        if f"{table}.first" in without:
            continue
        found.append(f"{table}.size")
        found += [
            name
            for name, column in COLUMNS.items()
            if column.table == table and name not in without
        ]
    return found


def _dtype(name: str) -> str:
    return COLUMNS[name].dtype if name in COLUMNS else "<i8"


def _packed(portion: Portion, part: PartName, settings: Settings) -> bytes:
    """The number of bytes of each array, and all of them."""
    pieces: list[bytes] = []
    for name in _names(part, settings):
        table, _, column = name.partition(".")
        values = portion.size[table] if column == "size" else portion.column[name]
        pieces.append(np.ascontiguousarray(values, _dtype(name)).tobytes())
    return np.array([len(each) for each in pieces], "<i8").tobytes() + b"".join(pieces)


def read_arrays(parts: Iterable[bytes], part: PartName, settings: Settings) -> dict[str, Array]:
    """The arrays of an index of all these documents, in this order."""
    return _with_terms(_arrays(parts, part, settings), _ROWS[part])


def _arrays(parts: Iterable[bytes], part: PartName, settings: Settings) -> dict[str, Array]:
    names = _names(part, settings)
    pieces: list[list[memoryview]] = [[] for _ in names]
    for stored in parts:
        for own, piece in zip(pieces, _pieces(stored, len(names), part), strict=True):
            own.append(piece)
    found: dict[str, Array] = {}
    for name, own in zip(names, pieces, strict=True):
        joined = b"".join(own)
        shape = COLUMNS[name].shape(settings) if name in COLUMNS else ()
        try:
            found[name] = np.frombuffer(joined, _dtype(name)).reshape(-1, *shape)
        except ValueError as error:
            raise DamagedIndex(name, error) from error
    for table in _TABLES[part]:
        if f"{table}.size" in found:
            sizes = found.pop(f"{table}.size")
            found[f"{table}.first"] = np.concatenate(
                (np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64))
            )
    return found


def _pieces(stored: bytes, count: int, part: str) -> list[memoryview]:
    data, head = memoryview(stored), 8 * count
    lengths = np.frombuffer(data[:head], "<i8").tolist() if len(data) >= head else [-1]
    if min(lengths, default=0) < 0 or head + sum(lengths) != len(data):
        raise DamagedIndex(f"the part {part!r} of a document", "it has another length")
    ends = list(accumulate(lengths, initial=head))
    return [data[low:high] for low, high in pairwise(ends)]


def _with_terms(found: dict[str, Array], table: str) -> dict[str, Array]:
    first, term, times = (found.pop(f"{table}_term.{name}") for name in ("first", "hash", "times"))
    if len(term) != len(times) or first[-1] != len(term) or (np.diff(first) < 0).any():
        raise DamagedIndex(f"{table}_term", f"it does not count {counted(len(term), 'row')}")
    made = TermTable.of(TermCounts(first, term, times))
    return found | {
        f"{table}_terms.{name}": np.ascontiguousarray(getattr(made, name), dtype)
        for name, dtype in TERM_COLUMNS.items()
    }


class FetchedArrays(Mapping[str, Array]):
    """The arrays of an index, brought over from a store part by part when they are first looked at."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._found: dict[str, Array] = {}
        self.numbers: NDArray[np.int64] = np.empty(0, np.int64)
        """Of the documents, in order."""
        self.about: list[AboutDocument] = []
        self._part_of = {name: part for part in _TABLES for name in self._given(part)}
        self._read_about()

    def _given(self, part: PartName) -> Iterator[str]:
        """What `read_arrays` gives for a part."""
        rows = _ROWS[part]
        for name in _names(part, self._settings):
            table, _, column = name.partition(".")
            if table != f"{rows}_term":
                yield f"{table}.first" if column == "size" else name
        yield from (f"{rows}_terms.{name}" for name in TERM_COLUMNS)

    def _read_about(self) -> None:
        rows = [(number, read_about(stored)) for number, stored in self._store.parts("about")]
        self.numbers = np.array([number for number, _ in rows], np.int64)
        self.about = [about for _, about in rows]
        fingerprints = b"".join(bytes.fromhex(each.fingerprint) for each in self.about)
        self._found["document.fingerprint"] = np.frombuffer(fingerprints, np.uint8).reshape(-1, 16)
        for name in ("id", "record"):
            sizes, data = encoded(getattr(each, name) for each in self.about)
            self._found[f"{name}.first"] = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
            self._found[f"{name}.bytes"] = data

    def __getitem__(self, name: str) -> Array:
        if name not in self._found and name in self._part_of:
            self._load(self._part_of[name])
        return self._found[name]

    def _load(self, part: PartName) -> None:
        rows = list(self._store.parts(part))
        if [number for number, _ in rows] != self.numbers.tolist():
            raise DamagedIndex(f"the part {part!r}", "it is not there for every document")
        found = read_arrays((stored for _, stored in rows), part, self._settings)
        for table in _TABLES[part]:
            if PARENT[table] == "document" and len(found[f"{table}.first"]) != len(rows) + 1:
                raise DamagedIndex(
                    f"{table}.first", f"it does not count {counted(len(rows), 'document')}"
                )
        self._found |= found

    def __iter__(self) -> Iterator[str]:
        return iter([*self._found, *(name for name in self._part_of if name not in self._found)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._found or name in self._part_of
