"""Questions that documents hold themselves, where no language model writes any: each with its evidence and its kind."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, pairwise, zip_longest
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from chunkwise.core import Query, Span
from chunkwise.testsets.generate.candidate import question_id, reference_at, words_in
from chunkwise.testsets.generate.definitions import definitions_in, without_marks
from chunkwise.testsets.generate.plan import EXTRACTED, by_size
from chunkwise.testsets.generate.source_passages import SourcePassage, SourcePassages
from chunkwise.testsets.locate import trimmed
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.links import written_links
from chunkwise.text.terms import text_terms


class FoundQuestion(NamedTuple):
    """A question, where its answer is, and the answer where one sentence is it."""

    question: str
    document: int
    span: Span
    answer: str | None = None


class SearchedDocument:
    """A document that questions are looked for in, among its corpus."""

    def __init__(self, corpus: LinkedDocuments, number: int) -> None:
        self.corpus = corpus
        self.number = number
        self.text = corpus.source.documents[number].text
        self.passages: Sequence[SourcePassage] = corpus.passages.get(number, ())

    @cached_property
    def analyzed(self) -> Analyzed:
        return Analyzed(self.corpus.source.documents[self.number])

    @property
    def language(self) -> str:
        return self.passages[0].language if self.passages else "none"

    def passage_behind(self, position: int, until: int) -> FoundQuestion | None:
        """The first passage between two positions, as evidence of a question still to be asked."""
        at = bisect_left(self.passages, position, key=lambda passage: passage.start)
        if at == len(self.passages) or self.passages[at].start >= until:
            return None
        return _evidence(self.passages[at])


class LinkedDocuments:
    """Documents that refer to each other."""

    def __init__(self, source: SourcePassages) -> None:
        self.source = source
        self.passages: defaultdict[int, list[SourcePassage]] = defaultdict(list)
        for passage in source.passages:
            self.passages[passage.at].append(passage)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {document.id: number for number, document in enumerate(self.source.documents)}

    @cached_property
    def _anchored(self) -> dict[tuple[int, str], SourcePassage]:
        """The first passage below each heading, by its document and its anchor."""
        named = [passage for passage in self.source.passages if passage.path]
        return {(passage.at, _slug(passage.path[-1])): passage for passage in reversed(named)}

    def linked(self, target: str, document_id: str) -> FoundQuestion | None:
        """The passage that a link leads to: the first of its document, or of the section it names."""
        path, _, anchor = unquote(target).partition("#")
        if "://" in path:
            return None
        folder = posixpath.dirname(document_id)
        name = posixpath.normpath(posixpath.join(folder, path)) if path else document_id
        number = self._numbers.get(name)
        if number is None or not self.passages[number]:
            return None
        passage = self._anchored.get((number, anchor)) if anchor else self.passages[number][0]
        return None if passage is None else _evidence(passage)


def _evidence(passage: SourcePassage) -> FoundQuestion:
    return FoundQuestion("", passage.at, Span(passage.start, passage.end))


def _slug(title: str) -> str:
    """As most renderers of Markdown name the anchor of a heading."""
    return re.sub(r"[^\w-]", "", title.lower().replace(" ", "-"))


Finder = Callable[[SearchedDocument], Iterator[FoundQuestion]]


def asked_questions(place: SearchedDocument) -> Iterator[FoundQuestion]:
    """Headings that ask, with the first passage below them: the questions of an FAQ."""
    sections = place.analyzed.sections
    for at, path in enumerate(sections.paths):
        if path and path[-1].endswith(("?", "？", "؟")):
            end = int(sections.end[at])
            if answer := place.passage_behind(int(sections.heading_end[at]), end):
                yield answer._replace(question=path[-1])


_LEAST_WORDS = 2
"""Content words of a link that say where it leads: "here" does not."""


def link_questions(place: SearchedDocument) -> Iterator[FoundQuestion]:
    """Texts of links to other documents and sections, with the passage they lead to."""
    document = place.analyzed.document
    for start, end, target in written_links(place.text, document):
        label = without_marks(place.text[start:end])
        if len(words_in(label, place.language)) >= _LEAST_WORDS:
            question = place.corpus.linked(target, document.id)
            if question and not (
                question.document == place.number
                and question.span.start < start < question.span.end
            ):
                yield question._replace(question=label)


def definition_questions(place: SearchedDocument) -> Iterator[FoundQuestion]:
    """What is defined, with the sentence that defines it."""
    for question, answer, span, subject in definitions_in(place.analyzed):
        if not subject or place.corpus.source.is_rare(words_in(subject, place.language)):
            yield FoundQuestion(question, place.number, span, answer)


def row_questions(place: SearchedDocument) -> Iterator[FoundQuestion]:
    """The name of a column and what a row begins with, with that row."""
    analyzed, text = place.analyzed, place.text
    blocks = analyzed.blocks
    cells = analyzed.cells
    rows = blocks.spans("row").tolist()
    headers = blocks.headers_above(np.array([start for start, _ in rows], dtype=np.int64))

    def cells_of(start: int, end: int) -> list[str]:
        inner = cells[cells.searchsorted(start, "right") : cells.searchsorted(end)].tolist()
        parts = pairwise([start, *inner, end])
        return [without_marks(text[low:high].strip(' |,;\t\r\n"')) for low, high in parts]

    for number, (start, end) in enumerate(rows):
        if (header := headers.get(number)) is None:
            continue
        names, values = cells_of(header.start, header.end), cells_of(start, end)
        filled = [at for at in range(1, min(len(names), len(values))) if names[at] and values[at]]
        if filled and _has_letters(values[0]) and len(values[0]) <= _LONGEST_CELL:
            column = filled[number % len(filled)]
            yield FoundQuestion(
                f"{names[column]} {values[0]}", place.number, trimmed(text, start, end)
            )


_LONGEST_CELL = 100


def _has_letters(text: str) -> bool:
    return sum(map(str.isalpha, text)) > 2


_COMMENT = re.compile(r'(?:^[ \t]*(?://[/!]?|\#|--)[ \t]+\S.*\n)+|/\*|"""', re.MULTILINE)
_CLOSERS = {"/*": "*/", '"""': '"""'}
_COMMENT_MARKS = re.compile(r"^[ \t]*(?://[/!]?|\#|--|\*)[ \t]*", re.MULTILINE)
_LEAST_COMMENT, _MOST_CODE = 5, 1500
"""Words of a comment that says what code does; characters of the code behind it that are its evidence."""


