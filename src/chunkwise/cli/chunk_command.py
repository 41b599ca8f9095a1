"""`chunkwise chunk`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.config_option import config_option
from chunkwise.cli.contexts import NO_MODEL, check_contextual, contextual_option
from chunkwise.cli.inputs import (
    SKIPPED,
    check_outputs,
    chosen_inputs,
    document_options,
    jobs_option,
    load_options,
    worker_count,
)
from chunkwise.cli.llm_options import llm_options
from chunkwise.cli.page_option import page_option

if TYPE_CHECKING:
    from chunkwise.chunkers import Strategy
    from chunkwise.chunkers.chunk import Chunked
    from chunkwise.chunkers.contextual.writer import ContextWriter
    from chunkwise.cli.chunk_summary import ChunkSummary
    from chunkwise.cli.llm_options import LlmClients
    from chunkwise.cli.strategy_llm import Asking
    from chunkwise.core import OnProgress

_EXAMPLES = """
\b
Examples:
  chunkwise chunk handbook/                                    # look at the chunks
  chunkwise chunk handbook/ -o chunks.parquet                  # or .jsonl, .csv
  chunkwise chunk paper.pdf -s recursive --view cuts.html      # the document with its cuts drawn on it
  chunkwise chunk "docs/**/*.md" -s "sections(max_tokens=800, overlap_sentences=2)" -o out.jsonl
  chunkwise chunk corpus.jsonl --text-field body --json | head -3
  chunkwise chunk code/ -s ./mine.py:Mine                      # a strategy of your own
  chunkwise chunk handbook/ -s "sections(max_tokens=400)" --contextual --llm local -o chunks.jsonl
  chunkwise chunk handbook/ --contextual document --llm openai:gpt-4o-mini --dry-run   # what would it cost?
\b
Exit status: 0 all read, 3 something was skipped, or a model did not write all it was to (each with a line on stderr),
1 an error, 2 wrong usage or value.
"""


@click.command("chunk", epilog=_EXAMPLES)
@click.option("-s", "--strategy", default="structure", metavar="SPEC", show_default=True,
              help='"name(parameter=value, …)"; see `chunkwise strategies`.')  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the chunks: .jsonl, .parquet or .csv.")  # fmt: skip
@page_option(
    "--view", "FILE.html", "Write one self-contained page that shows the documents with their cuts."
)
@click.option("--context", type=click.Choice(["none", "headings"]), default="none", show_default=True,
              help="Title and section path beside each chunk, in its context; its text stays the same.")  # fmt: skip
@contextual_option
@click.option("--json", "as_json", is_flag=True, help="JSON lines on stdout, nothing else.")
@click.option("-n", "--show", type=click.IntRange(0), default=12, show_default=True,
              help="Chunks to show in the terminal; with --output, --view or --json none are.")  # fmt: skip
@llm_options
@config_option
@jobs_option
@document_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Cut documents into chunks, every one an exact span of its source.

    INPUTS are files, folders, globs, archives (.zip, .tar.gz) or '-' for standard input: text, Markdown, HTML, PDF,
    DOCX, EPUB, CSV, JSON and JSONL corpora, source code.
    """
    from chunkwise.chunkers import get_strategy
    from chunkwise.cli.chunk_summary import ChunkSummary
    from chunkwise.cli.contexts import kept_when_stopped, warn_of_weak
    from chunkwise.cli.llm_options import LlmClients, show_spent
    from chunkwise.cli.messages import say
    from chunkwise.cli.progress import bytes_of, progress
    from chunkwise.cli.strategy_llm import asking_strategy

    strategy = get_strategy(options["strategy"])
    check_contextual(options, asked=bool(options["contextual"]), otherwise=strategy.asks_a_model)
    clients, own = LlmClients(options), None
    if strategy.asks_a_model:
        own = asking_strategy(options["strategy"], options, clients)
        strategy = options["strategy"] = own.strategy
    paths = chosen_inputs(inputs)
    writer = _writer(options, clients) if options["contextual"] else None
    if options["dry_run"]:
        _dry_run(paths, options, strategy, writer, own if own and own.client else None)
        return
    named = (getattr(strategy.chunker, "llm", None), options["llm"] if writer else None)
    warn_of_weak(named, options["quiet"])
    outputs = check_outputs(paths, options["output"], page=options["view"])
    total = bytes_of(paths)
    summary = ChunkSummary(strategy)
    shown: list[str] = []
    with ExitStack() as stack:
        stack.enter_context(kept_when_stopped(bool(clients.made)))
        sinks = _open_sinks(stack, options, strategy)
        advance = stack.enter_context(progress("chunking", total, options["quiet"]))
        documents = _documents(paths, total, outputs, options, summary, advance, writer)
        if sinks:
            for chunked in documents:
                for sink in sinks:
                    sink(chunked)
        else:
            shown = list(_shown(documents, strategy, options["show"]))
        if not summary.documents:  # leaving so, an older file of that name stays
            nothing = "nothing is written" if sinks else "there is nothing to show"
            say(f"no document was read; {nothing}")
            sys.exit(SKIPPED)
    # Behind the bar: on a terminal it would stand between the lines.
    for text in shown:
        click.echo(text, nl=False)
    if writer and (told := writer.tally.told()):
        say(told)
    if not options["quiet"]:
        for client in clients.made:
            known = writer.tally.known if writer and writer.client is client else 0
            show_spent(replace(client.spent, kept=client.spent.kept + known))
    if sinks and not options["quiet"]:
        click.echo(summary.line(), err=True)
        for written in (options["output"], options["view"]):
            if written:
                click.echo(f"written: {written}", err=True)
    if summary.skipped or clients.fell_short or (writer and writer.tally.without):
        sys.exit(SKIPPED)


