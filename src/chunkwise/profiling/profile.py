"""A corpus looked at once, document by document, in bounded memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from chunkwise.base.parameters import takes
from chunkwise.base.renamed import grouped, renamed
from chunkwise.core import Document, OnProgress
from chunkwise.documents import Inputs, LoadOptions, WhenUnreadable, read
from chunkwise.profiling.advice import advise
from chunkwise.profiling.repeats import RepeatedPassages, RepeatFinder
from chunkwise.profiling.results import FITS, OVERSIZED, DocumentGroup, Oversized, Profile
from chunkwise.profiling.tally import GroupTally
from chunkwise.text.analysis import Analyzed
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

MOST_FOLDERS = 100
"""Told apart; documents of further ones are counted together."""
OTHER_FOLDERS = "(other folders)"

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")

Cell = tuple[str, str]
"""A folder and a format."""


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
        self._passages.add(analyzed, tokens, self._numbers[cell])

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
    advance: OnProgress | None = None,
) -> Profile:
    """What a corpus looks like before anything is chosen: sizes, sections, languages, repeats, and where to start.

    `source` are files, folders, globs, archives and `Document`s; sizes are counted by `tokenizer`. What cannot be read
    is a warning, or what `on_unreadable` makes of it. `advance` gets the characters of each document that is done.
    """
    return profile_documents(read(source, options, on_unreadable), tokenizer, advance)


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
