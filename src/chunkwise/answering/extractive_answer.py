"""An answer without a language model: the sentences of the documents that answer best, word for word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.answering.check_claims import (
    FoundQuote,
    analyzed_once,
    citation_at,
    lines_of,
    one_line,
)
from chunkwise.answering.cited_answer import (
    CitedAnswer,
    Claim,
    NumberedPassage,
    passages_of,
)
from chunkwise.core import Document, Hit, Query, Span
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.retrieval.tables_lists_code import whole_blocks
from chunkwise.testsets.locate import trimmed
from chunkwise.text.analyzed import Analyzed

BUDGET = 600
"""Tokens of the passages whose sentences are read, where nothing else is asked for."""
_MOST = 3
"""Sentences of an answer."""
_SHORT_CODE = 600
"""Characters of code that a lead-in brings with it where its passage ends before."""
_NEAR = 2.0
"""How far below the best one a sentence may be, in the cross-encoder's logits."""
_SURE = 0.0
"""Logit from which on a sentence is taken for an answer."""
_NOTHING = -4.0
"""Logit below which it has nothing to do with the question."""
DOUBTFUL = "the closest sentence found; it may not answer the question"
NOTHING_NEAR = "no sentence in the passages is close to the question"


class Sentence(NamedTuple):
    """What may answer a question: a sentence, an item, a row of a table, a whole block of code."""

    passage: NumberedPassage
    span: Span
    read: str
    """What is compared with the question: the sentence below its heading and its table's header."""
    is_introduced: bool
    """Whether it is code below the sentence before it."""


def quoted_answer(query: Query, hits: Sequence[Hit], reranker: Reranker) -> CitedAnswer:
    """The best sentences of the hits, in the order of the documents; neighbors as one quote."""
    passages = tuple(passages_of(hits))
    sentences = [sentence for passage in passages for sentence in sentences_of(passage)]
    claims: tuple[Claim, ...] = ()
    note = NOTHING_NEAR
    if sentences:
        scores = reranker.scores(query.text, [sentence.read for sentence in sentences])
        claims = tuple(_claims(sentences, scores))
        note = "" if claims else NOTHING_NEAR
    return CitedAnswer(
        query.text, claims, passages, note=note, query_id=query.id,
        quoted_by=reranker.identity,
    )  # fmt: skip


def sentences_of(passage: NumberedPassage) -> Iterator[Sentence]:
    """Those of a passage, without headings; of a sentence that the passage cuts the part inside it."""
    analyzed, comments = analyzed_once(passage.document), whole_blocks(passage.document)
    start, end = passage.start, passage.end
    starts = _starts(analyzed, start, end)
    headers = analyzed.blocks.headers_above(starts)
    headings = analyzed.blocks.spans("heading", "header")
    ends = [*starts.tolist()[1:], end]
    for number, (low, high) in enumerate(zip(starts.tolist(), ends, strict=True)):
        low, high = comments.readable(low, high)
        span = trimmed(analyzed.text, low, high)
        hidden = comments.hidden(*span)
        text = passage.document.text_without(span, hidden)
        if not any(map(str.isalnum, text)) or _is_in(headings, span.start):
            continue
        follows = _follows_prose(analyzed, span.start)
        if follows and low == start:
            continue  # a listing says nothing without the sentence that introduces it
        header = headers.get(number)
        above = [*analyzed.section(*span)[-1:]]
        if header is not None:
            above.append(analyzed.text[header.start : header.end])
        yield Sentence(passage, span, "\n".join([*above, text]), follows)


def _starts(analyzed: Analyzed, start: int, end: int) -> NDArray[np.int64]:
    """Of the sentences from `start` on; code is one, as its lines alone say little."""
    if analyzed.document.format == "code":
        return np.array([start], dtype=np.int64)
    result = analyzed.sentences_within(np.array([[start, end]], dtype=np.int64))
    result = result[(result > start) & (result < end)]
    code = analyzed.blocks.code
    if len(code) and len(result):
        inside = np.maximum(code[:, 0].searchsorted(result) - 1, 0)  # the block that begins before
        result = result[~((code[inside, 0] < result) & (result < code[inside, 1]))]
    return np.insert(result, 0, start)


def _is_in(spans: NDArray[np.int64], place: int) -> bool:
    at = int(spans[:, 0].searchsorted(place, "right")) - 1
    return at >= 0 and place < int(spans[at, 1])


