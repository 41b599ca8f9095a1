"""`chunkwise.ask`: a question to documents or an index, answered by quotes, or by a language model that must cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.answering.check_claims import (
    FoundQuote,
    analyzed_once,
    attribute_sentences,
    check_claims,
    citation_at,
    lines_of,
    one_line,
)
from chunkwise.answering.cited_answer import (
    AnswerRequest,
    CitedAnswer,
    Claim,
    Form,
    NumberedPassage,
    passages_of,
    request_for,
)
from chunkwise.base.deprecation import renamed
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.parameters import takes
from chunkwise.core import Document, Hit, OnProgress, Query, Span
from chunkwise.documents import Inputs, LoadOptions, WhenUnreadable
from chunkwise.models import get_language_model, get_reranker
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.models.llm.language_model import LanguageModel, Reply
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.retrieval.filters import EVERYTHING, Filter
from chunkwise.retrieval.indexes import Index, index, named_index
from chunkwise.retrieval.metadata_conditions import Where
from chunkwise.retrieval.retrievers import Retriever, graph_for
from chunkwise.retrieval.settings import Vectors
from chunkwise.retrieval.whole_blocks import whole_blocks
from chunkwise.testsets.locate import trimmed
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import TokenizerLike

NO_WORDS = "the question has no words"
NOTHING_FOUND = "the search found nothing for the question"
NO_ROOM = "the question is longer than the model can hold ({:,} tokens with its answer)"


class RetrievedQuestion(NamedTuple):
    """A question with what the search found for it."""

    query: Query
    hits: Sequence[Hit]


def answer_question(
    question: str | Query, hits: Sequence[Hit], client: LlmClient, *, form: Form | None = None
) -> CitedAnswer:
    """Answers from the hits alone; a question without hits is answered without asking the model."""
    query = question if isinstance(question, Query) else Query("1", question)
    before = client.spent
    answered = next(answer_each([RetrievedQuestion(query, hits)], client, form=form))
    return replace(answered, usage=client.spent.since(before))


def answer_each(
    questions: Sequence[RetrievedQuestion], client: LlmClient, *, form: Form | None = None
) -> Iterator[CitedAnswer]:
    """Answers as they come, in no particular order; each is in the client's cache before the next is asked for."""
    asked: list[tuple[Query, AnswerRequest]] = []
    for query, hits in questions:
        made = _request_or_answer(query, hits, client, form)
        if isinstance(made, CitedAnswer):
            yield made
        else:
            asked.append((query, made))
    with closing(client.ask_each([each.request for _, each in asked])) as replies:
        for number, reply in replies:
            yield _answered(*asked[number], reply, client)


def quote_each(questions: Sequence[RetrievedQuestion]) -> Iterator[CitedAnswer]:
    """Answers that are sentences of the hits, one after the other; no language model is asked."""
    reranker = get_reranker("local")
    for query, hits in questions:
        yield _without_asking(query, passages_of(hits)) or quoted_answer(query, hits, reranker)


def estimate_answers(
    questions: Sequence[RetrievedQuestion], client: LlmClient, *, form: Form | None = None
) -> LlmEstimate:
    """What answering would take; nothing is sent."""
    asked = (_request_or_answer(query, hits, client, form) for query, hits in questions)
    return client.estimate([each.request for each in asked if isinstance(each, AnswerRequest)])


def _request_or_answer(
    query: Query, hits: Sequence[Hit], client: LlmClient, form: Form | None
) -> AnswerRequest | CitedAnswer:
    """What the model is to be asked; the answer itself where there is nothing to ask it."""
    passages = passages_of(hits)
    if answer := _without_asking(query, passages):
        return answer
    asked = request_for(query.text, passages, client.model, form)
    if not asked.passages:
        reason = NO_ROOM.format(client.model.window or 0)
        return CitedAnswer(query.text, reason=reason, left_out=len(passages), query_id=query.id)
    return asked


