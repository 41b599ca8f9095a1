"""A document as parts of bytes, and the parts of all documents as the arrays of an index."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
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
from chunkwise.retrieval.databases.store import CHUNK_BITS, PartName, Store, StoredDocument
from chunkwise.retrieval.errors import DamagedIndex
from chunkwise.retrieval.indexed_document import metadata_of, readable, record_of
from chunkwise.retrieval.indexing.build import BuiltDocument
from chunkwise.retrieval.local.columns import (
    COLUMNS,
    PARENT,
    TERM_COLUMNS,
    Array,
    Strings,
    encode,
    encoded,
    left_out,
)
from chunkwise.retrieval.settings import Settings
from chunkwise.text.terms import TermCounts
from chunkwise.text.tokens.tokenizers import get_tokenizer

_TABLES: Mapping[PartName, tuple[str, ...]] = {
    "outline": ("page", "block", "path", "title"),
    "chunks": ("chunk", "context", "summary", "span"),
    "terms": ("chunk_term",),
    "atoms": ("atom", "atom_term", "token", "mention", "relation"),
}


@dataclass(frozen=True, slots=True)
class AboutDocument:
    """What is known of a document without its arrays."""

    id: str
    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    language: str
    """Its terms were found in."""
    record: str
    """See `brief_record`."""
    chunks: Amount
    summaries: Amount
    terms: Amount
    """Of its chunks, every occurrence counted."""
    atoms: Amount
    tokens: Amount
    chunk_tokens: Amount
    context_tokens: Amount
    """Counted as often as a context stands beside a chunk."""

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode("ascii")  # half a surrogate pair is an escape


def read_about(stored: bytes) -> AboutDocument:
    """Whoever wrote it: what is not as we write it is damage."""
    try:
        document = msgspec.convert(json.loads(stored), AboutDocument)
        json.loads(document.record)["source"]
        return document
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DamagedIndex("the summary of a document", error) from error


def brief_record(document: Document) -> str:
    """The record of a document with a hash of its layout, which may be long and is stored with the text."""
    values = json.loads(record_of(document))
    layout = [values.pop(name, None) for name in ("blocks", "boxes", "links")]
    if any(each is not None for each in layout):
        values["layout"] = blake2b(json.dumps(layout).encode(), digest_size=16).hexdigest()
    return json.dumps(values)


def text_part(document: Document) -> bytes:
    """Its record, a line of ASCII, and its text."""
    return f"{record_of(document)}\n{document.text}".encode("utf-8", "surrogatepass")


def read_text_part(stored: bytes) -> tuple[str, str]:
    """Record and text."""
    record, _, text = stored.decode("utf-8", "surrogatepass").partition("\n")
    return record, text


def stored_document(number: int, built: BuiltDocument, settings: Settings) -> StoredDocument:
    """A document that was just built, under a new number."""
    part, portion = built.part, encode(built.part, built.language)
    count = get_tokenizer(settings.tokenizer).count
    about = AboutDocument(
        part.document.id,
        part.fingerprint,
        built.language,
        brief_record(part.document),
        len(part.chunks),
        int(np.count_nonzero(portion.column["chunk.level"])),
        int(part.chunks.terms.times.sum(dtype=np.int64)),
        len(part.atoms),
        int(part.atoms.tokens.sum(dtype=np.int64)),
        int(part.chunks.tokens.sum(dtype=np.int64)),
        sum(count(context) for context in part.contexts if context),
    )
    parts: dict[PartName, bytes] = {"about": about.to_bytes(), "text": text_part(part.document)}
    for name in _TABLES:
        pieces: list[bytes] = []
        for column in _names(name, settings):
            table, _, kind = column.partition(".")
            values = portion.size[table] if kind == "size" else portion.column[column]
            pieces.append(np.ascontiguousarray(values, _dtype(column)).tobytes())
        parts[name] = np.array([len(piece) for piece in pieces], "<i8").tobytes() + b"".join(pieces)
    return stored_parts(number, part.document, parts, settings, part.chunk_vectors)


def stored_parts(
    number: int,
    document: Document,
    parts: Mapping[PartName, bytes],
    settings: Settings,
    vectors: NDArray[np.float32] | None,
) -> StoredDocument:
    """A document whose parts are known."""
    arrays: dict[str, Array] = {}
    for name in _TABLES:
        arrays |= _arrays([parts[name]], name, settings)
    rows, first = list(_rows(document, arrays)), number << CHUNK_BITS
    terms = TermCounts(*(arrays[f"chunk_term.{name}"] for name in ("first", "hash", "times")))
    return StoredDocument(number, parts, range(first, first + len(rows)), rows, vectors, terms)


def _rows(document: Document, arrays: Mapping[str, Array]) -> Iterator[dict[str, Any]]:
    """The readable fields of each chunk."""
    titles, contexts, summaries = (
        Strings(arrays[f"{table}.first"], arrays[f"{table}.bytes"]).all()
        for table in ("title", "context", "summary")
    )
    sections = [readable(SECTION_SEPARATOR.join(json.loads(title))) for title in titles]
    metadata = json.dumps(metadata_of(record_of(document)), ensure_ascii=False)
    shared = {
        "doc_id": readable(document.id),
        "title": readable(document.title),
        "source": readable(document.source),
        "metadata": json.loads(readable(metadata)),
    }
    columns = (
        arrays[f"chunk.{name}"].tolist() for name in ("start", "end", "tokens", "level", "section")
    )
    begins, owner = arrays["atom.start"].tolist(), arrays["atom.section"].tolist()
    first = arrays["span.first"].tolist()
    spans = list(zip(arrays["span.start"].tolist(), arrays["span.end"].tolist(), strict=True))
    for position, (start, end, tokens, level, section) in enumerate(zip(*columns, strict=True)):
        # A summary is where its places are.
        places = spans[first[position] : first[position + 1]] or [(start, end)]
        touched = {
            owner[atom]
            for low, high in places
            for atom in range(bisect_right(begins, low) - 1, bisect_left(begins, high))
        }
        pages = {
            page
            for low, high in places
            for page in range(
                bisect_right(document.pages, low),
                bisect_right(document.pages, max(low, high - 1)) + 1,
            )
        }
        yield {
            **shared,
            "position": position,
            "start": start,
            "end": end,
            "tokens": tokens,
            "level": level,
            "section": sections[section],
            "sections": [sections[each].casefold() for each in sorted(touched)],
            "page": document.page(start),
            "pages": sorted(pages - {0}),
            "text": readable(summaries[position] or document.text[start:end]),
            "context": readable(contexts[position]),
        }


def _names(part: PartName, settings: Settings) -> list[str]:
    """The arrays of a part, in their order: of each table how many rows each parent has, then its columns."""
    without = left_out(settings) | {"chunk.vector"}
    return [
        name
        for table in _TABLES[part]
        if f"{table}.first" not in without
        for name in (f"{table}.size", *(name for name in COLUMNS if COLUMNS[name].table == table))
        if name not in without
    ]


def _dtype(name: str) -> str:
    return COLUMNS[name].dtype if name in COLUMNS else "<i8"


def read_arrays(parts: Iterable[bytes], part: PartName, settings: Settings) -> dict[str, Array]:
    """The arrays of an index of all these documents, in this order."""
    arrays = _arrays(parts, part, settings)
    for table in [name.partition(".")[0] for name in arrays if name.endswith("_term.first")]:
        first, term, times = (arrays.pop(f"{table}.{name}") for name in ("first", "hash", "times"))
        if len(term) != len(times) or first[-1] != len(term) or (np.diff(first) < 0).any():
            raise DamagedIndex(table, f"it does not count {counted(len(term), 'row')}")
        made = TermTable.of(TermCounts(first, term, times))
        arrays |= {
            f"{table}s.{name}": np.ascontiguousarray(getattr(made, name), dtype)
            for name, dtype in TERM_COLUMNS.items()
        }
    return arrays


def _arrays(parts: Iterable[bytes], part: PartName, settings: Settings) -> dict[str, Array]:
    names = _names(part, settings)
    pieces: list[list[memoryview]] = [[] for _ in names]
    for stored in parts:
        for column, piece in zip(pieces, _pieces(stored, len(names), part), strict=True):
            column.append(piece)
    result: dict[str, Array] = {}
    for name, column in zip(names, pieces, strict=True):
        shape = COLUMNS[name].shape(settings) if name in COLUMNS else ()
        try:
            values = np.frombuffer(b"".join(column), _dtype(name)).reshape(-1, *shape)
        except ValueError as error:
            raise DamagedIndex(name, error) from error
        table, _, kind = name.partition(".")
        if kind == "size":
            if PARENT[table] == "document" and len(values) != len(column):
                raise DamagedIndex(name, f"it does not count {counted(len(column), 'document')}")
            name, values = f"{table}.first", np.append(0, np.cumsum(values, dtype=np.int64))
        result[name] = values
    return result


def _pieces(stored: bytes, count: int, part: str) -> list[memoryview]:
    data, head = memoryview(stored), 8 * count
    lengths = np.frombuffer(data[:head], "<i8").tolist() if len(data) >= head else [-1]
    if min(lengths, default=0) < 0 or head + sum(lengths) != len(data):
        raise DamagedIndex(f"the part {part!r} of a document", "it has another length")
    return [data[low:high] for low, high in pairwise(accumulate(lengths, initial=head))]


class FetchedArrays(Mapping[str, Array]):
    """The arrays of an index, fetched from a store part by part when they are first looked at."""

    def __init__(self, store: Store, settings: Settings, numbers: NDArray[np.int64]) -> None:
        self._store = store
        self._settings = settings
        self._found: dict[str, Array] = {}
        self.numbers = numbers
        """Of the documents, in order."""
        self._part_of: dict[str, PartName] = dict.fromkeys(
            ("document.fingerprint", "id.first", "id.bytes", "record.first", "record.bytes"), "about"
        )  # fmt: skip
        empty = {part: read_arrays([], part, settings) for part in _TABLES}
        self._part_of |= {name: part for part, arrays in empty.items() for name in arrays}

    def parts(self, part: PartName, numbers: Sequence[int]) -> list[bytes]:
        """Of these documents; a `DamagedIndex` where one is missing."""
        result = self._store.get(part, numbers)
        try:
            return [result[number] for number in numbers]
        except KeyError as error:
            raise DamagedIndex(f"the part {part!r}", f"document {error} is missing") from None

    @cached_property
    def about(self) -> list[AboutDocument]:
        return [read_about(part) for part in self.parts("about", self.numbers.tolist())]

    def __getitem__(self, name: str) -> Array:
        if name not in self._found and name in self._part_of:
            part = self._part_of[name]
            self._found |= (
                self._about_arrays()
                if part == "about"
                else read_arrays(self.parts(part, self.numbers.tolist()), part, self._settings)
            )
        return self._found[name]

    def _about_arrays(self) -> dict[str, Array]:
        fingerprints = b"".join(bytes.fromhex(document.fingerprint) for document in self.about)
        arrays: dict[str, Array] = {
            "document.fingerprint": np.frombuffer(fingerprints, np.uint8).reshape(-1, 16)
        }
        for name in ("id", "record"):
            sizes, arrays[f"{name}.bytes"] = encoded(
                getattr(document, name) for document in self.about
            )
            arrays[f"{name}.first"] = np.append(0, np.cumsum(sizes)).astype(np.int64)
        return arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._part_of)

    def __len__(self) -> int:
        return len(self._part_of)

    def __contains__(self, name: object) -> bool:
        return name in self._part_of
