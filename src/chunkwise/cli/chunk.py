"""`chunkwise chunk`."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, cast

import click

from chunkwise.base.atomic_files import shown_path
from chunkwise.base.object_store import address_of
from chunkwise.base.own_files import is_index_folder
from chunkwise.base.schema import Amount, Option
from chunkwise.base.secrets import mask, names_server
from chunkwise.base.wording import counted, format_number, thousands
from chunkwise.cli.dataclass_options import dataclass_command, is_typed
from chunkwise.cli.exit_status import FAILED, leave
from chunkwise.cli.llm import (
    NO_MODEL,
    LlmClients,
    asking_strategy,
    estimate_sources,
    kept_when_stopped,
    refuse_unasked,
    show_estimate,
    show_spent,
    with_written_contexts,
)
from chunkwise.cli.options import (
    ConfigOption,
    EstimateOptions,
    JsonOption,
    Page,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.report_options import say_written
from chunkwise.cli.streams import JsonLines, SkippedInputs, say, shown_place, stdout_console
from chunkwise.core import Chunk, OnProgress, WrittenContext
from chunkwise.options import ChunkOptions, LlmOptions

if TYPE_CHECKING:
    from chunkwise.chunkers import Strategy
    from chunkwise.chunkers.chunk import Chunked, Context
    from chunkwise.chunkers.context_writer import ContextWriter
    from chunkwise.chunkers.write_chunks import SegmentPlace
    from chunkwise.cli.cut_documents import ChunkSummary, CutsPage, Cutter
    from chunkwise.report.report import Report


_WITH_VECTORS = (
    "--with-vectors needs an index and an output file: chunkwise chunk kb -o chunks.parquet"
)


class ChunkCommandOptions(ChunkOptions, LlmOptions, ConfigOption, EstimateOptions, JsonOption):
    """The options of `chunkwise chunk`."""

    output: Annotated[Path | None, Option(
        "Output .jsonl, .parquet or .csv, or a data set folder", flag="-o", metavar="PATH", group="Output", common=True,
        writes="new",
    )] = None  # fmt: skip
    with_vectors: Annotated[bool, Option(
        "Include the vectors of an index", group="Output"
    )] = False  # fmt: skip
    page: Page = None
    show: Annotated[Amount, Option(
        "Chunks to print", metavar="N", group="Output", common=True
    )] = 5  # fmt: skip

    @property
    def cut_by(self) -> str:
        """The strategy that is named, or the default."""
        return cast(str, self.strategy) or "structure"

    @property
    def context_beside(self) -> Context:
        """What is made without a language model."""
        return "none" if self.context in (None, "none") else "headings"

    @property
    def written(self) -> WrittenContext | None:
        """The context that a language model writes."""
        return self.context if self.context in ("neighbors", "document") else None


@dataclass_command("chunk", ChunkCommandOptions)
def command(options: ChunkCommandOptions) -> None:
    """Split documents into chunks, each an exact span of its document.

    SOURCE is files, folders, globs, archives (.zip, .tar.gz), URLs (s3://bucket/docs/, https://…), '-' for standard
    input, or an index, whose stored chunks are exported. Formats: text, Markdown and other markup, HTML, XML, PDF,
    Office, EPUB, notebooks, email, CSV, JSON, JSONL, source code.

    Examples:
      chunkwise chunk docs/ -o chunks.parquet
      chunkwise chunk paper.pdf -s recursive --html chunks.html
      chunkwise chunk s3://bucket/docs/ -o chunks/ --engine ray
      chunkwise chunk kb -o chunks.parquet --with-vectors
    """
    from chunkwise.chunkers import get_strategy
    from chunkwise.cli.cut_documents import ChunkSummary

    if _names_index(options.source):
        _from_index(options)
        return
    if options.with_vectors:
        raise click.UsageError(_WITH_VECTORS)
    strategy = get_strategy(options.cut_by)
    asks = strategy.asks_a_model or bool(options.written)
    if options.estimate and not asks:
        from chunkwise.chunkers.work_estimate import estimate_work

        options.say_time(estimate_work(options.sources(), options.cut_by, options.loading()))
        return
    if options.output is not None and _is_dataset(options.output):
        _write_dataset(options, strategy, options.output)
        return
    if not asks:
        refuse_unasked("no language model is used; add --context neighbors")
    clients, asking = LlmClients(options, options.quiet or options.as_json), None
    cutting: str | Strategy = options.cut_by
    if strategy.asks_a_model:
        asking = asking_strategy(options.cut_by, options, clients)
        strategy = cutting = asking.strategy
    paths = options.sources()
    writer = _writer(options, options.written, clients) if options.written else None
    if options.dry_run or options.estimate:  # cutting takes no time beside asking
        asking = asking if asking and asking.client else None
        alone = asking.alone() if asking else cutting
        estimate, is_skipped = estimate_sources(paths, options, alone, asking, writer)
        show_estimate(estimate, options.as_json)
        leave(skipped=is_skipped)
        return
    total = bytes_of(paths)
    summary = ChunkSummary(strategy, options.strict)
    with ExitStack() as stack:
        stack.enter_context(kept_when_stopped(bool(clients.used)))
        sinks, page = _open_sinks(stack, options), _open_page(stack, options, strategy)
        advance = stack.enter_context(progress("chunking", total, options.quiet))
        # Cutting takes no time beside writing contexts: progress is what was written then.
        cut_advance = _nowhere if writer else advance
        # Chunks that are only written never lie in memory as a whole.
        is_only_written = bool(sinks) and not page and not writer
        context = "none" if writer else options.context_beside
        documents = _documents(
            paths, cutting, options, summary, cut_advance, context, is_only_written
        )
        # A full disk, for one, ends the workers here and not somewhere later.
        with closing(documents):
            written = with_written_contexts(documents, writer, advance) if writer else documents
            report = _used(written, sinks, page, strategy, options)
        if not summary.documents:  # leaving so, an older file of that name stays
            nothing = "nothing was written" if sinks or page else "nothing to show"
            say(f"no readable documents; {nothing}")
            sys.exit(FAILED)
    _show(report)
    if report and summary.missing_overlaps:
        click.echo(summary.missing_overlaps)
    if writer and (remark := writer.tally.in_words()):
        say(remark)
    if not options.quiet:
        for client in clients.used:
            known = writer.tally.known if writer and writer.client is client else 0
            show_spent(replace(client.spent, kept=client.spent.kept + known))
    if (sinks or page) and not options.quiet:
        click.echo(summary.line(), err=True)
        say_written(options.output, options.page)
    leave(skipped=summary.skip.count or clients.fell_short or (writer and writer.tally.without))


def _is_dataset(output: Path | None) -> bool:
    return output is not None and not output.suffix


def _write_dataset(options: ChunkCommandOptions, strategy: Strategy, output: Path) -> None:
    """Chunks as Parquet files of a folder, by processes of this machine or by a cluster."""
    from chunkwise.chunkers.chunk_dataset import PartRecipe, write_dataset

    unfit = {
        f"--context {options.written}": options.written, "--html": options.page, "--json": options.as_json,
        "--dry-run": options.dry_run, f"the strategy {strategy.name}, which uses a model": strategy.asks_a_model,
    }  # fmt: skip
    for name, is_given in unfit.items():
        if is_given:
            raise click.UsageError(
                f"a data set (-o {shown_path(output)}) can't be combined with {name}; write a "
                "file instead: -o chunks.parquet"
            )
    named = str(output)
    if mask(named) != named or names_server(named):
        raise click.UsageError(
            f"-o {mask(named)} is a server URL or contains a password; expected a folder or an "
            "object store"
        )
    paths = options.sources()
    total, began = bytes_of(paths), time.monotonic()
    place = output if address_of(output) else output.absolute()  # workers stand elsewhere
    recipe = PartRecipe(options.cut_by, options.loading(), options.context_beside, place)
    with progress("chunking", total, options.quiet) as advance:
        skip = SkippedInputs(options.strict)
        made = write_dataset(paths, recipe, options.workers(total), skip, advance)
    if not made.documents:
        say("no readable documents; no data set was written")
        sys.exit(FAILED)
    if not options.quiet:
        parts = counted(made.parts, "file") + (
            f" ({thousands(made.reused)} reused)" if made.reused else ""
        )
        counts = f"{counted(made.documents, 'document')}, {counted(made.chunks, 'chunk')}, {parts}"
        skipped = f"; {thousands(made.skipped)} skipped" if made.skipped else ""
        seconds = time.monotonic() - began
        click.echo(
            f"{strategy.label}: {counts}{skipped}; {format_number(seconds, 'seconds')}", err=True
        )
        say_written(output)
    leave(skipped=made.skipped)


def _names_index(names: Sequence[str]) -> bool:
    """Told without what it takes to open one."""
    return any(
        ("://" in name and address_of(name) is None) or is_index_folder(name) for name in names
    )


def _from_index(options: ChunkCommandOptions) -> None:
    """The chunks of an index, as they are."""
    from chunkwise.chunkers.read_chunks import KnownStrategy
    from chunkwise.cli.cut_documents import ChunkSummary, readable
    from chunkwise.retrieval.export import chunked_documents
    from chunkwise.retrieval.indexes import named_index

    for name in ("strategy", "context"):
        if is_typed(name):
            raise click.UsageError(
                f"{shown_place(options.source[0])} is an index, which stores its chunks; leave "
                f"out --{name}, or give the documents"
            )
    if options.with_vectors and (not options.output or options.page or options.as_json):
        raise click.UsageError(_WITH_VECTORS)
    paths = options.sources()
    index = named_index(paths)
    assert index is not None
    if options.with_vectors and options.output:
        count = index.export(options.output, with_vectors=True)
        if not options.quiet:
            click.echo(f"{counted(count, 'chunk')} with vectors", err=True)
            say_written(options.output)
        return
    strategy = KnownStrategy(index.settings.strategy)
    summary = ChunkSummary(strategy, options.strict)
    with ExitStack() as stack:
        sinks, page = _open_sinks(stack, options), _open_page(stack, options, strategy)
        advance = stack.enter_context(progress("reading", 0, options.quiet))
        documents = readable(chunked_documents(index.source), summary, advance)
        report = _used(documents, sinks, page, strategy, options)
    _show(report)
    if (sinks or page) and not options.quiet:
        click.echo(summary.line(), err=True)
        say_written(options.output, options.page)


def _documents(
    paths: list[str],
    strategy: str | Strategy,
    options: ChunkCommandOptions,
    summary: ChunkSummary,
    advance: OnProgress,
    context: Context = "none",
    in_segments: bool = False,
) -> Generator[Chunked, None, None]:
    """Documents with their chunks; what cannot be read is a line on stderr."""
    from chunkwise.chunkers.chunk import chunk_each
    from chunkwise.chunkers.chunk_long_texts import segments_of
    from chunkwise.cli.cut_documents import readable

    outcomes = chunk_each(
        paths, strategy, options=options.loading(), jobs=options.workers(bytes_of(paths)),
        context=context, cut_long=segments_of if in_segments else None,
    )  # fmt: skip
    yield from readable(outcomes, summary, advance)


def _writer(
    options: ChunkCommandOptions, written: WrittenContext, clients: LlmClients
) -> ContextWriter | None:
    """What asks the model; None: no model is named, and the user is told what happens instead."""
    from chunkwise.chunkers.context_writer import ContextWriter

    if not options.llm_name:
        if not options.quiet:
            say(NO_MODEL)
        return None
    return ContextWriter(clients.of(options.llm_name), written)


_Sink: TypeAlias = "Callable[[Iterable[Chunk], SegmentPlace], None]"
"""Where the chunks of a document go, or of a segment of a long one."""


def _open_sinks(stack: ExitStack, options: ChunkCommandOptions) -> list[_Sink]:
    """Files and lines of JSON."""
    from chunkwise.chunkers.write_chunks import chunk_file, chunk_lines

    sinks: list[_Sink] = []
    if options.as_json:
        lines: JsonLines[str] = JsonLines(
            lambda out, values: out.writelines(values), alone=not (options.output or options.page)
        )
        sinks.append(lambda chunks, place: lines.write(chunk_lines(chunks, place)))
    if options.output:
        write = stack.enter_context(chunk_file(options.output))
        sinks.append(lambda chunks, place: write(chunks, place=place))
    return sinks


def _open_page(stack: ExitStack, options: ChunkCommandOptions, strategy: Cutter) -> CutsPage | None:
    from chunkwise.cli.cut_documents import CutsPage

    if not options.page:
        return None
    return stack.enter_context(CutsPage(options.page, strategy, quiet=options.quiet))


def _used(
    documents: Iterator[Chunked],
    sinks: list[_Sink],
    page: CutsPage | None,
    strategy: Cutter,
    options: ChunkCommandOptions,
) -> Report | None:
    """Written and drawn; what a terminal shows where nothing is."""
    if not sinks and page is None:
        from chunkwise.report.chunks_report import chunks_report

        pairs = ((document.analyzed, document.chunks) for document in documents)
        return chunks_report(
            pairs, most=options.show, unit=strategy.unit, next_command=_next_command(options), quiet=options.quiet
        )  # fmt: skip
    for chunked in documents:
        for sink in sinks:
            sink(chunked.chunks, chunked.place)
        if page:
            page.add(chunked)
        del chunked  # before the next one is made
    return None


def _show(report: Report | None) -> None:
    """Behind the bar: on a terminal it would stand between the lines."""
    if report:
        from chunkwise.report.to_terminal import print_report

        print_report(report, stdout_console())


def _next_command(options: ChunkCommandOptions) -> str:
    """The places where it cuts badly."""
    if not options.source or "-" in options.source:
        return ""
    strategy = f" -s {shlex.quote(str(options.strategy))}" if options.strategy else ""
    return f"chunkwise lint {shlex.join(options.source)}{strategy}"


def _nowhere(amount: int, note: str) -> None:
    """Progress that nobody is shown."""
