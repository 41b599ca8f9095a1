"""Chunks that are there: `Chunk`s, rows, or files of ours, of LangChain, LlamaIndex, chonkie; as a strategy, too."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, dataclass
from hashlib import blake2b
from typing import NamedTuple

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, warn_user
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers.chunk_offsets import (
    FileRow,
    PositionVerdict,
    StatedChunk,
    StatedPlace,
    TextPlaces,
    document_of,
    find_in_own,
    find_texts,
    positions,
    read_rows,
    stated_id,
    stated_place,
    wrong_offset,
)
from chunkwise.core import Chunk, Document, Passage, Piece, Span
from chunkwise.documents.document_ids import DocumentNames
from chunkwise.records.fields import integer_in, string_in
from chunkwise.records.objects import record_of_object
from chunkwise.records.read import OnBadRow
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import TokenizerLike

_LISTS = ("chunks", "nodes", "documents", "rows", "data")
"""What other tools call a list that is the whole of their file."""
ChunksSource = str | os.PathLike[str] | Iterable[Chunk | Mapping[str, object] | object]
"""A file of chunks; or `Chunk`s, or rows with a document and start and end, or a text; or what another library has for
them: `Document`s of LangChain and Haystack, nodes of LlamaIndex."""

_GIVEN = "given"
"""What stands for the name of a file where there is none."""
_LABEL = re.compile(r"FileChunks\(file='(.*?)', hash='(\w+)'\)")
_ROWS_TOLD = 10
"""Lines about one file: what ails one of its rows ails thousands, as a rule."""
_NOWHERE = "it has no document, and no document has its text"


@dataclass(frozen=True, slots=True)
class ExistingChunk:
    """One row of a chunk file."""

    where: str
    """File and line, as messages name it."""
    doc_id: str
    """Of the document it was found to belong to; empty: of none."""
    place: Span | None
    context: str = ""
    """What is indexed beside it."""
    parent: Span | None = None
    """The larger span that is handed out for it."""
    id: str = ""
    """What its file calls it; empty: nothing."""


@dataclass(frozen=True, slots=True)
class ExistingChunks:
    """Chunks row by row."""

    path: str
    chunks: tuple[ExistingChunk, ...]
    position: list[PositionVerdict]
    """Of each row, what its own offsets are worth."""
    problems: tuple[str, ...] = ()
    """A line for each row without a place."""

    def check_usable(self) -> None:
        """Refuses chunks of which none has a place: nothing could be searched, and nothing examined."""
        if all(chunk.place is None for chunk in self.chunks):
            what = "given" if self.path == _GIVEN else f"in {self.path}"
            first, *others = self.problems
            more = f"; and {thousands(len(others))} more" if others else ""
            raise ChunkwiseError(f"no chunk {what} was located in the documents: {first}{more}")

    @property
    def ids(self) -> list[tuple[str, Passage]]:
        """The places of those that have an id in their file."""
        return [
            (chunk.id, Passage(chunk.doc_id, *chunk.place))
            for chunk in self.chunks
            if chunk.id and chunk.place is not None
        ]

    def strategy(self, *, parents: bool = False) -> FileChunks:
        """What cuts the same documents in the same way; `parents`: for a chunk that has one it is handed out."""
        pieces: dict[str, dict[Span, Piece]] = {}
        for chunk in self.chunks:
            if chunk.place is not None:
                own = pieces.setdefault(chunk.doc_id, {})
                parent = chunk.parent if parents else None
                own.setdefault(chunk.place, Piece(*chunk.place, chunk.context, parent=parent))
        by_start = {
            doc_id: tuple(own[place] for place in sorted(own)) for doc_id, own in pieces.items()
        }
        result = blake2b(
            repr(sorted(by_start.items())).encode("utf-8", "surrogatepass"), digest_size=6
        )
        return FileChunks(self.path, result.hexdigest(), by_start)


@dataclass(frozen=True)
class FileChunks:
    """The chunks of a file, by start, each place once; documents it does not know have none."""

    file: str
    hash: str
    """Of the places: an index made with other chunks of the same file name is told apart."""
    pieces: InitVar[Mapping[str, Sequence[Piece]]]
    """By the id of the document."""

    def __post_init__(self, pieces: Mapping[str, Sequence[Piece]]) -> None:
        object.__setattr__(self, "_pieces", pieces)

    def split(self, document: Analyzed) -> Sequence[Piece]:
        pieces: Mapping[str, Sequence[Piece]] = vars(self)["_pieces"]
        return pieces.get(document.document.id, ())


class KnownStrategy(NamedTuple):
    """Stands for the strategy of chunks that were there before."""

    label: str
    limit: tuple[TokenizerLike, int] | None = None
    unit: str = "tokens"


def given_label(label: str) -> tuple[str, str] | None:
    """The file and the hash of a strategy that is given chunks; None: it is another one."""
    match = _LABEL.fullmatch(label)
    return (match[1], match[2]) if match else None


def shown_label(label: str) -> str:
    """Chunks of a file go by its name; that they are these very ones is in the configuration."""
    return _LABEL.sub(lambda match: match[1], label)


def chunks_name(chunks: ChunksSource) -> str:
    """The file, or what stands for it."""
    return os.fspath(chunks) if isinstance(chunks, str | os.PathLike) else _GIVEN


@contextmanager
def few_bad_rows(name: str, on_bad: OnBadRow | None) -> Iterator[OnBadRow]:
    """What takes lines about the rows of one file and passes on the first ten, then how many more there are.

    Without `on_bad` they are warnings.
    """
    tell: Callable[[str], None] = on_bad or warn_user
    count = 0

    def row(line: str) -> None:
        nonlocal count
        count += 1
        if count <= _ROWS_TOLD:
            tell(line)

    yield row
    if count > _ROWS_TOLD:
        tell(f"{name}: and {counted(count - _ROWS_TOLD, 'more row')}")


class _ChunkRow(NamedTuple):
    where: str
    said: StatedPlace
    context: str
    parent: Span | None = None
    id: str = ""


def read_chunks(
    chunks: ChunksSource, documents: Sequence[Document], on_bad: OnBadRow
) -> ExistingChunks:
    """Every row with what its offsets are worth, and where its text really is.

    A text that does not stand at its offsets is sought in its document: exactly, from the previous chunk on, then
    anywhere; then but for white space, quotes and dashes, case and Markdown's marks. A row without a place is a line
    to `on_bad`; it is kept, since its offsets are judged all the same.
    """
    rows: list[_ChunkRow] = []
    unread: list[str] = []
    summaries = 0
    path = chunks_name(chunks)
    for where, fields in _rows(chunks, on_bad):
        if integer_in(fields, "level"):
            summaries += 1
            continue
        place = stated_place(fields)
        if place.text is None and (place.start is None or place.end is None):
            why = wrong_offset(fields) or "neither a text nor offsets"
            unread.append(f"{where}: {why}; a chunk has text, or start and end")
            on_bad(unread[-1])
        else:
            context = string_in(fields, "context") or ""
            id = stated_id(fields).id or ""
            rows.append(_ChunkRow(where, place, context, _parent(fields), id))
    if summaries:
        on_bad(f"{path}: skipped {counted(summaries, 'summary')}, which have no span")
    if not rows:
        where = "no chunk was given" if path == _GIVEN else f"no chunk in {path}"
        if unread:
            where = "no chunk given" if path == _GIVEN else where
            more = f"; and {thousands(len(unread) - 1)} more" if len(unread) > 1 else ""
            raise ChunkwiseError(f"{where} can be read: {unread[0]}{more}")
        raise ChunkwiseError(f"{where}; expected records with text and document")
    number = _documents_of(rows, documents)
    claimed = [
        StatedChunk(documents[n].id if isinstance(n, int) else "", *row.said[1:4])
        for row, n in zip(rows, number, strict=True)
    ]
    verdicts = positions(claimed, documents)
    placed = _placed(rows, number, verdicts, documents)
    problems = [
        f"{row.where}: {n if isinstance(n, str) else _why(row.said, verdict)}"
        for row, n, chunk, verdict in zip(rows, number, placed, verdicts, strict=True)
        if chunk.place is None
    ]
    for problem in problems:
        on_bad(problem)
    return ExistingChunks(path, tuple(placed), verdicts, tuple(problems))


def _rows(chunks: ChunksSource, on_bad: OnBadRow) -> Iterator[FileRow]:
    if isinstance(chunks, str | os.PathLike):
        yield from read_rows(os.fspath(chunks), on_bad, _LISTS)
        return
    for number, chunk in enumerate(chunks, 1):
        if isinstance(chunk, Chunk):
            parent = chunk.parent
            yield FileRow(f"chunk {chunk.id}", {
                "id": chunk.id, "doc_id": chunk.doc_id, "start": chunk.start, "end": chunk.end, "text": chunk.text,
                "context": chunk.context, "level": chunk.level,
                "parent_start": parent and parent.start, "parent_end": parent and parent.end,
            })  # fmt: skip
        elif isinstance(chunk, Mapping):
            yield FileRow(f"chunk {number}", dict(chunk))
        elif isinstance(chunk, str) or isinstance(result := record_of_object(chunk), str):
            raise InvalidParameter(
                f"chunk {number} is {type(chunk).__name__}; expected a Chunk, a row with "
                "document, start and end, a row with text, or another library's chunk (for a "
                "file, pass its path)"
            )
        else:
            yield FileRow(f"chunk {number}", result)


def _parent(fields: Mapping[str, object]) -> Span | None:
    start, end = integer_in(fields, "parent_start"), integer_in(fields, "parent_end")
    return None if start is None or end is None else Span(start, end)


def _documents_of(rows: Sequence[_ChunkRow], documents: Sequence[Document]) -> list[int | str]:
    """The number of each row's document, by its name, or by its text where it names none; or why there is none."""
    names = DocumentNames(documents)
    nameless = [row.said.text for row in rows if not row.said.names and row.said.text]
    places = find_texts(nameless, documents) if len(documents) != 1 else {}
    result: list[int | str] = []
    last = 0
    for row in rows:
        meant = document_of(row.said, names)
        if meant is None and len(documents) != 1:
            of_text = places.get(row.said.text or "")
            meant = _NOWHERE if of_text is None else _by_text(of_text, row.said.start, last)
            last = meant if isinstance(meant, int) else last
        result.append(0 if meant is None else meant)
    return result