def _without_asking(query: Query, passages: Sequence[NumberedPassage]) -> CitedAnswer | None:
    """Where there is nothing to ask about, or nothing to answer from."""
    if not any(map(str.isalnum, query.text)):
        return CitedAnswer(query.text, note=NO_WORDS, query_id=query.id)
    if not passages:
        return CitedAnswer(query.text, note=NOTHING_FOUND, query_id=query.id)
    return None


def _answered(query: Query, asked: AnswerRequest, reply: Reply, client: LlmClient) -> CitedAnswer:
    read = attribute_sentences if asked.form == "plain" else check_claims
    return CitedAnswer(
        query.text,
        read(reply.value, asked.passages) if reply.is_answered else (),
        tuple(asked.passages),
        asked.left_out,
        reply.reason,
        llm=client.identity,
        prompt=asked.request.version,
        query_id=query.id,
    )


def index_of(
    source: Inputs | Index,
    retriever: str | Retriever | None,
    on_unreadable: WhenUnreadable = "warn",
    advance: OnProgress | None = None,
    options: LoadOptions | None = None,
) -> Index:
    """The index that is meant, or a new one in memory; without vectors where words alone are searched, with names
    where they are walked along."""
    found = named_index(source)
    if found is not None:
        return found
    assert not isinstance(source, Index)
    return index(
        source, vectors=vectors_for(retriever), graph=graph_for(retriever), options=options,
        on_unreadable=on_unreadable, advance=advance,
    )  # fmt: skip


def vectors_for(retriever: str | Retriever | None) -> Vectors | None:
    """None: as usual."""
    is_words = isinstance(retriever, str) and retriever.partition("(")[0].strip() == "bm25"
    return "none" if is_words else None


@takes(options=LoadOptions)
@renamed(on_skip="on_unreadable", rerank="reranker")
def ask(
    source: Inputs | Index,
    question: str,
    llm: str | LanguageModel | LlmClient | None = None,
    *,
    k: int | None = None,
    budget: int | None = None,
    retriever: str | Retriever | None = None,
    reranker: str | Reranker | None = None,
    only: Filter = EVERYTHING,
    where: Where = (),
    neighbours: int = 0,
    tokenizer: TokenizerLike | None = None,
    form: Form | None = None,
    options: LoadOptions | None = None,
    on_unreadable: WhenUnreadable = "warn",
    advance: OnProgress | None = None,
) -> CitedAnswer:
    """An answer out of an index, or out of documents, which are indexed in memory.

    Without `llm` the sentences that answer are quoted, and no word is written. A language model reads at most `k`
    passages (5 where there is no budget) of at most `budget` tokens in all, counted by `tokenizer` (None: the index's
    own), out of documents whose metadata are as `where` says: {"year": 2024}. What it claims is compared with them:
    `claims` have a state each, and a place where they have one. `llm` is a name as `--llm` takes it, a model, or a
    client with a limit on what may be spent.
    """
    if not isinstance(question, str) or not question.strip():
        raise InvalidParameter(f"the question is {question!r}; write what you want to know")
    client = _client_of(llm)
    if client is None and form is not None:
        raise InvalidParameter(
            f"form is {form!r}, and no language model is asked: name one by llm, or leave form out"
        )
    made = index_of(source, retriever, on_unreadable, advance, options)
    budget = budget_for(client, k, budget)
    hits = made.search(
        question, k=k, budget=budget, retriever=retriever, reranker=reranker, only=only, where=where,
        neighbours=neighbours, tokenizer=tokenizer,
    )  # fmt: skip
    if client is None:
        return next(quote_each([RetrievedQuestion(Query("1", question), hits)]))
    return answer_question(question, hits, client, form=form)


def _client_of(llm: str | LanguageModel | LlmClient | None) -> LlmClient | None:
    if llm is None or isinstance(llm, LlmClient):
        return llm
    return LlmClient(get_language_model(llm))


def budget_for(client: LlmClient | None, k: int | None, budget: int | None) -> int | None:
    """Sentences are quoted out of the best spans of any size, where no number of passages is asked for."""
    return BUDGET if client is None and k is None and budget is None else budget


