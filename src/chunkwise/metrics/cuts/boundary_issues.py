"""What went wrong at the places documents were cut: found, located, counted, shown with a few examples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.core import AS_WRITTEN, Document, Score
from chunkwise.metrics.cuts.cut_places import CutPlaces, Flags
from chunkwise.metrics.metric import (
    CutCounts,
    CutIssue,
    KeyQuestion,
    Metric,
    Remedy,
    Targets,
    WholeScore,
)
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import are_marks
from chunkwise.text.language import UNKNOWN, language_of
from chunkwise.text.positions import merge_sorted

if TYPE_CHECKING:
    from chunkwise.metrics.evidence import Evidence

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "mid_word": "The cut falls inside a word or a number.",
        "mid_sentence_end": "The chunk ends before its last sentence does.",
        "mid_sentence_start": "The chunk opens in the middle of a sentence.",
        "split_list": "A list, or an enumeration in running text, is cut between its items or inside one.",
        "split_table": "A table is cut; of a file of rows (CSV, a spreadsheet), inside a row that a chunk could hold.",
        "split_code": "A block of code is cut.",
        "orphan_heading": "A heading is the last line of the chunk; its text is in the next.",
        "orphan_lead_in": "A lead-in (“The following steps:”) ends the chunk; its list, table or code is in the next.",
        "orphan_number": "The number of an item ends the chunk; its text is in the next.",
        "only_marks": "The chunk holds no word: a fence, a bracket or quotation marks alone.",
        "dangling_start": "The chunk opens with a reference to text that was cut off.",
        "broken_grapheme": "The cut falls inside one visible character.",
    }
)
"""Every kind of issue with its explanation."""

AROUND = 40
"""Characters shown on either side of a cut."""


class Spanned(Protocol):
    """Anything with a start and an end: a Span, a Piece, a Chunk."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Issue(NamedTuple):
    """One thing that is wrong at one edge of one chunk."""

    kind: str
    chunk: int
    """Index of the chunk in the sequence that was examined."""
    offset: int
    """The chunk's edge: its start or its end."""
    before: str
    after: str
    again: bool = False
    """Told of another chunk already, which is cut at the same place: counts of cuts leave it out."""
    cut: int = -1
    """Which cut of the document it is: where a chunk ends and the next begins is one, also where the two overlap."""


def without_summaries(chunks: Sequence[Spanned]) -> Sequence[Spanned]:
    """The chunks that are places; summaries come behind them."""
    return [chunk for chunk in chunks if not getattr(chunk, "level", 0)]


def find_issues(document: Analyzed, spans: Sequence[Spanned]) -> list[Issue]:
    """All issues of a chunking, by chunk and offset; overlaps and gaps between chunks are fine.

    Every chunk whose own edge cuts something has the issue. Where one chunk ends and the next begins is one place: the
    issues of the second say `again`. Summaries cut nothing.
    """
    wrong = _Wrong(document, spans, language_of(document.document))
    told = [(kind, *each) for kind in wrong.flags for each in wrong.cases(kind)]
    number = {kind: index for index, kind in enumerate(KINDS)}
    told.sort(key=lambda each: (each[1], each[2], number[each[0]]))
    text = document.text
    return [
        Issue(kind, chunk, at, text[max(0, at - AROUND) : at], text[at : at + AROUND], again, cut)
        for kind, chunk, at, again, cut in told
    ]


def count_issues(document: Analyzed, spans: Sequence[Spanned], language: str) -> IssueCounts:
    """What `find_issues` tells of, counted.

    `language` is what `language_of` says: where a document is cut many times, it is asked once.
    """
    wrong = _Wrong(document, spans, language)
    by_kind = {kind: len(merge_sorted(wrong.place[flags])) for kind, flags in wrong.flags.items()}
    edges = np.zeros(2 * wrong.count, np.bool_)
    for flags in wrong.flags.values():
        edges |= flags
    chunks = edges[: wrong.count] | edges[wrong.count :]
    cuts = len(merge_sorted(wrong.place[edges])) if by_kind else 0
    return IssueCounts({kind: by_kind.get(kind, 0) for kind in KINDS}, int(chunks.sum()), cuts)