def _documents(
    paths: list[str],
    total: int,
    outputs: list[Path],
    options: dict[str, Any],
    summary: ChunkSummary,
    advance: OnProgress,
    writer: ContextWriter | None = None,
) -> Iterator[Chunked]:
    """Documents with their chunks and contexts; what cannot be read is a line on stderr."""
    from chunkwise.chunkers.chunk import chunk_each
    from chunkwise.chunkers.contextual.headings import with_headings
    from chunkwise.cli.contexts import with_written_contexts
    from chunkwise.cli.readable import readable

    jobs = worker_count(options["jobs"], total)
    outcomes = chunk_each(
        paths, options["strategy"], options=load_options(options), jobs=jobs, leave_out=outputs
    )
    if writer:
        # Cutting takes no time beside writing: progress is what was written.
        cut = readable(outcomes, options["strict"], summary, lambda amount, note: None)
        yield from with_written_contexts(cut, writer, advance)
        return
    for chunked in readable(outcomes, options["strict"], summary, advance):
        if options["context"] == "headings" or options["contextual"]:
            chunked.chunks = with_headings(chunked.chunks, chunked.analyzed)
        yield chunked


def _writer(options: dict[str, Any], clients: LlmClients) -> ContextWriter | None:
    """What asks the model; None: no model is named, and the user is told what happens instead."""
    from chunkwise.chunkers.contextual.writer import ContextWriter
    from chunkwise.cli.messages import say

    if not options["llm"]:
        say(NO_MODEL)
        return None
    return ContextWriter(clients.of(options["llm"]), options["contextual"])


def _dry_run(
    paths: list[str],
    options: dict[str, Any],
    strategy: Strategy,
    writer: ContextWriter | None,
    own: Asking | None,
) -> None:
    """Says what the model would be asked; nothing is sent and nothing is written."""
    from chunkwise.cli.chunk_summary import ChunkSummary
    from chunkwise.cli.foreseen import foreseen
    from chunkwise.cli.llm_options import show_estimate
    from chunkwise.cli.progress import bytes_of, progress
    from chunkwise.models.llm.cost import LlmEstimate

    if own is None and writer is None:
        show_estimate(LlmEstimate(), options["as_json"])
        return
    total = bytes_of(paths)
    summary = ChunkSummary(strategy)
    plain = {**options, "context": "none", "contextual": None}
    if own is not None:
        plain["strategy"] = own.alone()
    with progress("counting", total, options["quiet"]) as advance:
        cut = _documents(paths, total, [], plain, summary, advance)
        estimate = foreseen(cut, own, writer)
    if not options["quiet"]:
        click.echo(summary.line(), err=True)
    show_estimate(estimate, options["as_json"])
    if summary.skipped:
        sys.exit(SKIPPED)


def _open_sinks(
    stack: ExitStack, options: dict[str, Any], strategy: Strategy
) -> list[Callable[[Chunked], None]]:
    """Where the chunks of each document go; nowhere: they are looked at in the terminal."""
    from chunkwise.cli.chunk_view import ChunkView
    from chunkwise.cli.stdout import JsonLines
    from chunkwise.output.writers import chunk_file, write_json_lines

    sinks: list[Callable[[Chunked], None]] = []
    if options["as_json"]:
        lines = JsonLines(write_json_lines, alone=not (options["output"] or options["view"]))
        sinks.append(lambda chunked: lines.write(chunked.chunks))
    if options["output"]:
        write = stack.enter_context(chunk_file(options["output"]))
        sinks.append(lambda chunked: write(chunked.chunks))
    if options["view"]:
        sinks.append(stack.enter_context(ChunkView(options["view"], strategy)).add)
    return sinks


def _shown(documents: Iterator[Chunked], strategy: Strategy, most: int) -> Iterator[str]:
    """What a terminal shows: no more than is asked for, however many documents there are."""
    from rich.console import Console

    from chunkwise.report.terminal import render_chunks

    console = Console()
    pairs = ((each.analyzed, each.chunks) for each in documents)
    limit = strategy.limit[1] if strategy.limit else None
    return render_chunks(
        pairs,
        width=console.width,
        limit=limit,
        most=most,
        color=console.is_terminal,
        unit=strategy.unit,
    )
