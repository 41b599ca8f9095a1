"""From a question and its hits to an answer whose every claim was held against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from chunkwise.answering.answered import Answered
from chunkwise.answering.asking import Asked, Form, request_for
from chunkwise.answering.checking import attributed, checked
from chunkwise.answering.passages import passages_of
from chunkwise.core import Hit, Query
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.estimate import Estimate
from chunkwise.models.llm.reply import Reply

NO_WORDS = "the question has no words"
NOTHING_FOUND = "the search found nothing for the question"
NO_ROOM = "the question is longer than the model can hold ({:,} tokens with its answer)"


class Question(NamedTuple):
    """A question with what the search found for it."""

    query: Query
    hits: Sequence[Hit]


def answer_question(
    question: str | Query, hits: Sequence[Hit], client: LlmClient, *, form: Form | None = None
) -> Answered:
    """Answers from the hits alone; a question without hits is answered without asking the model."""
    query = question if isinstance(question, Query) else Query("1", question)
    before = client.spent
    answered = next(answer_each([Question(query, hits)], client, form=form))
    return replace(answered, usage=client.spent.since(before))


def answer_each(
    questions: Sequence[Question], client: LlmClient, *, form: Form | None = None
) -> Iterator[Answered]:
    """Answers as they come, in no particular order; each is in the client's cache before the next is asked for."""
    asked: list[tuple[Query, Asked]] = []
    for query, hits in questions:
        made = _asked(query, hits, client, form)
        if isinstance(made, Answered):
            yield made
        else:
            asked.append((query, made))
    with closing(client.ask_each([each.request for _, each in asked])) as replies:
        for number, reply in replies:
            yield _answered(*asked[number], reply, client)


def estimate_answers(
    questions: Sequence[Question], client: LlmClient, *, form: Form | None = None
) -> Estimate:
    """What answering would take; nothing is sent."""
    asked = (_asked(query, hits, client, form) for query, hits in questions)
    return client.estimate([each.request for each in asked if isinstance(each, Asked)])


def _asked(
    query: Query, hits: Sequence[Hit], client: LlmClient, form: Form | None
) -> Asked | Answered:
    """What the model is to be asked; the answer itself where there is nothing to ask it."""
    passages = passages_of(hits)
    if not any(map(str.isalnum, query.text)):
        return Answered(query.text, note=NO_WORDS, query_id=query.id)
    if not passages:
        return Answered(query.text, note=NOTHING_FOUND, query_id=query.id)
    asked = request_for(query.text, passages, client.model, form)
    if not asked.passages:
        reason = NO_ROOM.format(client.model.window or 0)
        return Answered(query.text, reason=reason, left_out=len(passages), query_id=query.id)
    return asked


def _answered(query: Query, asked: Asked, reply: Reply, client: LlmClient) -> Answered:
    read = attributed if asked.form == "plain" else checked
    return Answered(
        query.text,
        read(reply.value, asked.passages) if reply.is_answered else (),
        tuple(asked.passages),
        asked.left_out,
        reply.reason,
        model=client.identity,
        prompt=asked.request.version,
        query_id=query.id,
    )
