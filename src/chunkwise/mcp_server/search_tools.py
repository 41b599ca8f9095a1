"""The tools that retrieve, read and chunk: `search`, `read`, `chunk`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import BeforeValidator, Field

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers import get_strategy
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY, chunk_document
from chunkwise.core import Document, Hit
from chunkwise.documents import InputReader
from chunkwise.documents.formats.markdown import looks_like_markdown
from chunkwise.mcp_server.fenced_text import (
    MOST_CHARACTERS,
    Quotation,
    TextBudget,
    ToolAnswer,
    answer_text,
    as_data,
    as_line,
    quoted,
    shown_id,
    word_end,
)
from chunkwise.mcp_server.workspace import ToolCall, Workspace
from chunkwise.options import SearchOptions
from chunkwise.retrieval import Index
from chunkwise.retrieval.filters import Filter, no_such_document
from chunkwise.retrieval.search.unmatched_words import unmatched_told, unmatched_words
from chunkwise.studio.documents import requested_strategy

DOCUMENTS = "chunkwise://documents/"
"""Start of the URI of a document."""
DEFAULT_BUDGET = 1_000
_DEFAULT_SPAN = 4_000
"""Characters that are read without an end."""
_MAX_SENTENCE = 1_000
"""Characters that a sentence at the edge of a span may add."""
_MAX_PLACES = 20
"""Places listed of a summary, which may be of all documents."""
_MAX_PROBLEMS = 20


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Strings = Annotated[list[str], BeforeValidator(_listed)]
"""Assistants often write one string instead of a list of one."""
Query = Annotated[
    str,
    Field(min_length=1, max_length=10_000, pattern=r"\S", description="the question"),
]
StrategySpec = Annotated[
    str, Field(description='chunking strategy with its parameters, "sentences(max_tokens=200)"')
]


def document_uri(id: str) -> str:
    """The URI of a document as a resource."""
    return DOCUMENTS + quote(id, safe="", errors="surrogatepass")


@dataclass(frozen=True)
class SummarizedPlace:
    """One of the places that a summary was made from."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True)
class FoundPassage:
    """A span of a document: characters `start` to `end` of its text."""

    number: int
    doc_id: str
    title: str
    section: str
    start: int
    end: int
    page: int | None
    rank: int
    score: float
    token_count: int
    text: str
    """As in the document, without control characters and with models' special tokens split."""
    resource: str
    """The URI of its document."""
    places: tuple[SummarizedPlace, ...] = ()
    """Of a summary, the first places it is made from: `text` is then not a text of a document."""
    places_left_out: int = 0


@dataclass(frozen=True)
class SearchAnswer:
    """The passages in reading order."""

    query: str
    passages: tuple[FoundPassage, ...]
    token_count: int
    left_out: int
    """Passages that exceed the size of one answer."""
    note: str


def search(
    workspace: Workspace,
    call: ToolCall,
    query: Query,
    options: SearchOptions = SearchOptions(),
) -> ToolAnswer[SearchAnswer]:
    """Find the passages that answer a question: the best sentences within a token budget, or the k best chunks.

    Each passage has the id of its document and its characters, for citations and for `read`.
    """
    with workspace.index(call) as index:
        options = options.filled_from(index.settings.search)
        if options.budget is None and options.k is None:
            options = options.override(budget=DEFAULT_BUDGET)
        _check_documents(index, Filter.of(options))
        hits = index.search(query, options=options)
        note = "" if hits else _nothing_found(index, query)
    passages = tuple(found_passages(hits))
    answer = SearchAnswer(
        as_line(query), passages, sum(passage.token_count for passage in passages),
        len(hits) - len(passages), note,
    )  # fmt: skip
    return ToolAnswer(_search_text(answer, options.budget), answer)


def _check_documents(index: Index, only: Filter) -> None:
    """A name that fits nothing is more often a slip than a wish."""
    if only.documents:
        ids = index.source.ids()
        if not any(map(only.takes_document, ids)):
            raise InvalidParameter(no_such_document(only, [*map(shown_id, ids[:1])]))


def _nothing_found(index: Index, query: str) -> str:
    source = index.source
    documents = (source.document(number) for number in source.document_numbers())
    unmatched = unmatched_told(unmatched_words(source, source.languages, query, documents))
    return f"no hits{': ' + as_line(unmatched) if unmatched else ''}"


