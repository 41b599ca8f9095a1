"""What the studio says of documents: the list, one of them, and how a strategy cuts it, band by band."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np
from msgspec import Meta

from chunkwise.base import spec
from chunkwise.base.errors import InvalidParameter, NotAllowed
from chunkwise.base.wording import counted, thousands
from chunkwise.chunkers import Strategy, describe_strategies, get_strategy
from chunkwise.core import SECTION_SEPARATOR, Chunk, Document
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.report.lint_report import kind_name
from chunkwise.report.sanitize import one_line
from chunkwise.report.view import View
from chunkwise.studio.corpus import Cuts, DocumentRow, needs_a_model
from chunkwise.studio.project import Project, Step
from chunkwise.studio.read_request import ApiRequest, NoParameters, Position
from chunkwise.text.analyzed import Analyzed

MOST_ROWS = 500
MOST_BANDS = 40
_MOST_HEADINGS = 1_000
_SLOW_CHARACTERS = 200_000
"""Of a document that a strategy with a model may cut while somebody waits."""
_MOST_CHUNKS = 50_000
_MOST_CHARACTERS = 20_000_000
"""Of the chunks of one document, which repeat what they share."""
Tokenizer = Literal["o200k_base", "cl100k_base", "words", "characters"]

Order = Callable[[DocumentRow], Any]
_ORDERS: dict[str, Order] = {
    "place": lambda row: row.number,
    "name": lambda row: (row.title or row.id).casefold(),
    "size": lambda row: -row.characters,
    "language": lambda row: row.language,
    "format": lambda row: row.format,
    # What is not counted yet comes last.
    "sections": lambda row: 1 if row.sections is None else -row.sections,
    "issues": lambda row: 1 if row.bad_cuts is None else -row.bad_cuts,
}


@dataclass(frozen=True, slots=True)
class StateView(View):
    """How far reading and indexing are, and what could not be read."""

    title: str
    working: bool
    documents: int
    runs: int
    can_search: bool
    has_vectors: bool
    steps: tuple[Step, ...]
    problems: tuple[str, ...]
    """The first of them."""
    problem_count: int


def state(project: Project, _: NoParameters) -> StateView:
    index = project.index
    return StateView(
        project.title,
        project.working,
        len(project.corpus),
        len(project.runs),
        index is not None,
        index is not None and index.settings.vectors != "none",
        tuple(project.steps),
        tuple(project.problems),
        project.problem_count,
    )


class DocumentsRequest(ApiRequest, frozen=True):
    """Which rows of the list."""

    offset: Annotated[Position, Meta(description="first row")] = 0
    count: Annotated[int, Meta(ge=1, le=MOST_ROWS, description="number of rows")] = 100
    find: Annotated[str, Meta(description="words of id or title")] = ""
    format: Annotated[str, Meta(description="format")] = ""
    language: Annotated[str, Meta(description="language")] = ""
    sort: Annotated[
        Literal["place", "name", "size", "language", "format", "sections", "issues"],
        Meta(description="sort order"),
    ] = "place"
    backwards: Annotated[bool, Meta(description="descending")] = False


@dataclass(frozen=True, slots=True)
class DocumentsView(View):
    """A part of the list of documents."""

    total: int
    matching: int
    offset: int
    strategy: str
    """By which issues are counted."""
    rows: tuple[DocumentRow, ...]
    formats: tuple[str, ...]
    """All that there are, the most frequent first."""
    languages: tuple[str, ...]


def documents(project: Project, request: DocumentsRequest) -> DocumentsView:
    corpus = project.corpus
    words = request.find.casefold().split()
    rows = [
        row
        for row in list(corpus.rows)  # others are added meanwhile
        if request.format in ("", row.format)
        and request.language in ("", row.language)
        and all(word in f"{row.id}\n{row.title}".casefold() for word in words)
    ]
    if request.sort != "place":
        rows.sort(key=_ORDERS[request.sort], reverse=request.backwards)
    elif request.backwards:
        rows.reverse()
    return DocumentsView(
        len(corpus), len(rows), request.offset, corpus.strategy.label,
        tuple(rows[request.offset : request.offset + request.count]),
        _by_frequency(corpus.formats), _by_frequency(corpus.languages),
    )  # fmt: skip


def _by_frequency(counts: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(value for value, _ in Counter(dict(counts)).most_common())


class DocumentRequest(ApiRequest, frozen=True):
    """Which document."""

    number: Annotated[Position, Meta(description="document, from 0")] = 0


@dataclass(frozen=True, slots=True)
class HeadingView:
    """A heading, and where it stands."""

    title: str
    level: int
    start: int


@dataclass(frozen=True, slots=True)
class DocumentView(View):
    """One document without its text: what it is, its headings, and the bands its text is asked for by."""

    row: DocumentRow
    source: str
    strategy: str
    """What cuts it as long as nothing is chosen."""
    bands: tuple[int, ...]
    """Where each band of text begins, and where the last one ends, in code points."""
    headings: tuple[HeadingView, ...]
    more_headings: int
    has_boxes: bool
    """Whether places on pages are known: those of a PDF."""


def document(project: Project, request: DocumentRequest) -> DocumentView:
    result = project.corpus.document(request.number)
    sections = project.corpus.analyzed(request.number).sections
    starts = sections.start.tolist()
    headings = [
        HeadingView(one_line(path[-1], 120), len(path), start)
        for path, start in zip(sections.paths, starts, strict=True)
        if path
    ]
    return DocumentView(
        project.corpus.rows[request.number],
        result.source,
        project.corpus.strategy.label,
        tuple(project.corpus.bands(request.number).tolist()),
        tuple(headings[:_MOST_HEADINGS]),
        max(len(headings) - _MOST_HEADINGS, 0),
        result.boxes is not None,
    )


class CutsRequest(ApiRequest, frozen=True):
    """Which document, what cuts it, and which part of its text is wanted."""

    number: Annotated[Position, Meta(description="document, from 0")] = 0
    strategy: Annotated[str, Meta(description="strategy")] = ""
    first: Annotated[Position, Meta(description="first band of text")] = 0
    count: Annotated[int, Meta(ge=0, le=MOST_BANDS, description="number of bands")] = 1
    near: Annotated[Position, Meta(description="where to look for issues from")] = 0


@dataclass(frozen=True, slots=True)
class BandChunk:
    """A chunk that has a part in a band."""

    place: int
    """Among the chunks of the document, in the order of the text."""
    start: int
    end: int
    size: int
    section: str


@dataclass(frozen=True, slots=True)
class BandIssue:
    """Something wrong at the edge of a chunk."""

    kind: int
    chunk: int
    offset: int


@dataclass(frozen=True, slots=True)
class BandView:
    """A part of the text, and what is cut there."""

    number: int
    start: int
    end: int
    text: str
    chunks: tuple[BandChunk, ...]
    issues: tuple[BandIssue, ...]


@dataclass(frozen=True, slots=True)
class IssueKind:
    """A kind of boundary issue, and how many cuts of the document are of it."""

    name: str
    help: str
    count: int


@dataclass(frozen=True, slots=True)
class SizeRange:
    """How many chunks have a size between two."""

    low: int
    high: int
    count: int


@dataclass(frozen=True, slots=True)
class DocumentCuts(View):
    """How a strategy cuts a document: figures of the whole, and the bands that were asked for."""

    strategy: str
    unit: str
    limit: int | None
    chunks: int
    median: int
    longest: int
    overlap: float
    """Characters in chunks for each character of the text that is in any."""
    bad_cuts: int
    kinds: tuple[IssueKind, ...]
    sizes: tuple[SizeRange, ...]
    density: tuple[tuple[int, int], ...]
    """Chunks and issues in each of a hundred equal parts of the text."""
    previous_issue: int | None
    """The last place with an issue before `near`; None: there is none."""
    next_issue: int | None
    bands: tuple[BandView, ...]


def document_cuts(project: Project, request: CutsRequest) -> DocumentCuts:
    corpus = project.corpus
    size = len(corpus.document(request.number).text)
    strategy = strategy_of(request.strategy, size, project) if request.strategy else corpus.strategy
    cuts = corpus.cuts(request.number, strategy)
    edges = corpus.bands(request.number).tolist()
    stop = min(request.first + request.count, len(edges) - 1)
    text = corpus.document(request.number).text
    bands = tuple(
        _band(cuts, number, edges[number], edges[number + 1], text, last=number == len(edges) - 2)
        for number in range(request.first, stop)
    )
    sizes = cuts.size
    covered = _covered(cuts)
    return DocumentCuts(
        strategy.label,
        strategy.unit,
        strategy.limit[1] if strategy.limit else None,
        len(cuts),
        int(np.median(sizes)) if len(cuts) else 0,
        int(sizes.max()) if len(cuts) else 0,
        float((cuts.end - cuts.start).sum() / covered) if covered else 1.0,
        cuts.bad_cuts,
        tuple(
            IssueKind(kind_name(kind), help, int(count))
            for (kind, help), count in zip(KINDS.items(), cuts.kinds, strict=True)
        ),
        _ranges(cuts),
        tuple(cuts.density),
        *cuts.issues_around(request.near),
        bands,
    )


def _band(cuts: Cuts, number: int, start: int, end: int, text: str, *, last: bool) -> BandView:
    return BandView(
        number,
        start,
        end,
        text[start:end],
        tuple(
            BandChunk(
                at, int(cuts.start[at]), int(cuts.end[at]), int(cuts.size[at]),
                one_line(SECTION_SEPARATOR.join(cuts.section(at)), 200),
            )
            for at in cuts.touching(start, end)
        ),
        tuple(
            BandIssue(int(cuts.issue_kind[at]), int(cuts.issue_chunk[at]), int(cuts.issue_offset[at]))
            for at in cuts.issues_within(start, end, last=last)
        ),
    )  # fmt: skip


def _covered(cuts: Cuts) -> int:
    """Characters that are in at least one chunk."""
    if not len(cuts):
        return 0
    order = np.argsort(cuts.start, kind="stable")
    start, end = cuts.start[order], np.maximum.accumulate(cuts.end[order])
    before = np.append(0, end[:-1])
    return int(np.maximum(end - np.maximum(start, before), 0).sum())


def _ranges(cuts: Cuts) -> tuple[SizeRange, ...]:
    if not len(cuts):
        return ()
    most = int(cuts.size.max())
    edges = np.unique(np.linspace(0, most + 1, min(21, most + 2)).astype(int))
    counts = np.histogram(cuts.size, edges)[0]
    return tuple(
        SizeRange(int(low), int(high) - 1, int(count))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def strategy_of(text: str, characters: int, project: Project) -> Strategy:
    """A strategy that a request names: one that is installed, without paths, and done while somebody waits."""
    if text == project.corpus.strategy.label:
        return project.corpus.strategy
    return requested_strategy(text, characters)


def requested_strategy(text: str, characters: int) -> Strategy:
    """The same where no strategy is known already."""
    for value in spec.parse(text)[1].values():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, str) and _is_path(item):
                raise NotAllowed(
                    f"{one_line(item, 80)!r} is a path or URL, which a request cannot open; use the command line"
                )
    if "regex" in spec.parse(text)[1]:
        raise NotAllowed(
            "a request cannot set regular expressions; use the command line: chunkwise chunk"
        )
    made = get_strategy(text)
    if made.asks_a_model:
        raise InvalidParameter(
            f"{made.name} calls a language model for every chunk; build an index with it: chunkwise index"
        )
    if needs_a_model(made) and characters > _SLOW_CHARACTERS:
        raise InvalidParameter(
            f"{made.name} embeds every sentence, and the document has {counted(characters, 'character')}; the studio "
            f"allows up to {thousands(_SLOW_CHARACTERS)}, chunkwise chunk any number"
        )
    bounded = _BoundedStrategy(made.name, made.chunker)
    bounded.check_size(characters)
    return bounded


class _BoundedStrategy(Strategy):
    """One that a request names: it makes no more chunks of a document than memory holds."""

    def check_size(self, characters: int) -> None:
        """That a text may have so many, as far as can be told before it is cut."""
        if self.limit and characters > _MOST_CHUNKS * (self.limit[1] - self.overlap_asked):
            raise self._too_many()

    def chunks(self, document: Document | Analyzed) -> Iterator[Chunk]:
        self.check_size(len(document.text))
        count = characters = 0
        for chunk in super().chunks(document):
            count, characters = count + 1, characters + chunk.end - chunk.start
            if count > _MOST_CHUNKS or characters > _MOST_CHARACTERS:
                raise self._too_many()
            yield chunk

    def _too_many(self) -> InvalidParameter:
        return InvalidParameter(
            f"{self.label} may produce more than {thousands(_MOST_CHUNKS)} chunks or "
            f"{thousands(_MOST_CHARACTERS)} characters; choose larger chunks or a smaller overlap, or use "
            "the command line: chunkwise chunk"
        )


def _is_path(value: str) -> bool:
    return "/" in value or "\\" in value or value.lower().endswith((".json", ".py", ".onnx"))


@dataclass(frozen=True, slots=True)
class ParameterView:
    """A parameter as a form shows it."""

    name: str
    kind: str
    """whole, fraction, choice, flag or text."""
    default: str
    """As it is written; empty: not given."""
    unit: str
    help: str
    low: float | None
    high: float | None
    slider_low: float
    slider_high: float
    """The part of the bounds that a slider is of use for; a number beside it takes the rest."""
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StrategyView:
    """A strategy with what its form is made from."""

    name: str
    purpose: str
    use: str
    is_live: bool
    """Whether it is fast enough to follow a slider."""
    parameters: tuple[ParameterView, ...]


@dataclass(frozen=True, slots=True)
class StrategiesView(View):
    """Every strategy that can be tried on a page."""

    strategies: tuple[StrategyView, ...]


def strategies(project: Project, _: NoParameters) -> StrategiesView:
    result = []
    for item in describe_strategies():
        strategy = get_strategy(item["name"])
        if strategy.asks_a_model:
            continue
        shown = tuple(filter(None, map(_parameter, item["parameters"])))
        result.append(
            StrategyView(
                item["name"], item["purpose"], item["use"], not needs_a_model(strategy), shown
            )
        )
    return StrategiesView(tuple(result))


def _parameter(declared: dict[str, Any]) -> ParameterView | None:
    """None: a form cannot hold it."""
    name, default, choices = declared["name"], declared["default"], tuple(declared["choices"])
    low, high = declared["low"], declared["high"]
    kind = "text"
    if isinstance(default, bool):
        kind = "flag"
    elif name == "tokenizer":
        choices = tuple(dict.fromkeys((str(default), *get_args(Tokenizer))))
    if choices:
        kind = "choice"
    elif low is not None:
        kind = "fraction" if isinstance(low, float) else "whole"
    if kind == "text" or name == "regex":
        return None
    shown = "" if default is None else str(default).lower() if kind == "flag" else str(default)
    most = _slider_high(default, low, high)
    return ParameterView(
        name, kind, shown, declared["unit"], declared["help"], low, high,
        float(low) if low is not None and low > -1e9 else 0.0, most, choices,
    )  # fmt: skip


def _slider_high(default: Any, low: float | None, high: float | None) -> float:
    if high is None or low is None:
        return 0.0
    usual = 8.0 * default if isinstance(default, int | float) and default > 0 else 400.0
    return float(min(high, max(usual, 8.0))) if isinstance(low, int) else float(high)


MOST_TOKENIZED = 30_000
"""Characters whose tokens are told at a time; a band has fewer."""


class TokensRequest(ApiRequest, frozen=True):
    """Which stretch of which document, counted by what."""

    number: Annotated[Position, Meta(description="document, from 0")] = 0
    start: Annotated[Position, Meta(description="first character")] = 0
    end: Annotated[Position, Meta(description="end")] = MOST_TOKENIZED
    tokenizer: Annotated[Tokenizer, Meta(description="what counts")] = "o200k_base"


@dataclass(frozen=True, slots=True)
class TokensView(View):
    """Where the tokens that have a part in a stretch begin; the last number is where the last one ends."""

    tokenizer: str
    edges: tuple[int, ...]


def tokens(project: Project, request: TokensRequest) -> TokensView:
    text = project.corpus.document(request.number).text
    start, end = min(request.start, len(text)), min(request.end, len(text))
    if not 0 <= end - start <= MOST_TOKENIZED:
        raise InvalidParameter(
            f"expected at most {counted(MOST_TOKENIZED, 'character')} per request, "
            f"got {thousands(start)} to {thousands(end)}"
        )
    # Of the whole document, where they are known already: a stretch by itself has others at its edges.
    starts = project.corpus.analyzed(request.number).measure(str(request.tokenizer)).starts
    low = max(int(starts.searchsorted(start, "right")) - 1, 0)
    high = int(starts.searchsorted(end))
    after = int(starts[high]) if high < len(starts) else len(text)
    return TokensView(str(request.tokenizer), (*starts[low:high].tolist(), after))
