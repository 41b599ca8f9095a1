"""Everything there is to know about a document's text, found once and shared by all strategies."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from chunkwise.core import Block, Document, SectionStretch
from chunkwise.text.blocks.blocks import (
    CODE_OF,
    Blocks,
    are_marks,
    beside_bare_lines,
    beside_fences,
    cell_starts,
    lead_ins,
)
from chunkwise.text.blocks.lines import Lines
from chunkwise.text.blocks.markdown import markdown_blocks
from chunkwise.text.blocks.markup import MARKUPS
from chunkwise.text.blocks.plain_text import is_one_paragraph, plain_blocks
from chunkwise.text.blocks.sections import HeadingAbove, SectionTree, heading_title
from chunkwise.text.characters import CharacterArrays
from chunkwise.text.graphemes import Graphemes
from chunkwise.text.positions import merge_sorted
from chunkwise.text.sentences.atoms import ATOM_TOKENS, atom_starts
from chunkwise.text.sentences.boundaries import sentence_starts
from chunkwise.text.sentences.enumerations import NO_ENUMERATIONS, Enumerations, enumerations
from chunkwise.text.source_code import CodeSections, grammar_for, syntax_tree
from chunkwise.text.tokens.measure import TokenMeasure, measure_of
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, TokenizerLike, get_tokenizer

if TYPE_CHECKING:
    from tree_sitter import Tree


_T = TypeVar("_T")


class Analyzed:
    """A document with tokens, sentences, blocks and sections as offset arrays, computed on first use."""

    def __init__(self, document: Document, above: Sequence[HeadingAbove] = ()) -> None:
        """`above`: the headings that hold the beginning of the text, where it is a stretch of a longer one."""
        self.document = document
        self.text = document.text
        self._above = above
        self._measures: dict[str | int, TokenMeasure] = {}
        self._kept: dict[Hashable, object] = {}
        self._trees: dict[str, tuple[Tree | None, bytes]] = {}

    @cached_property
    def characters(self) -> CharacterArrays:
        return CharacterArrays(self.text)

    @cached_property
    def graphemes(self) -> Graphemes:
        return Graphemes(self.characters)

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.characters)

    @cached_property
    def blocks(self) -> Blocks:
        """Headings, paragraphs, list items, table rows and code: declared by the format or found in the text."""
        document = self.document
        if document.blocks is not None:
            return Blocks.declared(document.blocks)
        if document.format == "code":
            return Blocks()
        if is_one_paragraph(self.text):
            return Blocks([CODE_OF["paragraph"]], [0], [len(self.text.rstrip())], [0], [0])
        if document.format == "markdown":
            return markdown_blocks(self.lines)
        if document.format in MARKUPS:
            return MARKUPS[document.format].blocks(self.text)
        return plain_blocks(self.lines, dense=document.format == "pdf")

    @cached_property
    def sections(self) -> SectionTree:
        """What headings part; in source code, classes and functions."""
        if self.document.format == "code":
            return CodeSections(self.text, *self.syntax(self.document.language))
        markup = MARKUPS.get(self.document.format)
        title = markup.title if markup else heading_title
        return SectionTree(self.text, self.blocks, title, self._above)

    def syntax(self, language: str) -> tuple[Tree | None, bytes]:
        """Syntax tree in a programming language (None without its grammar), and its bytes."""
        if language not in self._trees:
            grammar = grammar_for(language)
            source = self.text.encode("utf-8", "surrogatepass")
            self._trees[language] = grammar and syntax_tree(source, grammar), source
        return self._trees[language]

    @cached_property
    def regions(self) -> NDArray[np.int64]:
        """Starts of the stretches no chunk of `sections` may cross: a bare heading joins its first subsection."""
        if self.document.format == "code":
            return np.zeros(1, dtype=np.int64)  # functions that belong together are not kept apart
        return self.graphemes.floors(self.sections.regions)

    def forget(self) -> None:
        """Free all arrays except sections; they are recomputed when needed."""
        for name in set(vars(self)) & _CAN_BE_FOUND_AGAIN:
            del vars(self)[name]
        self._measures.clear()
        self._kept.clear()

    def keep(self, key: Hashable, find: Callable[[], _T]) -> _T:
        """Cache a value that doesn't depend on sizes; it must not reference this analysis."""
        if key not in self._kept:
            self._kept[key] = find()
        return cast(_T, self._kept[key])

    @property
    def has_headings(self) -> bool:
        return self.document.format != "code" and len(self.sections) > 1

    def section(self, start: int, end: int) -> tuple[str, ...]:
        """The section path of a span."""
        return self.sections.section(start, end)

    def table_headers(
        self, starts: NDArray[np.int64], fits: Callable[[Block], bool]
    ) -> dict[int, str]:
        """Table headers by index of a start within table rows; "" if the header doesn't fit."""
        told: dict[Block, str] = {}
        headers: dict[int, str] = {}
        for number, header in self.blocks.headers_above(starts).items():
            if header not in told:
                text = self.text[header.start : header.end].removeprefix("\ufeff")
                told[header] = text if fits(header) else ""
            headers[number] = told[header]
        return headers

    @cached_property
    def sentences(self) -> NDArray[np.int64]:
        """Starts of sentences, list items, rows, headings and lines of code: they tile the text."""
        return self.sentences_within(None)

    def sentences_within(self, spans: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """At least all sentences that start in these sorted spans; None: all."""
        if "sentences" in vars(self):
            return self.sentences
        if self.document.format == "code":
            return self._tiles(self.lines.start)
        blocks = self.blocks
        starts = [blocks.start, self._sentences_in_prose(spans)]
        code = blocks.code
        if len(code):
            line = self.lines.start
            inside = code[:, 0].searchsorted(line, "right") - 1
            starts.append(line[(inside >= 0) & (line < code[inside, 1])])
        return self._tiles(*starts)

    @cached_property
    def enumerations(self) -> Enumerations:
        """Numbered items in running text."""
        code = self.document.format == "code"
        return NO_ENUMERATIONS if code or not self.text else enumerations(self.characters)

    @cached_property
    def _leading(self) -> NDArray[np.int64]:
        return lead_ins(self.characters, self.blocks)

    @cached_property
    def led_in(self) -> NDArray[np.int64]:
        """Lists, tables and code with a lead-in: where its block starts, where they do, where they end."""
        blocks, leading = self.blocks, self._leading
        led = blocks.start[leading + 1]
        if not len(led):
            return np.zeros((0, 3), dtype=np.int64)
        wholes = np.concatenate((blocks.lists, blocks.tables, blocks.code))
        wholes = wholes[np.argsort(wholes[:, 0])]
        end = wholes[wholes[:, 0].searchsorted(led, "right") - 1, 1]
        return np.stack([blocks.start[leading], led, end], axis=1)

    @cached_property
    def lead_ins(self) -> NDArray[np.int64]:
        """The same, with where the last sentence of the lead-in starts."""
        if not len(self.led_in):
            return self.led_in
        start, led, end = self.led_in.T
        own = np.stack([start, self.blocks.end[self._leading]], axis=1)
        sentences = self.sentences_within(own)
        last = sentences[sentences.searchsorted(own[:, 1]) - 1]
        return np.stack([np.maximum(last, start), led, end], axis=1)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """Starts of the cells of table rows but the first of each."""
        verbatim = self.document.format == "table"
        return self.graphemes.keep(cell_starts(self.text, self.blocks, verbatim=verbatim))

    @cached_property
    def sentences_in_rows(self) -> NDArray[np.int64]:
        """Starts of the sentences in the cells of table rows, and of those cells but the first of each row."""
        rows = self.blocks.spans("header", "row")
        if not len(rows):
            return rows[:, 0]
        starts = sentence_starts(self.characters, rows, self.enumerations)
        row = rows[:, 0].searchsorted(starts, "right") - 1
        inside = starts[(row >= 0) & (starts < rows[row, 1])]
        return merge_sorted(self.graphemes.keep(inside), self.cells)

    @cached_property
    def fragment_starts(self) -> NDArray[np.int64]:
        """Starts that go with what stands before them: a cut there leaves a lead-in, a fence or marks alone."""
        if self.document.format == "code":
            return np.array(beside_bare_lines(self.text), dtype=np.int64)
        blocks = self.blocks
        beside = beside_fences(self.text, blocks.code)
        for start, end in blocks.code.tolist():
            beside += (start + at for at in beside_bare_lines(self.text[start:end]))
        fences = np.unique(np.array(beside, dtype=np.int64))
        led = blocks.start[self._leading + 1]
        prose = blocks.of("paragraph")
        prose = prose[prose > 0]
        silent = are_marks(self.characters, blocks.start[prose], blocks.end[prose])
        return merge_sorted(fences, led, blocks.start[prose[silent]])

    def _sentences_in_prose(self, spans: NDArray[np.int64] | None) -> NDArray[np.int64]:
        starts = sentence_starts(self.characters, spans, self.enumerations)
        prose = self.blocks.spans("paragraph", "item")
        if not len(prose):
            return starts[:0]
        inside = prose[:, 0].searchsorted(starts, "right") - 1
        return starts[(inside >= 0) & (starts < prose[inside, 1])]

    def _tiles(self, *parts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sorted starts without doubles, the first at 0, none inside a grapheme cluster."""
        if not self.text:
            return parts[0][:0]
        starts = merge_sorted(np.zeros(1, dtype=np.int64), *parts)
        return self.graphemes.keep(starts)

    @cached_property
    def paragraphs(self) -> NDArray[np.int64]:
        """Starts of paragraphs, whole lists, whole tables, pieces of code and headings: they tile the text."""
        blocks = self.blocks
        if self.document.format == "code" or not len(blocks):
            return self._tiles(self._after_blank_lines())
        single = blocks.start[blocks.of("heading", "paragraph", "code")]
        return self._tiles(single, blocks.lists[:, 0], blocks.tables[:, 0])

    def _after_blank_lines(self) -> NDArray[np.int64]:
        blank = self.lines.blank
        return self.lines.start[~blank & np.append(True, blank[:-1])[: len(blank)]]

    def measure(self, tokenizer: TokenizerLike = DEFAULT_TOKENIZER) -> TokenMeasure:
        """Token counts of spans; the text is tokenized once."""
        key = tokenizer if isinstance(tokenizer, str) else id(tokenizer)
        if key not in self._measures:  # a measure keeps its tokenizer alive, and with it the id
            self._measures[key] = measure_of(self.characters, get_tokenizer(tokenizer))
        return self._measures[key]

    def atoms(
        self, tokenizer: TokenizerLike = DEFAULT_TOKENIZER, max_tokens: int = ATOM_TOKENS
    ) -> NDArray[np.int64]:
        """Starts of atoms: sentences, with overlong ones split at full stops or spaces."""
        return atom_starts(self, self.measure(tokenizer), max_tokens)


_CAN_BE_FOUND_AGAIN = {
    name for name, value in vars(Analyzed).items() if isinstance(value, cached_property)
} - {"sections"}


class SectionLookup:
    """Takes the sections from the analysis while it is there; chunks do not keep its arrays alive."""

    def __init__(self, analyzed: Analyzed) -> None:
        self._document = analyzed.document
        self._analyzed = ref(analyzed)
        self._sections: SectionTree | None = None

    def section(self, start: int, end: int) -> tuple[str, ...]:
        return self.stretch(start, end).path

    def stretch(self, start: int, end: int) -> SectionStretch:
        if self._sections is None:
            self._sections = (self._analyzed() or Analyzed(self._document)).sections
        return self._sections.stretch(start, end)
