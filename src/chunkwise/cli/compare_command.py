"""`chunkwise compare`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click

from chunkwise.cli.inputs import check_outputs

_EXAMPLES = """
\b
Examples:
  chunkwise compare a.json b.json                        # b against a, question by question
  chunkwise compare a.json b.json c.json d.json          # each against the first; which are tied with the best
  chunkwise compare a.json b.json --all                  # every measure, types of questions, every cost
  chunkwise compare a.json b.json --metrics recall,mrr   # fewer tests, smaller differences can be shown
  chunkwise compare a.json b.json --json > comparison.json
\b
Exit status: 0 compared, whatever came out, 1 a file cannot be read or nothing can be compared,
2 wrong usage or value.
"""


@click.command("compare", epilog=_EXAMPLES)
@click.argument("files", nargs=-1, metavar="A.json B.json...")
@click.option("--metrics", metavar="NAMES", show_default="all that both have",
              help="Compare by these only, with commas: recall@5,mrr; without @: every cut of it; groups as "
              "evaluate has them: completeness.")  # fmt: skip
@click.option("--all", "whole", is_flag=True,
              help="Show every measure and cost, not only those to look at first.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Only JSON on stdout.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the comparison as JSON.")  # fmt: skip
def command(
    files: tuple[str, ...], metrics: str | None, whole: bool, as_json: bool, output: Path | None
) -> None:
    """Say whether one run is better than another: paired on the same questions, with intervals and p-values.

    The files are what `chunkwise evaluate --output` wrote.
    """
    wanted = _wanted(metrics)
    _check(files)
    check_outputs(list(files), output)
    from chunkwise.evaluation.comparing.compare import compare
    from chunkwise.evaluation.files.json_values import json_text
    from chunkwise.evaluation.files.results_file import read_results

    runs = [read_results(name) for name in files]
    comparison = compare(runs, metrics=wanted, sources=files)
    text = json_text(comparison, 2)
    is_written = output is not None and _write(text, output)
    if as_json:
        if isinstance(sys.stdout, io.TextIOWrapper):  # JSON is UTF-8, whatever the console is
            sys.stdout.reconfigure(encoding="utf-8")
        click.echo(text)
    elif not is_written:
        from rich.console import Console

        from chunkwise.report.compare.terminal import render_comparison

        # Who names the measures wants to see them.
        console = Console(file=sys.stdout, highlight=False)
        render_comparison(comparison, console, whole=whole or wanted is not None)
    if output is not None and not is_written:
        sys.exit(1)


def _write(text: str, output: Path) -> bool:
    """Whether it could be written; where not, the comparison is shown instead."""
    from chunkwise.base.atomic import replacing, says_what_it_writes
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.cli.messages import say

    try:
        with replacing(output) as temporary, says_what_it_writes(output):
            temporary.write_text(text + "\n", encoding="utf-8")
    except ChunkwiseError as error:
        say(error)
        return False
    click.echo(f"written: {output}", err=True)
    return True


def _wanted(metrics: str | None) -> list[str] | None:
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