def found_passages(hits: Sequence[Hit]) -> Iterator[FoundPassage]:
    """The hits in order, as far as one answer has room."""
    budget = TextBudget()
    for number, hit in enumerate(hits, 1):
        text, is_whole = budget.cut(as_data(hit.shown))
        if not is_whole:
            return
        places = hit.places if hit.level else ()
        shown = tuple(
            SummarizedPlace(shown_id(place.doc_id), place.start, place.end)
            for place in places[:_MAX_PLACES]
        )
        yield FoundPassage(
            number, shown_id(hit.doc_id), as_line(hit.document.title), as_line(hit.section_path), hit.start, hit.end,
            hit.page, hit.rank, round(hit.score, 6), hit.token_count, text, document_uri(hit.doc_id),
            shown, len(places) - len(shown),
        )  # fmt: skip


def passage_blocks(passages: Iterable[FoundPassage]) -> list[str]:
    """Each passage with its place, between marks."""
    return quoted(
        [Quotation(described_passage(passage), "passage", passage.number) for passage in passages]
    )


def described_passage(passage: FoundPassage) -> str:
    """Names and headings are the documents' own words, too: they belong between the marks."""
    more = passage.places_left_out
    places = [f"{place.doc_id} {place.start} to {place.end}" for place in passage.places]
    head = [
        f"document: {passage.doc_id}",
        f"title: {passage.title}" if passage.title else "",
        f"section: {passage.section}" if passage.section else "",
        f"page: {passage.page}" if passage.page is not None else "",
        f"summary of: {'; '.join([*places, *([f'{more} more'] if more else [])])}"
        if places
        else f"characters: {passage.start} to {passage.end}",
    ]
    return "\n".join([*filter(None, head), "---", passage.text])


def _search_text(answer: SearchAnswer, budget: int | None) -> str:
    if not answer.passages:
        return answer.note or "the passages don't fit; request fewer"
    summary = f"{counted(len(answer.passages), 'passage')}, {counted(answer.token_count, 'token')}"
    summary += f" within a budget of {thousands(budget)}" if budget is not None else ""
    if answer.left_out:
        summary += (
            f"; {thousands(answer.left_out)} more omitted for length: request fewer, or set a "
            f"budget"
        )
    hint = "To see the text around a passage, call `read` with its document, start and end."
    return answer_text(*passage_blocks(answer.passages), f"{summary}. {hint}")


@dataclass(frozen=True)
class ReadAnswer:
    """A span of a document with the text before and after it."""

    doc_id: str
    title: str
    start: int
    end: int
    length: int
    """Of the whole document, in characters."""
    page: int | None
    before: str
    text: str
    after: str
    next_start: int | None
    """Where to continue; None: the document ends here."""
    resource: str


def read(
    workspace: Workspace,
    call: ToolCall,
    document: Annotated[str, Field(description="the document id returned by `search`")],
    start: Annotated[int, Field(ge=0, description="start offset, from 0")] = 0,
    end: Annotated[
        int | None, Field(ge=0, description="end offset; default: start + 4,000")
    ] = None,
    around: Annotated[
        int,
        Field(
            ge=0,
            le=5_000,
            description="context characters on each side, extended to whole sentences",
        ),
    ] = 300,
) -> ToolAnswer[ReadAnswer]:
    """Read a span of a document of the index with the text before and after it.

    A long document is read in several calls, each from the `next_start` of the last.
    """
    with workspace.index(call) as index:
        number, result = workspace.document(index, document)
        atoms = index.source.atoms(number)
    text = result.text
    end = word_end(text, start + _DEFAULT_SPAN) if end is None else end
    if start > len(text) or end < start:
        raise InvalidParameter(
            f"the span is {thousands(start)} to {thousands(end)}; "
            f"the document has the characters 0 to {thousands(len(text))}"
        )
    # A single sentence may be as long as a book.
    most = around + _MAX_SENTENCE if around else 0
    end = min(end, len(text), start + MOST_CHARACTERS - 2 * most)
    low, high = max(0, start - around), end + around
    if len(atoms.start):  # up to the ends of the sentences
        low = int(atoms.start[max(0, int(atoms.start.searchsorted(low, "right")) - 1)])
        high = int(atoms.end[min(len(atoms.end) - 1, int(atoms.end.searchsorted(high)))])
    low = min(start, max(low, start - most, 0))
    high = max(end, min(high, end + most, len(text)))
    before, inside, after = (
        as_data(part) for part in (text[low:start], text[start:end], text[end:high])
    )
    answer = ReadAnswer(
        shown_id(result.id), as_line(result.title), start, end, len(text), result.page(start), before, inside, after,
        end if end < len(text) else None, document_uri(result.id),
    )  # fmt: skip
    parts = ((before, "before"), (inside, "passage"), (after, "after"))
    head = Quotation(f"{answer.doc_id}\n{answer.title}".strip(), "document")
    shown = quoted([head, *(Quotation(part, name) for part, name in parts if part)])
    place = f"characters {thousands(start)} to {thousands(end)} of {thousands(len(text))}"
    more = f"; continue with start={end}" if answer.next_start is not None else ""
    return ToolAnswer(answer_text(*shown, f"{place}{more}."), answer)


