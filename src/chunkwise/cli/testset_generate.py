"""`chunkwise testset generate`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.inputs import SKIPPED, chosen_inputs, document_options, load_options
from chunkwise.cli.llm_options import llm_client, llm_options, show_estimate, show_spent
from chunkwise.cli.progress import bytes_of, progress

if TYPE_CHECKING:
    from chunkwise.core import Document
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.testsets.generate.generate import GenerationRun
    from chunkwise.testsets.generate.outcome import GeneratedQuestions

TOO_FEW = SKIPPED
"""Exit status when there are fewer questions than wanted, or a document could not be read."""

_EXAMPLES = """
\b
Examples:
  chunkwise testset generate handbook/ -n 100 --llm openai:gpt-4o-mini
  chunkwise testset generate handbook/ -n 100 --llm openai:gpt-4o-mini --dry-run
  chunkwise testset generate handbook/ -n 20 --llm local --types numeric=3,list=1 -o queries.json
  chunkwise testset generate handbook/ -n 30 -o queries.json        # no model: from definitions and headings
  chunkwise testset review queries.json handbook/                   # then look at them
\b
Types: single-concept, list, numeric, cross-document, paraphrase. Questions whose answer word search finds
however the documents are cut are tagged easy, those made without a model fallback.
Every question is in the file as soon as it is kept; the same command goes on where it was stopped.
\b
Exit status: 0 as many as wanted, 3 fewer (or a document that cannot be read), 1 an error, 2 wrong usage or value.
"""


@click.command("generate", epilog=_EXAMPLES)
@document_options
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.json",
              default="queries.json", show_default=True,
              help="File to write; one that this command wrote before is gone on with.")  # fmt: skip
@click.option("-n", "--count", type=click.IntRange(1), default=100, show_default=True, metavar="N",
              help="Questions wanted.")  # fmt: skip
@click.option("--types", metavar="TYPE[=SHARE],…", show_default="a mixture of all",
              help="Kinds of question, and how many parts of each.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(2), metavar="N", show_default="3 for each question wanted",
              help="Calls of the model at most; one is held back for an answer that cannot be read.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True,
              help="Another number, other passages.")  # fmt: skip
@llm_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Make questions from documents, each with its answer and the exact places that prove it.

    Passages are picked by how much they say and spread over documents and sections. What a model writes is believed
    only as far as it can be verified: quotes must stand in the passage, the answer in the quotes; dropped are questions
    that give their answer away, that make sense only beside the passage, and those asked before. Without --llm
    questions come from definitions, amounts and headings.
    """
    from chunkwise.testsets.generate.generate import GenerationRun
    from chunkwise.testsets.generate.question_types import SHARES, parse_types

    output: Path = options["output"]
    types = parse_types(options["types"]) if options["types"] else SHARES
    client = llm_client(options)
    skipped: list[str] = []
    paths = chosen_inputs(inputs)
    documents = _documents(paths, output, options, skipped)
    quiet: bool = options["quiet"]
    with progress("making questions", options["count"], quiet) as advance:
        making = GenerationRun(
            documents, options["count"], into=output, types=types, seed=options["seed"], advance=advance
        )  # fmt: skip
        if options["dry_run"]:
            _dry_run(making, client, options["max_calls"])
            return
        _announce(client, options)
        if client is None:
            generated = making.by_rules()
        else:
            generated = making.by_model(client, options["max_calls"])
    _show(generated, client, paths, options)
    if skipped or not generated.is_complete:
        sys.exit(TOO_FEW)


def _documents(
    inputs: list[str], output: Path, options: dict[str, Any], skipped: list[str]
) -> list[Document]:
    from chunkwise.base.atomic import check_writable
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.messages import say_skipped
    from chunkwise.cli.testset_documents import named_documents
    from chunkwise.testsets.rows_file import dropped_file

    def skip(problem: object) -> None:
        if options["strict"]:
            raise problem if isinstance(problem, ChunkwiseError) else ChunkwiseError(str(problem))
        skipped.append(str(problem))
        say_skipped(problem)

    places = [os.path.realpath(each) for each in (output, dropped_file(output))]
    if any(os.path.realpath(name) in places for name in inputs):
        raise click.UsageError(f"{output} is read and would be overwritten; write to another file")
    if not options["dry_run"]:
        check_writable(output)
    written = [Path(each) for each in places]
    with progress("reading documents", bytes_of(inputs), options["quiet"]) as advance:
        return named_documents(inputs, load_options(options), skip, written, advance)


def _dry_run(making: GenerationRun, client: LlmClient | None, max_calls: int | None) -> None:
    from chunkwise.testsets.generate.requests import request_for

    if client is None:
        click.echo("no model is asked: name one with --llm, or leave --dry-run out")
        return
    planned = making.planned(max_calls)
    show_estimate(client.estimate([request_for(task) for task in planned]))
    if planned:
        click.echo(f"that is at most; {making.needed:,} calls if every question can be kept")


def _announce(client: LlmClient | None, options: dict[str, Any]) -> None:
    """What kind of questions these will be, said before they are made."""
    from chunkwise.cli.messages import say

    if client is None:
        say(
            "no --llm: questions are made from definitions, amounts and headings and tagged fallback; "
            "they are simpler than those people ask"
        )
        if options["types"]:
            say("--types is for a model: rules make what they find")
    elif client.model.price_name == "local" and not options["quiet"]:
        say(
            "a small local model is weak at this, and most of its questions are dropped: look at those that are kept"
        )


def _show(
    generated: GeneratedQuestions,
    client: LlmClient | None,
    inputs: list[str],
    options: dict[str, Any],
) -> None:
    """The table on stdout, what was spent on stderr."""
    from rich.console import Console

    from chunkwise.cli.generated_table import render_generated
    from chunkwise.report.plain_text import one_line

    if options["quiet"]:
        return
    render_generated(generated, Console(file=sys.stdout, highlight=False))
    if client is not None:
        show_spent(client.spent)
    if generated.queries:
        click.echo(f"written: {options['output']}", err=True)
        places = "DOCUMENTS" if "-" in inputs else shlex.join(inputs)
        again = f"chunkwise testset review {shlex.quote(str(options['output']))} {places}"
        click.echo(f"next: {one_line(again)}", err=True)