def comment_questions(place: SearchedDocument) -> Iterator[FoundQuestion]:
    """What a comment or docstring says of code, with the code that follows it, up to the next comment."""
    if place.analyzed.document.format != "code":
        return
    text = place.text
    comments = list(_comments(text))
    for comment, following in zip_longest(comments, comments[1:]):
        words = _COMMENT_MARKS.sub("", text[comment.start : comment.end]).strip(' */"\n')
        sentence = " ".join(re.split(r"(?<=[.!?])\s|\n\s*\n", words, maxsplit=1)[0].split())
        end = following.start if following else len(text)
        code = trimmed(text, comment.end, min(end, comment.end + _MOST_CODE))
        if len(sentence.split()) >= _LEAST_COMMENT and code.end > code.start:
            yield FoundQuestion(sentence.rstrip("."), place.number, code)


def _comments(text: str) -> Iterator[Span]:
    """Lines of comments that follow each other, block comments and docstrings; one that nothing ends is the last."""
    at = 0
    while opening := _COMMENT.search(text, at):
        at = opening.end()
        if closer := _CLOSERS.get(opening[0]):
            at = text.find(closer, at) + len(closer)
            if at < opening.end() + len(closer):
                return
        yield Span(opening.start(), at)


_GAP = "…"
_HIDDEN = 1 / 3
"""Share of a sentence's terms that its gap hides: the stretch of the rarest, which who asks does not know."""
_LEAST_TERMS = 6
_LONGEST_SENTENCE = 400
_NUMBER = re.compile(r"(?<=[\s($€£])\d+(?:[.,]\d+)*(?![\w.,:/-]*\w)")
"""An amount or a date, not the label of a section or a part of a name."""
_ENDS = (".", "!", "?", "。", "！", "？", "।")


def sentence_questions(place: SearchedDocument) -> Iterator[FoundQuestion]:
    """The longest sentence of each passage with a gap instead of its rarest stretch."""
    for spans in _prose(place):
        span = max(spans, key=lambda row: row.end - row.start)
        text = without_marks(place.text[span.start : span.end])
        terms = text_terms(text, place.language)
        if len(terms.vocabulary) < _LEAST_TERMS:
            continue
        rarity = 1 / np.maximum(place.corpus.source.frequencies(terms.hash), 1)
        width = round(len(rarity) * _HIDDEN)
        first = int(np.convolve(rarity, np.ones(width), "valid").argmax())
        gap = Span(int(terms.start[first]), int(terms.end[first + width - 1]))
        yield _with_gap(place, span, text, gap)