class IssueCounts(NamedTuple):
    """Of one document."""

    by_kind: dict[str, int]
    """Cuts of every kind."""
    chunks: int
    """Those that begin or end badly, each once."""
    cuts: int
    """Of any kind, each once."""


class _Wrong:
    """Both edges of every chunk, the ends first, and what is wrong at each."""

    def __init__(self, document: Analyzed, spans: Sequence[Spanned], language: str) -> None:
        spans = without_summaries(spans)
        self.count = count = len(spans)
        self.edges = np.empty(2 * count, np.int64)
        self.edges[:count] = [span.end for span in spans]
        self.edges[count:] = [span.start for span in spans]
        self.flags: dict[str, Flags] = {}
        """By kind, of each edge."""
        if not spans or not document.text:
            return
        cuts, blocks = CutPlaces(document, self.edges), document.blocks
        closing = np.arange(2 * count) < count
        self.place = self._places(cuts)
        """Edges with the same text before them are one place; so are the end of a chunk and the start of the next one
        that repeats some of it."""
        sentences = np.stack([document.sentences, [*document.sentences[1:], cuts.size]], axis=1)
        self.flags = {
            "mid_word": cuts.in_word,
            "mid_sentence_end": cuts.in_sentence & closing,
            "mid_sentence_start": cuts.in_sentence & ~closing & ~self._repeated(cuts, sentences),
            "split_list": self._split(cuts, cuts.lists),
            "split_table": self._split(cuts, cuts.tables(self._longest)),
            "split_code": self._split(cuts, blocks.code),
            "orphan_heading": cuts.after_heading & closing,
            "orphan_lead_in": cuts.after_lead_in & closing,
            "orphan_number": cuts.after_number & closing,
            "only_marks": self._only_marks(document) & closing,
            "dangling_start": _dangling(document, language, cuts, ~closing),
            "broken_grapheme": cuts.in_grapheme,
        }

    @property
    def _longest(self) -> int:
        """Characters of the largest chunk."""
        return int((self.edges[: self.count] - self.edges[self.count :]).max())

    def _places(self, cuts: CutPlaces) -> NDArray[np.int64]:
        found = cuts.left.copy()
        ends, starts = self.edges[: self.count], self.edges[self.count :]
        overlaps = (starts[1:] < ends[:-1]) & (starts[1:] >= starts[:-1])
        found[self.count + 1 :][overlaps] = cuts.left[: self.count - 1][overlaps]
        return found

    def _split(self, cuts: CutPlaces, spans: NDArray[np.int64]) -> Flags:
        return cuts.inside(spans) & ~self._repeated(cuts, spans)

    def _repeated(self, cuts: CutPlaces, spans: NDArray[np.int64]) -> Flags:
        """Openings amid something that the chunk before holds whole: what they repeat of it is overlap."""
        found = np.zeros(2 * self.count, np.bool_)
        if not len(spans):
            return found
        ends, starts = self.edges[: self.count], self.edges[self.count :]
        opens = cuts.right[self.count :]
        index = np.maximum(spans[:, 0].searchsorted(opens, "right") - 1, 0)
        first, last = spans[index].T
        found[self.count + 1 :] = (starts[:-1] <= first[1:]) & (
            cuts.last_solid(last[1:]) < ends[:-1]
        )
        return found

    def _only_marks(self, document: Analyzed) -> Flags:
        """Chunks without a word, in a text that has some."""
        ends, starts = self.edges[: self.count], self.edges[self.count :]
        marks = are_marks(document.characters, starts, ends)
        whole = are_marks(
            document.characters, np.zeros(1, np.int64), np.array([len(document.text)])
        )
        return np.tile(marks & ~whole, 2)

    def cases(self, kind: str) -> Iterator[tuple[int, int, bool, int]]:
        """Chunk, offset, whether the cut was told before, and which it is; a chunk has each cut once."""
        wrong = np.flatnonzero(self.flags[kind])
        chunk, own = wrong % self.count, self.place[wrong]
        # Both edges of a chunk without any text lie at one place.
        _, once = np.unique(chunk * (self.place.max() + 1) + own, return_index=True)
        _, first = np.unique(own, return_index=True)
        again = np.ones(len(wrong), dtype=np.bool_)
        again[first] = False
        columns = (chunk, self.edges[wrong], again, own)
        yield from zip(*(column[once].tolist() for column in columns), strict=True)


