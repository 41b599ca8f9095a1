"""A corpus looked at once, document by document, in bounded memory, and where to start with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from chunkwise.base.deprecation import grouped, renamed
from chunkwise.base.parameters import takes
from chunkwise.base.wording import counted, listed, percent, short_number
from chunkwise.base.workers import Jobs, check_jobs
from chunkwise.chunkers import Strategy, get_strategy
from chunkwise.chunkers.chunk import Chunked, chunk_changed
from chunkwise.core import Chunk, Document, OnProgress
from chunkwise.documents import (
    Inputs,
    LoadOptions,
    UnchangedSource,
    Unreadables,
    WhenUnreadable,
    read,
)
from chunkwise.profiling.repeats import (
    DocumentPassages,
    RepeatedPassages,
    RepeatFinder,
    document_passages,
)
from chunkwise.profiling.results import (
    FITS,
    OVERSIZED,
    DocumentGroup,
    GroupTally,
    Oversized,
    Profile,
    ProfileAdvice,
)
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import UNKNOWN, WITHOUT_SPACES
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

_MANY_OVERSIZED = 0.02
_MANY_REPEATED = 0.01
_MANY_FOREIGN = 0.05
"""Of the documents whose language is known: those not in the most frequent one."""


def notes(
    total: DocumentGroup, *, mixed: bool, folders: Sequence[DocumentGroup]
) -> tuple[ProfileAdvice, ...]:
    """Notes on the whole corpus, the folder most concerned named."""
    found = (
        *_mixed(total, folders, mixed),
        *_text(total, folders),
        *_languages(total),
        *_long_sections(total),
    )
    return tuple(ProfileAdvice("corpus", "note", "", why) for why in found)


def _mixed(total: DocumentGroup, folders: Sequence[DocumentGroup], mixed: bool) -> Iterator[str]:
    spread = total.lengths.p95 > 10 * max(total.lengths.median, 1)
    if mixed:
        yield "The corpus is mixed: one setting may not fit all of it. Measure the parts apart."
    elif spread:
        yield (
            f"Document lengths differ widely (median {total.lengths.median:,}, 95 % have at most"
            f" {total.lengths.p95:,} tokens): one setting may not fit all."
        )
    elif len(total.formats) > 1 and len(folders) == 1 and total.documents >= 5:
        names = ", ".join(total.formats)
        yield (
            f"Documents of several formats ({names}) lie in one folder: one setting may not fit all;"
            " folders by kind would let you measure each."
        )


def _text(total: DocumentGroup, folders: Sequence[DocumentGroup]) -> Iterator[str]:
    oversized, repeats = total.oversized, total.repeats
    if oversized.over_200 or oversized.share_over_100 >= _MANY_OVERSIZED:
        where = max(folders, key=lambda group: group.oversized.share_over_100).name
        where = "the folder itself" if where == "." else where
        place = f", most often in {where}" if len(folders) > 1 else ""
        is_are = "is" if oversized.over_100 == 1 else "are"
        yield (
            f"{counted(oversized.over_100, 'sentence')} ({percent(oversized.share_over_100)}) {is_are} longer"
            f" than 100 tokens and {oversized.over_200:,} longer than 200{place}: chunks smaller than that"
            " cut inside them. Look whether they are sentences or text without full stops."
        )
    if repeats.token_share >= _MANY_REPEATED:
        yield (
            f"{percent(repeats.token_share)} of the tokens are passages that occur more than once"
            f" ({counted(repeats.passages, 'passage')}): duplicates compete with each other in retrieval."
            " Remove them, or count any copy as right."
        )


def _languages(total: DocumentGroup) -> Iterator[str]:
    prose = total.spoken
    unspaced = {name: n for name, n in prose.items() if name in WITHOUT_SPACES}
    if sum(unspaced.values()) * 5 >= max(sum(prose.values()), 1):
        yield (
            f"Words are not parted by spaces in {', '.join(unspaced)}: give sizes in tokens, not in words."
        )
    known = {name: n for name, n in prose.items() if name != UNKNOWN}
    # Together: of twenty-five languages none may have many documents.
    others = sum(known.values()) - max(known.values(), default=0)
    if others and others >= _MANY_FOREIGN * sum(known.values()):
        names = listed(list(known))
        yield f"Several languages ({names}): the same text has more tokens in some than in others."


def _long_sections(total: DocumentGroup) -> Iterator[str]:
    longest = total.longest_section
    if longest is None or longest.tokens <= 3200 or total.sections.count < 3 * total.documents:
        return
    where = f"“{longest.section}” in {longest.document}" if longest.section else longest.document
    yield (
        f"{percent(1 - total.fits[800])} of the sections are longer than 800 tokens, the longest has"
        f" {longest.tokens:,} ({where}): they are cut inside, so give them overlap."
    )


MEASURE = "A starting point, to be measured."

_MOST_FOLDERS = 12
_LEAST_SHARE = 0.02
"""Of the corpus's tokens: smaller folders follow the advice for all."""