@dataclass(frozen=True)
class ShownChunk:
    """A chunk: characters `start` to `end` of its document's text."""

    number: int
    doc_id: str
    section: str
    start: int
    end: int
    token_count: int
    text: str


@dataclass(frozen=True)
class ChunkAnswer:
    """The chunks of a text."""

    strategy: str
    count: int
    """Of all chunks, shown or not."""
    token_count: int
    chunks: tuple[ShownChunk, ...]
    left_out: int
    problems: tuple[str, ...]


def chunk(
    workspace: Workspace,
    call: ToolCall,
    text: Annotated[str, Field(description="the text to chunk")] = "",
    document: Annotated[str, Field(description="or the id of a document in the index")] = "",
    path: Annotated[str, Field(description="or a file in the project folder")] = "",
    strategy: StrategySpec = DEFAULT_STRATEGY,
    most: Annotated[int, Field(ge=1, le=500, description="maximum chunks to show")] = 50,
) -> ToolAnswer[ChunkAnswer]:
    """Show how a strategy cuts a text, a document of the index or a file in the project folder; nothing is stored."""
    if sum(map(bool, (text, document, path))) != 1:
        raise InvalidParameter("give one of text, document and path")
    problems: list[str] = []
    if text:
        kind = "markdown" if looks_like_markdown(text) else "text"
        documents = [Document("text", text, format=kind)]
    elif document:
        with workspace.index(call) as index:
            documents = [workspace.document(index, document)[1]]
    else:
        documents = list(_documents_of(workspace, path, call, problems))
    if not documents:
        raise ChunkwiseError(problems[0] if problems else f"{as_line(path)!r} has no text")
    size = sum(len(one.text) for one in documents)
    cutter = (
        get_strategy(strategy)
        if strategy == DEFAULT_STRATEGY
        else requested_strategy(strategy, size)
    )
    chunks: list[ShownChunk] = []
    count = tokens = 0
    budget = TextBudget()
    with call.stages("chunking", len(documents)) as advance:
        for one in documents:
            for piece in chunk_document(one, cutter):
                count, tokens = count + 1, tokens + piece.token_count
                if len(chunks) < most and count == len(chunks) + 1:
                    shown, is_whole = budget.cut(as_data(piece.text))
                    if is_whole:
                        chunks.append(
                            ShownChunk(count, shown_id(one.id), as_line(piece.section_path), piece.start, piece.end,
                                       piece.token_count, shown)
                        )  # fmt: skip
            advance(1, one.id)
    answer = ChunkAnswer(
        cutter.label, count, tokens, tuple(chunks), count - len(chunks),
        tuple(map(as_line, problems[:_MAX_PROBLEMS])),
    )  # fmt: skip
    return ToolAnswer(_chunk_text(answer), answer)


def _documents_of(
    workspace: Workspace, path: str, call: ToolCall, problems: list[str]
) -> Iterator[Document]:
    place = workspace.path(path)
    if not place.is_file():
        raise InvalidParameter(f"{as_line(path)!r} is a folder; expected a file")
    for outcome in InputReader([str(place)], workspace.loading(place)).documents():
        call.check()
        if isinstance(outcome, UnreadableDocument):
            problems.append(f"{place.name}: {outcome.reason}")
        else:
            yield replace(outcome, id=workspace.shown(outcome.source))


def _chunk_text(answer: ChunkAnswer) -> str:
    blocks = []
    for piece in answer.chunks:
        section = [f"section: {piece.section}"] if piece.section else []
        place = f"characters: {piece.start} to {piece.end}, {counted(piece.token_count, 'token')}"
        lines = [f"document: {piece.doc_id}", *section, place, "---", piece.text]
        blocks.append(Quotation("\n".join(lines), "chunk", piece.number))
    summary = f"{answer.strategy}: {counted(answer.count, 'chunk')}, {counted(answer.token_count, 'token')}"
    left = f"; {thousands(answer.left_out)} not shown" if answer.left_out else ""
    return answer_text(*quoted(blocks), *answer.problems, f"{summary}{left}.")