def _follows_prose(analyzed: Analyzed, place: int) -> bool:
    """Whether code is here, below something other than a heading."""
    code = analyzed.blocks.code
    if analyzed.document.format == "code" or not _is_in(code, place):
        return False
    before = analyzed.text[: code[code[:, 0].searchsorted(place, "right") - 1, 0]].rstrip()
    headings = analyzed.blocks.spans("heading", "header")
    return bool(before) and not _is_in(headings, len(before) - 1)


def _first_of_equals(sentences: Sequence[Sentence], numbers: Sequence[int]) -> list[int]:
    """The best few; what stands word for word in several places is quoted from the first."""
    chosen: dict[str, int] = {}
    for number in numbers:
        passage, span, *_ = sentences[number]
        words = " ".join(passage.document.text[span.start : span.end].split())
        chosen.setdefault(words, number)
        if len(chosen) == _MOST:
            break
    return list(chosen.values())


def _claims(sentences: Sequence[Sentence], scores: NDArray[np.float32]) -> Iterator[Claim]:
    order = np.argsort(-scores, kind="stable")
    best = float(scores[order[0]])
    if best < _NOTHING:
        return
    if best < _SURE:
        passage, span, *_ = sentences[order[0]]
        yield _claim(passage, _with_led_in(passage, span), DOUBTFUL)
        return
    least = max(best - _NEAR, _SURE)
    best_few = set(_first_of_equals(sentences, order[scores[order] >= least].tolist()))
    # Code is quoted with the sentence that introduces it, and with two that are quoted around it.
    code = [number for number, row in enumerate(sentences) if row.is_introduced]
    chosen = sorted(
        best_few
        | {number - 1 for number in code if number in best_few}
        | {number for number in code if {number - 1, number + 1} <= best_few}
    )
    quotes: list[tuple[NumberedPassage, Span]] = []
    for number in chosen:
        passage, span, *_ = sentences[number]
        span = _with_led_in(passage, span)
        if quotes and quotes[-1][0] == passage:
            before = quotes[-1][1]
            if number - 1 in chosen or span.start < before.end:
                span = Span(min(quotes.pop()[1].start, span.start), max(before.end, span.end))
        quotes.append((passage, span))
    # The best one first: it may be all that is read.
    quotes.sort(key=lambda quote: not _holds(quote, sentences[order[0]]))
    for passage, span in quotes:
        yield _claim(passage, span)


def _with_led_in(passage: NumberedPassage, span: Span) -> Span:
    """A lead-in with its code, list or table, and code with its lead-in: as much as the passage has of them, and a
    short piece of code whole."""
    analyzed = analyzed_once(passage.document)
    for start, own, end in analyzed.lead_ins.tolist():
        leads, is_code = start <= span.start < own, _is_in(analyzed.blocks.code, own)
        if leads or (span.start == own and is_code):
            most = own + _SHORT_CODE if is_code else 0
            last = end if end <= most else min(end, passage.end)
            whole = Span(max(start, passage.start), max(last, span.end))
            return trimmed(analyzed.text, *whole)
    return span


def _holds(quote: tuple[NumberedPassage, Span], sentence: Sentence) -> bool:
    passage, (start, end) = quote
    return passage == sentence.passage and start <= sentence.span.start < end


def _claim(passage: NumberedPassage, span: Span, doubt: str = "") -> Claim:
    citation = citation_at(FoundQuote(passage, span))
    text = _in_lines(passage.document, span)
    return Claim(text, "quoted" if doubt else "supported", citation, note=doubt)


def _in_lines(document: Document, span: Span) -> str:
    """Prose in one line; code, items and rows with the lines they have, and no comment."""
    blocks, hide = analyzed_once(document).blocks, whole_blocks(document).hidden
    as_they_are = np.concatenate((blocks.code, blocks.lists, blocks.tables))
    if document.format == "code":
        as_they_are = np.array([[span.start, span.end]], dtype=np.int64)
    parts, at = [], span.start
    for start, end in as_they_are[np.argsort(as_they_are[:, 0], kind="stable")].tolist():
        start, end = max(start, at), min(end, span.end)
        if start < end:
            prose = Span(at, start)
            parts.append(one_line(document.text_without(prose, hide(*prose))))
            parts.append(lines_of(document.text_without(Span(start, end), hide(start, end))))
            at = end
    rest = Span(at, span.end)
    parts.append(one_line(document.text_without(rest, hide(*rest))))
    return "\n".join(part for part in parts if part)