_MOSTLY = 0.75
_SHORT_DOCUMENT = 300
_LONG_DOCUMENT = 2000
_SMALL_PARAGRAPH = 100
_VERSE = 40
_OWN_WAY = ("code", "table")
_STRUCTURED = ("markdown", "html", "docx", "epub")


def advise(
    total: DocumentGroup, folders: Sequence[DocumentGroup], formats: Sequence[DocumentGroup]
) -> tuple[ProfileAdvice, ...]:
    """The start for the corpus, those of folders and formats that differ from it, then notes."""
    if not total.tokens:
        why = "every document is empty" if total.documents else "no document was read"
        return (ProfileAdvice("corpus", "note", "", f"There is no text to look at: {why}."),)
    main = start(total, "corpus")
    others = [start(group, f"folder {group.name}") for group in _large(folders, total)]
    if len({advice.strategy_spec for advice in others}) < 2:
        # Folders agree; a format that wants to be cut in its own way may still be among them.
        kinds = [group for group in _large(formats, total) if group.name in _OWN_WAY]
        others = [start(group, f"format {group.name}") for group in kinds]
    others = [advice for advice in others if advice.strategy_spec != main.strategy_spec]
    return (main, *others, *notes(total, mixed=bool(others), folders=folders))


def _large(groups: Sequence[DocumentGroup], total: DocumentGroup) -> list[DocumentGroup]:
    return [group for group in groups if group.tokens >= _LEAST_SHARE * total.tokens][
        :_MOST_FOLDERS
    ]


def start(group: DocumentGroup, scope: str) -> ProfileAdvice:
    """A strategy and a size for one group; the first rule that applies."""
    for rule in (_code, _tables, _short, _verses, _structure, _sections, _prose):
        found = rule(group)
        if found is not None:
            spec, why = found
            return ProfileAdvice(scope, "start", spec, f"Start with {spec}: {why} {MEASURE}")
    raise AssertionError("the last rule always applies")


SpecAndReason = tuple[str, str] | None


def _code(group: DocumentGroup) -> SpecAndReason:
    files = group.formats.get("code", 0)
    if files < 0.6 * group.documents:
        return None
    return "code(max_tokens=400)", (
        f"{files:,} of {counted(group.documents, 'document')} are source code, {short_number(group.lengths.median)}"
        " tokens in the median; functions and classes stay whole while they fit."
    )


def _tables(group: DocumentGroup) -> SpecAndReason:
    share = group.share(group.tables)
    if share < 0.5:
        return None
    return "structure(max_tokens=400)", (
        f"{percent(share)} of the tokens stand in tables; rows stay whole and carry their table's header."
    )


