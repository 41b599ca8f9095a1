"""The tools that find, read and cut: `search`, `read`, `chunk`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnreadableDocument
from chunkwise.base.parameters import param
from chunkwise.base.wording import counted, one_or_many, thousands
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.chunkers.chunk import DEFAULT_STRATEGY, chunk_document
from chunkwise.core import Document, Hit
from chunkwise.documents import InputReader
from chunkwise.documents.formats.markdown import looks_like_markdown
from chunkwise.mcp_server.fenced_text import (
    MOST_CHARACTERS,
    NOTICE,
    Quotation,
    TextBudget,
    answer_text,
    as_data,
    as_line,
    quoted,
    shown_id,
)
from chunkwise.mcp_server.tool import (
    WHERE,
    AssistantTool,
    ToolAnswer,
    retriever_param,
    strategy_param,
)
from chunkwise.mcp_server.workspace import ToolCall, Workspace
from chunkwise.retrieval import Index
from chunkwise.retrieval.filters import Filter, no_such_document
from chunkwise.retrieval.search.unmatched_words import unmatched_told, unmatched_words
from chunkwise.studio.documents import requested_strategy

DOCUMENTS = "chunkwise://documents/"
"""What the address of a document begins with."""
USUAL_BUDGET = 1_000
_USUAL_SPAN = 4_000
"""Characters that are read where no end is named."""
_LONGEST_QUESTION = 10_000
_LONGEST_SENTENCE = 1_000
"""Characters that a sentence at the edge of a span may add."""
_MOST_CHUNKS = 500


def document_address(id: str) -> str:
    """The address of a document as a resource."""
    return DOCUMENTS + quote(id, safe="", errors="surrogatepass")


@dataclass(frozen=True, kw_only=True)
class SearchArguments:
    """A question, how much is handed out, and in which part of the index it is looked for."""

    query: str = param("", "the question, in words")
    budget: int | None = param(
        None,
        f"most tokens of all passages together; {thousands(USUAL_BUDGET)} where k is not given either",
        low=1, high=20_000,
    )  # fmt: skip
    k: int | None = param(None, "most passages", low=1, high=100)
    where: tuple[str, ...] = param((), WHERE)
    documents: tuple[str, ...] = param((), "ids of documents, or patterns such as handbook/*.md")
    sections: tuple[str, ...] = param((), "words of a heading above the passages")
    retriever: str = retriever_param()


@dataclass(frozen=True, slots=True)
class SummarisedPlace:
    """One of the places that a summary was made from."""

    doc_id: str
    start: int
    end: int


_MOST_PLACES = 20
"""Of a summary that are told: it may be of all documents."""


@dataclass(frozen=True, slots=True)
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
    """Without control characters, and with words split that models take for their own marks; else as it stands."""
    resource: str
    """The address of its document."""
    places: tuple[SummarisedPlace, ...] = ()
    """Of a summary, what it stands for, the first of them: `text` is then no text of a document."""
    places_left_out: int = 0


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The passages, in the order in which they are read."""

    query: str
    passages: tuple[FoundPassage, ...]
    token_count: int
    left_out: int
    """Passages for which there was no room in one answer."""
    note: str


def search(workspace: Workspace, request: SearchArguments, call: ToolCall) -> ToolAnswer:
    """Within a budget the best sentences, else the best chunks."""
    query = str(request.query)
    if not query.strip() or len(query) > _LONGEST_QUESTION:
        raise InvalidParameter(
            f"query has {counted(len(query), 'character')}; a question of 1 to {thousands(_LONGEST_QUESTION)} is needed"
        )
    budget = USUAL_BUDGET if request.budget is None and request.k is None else request.budget
    only = Filter(request.documents, request.sections, where=request.where)  # type: ignore[arg-type]
    with workspace.index(call) as index:
        _check_documents(index, only)
        hits = index.search(
            query, k=request.k, budget=budget, retriever=request.retriever or None, only=only
        )
        note = "" if hits else _nothing(index, query)
    passages = list(_passages(hits))
    found = SearchAnswer(
        as_line(query), tuple(passages), sum(each.token_count for each in passages),
        len(hits) - len(passages), note,
    )  # fmt: skip
    return ToolAnswer(_search_text(found, budget), found)


def _check_documents(index: Index, only: Filter) -> None:
    """A name that fits nothing is a slip more often than a wish."""
    if not only.documents:
        return
    ids = index.source.ids()
    if not any(map(only.takes_document, ids)):
        raise InvalidParameter(no_such_document(only, [*map(shown_id, ids[:1])]))


def _nothing(index: Index, query: str) -> str:
    source = index.source
    every = (source.document(number) for number in source.document_numbers())
    told = unmatched_told(unmatched_words(source, source.languages, query, every))
    return f"nothing was found{': ' + as_line(told) if told else ''}"


