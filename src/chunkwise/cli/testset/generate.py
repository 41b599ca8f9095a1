"""`chunkwise testset generate`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta

from chunkwise.base.schema import Count, Name, Option
from chunkwise.base.wording import counted, thousands
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import leave
from chunkwise.cli.llm import llm_client, show_estimate, show_spent
from chunkwise.cli.options import (
    SourceOptions,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.report_options import say_written
from chunkwise.cli.streams import SkippedInputs, say, stdout_console
from chunkwise.cli.testset import named_documents
from chunkwise.options import LlmOptions
from chunkwise.report.report import Column, Next, Note, Report, ValueTable
from chunkwise.report.to_terminal import print_report

if TYPE_CHECKING:
    from chunkwise.models.llm.client import LlmClient
    from chunkwise.testsets.generate.candidate import Ending, GeneratedQuestions
    from chunkwise.testsets.generate.generate import GenerationRun

_MORE: Mapping[Ending, str] = {
    "enough": "",
    "rules": "no kind may exceed a fifth, and the documents have no more of others; an LLM can: --llm NAME",
    "cost": "cost limit reached: raise --max-cost and run the same command to resume",
    "passages": "every passage was used; add documents, or use a larger model",
    "calls": "call limit reached: raise --max-calls and run the same command to resume, or use a larger model",
    "silence": "too many failed requests in a row; run the same command to resume",
}
_REASONS = 3
"""Reasons of a model that did not answer."""


class GenerateOptions(LlmOptions, SourceOptions, group="Questions"):
    """The options of `chunkwise testset generate`."""

    output: Annotated[Path, Option(
        "Output file; an existing one is resumed", flag="-o", metavar="FILE.json", group="Output",
        common=True, writes="any",
    )] = Path("queries.json")  # fmt: skip
    count: Annotated[Count, Option("Number of questions", metavar="N", common=True)] = 100
    types: Annotated[Name | None, Option(
        "Question types and weights: numeric=3,list=1", metavar="TYPE[=SHARE],…", default_text="all except two-hop",
        common=True,
    )] = None  # fmt: skip
    max_calls: Annotated[Annotated[int, Meta(ge=2)] | None, Option(
        "Maximum LLM calls", metavar="N", default_text="3 per question", common=True
    )] = None  # fmt: skip
    seed: Annotated[int, Option("Random seed of passages", metavar="N")] = 0


@dataclass_command("generate", GenerateOptions)
def command(options: GenerateOptions) -> None:
    """Generate questions with answers and exact references.

    SOURCE is files, folders, globs, archives or an index. Without --llm, questions are extracted from headings,
    links, definitions, table rows, code comments and sentences. With --llm, they are written by the model and
    checked: quotes must occur in the passage, and the answer in the quotes. Duplicates, questions that contain their
    answer, and questions that need their passage to make sense are dropped.

    Examples:
      chunkwise testset generate docs/ --count 100 --llm openai:gpt-4o-mini
      chunkwise testset generate docs/ --count 30 -o q.json
      chunkwise testset generate docs/ --count 30 --types two-hop
      chunkwise testset review q.json docs/

    Types: single-concept, list, numeric, cross-document, paraphrase and, only on request, two-hop (a name in the
    first reference leads to the second). Tags: `easy` if BM25 finds the answer with any chunking, `extracted` if no
    model wrote the question. Questions are saved one by one; the same command resumes.
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
        if client is None:
            say(
                "no --llm: questions are extracted from the text and tagged extracted; real "
                "questions are harder"
            )
            generated = making.by_rules()
        else:
            generated = making.by_model(client, options.max_calls)
    _show(generated, client, paths, options)
    leave(skipped=skip.count or not generated.is_complete)


def _dry_run(making: GenerationRun, client: LlmClient | None, max_calls: int | None) -> None:
    from chunkwise.testsets.generate.generate import request_for

    if client is None:
        click.echo("no language model is used: add --llm, or leave out --dry-run")
        return
    planned = making.planned(max_calls)
    show_estimate(client.estimate([request_for(task) for task in planned]))
    if planned:
        click.echo(f"upper bound; {counted(making.needed, 'call')} if none is rejected")


def _show(
    generated: GeneratedQuestions,
    client: LlmClient | None,
    inputs: list[str],
    options: GenerateOptions,
) -> None:
    """The table on stdout, what was spent on stderr."""
    if options.quiet:
        return
    print_report(_report(generated, options, inputs), stdout_console())
    if client is not None:
        show_spent(client.spent)
    if generated.queries:
        say_written(options.output)


def _report(generated: GeneratedQuestions, options: GenerateOptions, inputs: list[str]) -> Report:
    """A question of several types counts in each."""
    from chunkwise.testsets.generate.candidate import MEANING, REASONS

    types = Counter(item for query in generated.queries for item in query.types)
    rows: list[tuple[int, str, str]] = [(count, name, "") for name, count in types.most_common()]
    rows += [
        (count, f"dropped: {reason}", MEANING[reason])
        for reason in REASONS
        if (count := generated.dropped.get(reason, 0))
    ]
    if generated.unasked:
        why = "--max-cost doesn't allow it"
        rows.append((generated.unasked, "not asked", why))
    title = f"{counted(len(generated.queries), 'question')} of {thousands(generated.wanted)}"
    if generated.found_before:
        title += f", {thousands(generated.found_before)} of them from an earlier run"
    notes = [
        f"No question of the type {kind}: "
        + (f"requested {counted(count, 'time')}, none kept" if count else "no suitable passage")
        for kind, count in generated.missing_kinds.items()
    ]
    unanswered = Counter(dict(generated.unanswered)).most_common(_REASONS)
    notes += [f"{thousands(count)} × {reason}" for reason, count in unanswered]
    notes += [] if generated.is_complete else [_MORE[generated.ending]]
    places = "DOCUMENTS" if "-" in inputs else shlex.join(inputs)
    again = f"chunkwise testset review {shlex.quote(str(options.output))} {places}"
    table = ValueTable(
        (Column("", "count"), Column("type"), Column("")), tuple(rows), brief_rows=len(rows)
    )
    following = [Next(again)] if generated.queries else []
    return Report(title, (table, *map(Note, notes), *following))
