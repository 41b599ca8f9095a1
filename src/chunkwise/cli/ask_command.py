"""`chunkwise ask`."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from chunkwise.base.errors import ChunkwiseError
from chunkwise.cli.asked_questions import asked_questions
from chunkwise.cli.config_option import config_option
from chunkwise.cli.inputs import SKIPPED
from chunkwise.cli.llm_options import (
    NONE_NAMED,
    llm_client,
    llm_options,
    show_estimate,
    show_spent,
)

if TYPE_CHECKING:
    from chunkwise.answering.ask import RetrievedQuestion
    from chunkwise.core import Query
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.retrieval import Index

_EXAMPLES = """
\b
Examples:
  chunkwise ask kb "how is leave approved?"                              # the local model: no network, no key
  chunkwise ask handbook/ "how is leave approved?" --llm openai:gpt-4o-mini -k 8
  chunkwise ask kb how is leave approved --llm http://localhost:11434/v1#llama3.1 --json
  chunkwise ask kb --queries questions.jsonl --llm openai:gpt-4o-mini --dry-run
  chunkwise ask kb --queries questions.jsonl --llm openai:gpt-4o-mini --max-cost 2.50 > answers.jsonl
  chunkwise evaluate kb --test-queries questions.jsonl --answers answers.jsonl