def _short(group: DocumentGroup) -> SpecAndReason:
    lengths = group.lengths
    if lengths.median > _SHORT_DOCUMENT or lengths.p95 > 4 * _SHORT_DOCUMENT:
        return None
    size = 150 if lengths.p95 <= 150 else 200 if lengths.p95 <= 200 else 250
    structured = (
        group.documents_with_headings * 2 > group.documents or group.lists.count >= group.documents
    )
    name = "structure" if structured else "sentences"
    return f"{name}(max_tokens={size})", (
        f"the documents are short ({short_number(lengths.median)} tokens in the median, 95 % have at most"
        f" {short_number(lengths.p95)}), so most are one chunk; 150–250 tokens suit recipes, entries and notes."
    )


def _verses(group: DocumentGroup) -> SpecAndReason:
    paragraphs = group.paragraphs
    many = paragraphs.count >= 10 * (group.documents - group.empty_documents)
    # Under headings a few small paragraphs are a section like any other, unless they are verses.
    limit = _VERSE if group.sections.count >= 3 * group.documents else _SMALL_PARAGRAPH
    small = paragraphs.median <= limit and paragraphs.p95 <= 1.5 * limit
    # Documentation has small paragraphs too, but code and tables between them.
    plain = group.share(group.code) + group.share(group.tables) < 0.02
    if not (many and small and plain and group.share(paragraphs) >= 0.7):
        return None
    size = 100 if paragraphs.p95 <= 100 else 200 if paragraphs.p95 <= 200 else 300
    return f"paragraphs(max_tokens={size})", (
        f"{counted(paragraphs.count, 'paragraph')} of {short_number(paragraphs.median)} tokens in the median,"
        f" 95 % have at most {short_number(paragraphs.p95)}: text in small units, such as verses, aphorisms or"
        " entries, is found best a paragraph at a time."
    )


def _structure(group: DocumentGroup) -> SpecAndReason:
    shares = {
        "code": group.share(group.code), "lists": group.share(group.lists), "tables": group.share(group.tables)
    }  # fmt: skip
    structured = sum(group.formats.get(name, 0) for name in _STRUCTURED)
    if sum(shares.values()) < 0.35 or structured * 2 < group.documents:
        return None
    told = ", ".join(f"{name} {percent(share)}" for name, share in shares.items() if share >= 0.01)
    size = _fitting(group) or 400
    return f"structure(max_tokens={size})", (
        f"much of the text is no running prose ({told} of the tokens); lists, tables and code stay"
        f" whole while they fit, and {percent(group.fits[size])} of the sections fit into {size} tokens."
    )


def _fitting(group: DocumentGroup) -> int | None:
    """The smallest usual size that most sections fit into."""
    return next((size for size in FITS[1:] if group.fits[size] >= _MOSTLY), None)


def _sections(group: DocumentGroup) -> SpecAndReason:
    filled = group.documents - group.empty_documents
    if group.documents_with_headings * 2 < filled or group.sections.count < 3 * filled:
        return None
    size, count = _fitting(group), counted(group.sections.count, "section")
    if size is not None:
        return f"sections(max_tokens={size})", (
            f"{percent(group.fits[size])} of the {count} fit whole into {size} tokens."
        )
    return "sections(max_tokens=400, overlap_sentences=2)", (
        f"headings divide the text, {percent(group.fits[800])} of the {count} fit into 800 tokens (median"
        f" {short_number(group.sections.median)}) and the others are cut inside; 300–500 tokens suit long text."
    )


def _prose(group: DocumentGroup) -> SpecAndReason:
    median = group.lengths.median
    size = 400 if median >= _LONG_DOCUMENT else 300
    headed = group.documents_with_headings
    kind = "PDFs" if group.formats.get("pdf", 0) * 2 > group.documents else "documents"
    headings = "have no headings" if not headed else "have few headings to go by"
    return f"sentences(max_tokens={size}, overlap=50)", (
        f"the {kind} {headings} and are {short_number(median)} tokens long in the median; whole sentences in"
        f" chunks of {'300–500' if size == 400 else '200–400'} tokens suit {'long ' if size == 400 else ''}prose."
    )


