"""`chunkwise ask`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import click

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Option, argument
from chunkwise.base.wording import counted, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.llm import LlmClients, refuse_unasked, show_estimate, show_spent
from chunkwise.cli.options import (
    ConfigOption,
    LoadingOptions,
    QuestionsOption,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.cli.streams import SkippedInputs, json_stdout, say, usable_place
from chunkwise.core import Query
from chunkwise.options import LlmOptions, SearchOptions

if TYPE_CHECKING:
    from chunkwise.answering.ask import RetrievedQuestion
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.retrieval import Index

NO_LLM = "no language model given: add --llm NAME, or leave it out"


class AskOptions(
    SearchOptions, QuestionsOption, LlmOptions, ConfigOption, LoadingOptions, JsonOrReport
):
    """The options of `chunkwise ask`."""

    source: Annotated[str, argument("SOURCE")]
    form: Annotated[Literal["claims", "plain"] | None, Option(
        "Claims with quotes, or plain sentences matched to sources", default_text="claims, plain for small models",
        group="Language model",
    )] = None  # fmt: skip


@dataclass_command("ask", AskOptions)
def command(options: AskOptions) -> None:
    """Answer a question from your documents, with citations.

    SOURCE is an index, or documents (a file, folder, glob or archive), which are indexed in memory.

    Without --llm, the answer quotes up to three sentences. With --llm, every claim is checked: its quote must be in
    the document, and the quote must contain the words of the claim. Unsupported claims are marked. The check compares
    words; it doesn't verify who did what to whom.

    Examples:
      chunkwise ask kb "how is leave approved?"
      chunkwise ask kb "how is leave approved?" --llm local
      chunkwise ask kb -Q q.jsonl --llm openai:gpt-4o-mini --max-cost 2.50
    """
    skip = SkippedInputs()
    queries = options.queries(skip)
    client = _client(options)
    questions = _retrieved(_index(options, skip), queries, client, options)
    if client is not None and options.dry_run:
        from chunkwise.answering.ask import estimate_answers

        estimate = estimate_answers(questions, client, form=options.form)
        show_estimate(estimate, options.as_json)
    else:
        _answer(questions, client, options, skip)
    leave(skipped=skip.count)


def _client(options: AskOptions) -> LlmClient | None:
    """Of the model that is named; None: sentences are quoted."""
    if options.llm_name:
        return LlmClients(options, options.quiet or options.as_json).of(options.llm_name)
    refuse_unasked(NO_LLM)
    if options.form is not None:
        raise click.UsageError(f"--form is given, and {NO_LLM}")
    if not options.quiet:
        say("Answer quoted from the documents; for a generated one, add --llm NAME")
    return None


def _passages_alone(place: str, words: tuple[str, ...]) -> str:
    """The command that shows what an answer would be taken from."""
    from chunkwise.retrieval.indexes import is_index

    is_there = is_index(place)
    search = f"chunkwise search {shlex.quote(usable_place(place) if is_there else 'kb')}"
    search += f" {shlex.quote(' '.join(words))}" if words else " --queries FILE"
    return search if is_there else f"chunkwise index {shlex.quote(place)} --into kb && {search}"


def _index(options: AskOptions, skip: SkippedInputs) -> Index:
    """The index that is there, or one in memory."""
    from chunkwise.answering.ask import index_of
    from chunkwise.retrieval.indexes import named_index

    if (known := named_index(options.source)) is not None:
        return known
    with progress("indexing", bytes_of([options.source]), options.quiet) as advance:
        return index_of(
            options.source, options.retriever, advance, options.loading(on_unreadable=skip)
        )


def _retrieved(
    index: Index, queries: list[Query], client: LlmClient | None, options: AskOptions
) -> list[RetrievedQuestion]:
    """Every question with its hits; an index without documents has none."""
    from chunkwise.answering.ask import RetrievedQuestion, budget_for

    if not len(index):
        return [RetrievedQuestion(query, []) for query in queries]
    asked = options.part(SearchOptions).filled_from(index.settings.search)
    asked = replace(asked, budget=budget_for(client, asked.k, asked.budget))
    hits = index.search(queries, options=asked)
    return [RetrievedQuestion(query, found) for query, found in zip(queries, hits, strict=True)]


def _answer(
    questions: list[RetrievedQuestion],
    client: LlmClient | None,
    options: AskOptions,
    skip: SkippedInputs,
) -> None:
    if options.test_queries is not None:
        _answer_file(questions, client, options, skip)
        return
    from chunkwise.answering.ask import answer_question, quote_each

    query, hits = questions[0]
    with progress("reading", 0, options.quiet) as advance:
        advance(0, counted(len(hits), "passage"))
        if client is None:
            answered = next(quote_each(questions))
        else:
            answered = answer_question(query, hits, client, form=options.form)
    if not answered.is_answered:
        raise ChunkwiseError(f"the model returned no answer: {answered.reason}")
    from chunkwise.answering.cited_answer import answer_row
    from chunkwise.report.answer_report import answer_report

    following = _passages_alone(options.source, options.words)
    options.print_result(
        lambda: answer_report(answered, is_whole=options.verbose, next_command=following),
        lambda: answer_row(answered),
    )


def _answer_file(
    questions: list[RetrievedQuestion],
    client: LlmClient | None,
    options: AskOptions,
    skip: SkippedInputs,
) -> None:
    """A line for each answer, as it comes; run again, what was answered comes from the cache."""
    from chunkwise.answering.ask import answer_each, quote_each
    from chunkwise.answering.cited_answer import answer_row
    from chunkwise.records.write import json_line

    out = json_stdout()
    with progress("asking", len(questions), options.quiet or out.isatty()) as advance:
        answers = (
            quote_each(questions)
            if client is None
            else answer_each(questions, client, form=options.form)
        )
        for number, answered in enumerate(answers, 1):
            if answered.is_answered:
                out.write(json_line(answer_row(answered)))
                out.flush()
            else:
                skip(f"question {answered.query_id}: {answered.reason}")
            advance(1, f"{thousands(number)} of {counted(len(questions), 'question')}")
    if client is not None and not options.quiet:
        show_spent(client.spent)