def _passages(hits: Sequence[Hit]) -> Iterator[FoundPassage]:
    budget = TextBudget()
    for number, hit in enumerate(hits, 1):
        text, is_whole = budget.cut(as_data(hit.shown))
        if not is_whole:
            return
        places = hit.places if hit.level else ()
        told = tuple(
            SummarisedPlace(shown_id(each.doc_id), each.start, each.end)
            for each in places[:_MOST_PLACES]
        )
        yield FoundPassage(
            number, shown_id(hit.doc_id), as_line(hit.document.title), as_line(hit.section_path), hit.start, hit.end,
            hit.page, hit.rank, round(hit.score, 6), hit.token_count, text, document_address(hit.doc_id),
            told, len(places) - len(told),
        )  # fmt: skip


def _search_text(found: SearchAnswer, budget: int | None) -> str:
    if not found.passages:
        return found.note or "there is no room for the passages that were found; ask for fewer"
    blocks = quoted(
        [Quotation(_described(each), "passage", each.number) for each in found.passages]
    )
    told = f"{counted(len(found.passages), 'passage')}, {counted(found.token_count, 'token')}"
    told += f" within a budget of {thousands(budget)}" if budget is not None else ""
    if found.left_out:
        told += f"; {thousands(found.left_out)} more had no room: ask for fewer, or with a budget"
    return answer_text(
        *blocks,
        f"{told}. `read` shows what stands around a passage: give its document, start and end.",
    )


def _described(passage: FoundPassage) -> str:
    """Names and headings are the documents' own words, too: they stand between the marks."""
    head = [
        f"document: {passage.doc_id}",
        f"title: {passage.title}" if passage.title else "",
        f"section: {passage.section}" if passage.section else "",
        f"page: {passage.page}" if passage.page is not None else "",
        f"characters: {passage.start} to {passage.end}" if not passage.places else "",
        f"summary of: {_summarised(passage)}" if passage.places else "",
    ]
    return "\n".join([*filter(None, head), "---", passage.text])


def _summarised(passage: FoundPassage) -> str:
    told = "; ".join(f"{each.doc_id} {each.start} to {each.end}" for each in passage.places)
    more = passage.places_left_out
    return f"{told}; {counted(more, 'more place')}" if more else told