MOST_FOLDERS = 100
"""Told apart; documents of further ones are counted together."""
OTHER_FOLDERS = "(other folders)"

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")

Cell = tuple[str, str]
"""A folder and a format."""


class MeasuredDocument(Chunked):
    """A document with its own figures."""

    def __init__(
        self, document: Document, tally: GroupTally, passages: DocumentPassages | None
    ) -> None:
        super().__init__(document, [])
        self.tally, self.passages = tally, passages

    def __reduce__(self) -> tuple[object, ...]:
        return MeasuredDocument, (self.document, self.tally, self.passages)


class _Uncut(Strategy):
    """Documents are only read."""

    def __init__(self) -> None:
        super().__init__("structure", get_strategy("structure").chunker)

    def chunks(self, document: Document | Analyzed) -> Iterator[Chunk]:
        return iter(())


@dataclass(frozen=True)
class _DocumentMeasurer:
    """Looks at documents wherever it is sent."""

    tokenizer: TokenizerLike
    stage = "profile"
    accelerated = False

    def __call__(self, documents: list[Chunked]) -> list[Chunked]:
        return [self._measured(each.document) for each in documents]

    def _measured(self, document: Document) -> MeasuredDocument:
        analyzed, tally = Analyzed(document), GroupTally()
        tokens = analyzed.measure(self.tokenizer).starts
        tally.add(analyzed, tokens)
        return MeasuredDocument(document, tally, document_passages(analyzed, tokens))


class Profiler:
    """Takes documents one by one; texts are not kept."""

    def __init__(self, tokenizer: TokenizerLike = DEFAULT_TOKENIZER) -> None:
        self._tokenizer = get_tokenizer(tokenizer)
        self._cells: dict[Cell, GroupTally] = {}
        self._numbers: dict[Cell, int] = {}
        self._folders: set[str] = set()
        self._passages = RepeatFinder()

    def add(self, document: Document) -> None:
        analyzed = Analyzed(document)
        tokens = analyzed.measure(self._tokenizer).starts
        cell = self._cell(folder_of(document.id), document.format)
        self._cells[cell].add(analyzed, tokens)
        self._passages.add(document, document_passages(analyzed, tokens), self._numbers[cell])

    def take(self, measured: MeasuredDocument) -> None:
        """One that another process has looked at."""
        document = measured.document
        cell = self._cell(folder_of(document.id), document.format)
        self._cells[cell].merge(measured.tally)
        self._passages.add(document, measured.passages, self._numbers[cell])

    def _cell(self, folder: str, format: str) -> Cell:
        if folder not in self._folders and len(self._folders) >= MOST_FOLDERS:
            folder = OTHER_FOLDERS
        self._folders.add(folder)
        cell = folder, format
        if cell not in self._cells:
            self._cells[cell] = GroupTally()
            self._numbers[cell] = len(self._numbers)
        return cell

    def result(self) -> Profile:
        repeated = self._passages.repeated()
        total = self._group("all", list(self._cells), repeated)
        folders = self._groups(0, repeated)
        formats = self._groups(1, repeated)
        advice = advise(total, folders, formats)
        return Profile(self._tokenizer.name, total, folders, formats, advice)

    def _groups(self, part: int, repeated: RepeatedPassages) -> tuple[DocumentGroup, ...]:
        names = dict.fromkeys(cell[part] for cell in self._cells)
        groups = [
            self._group(name, [cell for cell in self._cells if cell[part] == name], repeated)
            for name in names
        ]
        return tuple(sorted(groups, key=lambda group: (-group.tokens, group.name)))

    def _group(self, name: str, cells: list[Cell], repeated: RepeatedPassages) -> DocumentGroup:
        sum_of = GroupTally()
        formats: Counter[str] = Counter()
        for cell in cells:
            sum_of.merge(self._cells[cell])
            formats[cell[1]] += self._cells[cell].documents
        tokens = sum_of.lengths.total
        sections = sum_of.sections
        return DocumentGroup(
            name=name,
            documents=sum_of.documents,
            empty_documents=sum_of.empty,
            documents_with_headings=sum_of.headed,
            characters=sum_of.characters,
            tokens=tokens,
            languages=dict(sum_of.languages.most_common()),
            formats=dict(formats.most_common()),
            lengths=sum_of.lengths.summary(histogram=True),
            sections=sections.summary(histogram=True),
            longest_section=sum_of.longest_section,
            fits={size: _share(sections.at_most(size), sections.count) for size in FITS},
            sentences=sum_of.sentences.summary(),
            paragraphs=sum_of.paragraphs.summary(),
            lists=sum_of.lists.summary(),
            tables=sum_of.tables.summary(),
            code=sum_of.code.summary(),
            oversized=_oversized(sum_of),
            repeats=repeated.of([self._numbers[cell] for cell in cells], tokens),
        )