def _dangling(document: Analyzed, language: str, cuts: CutPlaces, opening: Flags) -> Flags:
    """Openings with a reference, at a sentence of running text that opens no section."""
    found = np.zeros(len(opening), dtype=np.bool_)
    dangles = dangling_in(language)
    if dangles is None:
        return found
    blocks = document.blocks
    outside = opening & ~cuts.edge & ~cuts.in_sentence & ~cuts.opens_section
    for spans in (blocks.tables, blocks.code):
        outside &= ~cuts.within(spans)
    text, candidates = document.text, np.flatnonzero(outside)
    found[candidates] = [
        dangles(text[p : p + _LONGEST_OPENING]) for p in cuts.right[candidates].tolist()
    ]
    return found


def cuts_of(
    documents: Iterable[tuple[Analyzed, Sequence[Spanned]]], most_examples: int = 5
) -> CutCounts:
    """What is wrong at the edges of the chunks of these documents."""
    tally = CutTally(most_examples=most_examples)
    for document, chunks in documents:
        tally.add(document, chunks)
    return tally.cuts()


class CutTally:
    """Takes documents as they come and keeps no more of them than a few examples."""

    def __init__(self, kinds: Collection[str] = tuple(KINDS), *, most_examples: int = 5) -> None:
        self.counts = {kind: 0 for kind in KINDS if kind in kinds}
        self.chunks = self.with_issues = self.cuts_with_issues = 0
        self._examples = {kind: _Spread(most_examples) for kind in self.counts}

    def add(self, document: Analyzed, chunks: Sequence[Spanned]) -> list[Issue]:
        """The issues of one document, those of other kinds left out."""
        issues = [issue for issue in find_issues(document, chunks) if issue.kind in self.counts]
        self.chunks += len(without_summaries(chunks))
        self.with_issues += len({issue.chunk for issue in issues})
        self.cuts_with_issues += len({issue.cut for issue in issues})
        own: dict[str, list[Issue]] = {}
        for issue in issues:
            # A cut is counted once, however many chunks end or begin there.
            if not issue.again:
                own.setdefault(issue.kind, []).append(issue)
        for kind, found in own.items():
            self.counts[kind] += len(found)
            self._examples[kind].add(document.document.id, found)
        return issues

    @property
    def share(self) -> float | None:
        """Of the chunks with an issue; None without chunks."""
        return self.with_issues / self.chunks if self.chunks else None

    @property
    def is_complete(self) -> bool:
        """Whether every kind is counted: only then does the share mean what it is judged by."""
        return len(self.counts) == len(KINDS)

    def cuts(self) -> CutCounts:
        examples = [issue for spread in self._examples.values() for issue in spread.chosen()]
        return CutCounts(
            self.chunks, self.with_issues, dict(self.counts), tuple(examples), self.cuts_with_issues
        )


