"""What is wrong at the places where documents are cut: every kind of issue, and how it is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.core import BLOCK_KINDS
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.blocks.blocks import are_marks
from chunkwise.text.characters import DIGIT, IDEOGRAPH, JOINER, LETTER, MARK
from chunkwise.text.language import UNKNOWN, language_of
from chunkwise.text.positions import merge_sorted

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "mid_word": "The boundary is inside a word or number.",
        "mid_sentence_end": "The chunk ends in the middle of a sentence.",
        "mid_sentence_start": "The chunk starts in the middle of a sentence.",
        "split_list": "A list or an enumeration in running text is split between or inside items.",
        "split_table": "A table is split; in CSV files and spreadsheets, only a row that would fit counts.",
        "split_code": "A code block is split.",
        "orphan_heading": "The chunk ends with a heading; its text is in the next.",
        "orphan_lead_in": "The chunk ends with a lead-in (“The following steps:”); its list, table or code is next.",
        "orphan_number": "The chunk ends with an item number; its text is in the next.",
        "only_marks": "The chunk has no words, only a fence, a bracket or quotation marks.",
        "dangling_start": "The chunk starts with a reference to the previous text.",
        "broken_grapheme": "The boundary is inside a visible character.",
    }
)
"""Every kind of issue with its explanation."""

AROUND = 40
"""Characters shown on either side of a cut."""


_HEADING = BLOCK_KINDS.index("heading")
# Scripts that put no space between words: where a word ends there cannot be told by looking.
_UNSPACED = ((0x0E00, 0x0EFF), (0x0F00, 0x109F), (0x1780, 0x17FF))
_EMOJI = (0x1F000, 0x1FFFF)
_CONNECTORS = "'’._-"
FILES_OF_ROWS = ("table", "xlsx", "ods")
"""Formats of data, row by row: a table larger than any chunk, whose rows are what its chunks are made of."""
Flags = NDArray[np.bool_]
Positions = NDArray[np.int64]


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
    told = [(kind, *case) for kind in wrong.flags for case in wrong.cases(kind)]
    number = {kind: index for index, kind in enumerate(KINDS)}
    told.sort(key=lambda item: (item[1], item[2], number[item[0]]))
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


class CutPlaces:
    """Cuts of a document, asked all at once what they cut through.

    One in white space lies between the last character before it and the first after it.
    """

    def __init__(self, document: Analyzed, cuts: Positions) -> None:
        self.document = document
        self.cuts = cuts
        self.left: Positions = document.characters.behind_solid(cuts)
        """End of the last visible character before each cut; 0 if there is none."""
        self.right: Positions = document.characters.next_solid(cuts)
        self.edge: Flags = (self.left == 0) | (self.right == self.size)
        """Nothing visible lies before or after: the document itself begins or ends here."""

    @property
    def size(self) -> int:
        return len(self.document.text)

    def last_solid(self, ends: Positions) -> Positions:
        """The last visible character before each of these ends; -1 if there is none."""
        return self.document.characters.behind_solid(ends) - 1

    def inside(self, spans: Positions) -> Flags:
        """Whether each cut divides one of these ordered, disjoint spans (two columns)."""
        return self._before(spans, self.right) & ~self.edge

    def within(self, spans: Positions) -> Flags:
        """Whether what follows each cut belongs to one of the spans."""
        index = spans[:, 0].searchsorted(self.right, "right") - 1
        ends = np.append(spans[:, 1], 0)
        return self.right < ends[index]

    def _before(self, spans: Positions, position: Positions) -> Flags:
        index = spans[:, 0].searchsorted(self.left, "left") - 1
        # Index -1 means none begins before the cut: it meets the 0 appended at the end.
        return position < np.append(spans[:, 1], 0)[index]

    @cached_property
    def in_sentence(self) -> Flags:
        """A sentence, heading, item, row or line of code goes on across the cut."""
        starts, blocks = self.document.sentences, self.document.blocks
        if self.inside(blocks.spans("header", "row")).any():
            # A row is no sentence: its cells hold some.
            starts = merge_sorted(starts, self.document.sentences_in_rows)
        cut: Flags = starts.searchsorted(self.left) == starts.searchsorted(self.right, "right")
        if self.document.document.format != "code":
            # Markup between two blocks (a rule) follows a sentence without being part of it.
            cut &= self.inside(np.stack([blocks.start, blocks.end], axis=1))
        return cut & ~self.edge

    def tables(self, longest: int) -> Positions:
        """What is not to be cut of tables: those in a text whole, of a file of rows each row that a chunk can hold."""
        blocks = self.document.blocks
        if self.document.document.format not in FILES_OF_ROWS:
            return blocks.tables
        rows = blocks.spans("header", "row")
        return rows[rows[:, 1] - rows[:, 0] <= longest]

    @cached_property
    def in_word(self) -> Flags:
        """Both neighbors belong to one word; the parts of "don't", "3.14" and "well-known" do."""
        tight = (self.left == self.right) & ~self.edge
        tight[tight] = ~_are_among(self.cuts[tight], self.document.sentences)
        wrong = np.zeros(len(self.cuts), dtype=np.bool_)
        at = self.cuts[tight]
        before, after = self._word(at - 1), self._word(at)
        bound = before & after
        bound |= self._connector(at - 1, at - 2, at) & after
        bound |= before & self._connector(at, at - 1, at + 1)
        wrong[tight] = bound
        return wrong

    def _word(self, at: Positions) -> Flags:
        characters = self.document.characters
        kinds, points = characters.kinds_at(at), characters.points[at]
        word: Flags = (kinds & np.uint16(LETTER | DIGIT | MARK | JOINER)) != 0
        word &= (kinds & np.uint16(IDEOGRAPH)) == 0
        for low, high in (*_UNSPACED, _EMOJI):
            word &= (points < low) | (points > high)
        return word

    def _connector(self, at: Positions, before: Positions, after: Positions) -> Flags:
        """A sign that ties the characters beside it together; a comma only ties digits."""
        characters = self.document.characters
        inside = (before >= 0) & (after < len(characters.text))
        at, before, after = (np.where(inside, p, 0) for p in (at, before, after))
        points = characters.points
        tie: Flags = np.isin(points[at], [ord(sign) for sign in _CONNECTORS])
        digits = characters.have(before, DIGIT) & characters.have(after, DIGIT)
        tie |= (points[at] == ord(",")) & digits
        tie &= inside & self._word(before) & self._word(after)
        return tie

    @cached_property
    def in_grapheme(self) -> Flags:
        # Between CR and LF nothing visible is broken: what follows the cut must be no white space.
        broken: Flags = (self.right == self.cuts) & ~self.edge
        at = self.cuts[broken]
        broken[broken] = ~_are_among(at, self.document.graphemes.keep(np.sort(at)))
        return broken

    @cached_property
    def after_heading(self) -> Flags:
        """The last block before the cut is a whole heading with text or subsections after it."""
        blocks = self.document.blocks
        if not len(blocks):
            return np.zeros(len(self.cuts), dtype=np.bool_)
        last = blocks.start.searchsorted(self.left) - 1
        following = np.minimum(last + 1, len(blocks) - 1)
        own: Flags = (last >= 0) & (following > last) & (blocks.kind[last] == _HEADING)
        own &= (blocks.kind[following] != _HEADING) | (blocks.level[following] > blocks.level[last])
        return own & (blocks.end[last] <= self.right) & ~self.edge

    @cached_property
    def after_lead_in(self) -> Flags:
        """What follows the cut is led in by what precedes it: a list, a table, code or a numbered item."""
        items = self.document.enumerations.led_in
        led = np.sort(np.concatenate((self.document.lead_ins[:, 1], items)))
        return self._between(led)

    @cached_property
    def after_number(self) -> Flags:
        """What follows the cut is the text of an item whose number precedes it."""
        return self._between(self.document.enumerations.texts)

    @cached_property
    def lists(self) -> Positions:
        """Lists, and enumerations in running text up to the end of their last item's sentence: ordered spans."""
        document, lists = self.document, self.document.blocks.lists
        first, last = document.enumerations.runs.T
        if not len(first):
            return lists
        following = np.append(document.sentences, self.size)
        ends = following[following.searchsorted(last, "right")]
        blocks = document.blocks
        if len(blocks):  # what follows a block is no item of it
            block = np.maximum(blocks.start.searchsorted(last, "right") - 1, 0)
            inside = blocks.end[block] > last
            ends = np.where(inside, np.minimum(ends, blocks.end[block]), ends)
        return _united(np.concatenate((lists, np.stack([first, ends], axis=1))))

    def _between(self, starts: Positions) -> Flags:
        """Whether one of these ordered starts is the first visible character behind each cut."""
        values = starts.searchsorted(self.right, "right") > starts.searchsorted(self.left)
        return values & ~self.edge

    @cached_property
    def opens_section(self) -> Flags:
        """A heading follows the cut, or the heading itself is what was cut off."""
        headings = self.document.sections.start[1:]
        begins = headings.searchsorted(self.right, "right") > headings.searchsorted(self.left)
        return begins | self.after_heading


