"""`chunkwise testset generate`."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta

from chunkwise.base.schema import Count, Name, Option
from chunkwise.base.wording import counted, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import SKIPPED
from chunkwise.cli.llm import llm_client, show_estimate, show_spent
from chunkwise.cli.options import (
    SourceOptions,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.streams import SkippedInputs, say, stdout_console
from chunkwise.cli.testset import named_documents
from chunkwise.options import LlmOptions
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from chunkwise.models.llm.client import LlmClient
    from chunkwise.testsets.generate.candidate import Ending, GeneratedQuestions
    from chunkwise.testsets.generate.generate import GenerationRun

_MORE: Mapping[Ending, str] = {
    "enough": "",
    "rules": "there are no more in these documents; a model would find some: --llm NAME",
    "cost": "the limit of cost is reached: raise --max-cost, and the same command continues",
    "passages": "every passage was asked about; name more documents, or take a larger model",
    "calls": "the calls are used up: raise --max-calls, and the same command continues; a larger model needs fewer",
    "silence": "too many requests in a row went unanswered; when the model answers again, the same command continues",
}
_REASONS = 3
"""Reasons of a model that did not answer."""


class GenerateOptions(LlmOptions, SourceOptions, group="Questions"):
    """The options of `chunkwise testset generate`."""

    output: Annotated[Path, Option(
        "File to write or to continue", flag="-o", metavar="FILE.json", group="Output", common=True, writes="any"
    )] = Path("queries.json")  # fmt: skip
    count: Annotated[Count, Option("Questions to make", metavar="N", common=True)] = 100
    types: Annotated[Name | None, Option(
        "Types and their shares: numeric=3,list=1", metavar="TYPE[=SHARE],…", default_text="all but two-hop",
        common=True,
    )] = None  # fmt: skip
    max_calls: Annotated[Annotated[int, Meta(ge=2)] | None, Option(
        "Calls to the language model at most", metavar="N", default_text="3 per question", common=True
    )] = None  # fmt: skip
    seed: Annotated[int, Option("Seed that picks passages", metavar="N")] = 0


@dataclass_command("generate", GenerateOptions)
def command(options: GenerateOptions) -> None:
    """Make questions from documents, each with its answer and the exact places that prove it.

    SOURCE is any number of files, folders, globs and archives, or an index. Passages that say much are picked, spread
    over documents and sections. What a model writes is checked: its quotes must stand in the passage, the answer in
    the quotes. Dropped are questions that give their answer away, that make sense only beside the passage, and
    duplicates. Without --llm questions are taken from the text: headings that ask, links,
    definitions, rows, comments, sentences.

    Examples:
      chunkwise testset generate docs/ --count 100 --llm openai:gpt-4o-mini
      chunkwise testset generate docs/ --count 30 -o q.json
      chunkwise testset generate docs/ --count 30 --types two-hop
      chunkwise testset review q.json docs/

    Types: single-concept, list, numeric, cross-document, paraphrase, and two-hop where it is asked for: two references,
    the second found by a name in the first. Questions whose answer word search finds however the documents are cut are
    tagged easy, those made without a model extracted. Every question is in the file as soon as it is kept; the same
    command goes on where it was stopped.
    """
    from chunkwise.testsets.formats.chunkwise import dropped_file
    from chunkwise.testsets.generate.generate import GenerationRun
    from chunkwise.testsets.generate.plan import SHARES, parse_types

    types = parse_types(options.types) if options.types else SHARES
    client = llm_client(options, options.quiet)
    skip, paths = SkippedInputs(options.strict), options.sources()
    with progress("reading documents", bytes_of(paths), options.quiet) as advance:
        reading = options.loading(dropped_file(options.output), on_unreadable=skip)
        documents = named_documents(paths, reading, advance)
    with progress("making questions", options.count, options.quiet) as advance:
        making = GenerationRun(
            documents, options.count, into=options.output, types=types, seed=options.seed, advance=advance
        )  # fmt: skip
        if options.dry_run:
            _dry_run(making, client, options.max_calls)
            return
        _announce(client)
        if client is None:
            generated = making.by_rules()
        else:
            generated = making.by_model(client, options.max_calls)
    _show(generated, client, paths, options)
    if skip.count or not generated.is_complete:
        sys.exit(SKIPPED)


def _dry_run(making: GenerationRun, client: LlmClient | None, max_calls: int | None) -> None:
    from chunkwise.testsets.generate.generate import request_for

    if client is None:
        click.echo("no model is asked: name one with --llm, or leave --dry-run out")
        return
    planned = making.planned(max_calls)
    show_estimate(client.estimate([request_for(task) for task in planned]))
    if planned:
        click.echo(
            f"that is at most; {counted(making.needed, 'call')} if every question can be kept"
        )


def _announce(client: LlmClient | None) -> None:
    """What kind of questions these will be, said before they are made."""
    if client is None:
        say(
            "no --llm: questions are taken from the text and tagged extracted; they are simpler than those people ask"
        )


def _show(
    generated: GeneratedQuestions,
    client: LlmClient | None,
    inputs: list[str],
    options: GenerateOptions,
) -> None:
    """The table on stdout, what was spent on stderr."""

    if options.quiet:
        return
    _render(generated, stdout_console())
    if client is not None:
        show_spent(client.spent)
    if generated.queries:
        click.echo(f"written: {options.output}", err=True)
        places = "DOCUMENTS" if "-" in inputs else shlex.join(inputs)
        again = f"chunkwise testset review {shlex.quote(str(options.output))} {places}"
        click.echo(f"next: {one_line(again)}", err=True)


def _render(generated: GeneratedQuestions, console: Console) -> None:
    """Two small tables and a line; a question of several types counts in each."""
    from rich.table import Table
    from rich.text import Text

    from chunkwise.testsets.generate.candidate import MEANING, REASONS

    types = Counter(each for query in generated.queries for each in query.types)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right")
    table.add_column(no_wrap=True)
    table.add_column(style="dim")
    for name, count in types.most_common():
        table.add_row(thousands(count), Text(name), "")
    for reason in REASONS:
        if count := generated.dropped.get(reason, 0):
            table.add_row(thousands(count), Text(f"dropped: {reason}", "yellow"), MEANING[reason])
    if generated.unasked:
        why = "the limit of cost, --max-cost, does not allow it"
        table.add_row(thousands(generated.unasked), Text("not asked", "yellow"), why)
    console.print(table)
    for kind, count in generated.missing_kinds.items():
        console.print(Text(_missing(kind, count), "yellow"), soft_wrap=True)
    for said, count in Counter(dict(generated.unanswered)).most_common(_REASONS):
        console.print(Text(f"{thousands(count)} × {one_line(said, 300)}", "dim"), soft_wrap=True)
    line = f"{counted(len(generated.queries), 'question')} of {thousands(generated.wanted)}"
    if generated.found_before:
        line += f", {thousands(generated.found_before)} of them from an earlier run"
    if not generated.is_complete:
        line += f"; {_MORE[generated.ending]}"
    console.print(Text(line, "bold"), soft_wrap=True)


def _missing(kind: str, count: int) -> str:
    if not count:
        return f"no question of the type {kind}: no passage suits it"
    return f"no question of the type {kind}: {counted(count, 'time')} asked for, and none that was kept is one"