@dataclass(frozen=True, kw_only=True)
class ReadArguments:
    """A span of a document, and how much around it."""

    document: str = param("", "the id of the document, as `search` gives it")
    start: int = param(0, "where to begin, in characters from 0", low=0, high=10**9)
    end: int | None = param(
        None,
        f"where to end; none: {counted(_USUAL_SPAN, 'character')} further on",
        low=0,
        high=10**9,
    )
    around: int = param(
        300, "characters before and behind it that are given, too, up to whole sentences", low=0, high=5_000
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """A span of a document with what stands before and behind it."""

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
    """Where to go on; None: the document ends here."""
    resource: str


def read(workspace: Workspace, request: ReadArguments, call: ToolCall) -> ToolAnswer:
    """The text as it stands in the index, not as a file may be by now."""
    with workspace.index(call) as index:
        number, document = workspace.document(index, str(request.document))
        atoms = index.source.atoms(number)
    text, start = document.text, request.start
    end = start + _USUAL_SPAN if request.end is None else request.end
    if start > len(text) or end < start:
        raise InvalidParameter(
            f"the span is {thousands(start)} to {thousands(end)}; "
            f"the document has the characters 0 to {thousands(len(text))}"
        )
    around = request.around
    # A single sentence may be as long as a book.
    most = around + _LONGEST_SENTENCE if around else 0
    end = min(end, len(text), start + MOST_CHARACTERS - 2 * most)
    low, high = _widened(atoms.start, atoms.end, max(0, start - around), end + around)
    low = min(start, max(low, start - most, 0))
    high = max(end, min(high, end + most, len(text)))
    before, inside, after = (
        as_data(part) for part in (text[low:start], text[start:end], text[end:high])
    )
    found = ReadAnswer(
        shown_id(document.id), as_line(document.title), start, end, len(text), document.page(start), before, inside,
        after, end if end < len(text) else None, document_address(document.id),
    )  # fmt: skip
    parts = ((before, "before"), (inside, "passage"), (after, "after"))
    head = Quotation(f"{found.doc_id}\n{found.title}".strip(), "document")
    shown = [Quotation(each, name) for each, name in parts if each]
    told = f"characters {thousands(start)} to {thousands(end)} of {thousands(len(text))}"
    more = f"; it goes on at start={end}" if found.next_start is not None else ""
    return ToolAnswer(answer_text(*quoted([head, *shown]), f"{told}{more}."), found)


def _widened(
    starts: np.ndarray[tuple[int], np.dtype[np.int64]],
    ends: np.ndarray[tuple[int], np.dtype[np.int64]],
    low: int,
    high: int,
) -> tuple[int, int]:
    """A stretch of a text up to the ends of the sentences it begins and ends in."""
    if not len(starts):
        return low, high
    first = max(0, int(starts.searchsorted(low, "right")) - 1)
    last = min(len(ends) - 1, int(ends.searchsorted(high)))
    return int(starts[first]), int(ends[last])


@dataclass(frozen=True, kw_only=True)
class ChunkArguments:
    """A text, a document of the index or a file of the project; and what cuts it."""

    text: str = param("", "the text itself")
    document: str = param("", "or the id of a document of the index")
    path: str = param("", "or a file of the project folder")
    strategy: str = strategy_param()
    most: int = param(50, "chunks that are shown", low=1, high=_MOST_CHUNKS)


@dataclass(frozen=True, slots=True)
class CutChunk:
    """A chunk: characters `start` to `end` of its document's text."""

    number: int
    doc_id: str
    section: str
    start: int
    end: int
    token_count: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunkAnswer:
    """How a text is cut."""

    strategy: str
    count: int
    """Of all chunks, shown or not."""
    token_count: int
    chunks: tuple[CutChunk, ...]
    left_out: int
    problems: tuple[str, ...]


def chunk(workspace: Workspace, request: ChunkArguments, call: ToolCall) -> ToolAnswer:
    """Nothing is kept."""
    given = [name for name in ("text", "document", "path") if getattr(request, name)]
    if len(given) != 1:
        said = " and ".join(given) if given else "none of them"
        raise InvalidParameter(f"give one of text, document and path; {said} is given")
    problems: list[str] = []
    documents = list(_documents(workspace, request, call, problems))
    if not documents:
        raise ChunkwiseError(
            problems[0] if problems else f"{as_line(str(request.path))!r} has no text"
        )
    strategy = _strategy(request.strategy, sum(len(each.text) for each in documents))
    chunks: list[CutChunk] = []
    count = tokens = 0
    budget = TextBudget()
    with call.stages("cutting", len(documents)) as advance:
        for document in documents:
            for each in chunk_document(document, strategy):
                count, tokens = count + 1, tokens + each.token_count
                if len(chunks) < request.most and count == len(chunks) + 1:
                    text, is_whole = budget.cut(as_data(each.text))
                    if is_whole:
                        chunks.append(
                            CutChunk(count, shown_id(document.id), as_line(each.section_path), each.start, each.end,
                                     each.token_count, text)
                        )  # fmt: skip
            advance(1, document.id)
    found = ChunkAnswer(
        strategy.label, count, tokens, tuple(chunks), count - len(chunks), tuple(map(as_line, problems[:20]))
    )  # fmt: skip
    return ToolAnswer(_chunk_text(found), found)


def _documents(
    workspace: Workspace, request: ChunkArguments, call: ToolCall, problems: list[str]
) -> Iterator[Document]:
    if request.text:
        text = str(request.text)
        yield Document("text", text, format="markdown" if looks_like_markdown(text) else "text")
    elif request.document:
        with workspace.index(call) as index:
            yield workspace.document(index, str(request.document))[1]
    else:
        place = workspace.path(str(request.path))
        if not place.is_file():
            raise InvalidParameter(f"{as_line(str(request.path))!r} is a folder; name a file")
        for each in InputReader([str(place)], workspace.loading(place)).documents():
            call.check()
            if isinstance(each, UnreadableDocument):
                problems.append(f"{place.name}: {each.reason}")
            else:
                yield each


def _strategy(named: str, characters: int) -> Strategy:
    return requested_strategy(named, characters) if named else get_strategy(DEFAULT_STRATEGY)


def _chunk_text(found: ChunkAnswer) -> str:
    shown = [
        Quotation(
            "\n".join(
                [f"document: {each.doc_id}", *([f"section: {each.section}"] if each.section else []),
                 f"characters: {each.start} to {each.end}, {counted(each.token_count, 'token')}", "---", each.text]
            ), "chunk", each.number,
        )
        for each in found.chunks
    ]  # fmt: skip
    told = (
        f"{found.strategy}: {counted(found.count, 'chunk')}, {counted(found.token_count, 'token')}"
    )
    are = one_or_many(found.left_out, "is", "are")
    left = f"; {thousands(found.left_out)} of them {are} not shown" if found.left_out else ""
    return answer_text(*quoted(shown), *found.problems, f"{told}{left}.")


RETRIEVING = (
    AssistantTool(
        "search", "Search the documents",
        "Find the passages that answer a question, in the documents of the index: the best sentences within a budget "
        "of tokens, or the k best chunks. Each passage has the id of its document and its place in characters, for "
        f"citations and for `read`. {NOTICE}",
        SearchArguments, SearchAnswer, search,
    ),
    AssistantTool(
        "read", "Read a document",
        "Read a span of a document of the index with what stands before and behind it; a long document is read in "
        f"several calls, each from the `next_start` of the last. {NOTICE}",
        ReadArguments, ReadAnswer, read,
    ),
    AssistantTool(
        "chunk", "Cut a text into chunks",
        "Show how a strategy cuts a text, a document of the index or a file of the project folder. Nothing is kept. "
        f"{NOTICE}",
        ChunkArguments, ChunkAnswer, chunk,
    ),
)  # fmt: skip
