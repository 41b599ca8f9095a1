"""`chunkwise compare`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from chunkwise.cli import commands
from chunkwise.cli.commands import argument, option
from chunkwise.cli.options import check_outputs, json_flag, output_file

_EXAMPLES = """
\b
Examples:
  chunkwise compare a.json b.json                        # b against a, question by question
  chunkwise compare a.json b.json c.json d.json          # each against the first; which are tied with the best
  chunkwise compare a.json b.json --all                  # every metric, types of questions, every cost
  chunkwise compare a.json b.json --metrics recall,mrr   # fewer tests: smaller differences can be shown
  chunkwise compare a.json b.json --json > comparison.json
\b
Exit status: 0 compared, whatever came out, 1 a file cannot be read or nothing can be compared,
2 wrong usage or value.
"""


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of `chunkwise compare`."""

    files: tuple[str, ...] = argument("A.json B.json...", nargs=-1)
    metrics: str | None = option(
        "--metrics", metavar="NAMES", show_default="all that both have",
        help="Compare only these metrics, separated by commas: recall@5,mrr. A name without @ means every cut-off; "
        "groups work as for evaluate: completeness.",
    )  # fmt: skip
    whole: bool = option(
        "--all", is_flag=True, help="Show every metric and cost, not only the most important ones."
    )
    as_json: bool = json_flag()
    output: Path | None = output_file("Write the comparison to this file, as JSON.")


@commands.command("compare", CompareOptions, examples=_EXAMPLES)
def command(options: CompareOptions) -> None:
    """Say whether one run is better than another: paired on the same questions, with intervals and p-values.

    The files are what `chunkwise evaluate --output` wrote.
    """
    files, output = options.files, options.output
    chosen = _metric_names(options.metrics)
    _check(files)
    check_outputs(list(files), output)
    from chunkwise.evaluation.compare import compare
    from chunkwise.evaluation.results_file import read_results
    from chunkwise.records.typed import json_text

    runs = [read_results(name) for name in files]
    comparison = compare(runs, metrics=chosen, sources=files)
    text = json_text(comparison, 2)
    is_written = output is not None and _write(text, output)
    if options.as_json:
        from chunkwise.cli.streams import json_stdout

        click.echo(text, file=json_stdout())
    elif not is_written:
        from rich.console import Console

        from chunkwise.report.terminal.comparison import render_comparison
        from chunkwise.report.views.comparison import comparison_view

        # Who names the measures wants to see them.
        console = Console(file=sys.stdout, highlight=False)
        view = comparison_view(comparison, whole=options.whole or chosen is not None)
        render_comparison(view, console)
    if output is not None and not is_written:
        sys.exit(1)


def _write(text: str, output: Path) -> bool:
    """Whether it could be written; where not, the comparison is shown instead."""
    from chunkwise.base.atomic import replacing, says_what_it_writes
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.streams import say

    try:
        with replacing(output) as temporary, says_what_it_writes(output):
            temporary.write_text(text + "\n", encoding="utf-8")
    except ChunkwiseError as error:
        say(error)
        return False
    click.echo(f"written: {output}", err=True)
    return True


def _metric_names(metrics: str | None) -> list[str] | None:
    if metrics is None:
        return None
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    if not names:
        raise click.UsageError(f"--metrics {metrics!r} names no metric; as in --metrics recall,mrr")
    return names


def _check(files: tuple[str, ...]) -> None:
    if len(files) < 2:
        given = f"one file, {files[0]}" if files else "no file"
        raise click.UsageError(
            f"{given}: name two or more files of results, as in chunkwise compare a.json b.json"
        )
    seen: dict[Path, str] = {}
    for name in files:
        place = Path(name).resolve()
        if place in seen:
            raise click.UsageError(
                f"{seen[place]} and {name} are the same file: a run has no difference to itself"
            )
        seen[place] = name