def _are_among(positions: Positions, ordered: Positions) -> Flags:
    """Of each position, whether it is one of these."""
    if not len(ordered):
        return np.zeros(len(positions), dtype=np.bool_)
    result: Flags = ordered.take(ordered.searchsorted(positions), mode="clip") == positions
    return result


def _united(spans: Positions) -> Positions:
    """Spans in order, those that overlap as one."""
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    ends = np.maximum.accumulate(spans[:, 1])
    opens = np.ones(len(spans), dtype=np.bool_)
    opens[1:] = spans[1:, 0] >= ends[:-1]
    last = np.append(np.flatnonzero(opens)[1:], len(spans)) - 1
    return np.stack([spans[opens, 0], ends[last]], axis=1)


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
        result = cuts.left.copy()
        ends, starts = self.edges[: self.count], self.edges[self.count :]
        overlaps = (starts[1:] < ends[:-1]) & (starts[1:] >= starts[:-1])
        result[self.count + 1 :][overlaps] = cuts.left[: self.count - 1][overlaps]
        return result

    def _split(self, cuts: CutPlaces, spans: NDArray[np.int64]) -> Flags:
        return cuts.inside(spans) & ~self._repeated(cuts, spans)

    def _repeated(self, cuts: CutPlaces, spans: NDArray[np.int64]) -> Flags:
        """Openings amid something that the chunk before holds whole: what they repeat of it is overlap."""
        result = np.zeros(2 * self.count, np.bool_)
        if not len(spans):
            return result
        ends, starts = self.edges[: self.count], self.edges[self.count :]
        opens = cuts.right[self.count :]
        index = np.maximum(spans[:, 0].searchsorted(opens, "right") - 1, 0)
        first, last = spans[index].T
        result[self.count + 1 :] = (starts[:-1] <= first[1:]) & (
            cuts.last_solid(last[1:]) < ends[:-1]
        )
        return result

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
    result = np.zeros(len(opening), dtype=np.bool_)
    dangles = dangling_in(language)
    if dangles is None:
        return result
    blocks = document.blocks
    outside = opening & ~cuts.edge & ~cuts.in_sentence & ~cuts.opens_section
    for spans in (blocks.tables, blocks.code):
        outside &= ~cuts.within(spans)
    text, candidates = document.text, np.flatnonzero(outside)
    result[candidates] = [
        dangles(text[p : p + _LONGEST_OPENING]) for p in cuts.right[candidates].tolist()
    ]
    return result


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
    result = regex.compile(
        rf"[\p{{Ps}}\p{{Pi}}\"'„>*_\s]*+(?:{'|'.join(words.split())})(?![\w\p{{M}}])(?!['’]\w)",
        regex.IGNORECASE,
    )
    return lambda opening: result.match(opening) is not None