def number_questions(place: SearchedDocument) -> Iterator[FoundQuestion]:
    """The longest sentence of each passage with one number, and a gap instead of that."""
    for spans in _prose(place):
        for span in sorted(spans, key=lambda row: row.start - row.end):
            text = without_marks(place.text[span.start : span.end])
            numbers = list(_NUMBER.finditer(text))
            if len(numbers) == 1 and len(words_in(text, place.language)) >= _LEAST_TERMS:
                yield _with_gap(place, span, text, Span(*numbers[0].span()))
                break


def _with_gap(place: SearchedDocument, span: Span, text: str, gap: Span) -> FoundQuestion:
    question = f"{text[: gap.start]}{_GAP}{text[gap.end :]}"
    return FoundQuestion(question, place.number, span, text[gap.start : gap.end])


def _prose(place: SearchedDocument) -> Iterator[list[Span]]:
    """The whole sentences of each passage, weighty passages first; code has none."""
    if place.analyzed.document.format == "code":
        return
    text = place.text
    starts = [*place.analyzed.sentences.tolist(), len(text)]
    whole = [
        span
        for span in (trimmed(text, *bounds) for bounds in pairwise(starts))
        if span.end - span.start <= _LONGEST_SENTENCE and text.endswith(_ENDS, span.start, span.end)
    ]
    for passage in sorted(place.passages, key=lambda source_passage: -source_passage.weight):
        first = bisect_left(whole, passage.start, key=lambda row: row.start)
        last = bisect_right(whole, passage.end, key=lambda row: row.end)
        if first < last:
            yield whole[first:last]


KINDS: dict[str, Finder] = {
    "asked": asked_questions,
    "link": link_questions,
    "definition": definition_questions,
    "row": row_questions,
    "comment": comment_questions,
    "number": number_questions,
    "sentence": sentence_questions,
}
"""How questions are found, by the tag that each carries."""
_POOL = 10
"""Candidates for each question wanted, among which the kinds take turns."""


_MOST_OF_A_KIND, _A_FEW = 1 / 5, 5
"""Share of the questions wanted that one kind may make up: of plain prose there are fewer; and how many always may."""


def questions_in(
    source: SourcePassages, wanted: int, known: Mapping[str, int] = MappingProxyType({})
) -> Iterator[tuple[Query, str]]:
    """Questions of all kinds in turn, each with the language of its document; documents take turns by size.

    `known` are the questions kept of each kind, which grow meanwhile: a kind that has its share gives no more.
    """
    corpus = LinkedDocuments(source)
    sizes = {number: len(document.text) for number, document in enumerate(source.documents)}
    lines = {number: _of_document(SearchedDocument(corpus, number)) for number in sizes}
    pool: dict[str, list[tuple[int, FoundQuestion]]] = {kind: [] for kind in KINDS}
    for number, (kind, question) in islice(by_size(lines, sizes), _POOL * wanted):
        pool[kind].append((number, question))
    most = max(_A_FEW, _MOST_OF_A_KIND * wanted)
    for turn in range(max(map(len, pool.values()))):
        for kind, candidates in pool.items():
            if turn < len(candidates) and known.get(kind, 0) < most:
                number, question = candidates[turn]
                passages = corpus.passages[number]
                yield _query(kind, question, source), passages[0].language if passages else "none"


def _query(kind: str, question: FoundQuestion, source: SourcePassages) -> Query:
    document = source.documents[question.document]
    reference = reference_at(document, question.span, source.documents)
    id = question_id(question.question, reference.places[:1])
    return Query(id, question.question, (reference,), question.answer, (), (EXTRACTED, kind))


def _of_document(place: SearchedDocument) -> Iterator[tuple[str, FoundQuestion]]:
    """The kinds take turns, each in its own order."""
    open_kinds = {kind: find(place) for kind, find in KINDS.items()}
    while open_kinds:
        for kind, finder in list(open_kinds.items()):
            if (result := next(finder, None)) is None:
                del open_kinds[kind]
            else:
                yield kind, result