BUDGET = 600
"""Tokens of the passages whose sentences are read, where nothing else is asked for."""
_MOST = 3
"""Sentences of an answer."""
_NEAR = 2.0
"""How far below the best one a sentence may be, in the cross-encoder's logits."""
_SURE = 0.0
"""Logit from which on a sentence is taken for an answer."""
_NOTHING = -4.0
"""Logit below which it has nothing to do with the question."""
DOUBTFUL = "the nearest sentence that was found; it may not answer the question"
NOTHING_NEAR = "no sentence of the passages that were found comes near the question"


class Sentence(NamedTuple):
    """What may answer a question: a sentence, an item, a row of a table, a whole block of code."""

    passage: NumberedPassage
    span: Span
    read: str
    """What is compared with the question: the sentence below its heading and its table's header."""


def quoted_answer(query: Query, hits: Sequence[Hit], reranker: Reranker) -> CitedAnswer:
    """The best sentences of the hits, in the order of the documents; neighbours as one quote."""
    passages = tuple(passages_of(hits))
    sentences = [each for passage in passages for each in sentences_of(passage)]
    claims: tuple[Claim, ...] = ()
    note = NOTHING_NEAR
    if sentences:
        scores = reranker.scores(query.text, [each.read for each in sentences])
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
        header = headers.get(number)
        above = [*analyzed.section(*span)[-1:]]
        if header is not None:
            above.append(analyzed.text[header.start : header.end])
        yield Sentence(passage, span, "\n".join([*above, text]))


def _starts(analyzed: Analyzed, start: int, end: int) -> NDArray[np.int64]:
    """Of the sentences from `start` on; code is one, as its lines alone say little."""
    if analyzed.document.format == "code":
        return np.array([start], dtype=np.int64)
    found = analyzed.sentences_within(np.array([[start, end]], dtype=np.int64))
    found = found[(found > start) & (found < end)]
    code = analyzed.blocks.code
    if len(code) and len(found):
        inside = np.maximum(code[:, 0].searchsorted(found) - 1, 0)  # the block that begins before
        found = found[~((code[inside, 0] < found) & (found < code[inside, 1]))]
    return np.insert(found, 0, start)


def _is_in(spans: NDArray[np.int64], place: int) -> bool:
    at = int(spans[:, 0].searchsorted(place, "right")) - 1
    return at >= 0 and place < int(spans[at, 1])


def _first_of_equals(sentences: Sequence[Sentence], numbers: Sequence[int]) -> list[int]:
    """The best few; what stands word for word in several places is quoted from the first."""
    chosen: dict[str, int] = {}
    for number in numbers:
        passage, span, _ = sentences[number]
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
        passage, span, _ = sentences[order[0]]
        yield _claim(passage, _with_led_in(passage, span), DOUBTFUL)
        return
    least = max(best - _NEAR, _SURE)
    chosen = sorted(_first_of_equals(sentences, order[scores[order] >= least].tolist()))
    quotes: list[tuple[NumberedPassage, Span]] = []
    for number in chosen:
        passage, span, _ = sentences[number]
        span = _with_led_in(passage, span)
        if quotes and quotes[-1][0] == passage:
            before = quotes[-1][1]
            if number - 1 in chosen or span.start < before.end:
                span = Span(min(quotes.pop()[1].start, span.start), max(before.end, span.end))
        quotes.append((passage, span))
    # The best one first: it may be all that is read.
    quotes.sort(key=lambda each: not _holds(each, sentences[order[0]]))
    for passage, span in quotes:
        yield _claim(passage, span)


def _with_led_in(passage: NumberedPassage, span: Span) -> Span:
    """A lead-in with its code, list or table, and code with its lead-in: as much as the passage has of them."""
    analyzed = analyzed_once(passage.document)
    for start, own, end in analyzed.lead_ins.tolist():
        leads = start <= span.start < own
        if leads or (span.start == own and _is_in(analyzed.blocks.code, own)):
            whole = Span(max(start, passage.start), max(min(end, passage.end), span.end))
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
