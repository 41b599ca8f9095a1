"""`chunkwise.ask`: a question to documents or an index, answered by quotes, or by a language model that must cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from chunkwise.answering.check_claims import (
    attribute_sentences,
    check_claims,
)
from chunkwise.answering.cited_answer import (
    AnswerRequest,
    CitedAnswer,
    Form,
    NumberedPassage,
    passages_of,
    request_for,
)
from chunkwise.answering.extractive_answer import BUDGET, quoted_answer
from chunkwise.base.allow_hosts_and_code_from_files import trust_caller
from chunkwise.base.errors import InvalidParameter
from chunkwise.base.wording import counted
from chunkwise.core import Hit, OnProgress, Query
from chunkwise.documents import Inputs, LoadOptions
from chunkwise.models import get_language_model, get_reranker
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.cost import LlmEstimate
from chunkwise.models.llm.language_model import LanguageModel, Reply
from chunkwise.models.rerank.reranker import Reranker
from chunkwise.options import SearchOptions, Vectors
from chunkwise.retrieval.indexes import Index, index, named_index
from chunkwise.retrieval.metadata_conditions import Where
from chunkwise.retrieval.retrievers import Retriever, graph_for

NO_WORDS = "the question has no words"
NOTHING_FOUND = "no passages were found for the question"
NO_ROOM = "the question exceeds the model's context window ({} with its answer)"


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
    with closing(client.ask_each([row.request for _, row in asked])) as replies:
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
    return client.estimate([row.request for row in asked if isinstance(row, AnswerRequest)])


def _request_or_answer(
    query: Query, hits: Sequence[Hit], client: LlmClient, form: Form | None
) -> AnswerRequest | CitedAnswer:
    """What the model is to be asked; the answer itself where there is nothing to ask it."""
    passages = passages_of(hits)
    if answer := _without_asking(query, passages):
        return answer
    asked = request_for(query.text, passages, client.model, form)
    if not asked.passages:
        reason = NO_ROOM.format(counted(client.model.window or 0, "token"))
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
    advance: OnProgress | None = None,
    options: LoadOptions = LoadOptions(),
) -> Index:
    """The index that is meant, or a new one in memory; without vectors where words alone are searched, with names
    where they are walked along."""
    result = named_index(source)
    if result is not None:
        return result
    assert not isinstance(source, Index)
    return index(
        source, vectors=vectors_for(retriever), graph=graph_for(retriever), options=options,
        advance=advance,
    )  # fmt: skip


def vectors_for(retriever: str | Retriever | None) -> Vectors | None:
    """None: as usual."""
    is_words = isinstance(retriever, str) and retriever.partition("(")[0].strip() == "bm25"
    return "none" if is_words else None


def ask(
    source: Inputs | Index,
    question: str,
    llm: str | LanguageModel | LlmClient | None = None,
    *,
    k: int | None = None,
    budget: int | None = None,
    retriever: str | Retriever | None = None,
    reranker: str | Reranker | None = None,
    where: Where | None = None,
    form: Form | None = None,
    search: SearchOptions = SearchOptions(),
    options: LoadOptions = LoadOptions(),
    advance: OnProgress | None = None,
) -> CitedAnswer:
    """Answer a question from an index or documents, with citations.

    Without `llm`, the answer quotes sentences. With it, every claim is checked against the passages.

    Args:
        source: An index, or documents to index in memory.
        question: The question.
        llm: Language model: a name, an object, or a client with a cost limit.
        k: Number of passages [default: 5, or as many as fit `budget`].
        budget: Token budget of the passages.
        retriever: Name with parameters, or an object.
        reranker: Name or object.
        where: Metadata filter: `{"year": 2024}`.
        form: Form of the answer: claims or plain.
        search: All search options; the keywords above override them.
        options: How to read files.
        advance: Progress callback.

    Returns:
        The answer with claims, verdicts and spans.

    Raises:
        InvalidOption: An invalid value.
        ChunkwiseError: No readable documents.

    Example:
        >>> answer = chunkwise.ask("handbook/", "Who approves leave?")
        >>> print(answer.text)
    """
    trust_caller(llm, retriever, reranker, search, options)
    if not isinstance(question, str) or not question.strip():
        raise InvalidParameter(f"the question is {question!r}; expected text")
    client = _client_of(llm)
    if client is None and form is not None:
        raise InvalidParameter(
            f"form is {form!r}, but no language model is used; pass llm, or leave out form"
        )
    search = search.override(
        k=k, budget=budget, retriever=retriever, reranker=reranker, where=where
    )
    made = index_of(source, search.retriever, advance, options)
    search = search.filled_from(made.settings.search)
    budget = budget_for(client, search.k, search.budget)
    hits = made.search(question, options=replace(search, budget=budget))
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