class _Spread:
    """A few issues from documents all over a corpus, the same ones in every run."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[list[CutIssue]] = []
        self._step, self._seen = 1, 0

    def add(self, doc_id: str, issues: Sequence[Issue]) -> None:
        # Every `step`-th document; when there are twice too many, every second of them goes.
        if self._seen % self._step == 0:
            self._kept.append([_example(doc_id, issue) for issue in issues[: self._most]])
            if len(self._kept) > 2 * self._most:
                self._kept = self._kept[::2]
                self._step *= 2
        self._seen += 1

    def chosen(self) -> list[CutIssue]:
        """One of each document as long as there are others, then second ones; in the order of the documents."""
        kept = self._kept
        if len(kept) > self._most:
            kept = [kept[number * len(kept) // self._most] for number in range(self._most)]
        rounds = [
            (turn, number)
            for turn in range(self._most)
            for number, issues in enumerate(kept)
            if turn < len(issues)
        ]
        order = sorted((number, turn) for turn, number in rounds[: self._most])
        return [kept[number][turn] for number, turn in order]


def _example(doc_id: str, issue: Issue) -> CutIssue:
    return CutIssue(issue.kind, doc_id, issue.chunk, issue.offset, issue.before, issue.after)


def _share_with_issues(evidence: Evidence) -> WholeScore:
    cuts = cuts_of(evidence.chunk_spans())
    if not cuts.chunks:
        return WholeScore(Score(None, "no chunks"), cuts=cuts)
    return WholeScore(Score(cuts.with_issues / cuts.chunks), cuts.chunks, cuts=cuts)


QUESTION = KeyQuestion(
    "boundary_issues",
    "Do the cuts hurt?",
    Targets(0.10, 0.05),
    Remedy(
        "the wrong separators or the wrong size",
        ("{structural}", "another size", "{overlap}"),
    ),
)
METRICS = (
    Metric(
        "boundary_issues", "Share of the chunks that begin or end badly, each counted once.", score=_share_with_issues,
        group="boundary_issues", better="lower", question=QUESTION, per="chunking", as_percent=True,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LocatedIssue:
    """One thing that is wrong at one edge of one chunk."""

    kind: str
    doc_id: str
    source: str
    """The file, as the user called it."""
    chunk: int
    """Number of the chunk in its document, from 0."""
    offset: int
    """The chunk's edge in the document's text."""
    line: int | None
    """In the file, from 1; None where the text is not the file's own (HTML, PDF, a record of a corpus)."""
    column: int | None
    page: int | None
    before: str
    after: str
    cut: int = -1
    """Which cut of its document it is; see `Issue`."""


def located(analyzed: Analyzed, issues: Sequence[Issue]) -> list[LocatedIssue]:
    """The issues of one document, in their order."""
    document = analyzed.document
    lines: list[int | None] = [None] * len(issues)
    columns = lines
    if issues and document.format in AS_WRITTEN and is_file(document):
        offsets = np.array([issue.offset for issue in issues], np.int64)
        starts = _line_starts(analyzed)
        index = starts.searchsorted(offsets, "right")
        lines, columns = index.tolist(), (offsets - starts[index - 1] + 1).tolist()
    return [
        LocatedIssue(
            issue.kind, document.id, document.source, issue.chunk, issue.offset, line, column,
            document.page(issue.offset), issue.before, issue.after, issue.cut,
        )
        for issue, line, column in zip(issues, lines, columns, strict=True)
    ]  # fmt: skip


def is_file(document: Document) -> bool:
    """A file that is one document is named after itself; a record of a corpus has a name of its own."""
    return PurePath(document.source).as_posix().endswith(document.id)


def _line_starts(analyzed: Analyzed) -> NDArray[np.int64]:
    """As editors count lines: after LF, CR LF and CR, and nothing else."""
    points = analyzed.characters.points
    feed, back = points == ord("\n"), points == ord("\r")
    back[:-1] &= ~feed[1:]
    return np.concatenate(([0], np.flatnonzero(feed | back) + 1))


