"""`chunkwise evaluate`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.base.atomic_files import shown_path
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import settled
from chunkwise.cli.keep_run import KeepOptions, RunKeeper
from chunkwise.cli.llm import DryRunEnded, show_estimate
from chunkwise.cli.options import VerboseOption
from chunkwise.cli.run_evaluation import EvaluationOptions, kept_run, prepare, say_why_silent
from chunkwise.cli.streams import readers_may_leave, say, stdout_console

if TYPE_CHECKING:
    from chunkwise.core import Document
    from chunkwise.evaluation.results import Results

_EXAMPLES = """
  chunkwise evaluate docs/ -Q q.json
  chunkwise evaluate docs/ -Q q.json -s sentences -o b.json
  chunkwise evaluate docs/ -Q q.json -r ./mine.py:search
  chunkwise evaluate docs/ -Q q.json --fail-under recall@5=0.8
\b
Then: chunkwise compare before.json after.json
"""


class EvaluateOptions(EvaluationOptions, KeepOptions, VerboseOption):
    """The options of `chunkwise evaluate`."""


@dataclass_command("evaluate", EvaluateOptions, examples=_EXAMPLES)
def command(options: EvaluateOptions) -> None:
    """Score a chunking and retrieval configuration on test questions.

    SOURCE is any number of documents (files, folders, globs, archives), which are cut and indexed in memory, or an
    index that `chunkwise index` made. Of a test set that holds its documents (BEIR, SQuAD, AutoRAG) these are taken,
    and its questions where no others are named. Without SOURCE the documents beside the file of questions are taken,
    but no code.
    """
    prepared = prepare(options)
    options = prepared.options
    keeper = RunKeeper(options, quiet=options.quiet)
    try:
        found = prepared.run()
    except DryRunEnded as ended:
        show_estimate(ended.estimate, options.as_json)
        return
    results = found.results
    types = _types_there(results, prepared.types)
    written = _write(results, options, found.documents, types)
    try:
        with readers_may_leave():
            _show(results, options, types, shown=not (options.quiet and written))
    finally:  # a full disk behind the output loses no run
        keeper.keep(lambda: kept_run(found, options.keep_text))
    for file in written:
        if not options.quiet:
            click.echo(f"written: {shown_path(file)}", err=True)
    missed = prepared.missed(results)
    is_written = len(written) == (options.output is not None) + (options.page is not None)
    silent = say_why_silent(results)
    status = settled(
        failed=not is_written,
        wrong_usage=bool(options.types) and types is None,
        not_reached=bool(missed),
        skipped=bool(found.left_out) or silent,
    )
    if status:
        sys.exit(status)


def _types_there(results: Results, types: tuple[str, str] | None) -> tuple[str, str] | None:
    """None where those of a type have no score: the figures, which may have cost much, are shown all the same."""
    from chunkwise.base.errors import InvalidParameter
    from chunkwise.evaluation.verdicts_and_advice import type_robustness

    try:
        return types if types and type_robustness(results, types) else None
    except InvalidParameter as error:
        say(f"--types: {error}")
        return None


def _write(
    results: Results,
    options: EvaluationOptions,
    documents: list[Document],
    types: tuple[str, str] | None,
) -> list[Path]:
    """The files that were written; a disk may be full, and the figures are wanted all the same."""
    from chunkwise.base.errors import ChunkwiseError

    written = []
    try:
        if options.output is not None:
            results.save(options.output)
            written.append(options.output)
    except ChunkwiseError as error:
        say(error)
    try:
        if options.page is not None:
            from chunkwise.report.evaluation_report import evaluation_report
            from chunkwise.report.write_report import write_report

            known = {document.id: document for document in documents}
            write_report(evaluation_report(results, known, types), options.page)
            written.append(options.page)
    except ChunkwiseError as error:
        say(error)
    return written


def _show(
    results: Results, options: EvaluateOptions, types: tuple[str, str] | None, *, shown: bool
) -> None:
    if options.as_json:
        from chunkwise.evaluation.results import results_text

        click.echo(results_text(results), nl=False)
    elif shown:
        from chunkwise.report.evaluation_report import evaluation_report
        from chunkwise.report.to_terminal import print_report

        report = evaluation_report(results, types=types, next_command=_next_command(options))
        print_report(report, stdout_console(), verbose=options.verbose)


def _next_command(options: EvaluationOptions) -> str:
    """Other configurations, on the same questions."""
    if not options.source or options.test_queries is None:
        return ""
    return (
        f"chunkwise tune {shlex.join(options.source)} -Q {shlex.quote(str(options.test_queries))}"
    )