def _by_text(places: TextPlaces, start: int | None, last: int) -> int:
    """The document that has the text at the offset, else anywhere; the previous row's where it is one of them."""
    there = places.document[places.start == start]
    among = there if len(there) else places.document
    return last if last in among else int(among[0])


def _placed(
    rows: Sequence[_ChunkRow],
    number: Sequence[int | str],
    verdicts: Sequence[PositionVerdict],
    documents: Sequence[Document],
) -> list[ExistingChunk]:
    lost = [
        (n, row.said.text)
        for row, n, verdict in zip(rows, number, verdicts, strict=True)
        if isinstance(n, int) and row.said.text and verdict.place is None
    ]
    places = find_in_own(lost, documents)
    behind: dict[int, int] = {}
    chunks = []
    for row, n, verdict in zip(rows, number, verdicts, strict=True):
        place = verdict.place
        if isinstance(n, str):
            chunks.append(ExistingChunk(row.where, "", None, row.context))
            continue
        if place is None and (result := places.get((n, row.said.text or ""))):
            place = Span(*result.next_from(behind.get(n, 0)))
        if place is not None:
            behind[n] = place.start + 1
        parent = (
            row.parent if place is not None and _holds(row.parent, place, documents[n]) else None
        )
        chunks.append(ExistingChunk(row.where, documents[n].id, place, row.context, parent, row.id))
    return chunks


def _holds(parent: Span | None, place: Span, document: Document) -> bool:
    """Whether it is a place of the document that has the chunk in it."""
    return (
        parent is not None
        and 0 <= parent.start <= place.start
        and place.end <= parent.end <= len(document.text)
    )


def _why(place: StatedPlace, verdict: PositionVerdict) -> str:
    if place.text:
        return "its text isn't in the document, so it can't be searched"
    return f"its offsets ({verdict.detail}) aren't a span of the document, and it has no text"