# Words that refer back wherever they open a sentence. Those that only sometimes do are left out, as are subjects that
# stand for nothing: "It is forbidden", "Es ist verboten".
_IS = r"is|was|(?:has|had)\s+been|(?:will|would|may|might|can|could|should|must)\s+(?:not\s+)?be"
_ENGLISH = rf"""
    this these those they them its he she his her their such
    it(?!\s+(?:{_IS}|seems|appears|follows|takes|remains)\b)
    however therefore thus hence moreover furthermore nevertheless nonetheless consequently
    accordingly otherwise meanwhile instead similarly likewise conversely additionally also
    afterwards thereafter then but so yet
    as\s+(?:mentioned|noted|stated|described|discussed|shown|explained|seen)(?:\s+(?:above|before|earlier|previously))?
    (?:mentioned|described|shown|listed)\s+above
    (?:the\s+)?(?:former|latter|above|aforementioned|preceding)
    for\s+this\s+reason in\s+(?:addition|contrast|other\s+words|that\s+case|this\s+case)
    on\s+the\s+other\s+hand as\s+a\s+result
    because\s+of\s+(?:this|that) after\s+(?:this|that)
    that\s+(?:is|was|means|said|makes|made|would|will|has|had)
"""
# "Sie" and "Ihre" at the start of a sentence address the reader as often as not; "damit" refers back before a verb
# ("Damit ist …") and opens a clause before anything else ("Damit Sie …").
_IST = "|".join(
    "ist sind war waren wird werden wurde wurden kann können muss müssen soll sollen sollte gilt geht".split()
)
_GERMAN = rf"""
    dies diese dieser dieses diesem diesen jene jener jenes jenem jenen er ihm ihn
    es(?!\s+(?:{_IST}|gibt|gab|darf|dürfen|sei|empfiehlt|handelt|besteht|bestehen|bleibt|lohnt|genügt|reicht)\b)
    daher deshalb deswegen darum somit folglich demnach jedoch allerdings dennoch trotzdem
    außerdem zudem ferner dabei dadurch dafür dagegen daran darauf daraus darin darüber danach
    damit(?=\s+(?:{_IST}|lässt|lassen|hat|haben|beginnt|endet|entfällt|steht|stehen|verbunden)\b)
    davon dazu hierbei hierdurch hierfür hierzu hingegen ebenso ansonsten andernfalls
    aber denn
    wie\s+(?:(?:bereits|schon)\s+)?(?:oben\s+)?(?:erwähnt|beschrieben|gezeigt|gesagt|dargestellt)
    (?:der|die|das)\s+(?:obige|genannte|erstere|letztere)n?
    das\s+(?:ist|war|hat|heißt|bedeutet|gilt|führt|macht|zeigt|wird|kann)
    aus\s+diesem\s+grund(?:e)? im\s+gegensatz\s+dazu
"""
_FRENCH = r"""
    cela ceci celui-ci celle-ci ceux-ci ces cette ils elles cependant toutefois néanmoins
    ainsi donc comme\s+(?:indiqué|mentionné)\s+ci-dessus
"""
_SPANISH = r"""
    esto esta este estos estas eso esos esas ellos ellas además sin\s+embargo por\s+lo\s+tanto
"""
_WORDS: Mapping[str, str] = MappingProxyType(
    {"en": _ENGLISH, "de": _GERMAN, "fr": _FRENCH, "es": _SPANISH}
)

_LONGEST_OPENING = 80
"""Characters of a chunk that have to be looked at."""


@cache
def dangling_in(language: str) -> Callable[[str], bool] | None:
    """Says of the first characters of a chunk whether they refer to what came before; None: no words are known.

    A text too short to tell its language is looked at as an English one.
    """
    words = _WORDS.get("en" if language == UNKNOWN else language)
    if words is None:
        return None
    # Quotes, brackets and Markdown emphasis may stand before the word.
    found = regex.compile(
        rf"[\p{{Ps}}\p{{Pi}}\"'„>*_\s]*+(?:{'|'.join(words.split())})(?![\w\p{{M}}])(?!['’]\w)",
        regex.IGNORECASE,
    )
    return lambda opening: found.match(opening) is not None
