"""What an index keeps of one document: its rows as arrays, its record as JSON, and the last documents decoded."""

from __future__ import annotations

import base64
import json
import re
import zlib
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.base.errors import InvalidParameter
from chunkwise.core import BLOCK_KINDS, FORMATS, Block, Document, Link, PageBoxes
from chunkwise.text.names import Mentions, name_hash, name_key
from chunkwise.text.terms import TermCounts

if TYPE_CHECKING:
    from chunkwise.models.embed.quantized_vectors import TokenCodes


@dataclass(frozen=True, slots=True, eq=False)
class SpanRows:
    """Spans of one document in order, each with its size and its section."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    tokens: NDArray[np.int32]
    section: NDArray[np.int32]
    """Position in the part's list of section paths."""
    terms: TermCounts

    def __len__(self) -> int:
        return len(self.start)


def touched_atoms(
    starts: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each span its first atom, and the one behind its last; `starts` are those of atoms that tile the text."""
    return starts.searchsorted(start, "right") - 1, starts.searchsorted(end)


@dataclass(frozen=True, slots=True, eq=False)
class Summaries:
    """What is to be known of those chunks of a document that are summaries: they come behind the others."""

    level: NDArray[np.int8]
    """Of each chunk; 0: it is a place in the document."""
    texts: tuple[str, ...]
    """Of each chunk; empty where it is a place."""
    places: NDArray[np.int64]
    """A row each place a summary stands for, by chunk: the chunk's position, start, end, tokens."""

    @classmethod
    def none(cls, chunks: int) -> Summaries:
        """Of chunks that are all places."""
        return cls(np.zeros(chunks, np.int8), ("",) * chunks, np.empty((0, 4), np.int64))


class Relation(NamedTuple):
    """What a model says the text states of two names; start and end are those of the quote it stands on."""

    subject: str
    relation: str
    object: str
    start: int
    end: int


class NameDescription(NamedTuple):
    """What a model says the text tells of a name, and where the text first says the name there."""

    name: str
    text: str
    start: int
    end: int


class StatedRelations(NamedTuple):
    """What a model read in one document."""

    relations: tuple[Relation, ...] = ()
    descriptions: tuple[NameDescription, ...] = ()

    def to_json(self) -> str:
        return json.dumps([self.relations, self.descriptions], ensure_ascii=True)

    def spelling(self, name: int) -> str:
        """How a relation writes the name with this hash; empty: none does."""
        said = (item for relation in self.relations for item in (relation.subject, relation.object))
        return next((item for item in said if name_hash(name_key(item)) == name), "")

    @classmethod
    def from_json(cls, text: str) -> StatedRelations:
        relations, descriptions = json.loads(text)
        return cls(
            tuple(Relation(*row) for row in relations),
            tuple(NameDescription(*row) for row in descriptions),
        )


@dataclass(frozen=True, slots=True, eq=False)
class IndexedDocument:
    """One document with its chunks and its atoms (sentences, list items, rows, lines: they tile the text)."""

    document: Document
    fingerprint: str
    """Of the document's text and title: the same means that nothing has to be made again."""
    paths: tuple[tuple[str, ...], ...]
    """Section paths, each once."""
    chunks: SpanRows
    contexts: tuple[str, ...]
    """Text indexed beside each chunk; its terms are in `chunks.terms`."""
    parents: NDArray[np.int64]
    """Start and end of the span handed out for each chunk: two columns."""
    chunk_vectors: NDArray[np.float32] | None
    """One row of length 1 a chunk; None: an index of words alone, or one without vectors for chunks."""
    blocks: NDArray[np.int64]
    """What hits keep together: see `tables_lists_code.block_rows`."""
    atoms: SpanRows
    atom_flags: NDArray[np.uint8]
    """See `tables_lists_code.atom_flags`."""
    atom_sums: NDArray[np.float32] | None
    """Sum of the vectors of the tokens of each atom ("late" vectors): any span's vector is a difference of sums."""
    summaries: Summaries | None = None
    """None: no chunk is one."""
    token_codes: TokenCodes | None = None
    """The vectors of all tokens; None: an index without them."""
    mentions: Mentions | None = None
    """Where names stand; None: an index without a graph."""
    relations: StatedRelations | None = None
    """What a model read of names; None: none was asked."""


def record_of(document: Document) -> str:
    """The same line for the same document in every process: a document is written again where it differs."""
    known = {
        "title": document.title,
        "source": document.source,
        "format": document.format,
        "language": document.language,
    }
    metadata = {key: _plain(document, key, value) for key, value in document.metadata.items()}
    layout: dict[str, object] = {}
    if document.revision:
        layout["revision"] = document.revision
    if document.blocks is not None:
        layout["blocks"] = _numbers(document.blocks)
    if document.boxes is not None:
        layout["boxes"] = _packed(document.boxes)
    if document.links:
        layout["links"] = _packed_links(document.links)
    return json.dumps({**known, "metadata": metadata, **layout}, ensure_ascii=True)


def document_of(id: str, record: str, text: str, pages: tuple[int, ...]) -> Document:
    """The document again, with the layout its format declared."""
    known = json.loads(record)
    numbers = known.pop("blocks", None)
    blocks = None if numbers is None else _blocks(numbers)
    packed = known.pop("boxes", None)  # an index made before there were any has none
    boxes = None if packed is None else _unpacked(packed)
    links = _unpacked_links(known.pop("links", ""))
    if blocks is None and known["format"] not in FORMATS:
        known["format"] = (
            "text"  # an index made before such a format was refused; it was read as text
        )
    return Document(id, text, **known, blocks=blocks, pages=pages, boxes=boxes, links=links)


def _packed(boxes: PageBoxes) -> str:
    """Seven numbers a line, each as the step from the line above: most are small, and many the same."""
    columns = np.empty((7, len(boxes)), "<i4")
    columns[0], columns[1], columns[2] = boxes.starts, boxes.ends, boxes.pages
    columns[3:] = np.array(boxes.corners, np.int32).reshape(-1, 4).T
    columns[1] -= columns[0]
    columns[[0, 2, 3, 4, 5, 6], 1:] = np.diff(columns[[0, 2, 3, 4, 5, 6]], axis=1)
    # The low bytes of a column together, then the next ones: zlib sees the zeros.
    planes = columns.view(np.uint8).reshape(7, -1, 4).transpose(0, 2, 1)
    return _deflated(planes.tobytes())


def _unpacked(packed: str) -> PageBoxes:
    data = np.frombuffer(_inflated(packed), np.uint8)
    planes = np.ascontiguousarray(data.reshape(7, 4, -1).transpose(0, 2, 1))
    columns = planes.view("<i4").reshape(7, -1).astype(np.int64)
    columns[[0, 2, 3, 4, 5, 6]] = np.cumsum(columns[[0, 2, 3, 4, 5, 6]], axis=1)
    columns[1] += columns[0]
    corners = np.ascontiguousarray(columns[3:].T, np.int32)
    return PageBoxes(
        array("q", columns[0].tobytes()),
        array("q", columns[1].tobytes()),
        array("i", columns[2].astype(np.int32).tobytes()),
        array("i", corners.tobytes()),
    )


def _packed_links(links: tuple[Link, ...]) -> str:
    """Addresses of one site repeat each other: a third of what they are."""
    return _deflated(json.dumps(links).encode())


def _unpacked_links(packed: str) -> tuple[Link, ...]:
    if not packed:  # without any, or made before they were kept
        return ()
    return tuple(Link(*row) for row in json.loads(_inflated(packed)))


def _deflated(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def _inflated(packed: str) -> bytes:
    try:
        return zlib.decompress(base64.b64decode(packed))
    except zlib.error as error:  # no ValueError, as all else that damage makes
        raise ValueError(f"damaged: {error}") from error


def metadata_of(record: str) -> dict[str, object]:
    """What else is known of the document; nothing in records that were written without it."""
    result: dict[str, object] = json.loads(record).get("metadata") or {}
    return result


def title_of(record: str) -> str:
    """The title of the document; empty without one."""
    return str(json.loads(record).get("title") or "")


def _numbers(blocks: tuple[Block, ...]) -> list[int]:
    """One row a block, all in one list: it is read much faster than many small ones."""
    return [number for kind, *rest in blocks for number in (BLOCK_KINDS.index(kind), *rest)]


def _blocks(numbers: list[int]) -> tuple[Block, ...]:
    rows = zip(*[iter(numbers)] * 5, strict=True)
    return tuple(Block(BLOCK_KINDS[kind], *rest) for kind, *rest in rows)


def _plain(document: Document, key: object, value: object) -> object:
    """What JSON can hold; metadata of one's own may be sets and dates, or what cannot be written at all."""
    try:
        (result,) = json.loads(json.dumps({key: value}, default=_written)).values()
        return result
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameter(
            f"cannot store metadata of {document.id!r}: {key!r} is {type(value).__name__} "
            f"({error}); allowed: text, numbers, lists and dictionaries with text keys"
        ) from None


def _written(value: object) -> object:
    if isinstance(value, set | frozenset):  # in an order that is the same in every process
        return sorted(
            (json.loads(json.dumps(each, default=_written)) for each in value), key=json.dumps
        )
    if type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__:
        raise TypeError("its text changes in every run")
    return str(value)


_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def readable(text: str) -> str:
    """For columns that people and patterns read: one stand-in for each character a database cannot hold."""
    return _UNSTORABLE.sub("\ufffd", text)