def _oversized(tally: GroupTally) -> Oversized:
    count = tally.sentences.count
    over, far_over = (count - tally.sentences.at_most(size) for size in OVERSIZED)
    examples = tuple(tally.oversized)
    return Oversized(over, far_over, _share(over, count), _share(far_over, count), examples)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def folder_of(doc_id: str) -> str:
    """The top-level folder of a document id; of an address its host; "." for none."""
    path = _SCHEME.sub("", doc_id).lstrip("/")
    first, slash, _ = path.partition("/")
    return first if slash and first not in ("", "..") else "."


@takes(options=LoadOptions)
@renamed(documents="source")
@grouped(options=(LoadOptions, ("leave_out",)))
def profile(
    source: Inputs,
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER,
    *,
    options: LoadOptions | None = None,
    on_unreadable: WhenUnreadable = "warn",
    jobs: Jobs = 1,
    advance: OnProgress | None = None,
    on_document: Callable[[Document], None] | None = None,
) -> Profile:
    """What a corpus looks like before anything is chosen: sizes, sections, languages, repeats, and where to start.

    `source` are files, folders, globs, archives and `Document`s; sizes are counted by `tokenizer`. What cannot be read
    is a warning, or what `on_unreadable` makes of it. `jobs` are processes that share the work, or a cluster.
    `advance` gets the characters of each document that is done, `on_document` the document.
    """
    check_jobs(jobs)
    tell = on_document or (lambda document: None)
    if jobs == 1:
        documents = _each_told(read(source, options, on_unreadable), tell)
        return profile_documents(documents, tokenizer, advance)
    profiler, unreadables = Profiler(tokenizer), Unreadables(on_unreadable)
    outcomes = chunk_changed(
        source, _Uncut(), lambda source: False, options, jobs, _DocumentMeasurer(tokenizer)
    )
    found = (each for each in outcomes if not isinstance(each, UnchangedSource))  # none is known
    for done, each in enumerate(unreadables.of(found), start=1):
        tell(each.document)
        if isinstance(each, MeasuredDocument):
            profiler.take(each)
        else:  # the only one, or known by another id than where it was read
            profiler.add(each.document)
        if advance is not None:
            advance(len(each.document.text), f"{done:,} documents")
    return profiler.result()


def _each_told(
    documents: Iterable[Document], tell: Callable[[Document], None]
) -> Iterator[Document]:
    for document in documents:
        tell(document)
        yield document


def profile_documents(
    documents: Iterable[Document],
    tokenizer: TokenizerLike = DEFAULT_TOKENIZER,
    advance: OnProgress | None = None,
) -> Profile:
    """The same of documents as they come; none is held."""
    profiler = Profiler(tokenizer)
    for done, document in enumerate(documents, start=1):
        profiler.add(document)
        if advance is not None:
            advance(len(document.text), f"{done:,} documents")
    return profiler.result()