\b
Exit status: 0 answered, also where the answer is that the documents do not say it; 3 a question was skipped or a
document left out (a line on stderr), 1 an error, 2 wrong usage or value.
"""


@click.command("ask", epilog=_EXAMPLES)
@click.argument("place", metavar="INDEX|DOCUMENTS")
@click.argument("words", nargs=-1, metavar="[QUESTION]...")
@llm_options
@click.option("-k", "count", type=click.IntRange(1), metavar="N", show_default="5 without a budget",
              help="Passages the model reads at most.")  # fmt: skip
@click.option("--budget", type=click.IntRange(1), metavar="TOKENS",
              help="Tokens it reads at most, in all passages together.")  # fmt: skip
@click.option("--retriever", metavar="SPEC", show_default="multiscale with a budget, else hybrid",
              help="bm25, dense, hybrid, multiscale; parameters in brackets.")  # fmt: skip
@click.option("--rerank", metavar="MODEL",
              help="Read the best again: maxsim (local), https://HOST/rerank#NAME, PATH/model.onnx …")  # fmt: skip
@click.option("--form", type=click.Choice(["claims", "plain"]), show_default="plain for a small local model",
              help="Ask for claims with quotes, or for sentences whose places are sought afterwards.")  # fmt: skip
@click.option("--queries", metavar="FILE",
              help="Many questions, any test set or one a line, '-': stdin; one JSON line each.")  # fmt: skip
@config_option
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout, nothing else: a line each.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(place: str, words: tuple[str, ...], **options: Any) -> None:
    """Answer a question from your documents; every claim has its place in them.

    INDEX is what `chunkwise index` made: a folder, or postgresql://…. DOCUMENTS (a file, folder, glob or archive) are
    indexed in memory. A claim is checked: is its quote there, do its words stand there, too? What is not supported is
    marked. Supported means that the words stand there: who did what to whom they do not show. Without --llm the small
    local model answers.
    """
    skipped: list[str] = []
    queries = asked_questions(words, options["queries"], skipped)
    client = _client(place, words, options)
    questions = _found(_index(place, options, skipped), queries, options)
    if options["dry_run"]:
        from chunkwise.answering.ask import estimate_answers

        estimate = estimate_answers(questions, client, form=options["form"])
        show_estimate(estimate, options["as_json"])
    else:
        _answer(questions, client, options, skipped)
        _warn_of_small(client, options)
    if skipped:
        sys.exit(SKIPPED)


def _client(place: str, words: tuple[str, ...], options: dict[str, Any]) -> LlmClient:
    """Of the model that is named, else of the local one, where that can be had."""
    from chunkwise.cli.messages import say

    if (client := llm_client(options)) is not None:
        return client
    try:
        client = llm_client({**options, "llm": "local"})
    except ChunkwiseError as error:
        raise ChunkwiseError(f"{error}; {_without_model(place, words)}") from error
    assert client is not None
    if not options["quiet"]:
        say(NONE_NAMED)
    return client


def _without_model(place: str, words: tuple[str, ...]) -> str:
    from chunkwise.cli.messages import usable_place
    from chunkwise.retrieval.indexes import settings_at

    is_index = "://" in place or settings_at(place) is not None
    search = f"chunkwise search {shlex.quote(usable_place(place) if is_index else 'kb')}"
    search += f" {shlex.quote(' '.join(words))}" if words else " --queries FILE"
    if not is_index:
        search = f"chunkwise index {shlex.quote(place)} --into kb && {search}"
    return (
        "no language model is named, and the local one cannot be had; others are --llm openai:NAME and "
        f"https://HOST/v1#NAME; the passages alone: {search}"
    )


def _index(place: str, options: dict[str, Any], skipped: list[str]) -> Index:
    """The index that is there, or one in memory; the weights that are needed are fetched with a bar."""
    from chunkwise.answering.ask import index_of, vectors_for
    from chunkwise.base.errors import UnreadableDocument
    from chunkwise.cli.messages import say_skipped
    from chunkwise.cli.progress import bytes_of, progress
    from chunkwise.cli.weights import fetch_weights
    from chunkwise.models import DEFAULT
    from chunkwise.retrieval.indexes import named_index

    def skip(problem: UnreadableDocument) -> None:
        skipped.append(str(problem))
        say_skipped(problem)

    known = named_index(place)
    model = DEFAULT if known is None else known.settings.model
    vectors = "late" if known is None else known.settings.vectors
    if vectors != "none" and vectors_for(options["retriever"]) != "none":
        try:
            fetch_weights(model, options["quiet"])
        except ChunkwiseError as error:
            raise ChunkwiseError(f"{error}; without a model: --retriever bm25") from None
    if known is not None:
        return known
    with progress("indexing", bytes_of([place]), options["quiet"]) as advance:
        return index_of(place, options["retriever"], skip, advance)


def _found(index: Index, queries: list[Query], options: dict[str, Any]) -> list[RetrievedQuestion]:
    """Every question with its hits; an index without documents has none."""
    from chunkwise.answering.ask import RetrievedQuestion

    if not len(index):
        return [RetrievedQuestion(query, []) for query in queries]
    hits = index.search(
        queries, k=options["count"], budget=options["budget"], retriever=options["retriever"],
        rerank=options["rerank"],
    )  # fmt: skip
    return [RetrievedQuestion(query, found) for query, found in zip(queries, hits, strict=True)]


def _answer(
    questions: list[RetrievedQuestion],
    client: LlmClient,
    options: dict[str, Any],
    skipped: list[str],
) -> None:
    if options["queries"] is not None:
        _answer_file(questions, client, options, skipped)
        return
    from chunkwise.answering.ask import answer_question

    query, hits = questions[0]
    with _waiting(len(hits), options["quiet"]):
        answered = answer_question(query, hits, client, form=options["form"])
    if not answered.is_answered:
        raise ChunkwiseError(f"the model gave no answer: {answered.reason}")
    if options["as_json"]:
        from chunkwise.answering.answered import answer_row

        _json_out().write(json.dumps(answer_row(answered), ensure_ascii=False) + "\n")
    else:
        from rich.console import Console

        from chunkwise.report.answer_terminal import render_answer

        render_answer(answered, Console(file=sys.stdout, highlight=False))


def _answer_file(
    questions: list[RetrievedQuestion],
    client: LlmClient,
    options: dict[str, Any],
    skipped: list[str],
) -> None:
    """A line for each answer, as it comes; run again, what was answered comes from the cache."""
    from chunkwise.answering.answered import answer_row
    from chunkwise.answering.ask import answer_each
    from chunkwise.cli.messages import say_skipped
    from chunkwise.cli.progress import progress

    out = _json_out()
    with progress("asking", len(questions), options["quiet"] or out.isatty()) as advance:
        answers = answer_each(questions, client, form=options["form"])
        for number, answered in enumerate(answers, 1):
            if answered.is_answered:
                out.write(json.dumps(answer_row(answered), ensure_ascii=False) + "\n")
                out.flush()
            else:
                skipped.append(answered.query_id)
                say_skipped(f"question {answered.query_id}: {answered.reason}")
            advance(1, f"{number:,} of {len(questions):,} questions")
    if not options["quiet"]:
        show_spent(client.spent)


def _warn_of_small(client: LlmClient, options: dict[str, Any]) -> None:
    from chunkwise.answering.ask import usual_form
    from chunkwise.cli.messages import say

    if client.spent.calls and usual_form(client.model) == "plain" and not options["quiet"]:
        say(
            "a small local model answers poorly: what it claims is checked, what it leaves out is not; "
            "how good it is on your questions says `chunkwise evaluate --answers`"
        )


@contextmanager
def _waiting(passages: int, quiet: bool) -> Iterator[None]:
    """A small model reads for some seconds; somebody who waits is told what for."""
    if quiet or not passages or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"reading {passages:,} passages …"):
        yield


def _json_out() -> Any:
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        # JSON is UTF-8, whatever the console is; half a character is written as JSON spells it.
        out.reconfigure(encoding="utf-8", errors="backslashreplace")
    return out
